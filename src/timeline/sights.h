/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a space that are known only since a step that may have changed them unseen.
 *
 * At a gap or a system call, memory may change although the trace does not show it.  The value of a byte that is first
 * seen after such a step is known since that step, and not before it.  The value itself is in the page of the layer that
 * governs the byte; a sight has the position since which it holds.  Sights ascend by this position.
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
 * The smallest position >= @pos (@is_reverse: the greatest <= @pos) of a sight that has a byte of [addr, last].
 *
 * Returns UINT64_MAX if there is none.
 */
uint64_t ts_sights_find(const struct ts_sights *s, uint64_t pos, uint64_t addr, uint64_t last, bool is_reverse);

/*
 * Of the @n bytes at @addr, which are in one page and were copied from the page of @layer, make those unknown in @data
 * and @known whose values hold only since a position after @pos.
 */
void ts_sights_hide(const struct ts_sights *s, uint32_t layer, uint64_t pos, uint64_t addr, size_t n,
		    uint8_t *data, uint8_t *known);

#endif
