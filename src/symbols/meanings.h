/* SPDX-License-Identifier: MIT */
/*
 * The resolution of names in questions: NAME, FILE::NAME, 'FILE'::NAME, ::NAME, ns::fn, ns::fn(int), MODULE!NAME and
 * MODULE+0x1234.
 *
 * The program's own symbols, and those of files that the user names, take precedence over all others; data takes
 * precedence over functions in questions about memory, functions over data in questions about code.
 */
#ifndef TS_SYMBOLS_MEANINGS_H
#define TS_SYMBOLS_MEANINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

#define TS_MAX_MEANINGS	 8u
#define TS_MEANING_TEXT	 256u

/* One of several meanings of a name, with a text that distinguishes it. */
struct ts_meaning {
	uint64_t addr;
	char text[TS_MEANING_TEXT];
};

struct ts_meanings {
	struct ts_meaning items[TS_MAX_MEANINGS];
	unsigned n; /* the number of meanings, which may be more than are listed */
};

/*
 * The symbol with the name in the @len bytes at @name, in a question about code if @is_code.  Several symbols of the
 * program, and functions with one demangled name, are several meanings.
 *
 * Returns the symbol, borrowed from the table.
 * Returns NULL if there is none (all->n is 0).
 * Returns NULL if there are several (all->n > 1).
 */
const struct ts_symbol *ts_symbols_mean(struct ts_symbols *s, const char *name, size_t len, bool is_code,
					struct ts_meanings *all);

/*
 * As ts_symbols_mean(), for the program's own symbols NS::NAME.  For a name that has no other meaning.  Returns as
 * ts_symbols_mean() does.
 */
const struct ts_symbol *ts_symbols_mean_qualified(struct ts_symbols *s, const char *name, size_t len, bool is_code,
						  struct ts_meanings *all);

/*
 * The places in the program's own code at which the function @name was inlined, by debugging information: all->items are their
 * first instructions.
 */
void ts_symbols_mean_inlined(struct ts_symbols *s, const char *name, size_t len, struct ts_meanings *all);

/* The program's own copies of the function @name that a compiler made beside it: NAME.constprop.0, NAME.isra.1. */
void ts_symbols_mean_copies(struct ts_symbols *s, const char *name, size_t len, struct ts_meanings *all);

/*
 * The module @name.
 *
 * Returns the module, borrowed from the table.
 * Returns NULL if there is none (all->n is 0).
 * Returns NULL if there are several (all->n > 1); all->items are their first addresses.
 */
const struct ts_loaded_file *ts_symbols_mean_module(struct ts_symbols *s, const char *name, size_t len,
					       struct ts_meanings *all);

#endif
