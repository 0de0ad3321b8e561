/* SPDX-License-Identifier: MIT */
#include "inferred.h"

#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"
#include "src/trace/chunk.h"

void ts_inferred_fini(struct ts_inferred_list *s)
{
	for (size_t i = 0; i < s->n_pages; i++)
		free(s->pages[i].items);
	free(s->pages);
	free(s->items);
	ts_hash_table_fini(&s->by_page);
	*s = (struct ts_inferred_list){ 0 };
}

/* ------------------------------------------------------------------------------------------------- pages */

static bool is_page(const void *user, uint32_t i, const void *page)
{
	return ((const struct ts_inferred_list *)user)->pages[i].page == *(const uint64_t *)page;
}

static uint64_t hash_of_page(const void *user, uint32_t i)
{
	return ts_hash(((const struct ts_inferred_list *)user)->pages[i].page, 0);
}

static uint32_t *find_slot(const struct ts_inferred_list *s, uint64_t page)
{
	return ts_hash_table_slot(&s->by_page, ts_hash(page, 0), is_page, s, &page);
}

static const struct ts_inferred_page *find_page(const struct ts_inferred_list *s, uint64_t page)
{
	const uint32_t *slot = find_slot(s, page);

	return slot && *slot ? &s->pages[*slot - 1] : NULL;
}

/* The page, added if it is new.  Returns NULL if memory is exhausted. */
static struct ts_inferred_page *get_page(struct ts_inferred_list *s, uint64_t page)
{
	uint32_t *slot;

	if (!ts_hash_table_reserve(&s->by_page, s->n_pages, 1, hash_of_page, s))
		return NULL;
	slot = find_slot(s, page);
	if (!*slot) {
		if (!TS_PUSH(s->pages, s->n_pages, s->cap_pages, (struct ts_inferred_page){ .page = page }))
			return NULL;
		*slot = (uint32_t)s->n_pages;
	}
	return &s->pages[*slot - 1];
}

/* ---------------------------------------------------------------------------------------------- building */

/* Does it begin where the last one ends, and is it of the same kind? */
static bool continues(const struct ts_inferred_list *s, const struct ts_inferred *range)
{
	const struct ts_inferred *last = s->n ? &s->items[s->n - 1] : NULL;

	return last && last->pos == range->pos && last->layer == range->layer &&
	       last->addr + last->len == range->addr &&
	       last->addr >> TS_PAGE_BITS == range->addr >> TS_PAGE_BITS;
}

bool ts_inferred_add(struct ts_inferred_list *s, const struct ts_inferred *range)
{
	struct ts_inferred_page *pg;

	if (continues(s, range)) {
		s->items[s->n - 1].len += range->len;
		return true;
	}
	if (s->n >= UINT32_MAX || !ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items)))
		return false;
	pg = get_page(s, range->addr >> TS_PAGE_BITS);
	if (!pg || !TS_PUSH(pg->items, pg->n, pg->cap, (uint32_t)s->n))
		return false;
	s->items[s->n++] = *range;
	return true;
}

/* ------------------------------------------------------------------------------------------------ asking */

size_t ts_inferred_from(const struct ts_inferred_list *s, uint64_t pos)
{
	size_t at = 0;

	TS_BISECT(at, s->n, i, s->items[i].pos < pos);
	return at;
}

/* How many of the page's inferred ranges are of a position below @pos. */
static uint32_t count_below(const struct ts_inferred_list *s, const struct ts_inferred_page *pg, uint64_t pos)
{
	uint32_t at = 0;

	TS_BISECT(at, pg->n, i, s->items[pg->items[i]].pos < pos);
	return at;
}

static bool overlaps(const struct ts_inferred *x, uint64_t addr, uint64_t last)
{
	return x->addr <= last && x->addr + (x->len - 1) >= addr;
}

/* The nearest position of an inferred range of the page that has a byte of [addr, last]; UINT64_MAX: none. */
static uint64_t find_in_page(const struct ts_inferred_list *s, const struct ts_inferred_page *pg, uint64_t pos, uint64_t addr,
			     uint64_t last, bool is_reverse)
{
	uint32_t i = is_reverse && pos == UINT64_MAX ? pg->n : count_below(s, pg, pos + is_reverse);

	for (; is_reverse ? i > 0 : i < pg->n; i = is_reverse ? i - 1 : i + 1) {
		const struct ts_inferred *x = &s->items[pg->items[i - is_reverse]];

		if (overlaps(x, addr, last))
			return x->pos;
	}
	return UINT64_MAX;
}

/* The page after *at among those of [addr, last] that have inferred ranges; *at is 0 at first.  NULL after the last. */
static const struct ts_inferred_page *each_page(const struct ts_inferred_list *s, uint64_t addr, uint64_t last,
					     uint64_t *at)
{
	uint64_t first = addr >> TS_PAGE_BITS, n_range = (last >> TS_PAGE_BITS) - first + 1;
	bool is_few = n_range < s->n_pages;

	while (*at < (is_few ? n_range : s->n_pages)) {
		const struct ts_inferred_page *pg = is_few ? find_page(s, first + *at) : &s->pages[*at];

		++*at;
		if (pg && pg->page >= first && pg->page <= last >> TS_PAGE_BITS)
			return pg;
	}
	return NULL;
}

uint64_t ts_inferred_find(const struct ts_inferred_list *s, uint64_t pos, uint64_t addr, uint64_t last, bool is_reverse)
{
	const struct ts_inferred_page *pg;
	uint64_t best = UINT64_MAX, at = 0;

	while (s->n && (pg = each_page(s, addr, last, &at)) != NULL)
		best = ts_nearer(best, find_in_page(s, pg, pos, addr, last, is_reverse), is_reverse);
	return best;
}

static void hide(const struct ts_inferred *x, uint64_t addr, size_t n, uint8_t *data, uint8_t *known)
{
	uint64_t first = x->addr > addr ? x->addr : addr;
	uint64_t end = x->addr + (x->len - 1) < addr + (n - 1) ? x->addr + (x->len - 1) : addr + (n - 1);

	if (first > end)
		return;
	memset(data + (first - addr), 0, (size_t)(end - first) + 1);
	memset(known + (first - addr), 0, (size_t)(end - first) + 1);
}

void ts_inferred_hide(const struct ts_inferred_list *s, uint32_t layer, uint64_t pos, uint64_t addr, size_t n,
		    uint8_t *data, uint8_t *known)
{
	const struct ts_inferred_page *pg = s->n ? find_page(s, addr >> TS_PAGE_BITS) : NULL;

	for (uint32_t i = pg ? pg->n : 0; i-- > 0;) {
		const struct ts_inferred *x = &s->items[pg->items[i]];

		if (x->pos <= pos)
			return;
		if (x->layer == layer)
			hide(x, addr, n, data, known);
	}
}
