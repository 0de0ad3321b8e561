/* SPDX-License-Identifier: MIT */
/*
 * A symbol in the table of symbols (symbols.h).
 */
#ifndef TS_SYMBOLS_SYMBOL_H
#define TS_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct ts_symbol {
	uint64_t addr;
	uint64_t len;     /* bytes; 0: unknown, it extends to the next symbol, or to the end of its segment */
	const char *name; /* borrowed from the table; demangled without parameters for C++ and Rust: ns::fn */
	const char *mangled; /* borrowed; the name in the file, often equal to name */
	bool is_function;
	bool is_indirect; /* addr is that of its resolver (STT_GNU_IFUNC) */
	bool is_open; /* its end is unknown: see ts_symbols_function_at() */
};

#endif
