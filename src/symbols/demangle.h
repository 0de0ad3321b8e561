/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ and Rust functions as people write them: _ZN2ns2fnEi is ns::fn.
 *
 * Names come from symbol tables, which may be hostile: one that is longer than some kilobytes, mangled or
 * not, keeps its mangled form.
 */
#ifndef TS_SYMBOLS_DEMANGLE_H
#define TS_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

#define TS_MAX_DEMANGLED 2048u

/* Does @name begin as the mangled ones of C++ and Rust do? */
bool ts_is_mangled(const char *name);

/*
 * @text, of TS_MAX_DEMANGLED bytes, gets the name without its parameters, terminated.
 *
 * Returns false if @name is not mangled, or is too long.
 */
bool ts_demangle(const char *name, char *text);

/* The same with its parameters, ns::fn(int). */
bool ts_demangle_whole(const char *name, char *text);

#endif
