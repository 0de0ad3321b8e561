/* SPDX-License-Identifier: MIT */
/*
 * A sparse array of bytes, each known or unknown, in pages that are allocated when they are first written.
 */
#ifndef TS_PAGES_H
#define TS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lines.h"
#include "src/base/hash_table.h"

struct ts_marks;

/*
 * The lost bytes of a page: they are unknown because an unknown value was written.  If the value of such a
 * byte is found later, it is valid only since that write.
 */
struct ts_holes {
	uint64_t bits[64];   /* bit i: byte i is lost; known bytes are not */
	uint64_t old[64];    /* the user's: of the lost ones, those that were so at the last gap */
	uint64_t saved[64];  /* the user's: of the others, those that an index file has as such */
	uint32_t chain[256]; /* by line; the user's */
};

struct ts_page {
	uint64_t page;          /* address >> TS_PAGE_BITS */
	uint32_t layer;         /* the second half of the key; its meaning is the user's */
	uint32_t id;            /* ordinal, in order of appearance */
	struct ts_marks *marks; /* the user's, NULL at first */
	struct ts_holes *holes; /* owned; NULL where nothing was lost */
	uint64_t dirty[4];      /* the user's, as is is_dirty: bit i: line i has changed since it was saved */
	bool is_dirty;
	bool is_stale;          /* the user's: it is outdated, and is not in the cache of guesses */
	bool is_holed;          /* the user's: bytes may have been lost since the last gap */
	uint64_t known[64];     /* bit i: byte i is known */
	uint8_t data[TS_PAGE_LEN];
};

#define TS_PAGE_CACHE 64

/* The page of layer 0 that was found last; initially page 0 and NULL. */
struct ts_page_guess {
	uint64_t page;
	struct ts_page *found; /* borrowed */
};

struct ts_pages {
	struct ts_hash_table by_page; /* of by_id */
	struct ts_page **by_id; /* owned, and owns the pages */
	size_t n, cap;
	struct ts_page_guess cache[TS_PAGE_CACHE]; /* by page number */
};

void ts_pages_fini(struct ts_pages *p);

/* Returns the page, borrowed until ts_pages_fini(); NULL if it does not exist. */
struct ts_page *ts_pages_find(const struct ts_pages *p, uint64_t page, uint32_t layer);

/*
 * Add a page that does not exist yet, with all bytes unknown.
 *
 * Returns the page, borrowed until ts_pages_fini(); NULL if memory is exhausted.
 */
struct ts_page *ts_pages_add(struct ts_pages *p, uint64_t page, uint32_t layer);

/*
 * Returns the page of layer 0 if it is in the cache, borrowed until ts_pages_fini().
 * Returns NULL if it is not in the cache; it may exist.
 */
static inline struct ts_page *ts_pages_guess(const struct ts_pages *p, uint64_t page)
{
	const struct ts_page_guess *guess = &p->cache[page % TS_PAGE_CACHE];

	return guess->page == page ? guess->found : NULL;
}

/* Remove the page of layer 0 from the guesses. */
static inline void ts_pages_unguess(struct ts_pages *p, const struct ts_page *pg)
{
	if (ts_pages_guess(p, pg->page))
		p->cache[pg->page % TS_PAGE_CACHE] = (struct ts_page_guess){ 0 };
}

/* Put a page of layer 0 in the cache. */
static inline void ts_pages_remember(struct ts_pages *p, struct ts_page *pg)
{
	p->cache[pg->page % TS_PAGE_CACHE] = (struct ts_page_guess){ pg->page, pg };
}

/*
 * As ts_pages_find(), which a page of layer 0 in the cache does not need.
 *
 * Returns the page, borrowed until ts_pages_fini().
 * Returns NULL if it does not exist.
 */
static inline struct ts_page *ts_pages_get(struct ts_pages *p, uint64_t page, uint32_t layer)
{
	struct ts_page *pg = layer ? NULL : ts_pages_guess(p, page);

	if (pg)
		return pg;
	pg = ts_pages_find(p, page, layer);
	if (pg && !layer)
		ts_pages_remember(p, pg);
	return pg;
}

/* Is byte @i of the page known? */
static inline bool ts_page_knows(const struct ts_page *p, unsigned i)
{
	return p->known[i / 64] >> (i % 64) & 1;
}

/* The bits of line @line among the @bits of its page; bit i: byte i of the line. */
static inline uint16_t ts_page_line_bits(const uint64_t *bits, unsigned line)
{
	return (uint16_t)(bits[line / 4] >> line % 4 * 16);
}

/* All ones in bits [from, from + n) of a word; n > 0, from + n <= 64. */
static inline uint64_t ts_bit_run(unsigned from, unsigned n)
{
	return (UINT64_MAX >> (64 - n)) << from;
}

/* Mark bytes [off, off + len) of the page known; mark them unknown. */
void ts_page_know(struct ts_page *p, unsigned off, unsigned len);
void ts_page_forget(struct ts_page *p, unsigned off, unsigned len);

/* Mark bytes of a word of the bits lost.  Returns false if memory is exhausted. */
bool ts_page_lose(struct ts_page *p, unsigned word, uint64_t bits);

/* The same, of a word of the bits, for known. */
static inline void ts_page_know_word(struct ts_page *p, unsigned word, uint64_t bits)
{
	p->known[word] |= bits;
	if (__builtin_expect(p->holes != NULL, 0))
		p->holes->bits[word] &= ~bits;
}

#endif
