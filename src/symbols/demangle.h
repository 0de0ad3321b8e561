/* SPDX-License-Identifier: MIT */
/*
 * Demangled names of C++ and Rust functions: _ZN2ns2fnEi is ns::fn.
 *
 * Names come from symbol tables, which may be hostile: a name that is longer than some kilobytes, mangled or
 * demangled, keeps its mangled form.
 */
#ifndef TS_SYMBOLS_DEMANGLE_H
#define TS_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

#define TS_MAX_DEMANGLED 2048u

/* Does @name begin like a mangled name of C++ or Rust? */
bool ts_is_mangled(const char *name);

/*
 * Write the demangled name without its parameters to @text, of TS_MAX_DEMANGLED bytes, terminated.
 *
 * Returns false if @name is not mangled, or is too long.
 */
bool ts_demangle(const char *name, char *text);

/* The same with its parameters, ns::fn(int).  Returns false if @name is not a mangled name, or the text is too long. */
bool ts_demangle_whole(const char *name, char *text);

#endif
