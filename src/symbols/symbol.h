/* SPDX-License-Identifier: MIT */
/*
 * A symbol as the table of symbols (symbols.h) shows it.
 */
#ifndef TS_SYMBOLS_SYMBOL_H
#define TS_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct ts_symbol {
	uint64_t addr;
	uint64_t len;     /* bytes; 0: not known, it reaches up to the next one, or the end of its segment */
	const char *name; /* borrowed from the table; of C++ and Rust without parameters: ns::fn */
	const char *mangled; /* borrowed; the same as in the file, mostly the same as name */
	bool is_function;
	bool is_indirect; /* addr is that of its resolver (STT_GNU_IFUNC) */
	bool is_open; /* where it ends is not known: see ts_symbols_function_at() */
};

#endif
