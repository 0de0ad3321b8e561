/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

bool ts_touches_add(struct ts_touches *t, uint32_t page, uint8_t line, uint16_t chunk, uint16_t bytes)
{
	return t->n < UINT32_MAX && TS_PUSH(t->items, t->n, t->cap, (struct ts_touch){ page, chunk, bytes, line });
}

void ts_touches_fini(struct ts_touches *t)
{
	free(t->items);
	*t = (struct ts_touches){ 0 };
}

void ts_lines_fini(struct ts_lines *set)
{
	if (!set->file) {
		free(set->pages);
		free(set->first);
		free(set->touched);
		free(set->items);
	}
	*set = (struct ts_lines){ 0 };
}

static unsigned bit_rank(const uint64_t *bits, unsigned i)
{
	unsigned n = 0;

	for (unsigned w = 0; w < i / 64; w++)
		n += (unsigned)__builtin_popcountll(bits[w]);
	if (i % 64)
		n += (unsigned)__builtin_popcountll(bits[i / 64] << (64 - i % 64));
	return n;
}

static bool has_bit(const uint64_t *bits, unsigned i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/*
 * The pages that were touched, ascending, with the bitmaps of their lines.  @rank (one a noter's ordinal)
 * gets where each went.
 */
static bool seal_pages(struct ts_lines *set, const struct ts_touches *t, const uint64_t *page_addrs,
		       size_t n_pages, uint32_t *rank)
{
	uint32_t n = 0;
	unsigned lines = 0;

	for (size_t i = 0; i < n_pages; i++)
		rank[i] = UINT32_MAX;
	for (size_t i = 0; i < t->n; i++) {
		if (rank[t->items[i].page] == UINT32_MAX)
			rank[t->items[i].page] = n++;
	}
	set->pages = calloc(n ? n : 1, sizeof(*set->pages));
	if (!set->pages)
		return false;
	set->n_pages = n;
	for (size_t i = 0; i < n_pages; i++) {
		if (rank[i] != UINT32_MAX) {
			set->pages[rank[i]].page = page_addrs[i];
			set->pages[rank[i]].first = (uint32_t)i; /* the ordinal, until the pages are sorted */
		}
	}
	TS_SORT_BY(set->pages, n, page);
	for (uint32_t i = 0; i < n; i++)
		rank[set->pages[i].first] = i;
	for (size_t i = 0; i < t->n; i++) {
		const struct ts_touch *x = &t->items[i];

		set->pages[rank[x->page]].has[x->line / 64] |= UINT64_C(1) << (x->line % 64);
	}
	for (uint32_t i = 0; i < n; i++) {
		set->pages[i].first = lines;
		for (unsigned w = 0; w < 4; w++)
			lines += (unsigned)__builtin_popcountll(set->pages[i].has[w]);
	}
	set->n_lines = lines;
	return true;
}

static uint32_t line_ordinal(const struct ts_line_page *p, unsigned line)
{
	return p->first + bit_rank(p->has, line);
}

/* The quarters of which a byte was touched. */
static unsigned quarters_of(unsigned bytes)
{
	bytes |= bytes >> 1;
	bytes |= bytes >> 2;
	return (bytes & 1) | (bytes >> 3 & 2) | (bytes >> 6 & 4) | (bytes >> 9 & 8);
}

static uint16_t pack_item(const struct ts_touch *t)
{
	return (uint16_t)(quarters_of(t->bytes) << TS_ITEM_CHUNK_BITS | t->chunk);
}

/* Which line of the page's each is: to @ranks, by line. */
static void rank_lines(const struct ts_line_page *p, uint8_t *ranks)
{
	uint8_t n = 0;

	for (unsigned w = 0; w < 4; w++) {
		for (uint64_t bits = p->has[w]; bits; bits &= bits - 1)
			ranks[w * 64 + (unsigned)__builtin_ctzll(bits)] = n++;
	}
}

/*
 * Counting sort: stable, so that chunks ascend within a line as they were noted.  @ranks has room for the
 * lines of all pages.
 */
static void seal_items(struct ts_lines *set, const struct ts_touches *t, const uint32_t *rank, uint8_t *ranks,
		       uint32_t *ordinals, uint32_t *slots)
{
	for (size_t i = 0; i < set->n_pages; i++)
		rank_lines(&set->pages[i], ranks + i * TS_PAGE_LINES);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t page = rank[t->items[i].page];

		ordinals[i] = set->pages[page].first + ranks[(size_t)page * TS_PAGE_LINES + t->items[i].line];
		set->first[ordinals[i] + 1]++;
		set->touched[ordinals[i]] |= t->items[i].bytes;
	}
	for (size_t i = 0; i < set->n_lines; i++)
		set->first[i + 1] += set->first[i];
	for (size_t i = 0; i < t->n; i++) {
		uint32_t slot = set->first[ordinals[i]]++;

		set->items[slot] = pack_item(&t->items[i]);
		slots[i] = slot;
	}
	/* each entry now says where its line ends, that is where the next one begins */
	memmove(set->first + 1, set->first, set->n_lines * sizeof(*set->first));
	set->first[0] = 0;
}

bool ts_lines_seal(struct ts_lines *set, const struct ts_touches *t, const uint64_t *page_addrs,
		   size_t n_pages, uint32_t **slots)
{
	uint32_t *rank = malloc((n_pages ? n_pages : 1) * sizeof(*rank));
	uint32_t *ordinals = malloc((t->n ? t->n : 1) * sizeof(*ordinals));
	uint32_t *slot = malloc((t->n ? t->n : 1) * sizeof(*slot));
	uint8_t *ranks = NULL;
	bool done = false;

	*set = (struct ts_lines){ 0 };
	if (rank && ordinals && slot && seal_pages(set, t, page_addrs, n_pages, rank)) {
		set->first = calloc(set->n_lines + 1, sizeof(*set->first));
		set->touched = calloc(set->n_lines + 1, sizeof(*set->touched));
		set->items = malloc((t->n ? t->n : 1) * sizeof(*set->items));
		ranks = malloc((set->n_pages ? set->n_pages : 1) * TS_PAGE_LINES);
		if (set->first && set->touched && set->items && ranks) {
			seal_items(set, t, rank, ranks, ordinals, slot);
			set->n_items = t->n;
			done = true;
		}
	}
	free(rank);
	free(ranks);
	free(ordinals);
	if (!done)
		ts_lines_fini(set);
	if (done && slots)
		*slots = slot;
	else
		free(slot);
	return done;
}

static const struct ts_line_page *page_at(const struct ts_lines *set, size_t i)
{
	ts_index_blocks_use(set->file, &set->pages[i], sizeof(*set->pages));
	return &set->pages[i];
}

uint64_t ts_lines_page(const struct ts_lines *set, size_t i)
{
	return page_at(set, i)->page;
}

bool ts_lines_items(const struct ts_lines *set, uint32_t line, uint32_t *first, uint32_t *end)
{
	if (__builtin_expect(line < set->n_lines, 1)) {
		ts_index_blocks_use(set->file, &set->first[line], 2 * sizeof(*set->first));
		*first = set->first[line];
		*end = set->first[line + 1];
		if (__builtin_expect(*first < *end && *end <= set->n_items, 1))
			return true;
	}
	ts_index_blocks_note_damage(set->file);
	return false;
}

uint32_t ts_lines_chunk(const struct ts_lines *set, uint32_t item)
{
	ts_index_blocks_use(set->file, &set->items[item], sizeof(*set->items));
	return set->items[item] & ((1u << TS_ITEM_CHUNK_BITS) - 1);
}

/* A chunk that was found.  UINT32_MAX if the segment does not have it: the index file is damaged. */
static uint32_t check_chunk(const struct ts_lines *set, uint32_t chunk)
{
	if (!set->file || chunk < set->n_chunks || chunk == UINT32_MAX)
		return chunk;
	ts_index_blocks_note_damage(set->file);
	return UINT32_MAX;
}

/* Ordinal of the first page that is not below @page. */
static size_t page_lower_bound(const struct ts_lines *set, uint64_t page)
{
	size_t at = 0;

	TS_BISECT(at, set->n_pages, i, ts_lines_page(set, i) < page);
	return at;
}

/* The line at @addr, if page @i is its page. */
static bool find_in(const struct ts_lines *set, size_t i, uint64_t addr, uint32_t *ordinal)
{
	unsigned line = (unsigned)(addr >> TS_LINE_BITS) % TS_PAGE_LINES;

	if (i == set->n_pages || ts_lines_page(set, i) != addr >> TS_PAGE_BITS ||
	    !has_bit(set->pages[i].has, line))
		return false;
	*ordinal = line_ordinal(&set->pages[i], line);
	return true;
}

bool ts_lines_find(const struct ts_lines *set, uint64_t addr, uint32_t *ordinal)
{
	return find_in(set, page_lower_bound(set, addr >> TS_PAGE_BITS), addr, ordinal);
}

bool ts_lines_find_near(const struct ts_lines *set, uint64_t addr, size_t *page, uint32_t *ordinal)
{
	if (*page >= set->n_pages || ts_lines_page(set, *page) != addr >> TS_PAGE_BITS)
		*page = page_lower_bound(set, addr >> TS_PAGE_BITS);
	return find_in(set, *page, addr, ordinal);
}

/* Ordinal of the first item of [first, end) whose chunk is not below @chunk, @end if none is found. */
static uint32_t item_lower_bound(const struct ts_lines *set, uint32_t first, uint32_t end, uint32_t chunk)
{
	TS_BISECT(first, end, i, ts_lines_chunk(set, i) < chunk);
	return first;
}

uint32_t ts_lines_before(const struct ts_lines *set, uint32_t first, uint32_t end, uint32_t chunk)
{
	uint32_t i = item_lower_bound(set, first, end, chunk);

	return i == first ? end : i - 1;
}

/* Walk over the lines of the set that overlap [addr, last], in address order. */
struct line_walk {
	const struct ts_lines *set;
	size_t page;
	unsigned line;
	uint64_t addr, last;
};

static struct line_walk walk_start(const struct ts_lines *set, uint64_t addr, uint64_t last)
{
	size_t page = page_lower_bound(set, addr >> TS_PAGE_BITS);
	bool is_inside = page < set->n_pages && ts_lines_page(set, page) == addr >> TS_PAGE_BITS;

	return (struct line_walk){ set, page,
				   is_inside ? (unsigned)(addr >> TS_LINE_BITS) % TS_PAGE_LINES : 0, addr,
				   last };
}

/* The next line: its ordinal, and which of its bytes are in the range. */
static bool walk_next(struct line_walk *w, uint32_t *ordinal, uint16_t *bytes)
{
	for (; w->page < w->set->n_pages; w->page++, w->line = 0) {
		const struct ts_line_page *p = page_at(w->set, w->page);

		if (p->page > w->last >> TS_PAGE_BITS)
			return false;
		for (; w->line < TS_PAGE_LINES; w->line++) {
			uint64_t addr = p->page << TS_PAGE_BITS | w->line << TS_LINE_BITS;

			if (!has_bit(p->has, w->line))
				continue;
			if (addr > w->last)
				return false;
			if (addr < w->addr && w->addr - addr >= TS_LINE_LEN) { /* pages do not ascend */
				ts_index_blocks_note_damage(w->set->file);
				return false;
			}
			*ordinal = line_ordinal(p, w->line++);
			*bytes = UINT16_MAX;
			if (w->addr > addr)
				*bytes &= (uint16_t)(UINT16_MAX << (w->addr - addr));
			if (w->last - addr < TS_LINE_LEN)
				*bytes &= (uint16_t)(UINT16_MAX >> (TS_LINE_LEN - 1 - (w->last - addr)));
			return true;
		}
	}
	return false;
}

/* The number of items that are verified at once. */
#define N_AT_ONCE 64u

/*
 * Verify items [first, end), and return their masks: 16 bits each for the bytes, or above the chunk the quarters, that they touch.
 */
static const uint16_t *use_items(const struct ts_lines *set, const uint16_t *exact, uint32_t first,
				 uint32_t end)
{
	const uint16_t *items = exact ? exact : set->items;

	ts_index_blocks_use(set->file, &items[first], (end - first) * sizeof(*items));
	return items;
}

static uint16_t mask_of(const uint16_t *exact, uint16_t bytes)
{
	return exact ? bytes : (uint16_t)(quarters_of(bytes) << TS_ITEM_CHUNK_BITS);
}

/*
 * Did any chunk touch one of @bytes of the line?  Where the answer is no, as in most segments that a search
 * passes on its way, nothing has to be unpacked.
 */
static bool is_touched(const struct ts_lines *set, const uint16_t *exact, uint32_t line, uint16_t bytes)
{
	if (line >= set->n_lines)
		return true; /* ts_lines_items() finds out */
	ts_index_blocks_use(set->file, &set->touched[line], sizeof(*set->touched));
	return mask_of(exact, set->touched[line]) & mask_of(exact, bytes);
}

/* The first of items [i, end) that touches one of @bytes, @end if none is found. */
static uint32_t first_touch(const struct ts_lines *set, const uint16_t *exact, uint32_t i, uint32_t end,
			    uint16_t bytes)
{
	uint16_t mask = mask_of(exact, bytes);

	while (i < end) {
		uint32_t stop = end - i < N_AT_ONCE ? end : i + N_AT_ONCE;
		const uint16_t *items = use_items(set, exact, i, stop);

		for (; i < stop; i++) {
			if (items[i] & mask)
				return i;
		}
	}
	return end;
}

/* The end of items [first, i) without those at its end that touch none of @bytes. */
static uint32_t last_touch(const struct ts_lines *set, const uint16_t *exact, uint32_t first, uint32_t i,
			   uint16_t bytes)
{
	uint16_t mask = mask_of(exact, bytes);

	while (i > first) {
		uint32_t stop = i - first < N_AT_ONCE ? first : i - N_AT_ONCE;
		const uint16_t *items = use_items(set, exact, stop, i);

		for (; i > stop; i--) {
			if (items[i - 1] & mask)
				return i;
		}
	}
	return first;
}

/* The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) of items [first, end) that touches one of @bytes. */
static uint32_t nearest_touch(const struct ts_lines *set, const uint16_t *exact, uint32_t first, uint32_t end, uint16_t bytes,
			      uint32_t chunk, bool is_reverse)
{
	uint32_t i = item_lower_bound(set, first, end, chunk + is_reverse);

	if (is_reverse) {
		i = last_touch(set, exact, first, i, bytes);
		return i > first ? ts_lines_chunk(set, i - 1) : UINT32_MAX;
	}
	i = first_touch(set, exact, i, end, bytes);
	return i < end ? ts_lines_chunk(set, i) : UINT32_MAX;
}

uint32_t ts_lines_find_touch(const struct ts_lines *set, const uint16_t *exact, uint64_t addr, uint64_t last, uint32_t chunk,
			     bool is_reverse)
{
	struct line_walk w = walk_start(set, addr, last);
	uint32_t best = UINT32_MAX, line, first, end, found;
	uint16_t bytes;

	while (best != chunk && walk_next(&w, &line, &bytes)) {
		if (!is_touched(set, exact, line, bytes))
			continue;
		if (!ts_lines_items(set, line, &first, &end))
			break;
		found = nearest_touch(set, exact, first, end, bytes, chunk, is_reverse);
		if (found != UINT32_MAX && (best == UINT32_MAX || is_reverse == (found > best)))
			best = found;
	}
	return check_chunk(set, best);
}

void ts_lines_each(const struct ts_lines *set, void (*use)(void *user, uint64_t addr, uint32_t chunk),
		   void *user)
{
	uint32_t line = 0, item, end, last_end = 0;

	for (size_t i = 0; i < set->n_pages; i++) {
		const struct ts_line_page *p = page_at(set, i);

		for (unsigned k = 0; k < TS_PAGE_LINES; k++) {
			uint64_t addr = p->page << TS_PAGE_BITS | k << TS_LINE_BITS;

			if (!has_bit(p->has, k))
				continue;
			if (!ts_lines_items(set, line++, &item, &end))
				return;
			if (item != last_end) {
				ts_index_blocks_note_damage(set->file);
				return;
			}
			for (last_end = end; item < end; item++)
				use(user, addr, ts_lines_chunk(set, item));
		}
	}
}

void ts_lines_each_line(const struct ts_lines *set, void (*use)(void *user, uint64_t addr, uint16_t bytes),
			void *user)
{
	uint32_t line = 0;

	for (size_t i = 0; i < set->n_pages; i++) {
		const struct ts_line_page *p = page_at(set, i);

		for (unsigned k = 0; k < TS_PAGE_LINES; k++) {
			if (!has_bit(p->has, k))
				continue;
			if (line >= set->n_lines) {
				ts_index_blocks_note_damage(set->file);
				return;
			}
			ts_index_blocks_use(set->file, &set->touched[line], sizeof(*set->touched));
			use(user, p->page << TS_PAGE_BITS | k << TS_LINE_BITS, set->touched[line++]);
		}
	}
}

size_t ts_lines_mem(const struct ts_lines *set)
{
	return set->n_pages * sizeof(*set->pages) + (set->n_lines + 1) * sizeof(*set->first) +
	       set->n_lines * sizeof(*set->touched) +
	       set->n_items * sizeof(*set->items);
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_lines_save(const struct ts_lines *set, struct ts_index_file *f)
{
	/* each search examines these, most at no more: they are not worth unpacking */
	ts_index_put_unread(f, set->pages, set->n_pages, sizeof(*set->pages));
	ts_index_put_unread(f, set->touched, set->n_lines, sizeof(*set->touched));
	ts_index_put_packed(f, set->first, set->first ? set->n_lines + 1 : 0, sizeof(*set->first));
	ts_index_put_packed(f, set->items, set->n_items, sizeof(*set->items));
}

bool ts_lines_load(struct ts_lines *set, struct ts_index_arrays *a, uint32_t n_chunks)
{
	size_t n_first, n_touched;

	*set = (struct ts_lines){ .file = a->blocks, .n_chunks = n_chunks };
	set->pages = ts_index_take_unread(a, sizeof(*set->pages), &set->n_pages);
	set->touched = ts_index_take_unread(a, sizeof(*set->touched), &n_touched);
	set->first = ts_index_take_unread(a, sizeof(*set->first), &n_first);
	set->items = ts_index_take_unread(a, sizeof(*set->items), &set->n_items);
	if (n_first)
		set->n_lines = n_first - 1;
	else
		set->first = NULL;
	if (!a->is_bad && n_touched == set->n_lines && n_first <= UINT32_MAX &&
	    (set->first || (!set->n_pages && !set->n_items)))
		return true;
	*set = (struct ts_lines){ 0 };
	a->is_bad = true;
	return false;
}
