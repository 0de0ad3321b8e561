/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a space that are known only since a step that may have changed them unseen.
 *
 * At a gap or a system call, memory may change although the trace does not show it.  The value of a byte that is first
 * seen after such a step is known since that step, and not before it.  The value itself is in the page of the layer that
 * governs the byte; an inferred range has the position since which it holds.  Inferred ranges ascend by this position.
 */
#ifndef TS_INFERRED_H
#define TS_INFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

/* Bytes [addr, addr + len), which lie in one page, hold what the page of layer @layer says from @pos on. */
struct ts_inferred {
	uint64_t pos; /* not 0 */
	uint64_t addr;
	uint32_t len;
	uint32_t layer;
};

/* The inferred ranges of a page: ordinals in items, ascending. */
struct ts_inferred_page {
	uint64_t page; /* address >> TS_PAGE_BITS */
	uint32_t *items; /* owned */
	uint32_t n;
	size_t cap;
};

struct ts_inferred_list {
	struct ts_inferred *items; /* owned */
	size_t n, cap;
	struct ts_inferred_page *pages; /* owned */
	size_t n_pages, cap_pages;
	struct ts_hash_table by_page;
};

void ts_inferred_fini(struct ts_inferred_list *s);

/*
 * Add an inferred range; @pos is not less than that of the last one.  One that continues the last one becomes part of
 * it.
 *
 * Returns false if memory is exhausted; nothing has changed then.
 */
bool ts_inferred_add(struct ts_inferred_list *s, const struct ts_inferred *range);

/* The ordinal of the first inferred range with a position of at least @pos; their number if none is as late. */
size_t ts_inferred_from(const struct ts_inferred_list *s, uint64_t pos);

/*
 * The smallest position >= @pos (@is_reverse: the greatest <= @pos) of an inferred range that has a byte of [addr, last].
 *
 * Returns UINT64_MAX if no range has one.
 */
uint64_t ts_inferred_find(const struct ts_inferred_list *s, uint64_t pos, uint64_t addr, uint64_t last, bool is_reverse);

/*
 * Of the @n bytes at @addr, which are in one page and were copied from the page of @layer, make those unknown in @data
 * and @known whose values hold only since a position after @pos.
 */
void ts_inferred_hide(const struct ts_inferred_list *s, uint32_t layer, uint64_t pos, uint64_t addr, size_t n,
		    uint8_t *data, uint8_t *known);

#endif
