/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a space that are known only since something unseen may have changed them.
 *
 * At a gap, a system call and the like, memory may change without the trace showing it.  A byte that is seen
 * for the first time after such a moment had its value since that moment, as far as one can know, and not
 * before it.  The value itself lies in the page of the layer that governs the byte; a sight says since when
 * it holds.  Sights come in ascending order of that position.
 */
#ifndef TS_SIGHTS_H
#define TS_SIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

/* Bytes [addr, addr + len), which lie in one page, hold what the page of layer @layer says from @pos on. */
struct ts_sight {
	uint64_t pos; /* not 0 */
	uint64_t addr;
	uint32_t len;
	uint32_t layer;
};

/* The sights of a page: ordinals in items, ascending. */
struct ts_sight_page {
	uint64_t page; /* address >> TS_PAGE_BITS */
	uint32_t *items; /* owned */
	uint32_t n;
	size_t cap;
};

struct ts_sights {
	struct ts_sight *items; /* owned */
	size_t n, cap;
	struct ts_sight_page *pages; /* owned */
	size_t n_pages, cap_pages;
	struct ts_hash_table by_page;
};

void ts_sights_fini(struct ts_sights *s);

/*
 * Add a sight; @pos is not less than that of the last one.  One that continues the last one becomes part of
 * it.
 *
 * Returns false if memory is exhausted; nothing has changed then.
 */
bool ts_sights_add(struct ts_sights *s, const struct ts_sight *sight);

/* The ordinal of the first sight with a position of at least @pos; their number if there is none. */
size_t ts_sights_from(const struct ts_sights *s, uint64_t pos);

/*
 * The smallest position >= @pos (the greatest <= @pos) of a sight that has a byte of [addr, last].
 *
 * Returns UINT64_MAX if there is none.
 */
uint64_t ts_sights_next(const struct ts_sights *s, uint64_t pos, uint64_t addr, uint64_t last);
uint64_t ts_sights_prev(const struct ts_sights *s, uint64_t pos, uint64_t addr, uint64_t last);

/*
 * The @n bytes at @addr, all of one page, were taken from the page of @layer: those that it holds only since
 * a position after @pos become unknown, in @data and @known.
 */
void ts_sights_hide(const struct ts_sights *s, uint32_t layer, uint64_t pos, uint64_t addr, size_t n,
		    uint8_t *data, uint8_t *known);

#endif
