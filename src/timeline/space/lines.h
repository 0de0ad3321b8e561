/* SPDX-License-Identifier: MIT */
/*
 * The chunks of a segment that touch each line.
 *
 * A line is 16 aligned bytes of an address space.  While a segment is read, touches are noted chunk by chunk; sealing
 * sorts them by line.  A sealed set consists of pages with a bitmap of their lines, the first item of each line, the
 * bytes of each line that are touched, and the items.  An item has a chunk (ascending within a line, relative to the
 * segment) and the quarters of the line that the chunk touches.  Users keep additional data of touches in their own
 * arrays, in the order of the items.
 */
#ifndef TS_LINES_H
#define TS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/chunk.h"

struct ts_index_blocks;
struct ts_index_file;
struct ts_index_arrays;

#define TS_LINE_BITS 4
#define TS_LINE_LEN 16u
#define TS_PAGE_BITS 12
#define TS_PAGE_LEN 4096u
#define TS_PAGE_LINES 256u


/* One touch, as noted. */
struct ts_touch {
	uint32_t page;  /* the noter's ordinal of the page */
	uint16_t chunk; /* relative to the segment */
	uint16_t bytes; /* bit i: byte i of the line */
	uint8_t line;   /* in the page */
};

struct ts_touches {
	struct ts_touch *items; /* owned */
	size_t n, cap;
};

/* Note a touch; chunks must not descend.  Returns false if memory is exhausted. */
bool ts_touches_add(struct ts_touches *t, uint32_t page, uint8_t line, uint16_t chunk, uint16_t bytes);
void ts_touches_fini(struct ts_touches *t);

struct ts_line_page {
	uint64_t page;   /* address >> TS_PAGE_BITS */
	uint64_t has[4]; /* bit i: line i is in the set */
	uint32_t first;  /* ordinal of its first line */
	uint32_t zero;   /* no padding: pages go to index files */
};

#define TS_ITEM_CHUNK_BITS 12
_Static_assert(TS_SEGMENT_CHUNKS <= 1u << TS_ITEM_CHUNK_BITS, "a chunk's number fits an item");

struct ts_lines {
	struct ts_line_page *pages; /* owned; ascending */
	size_t n_pages;
	uint32_t *first;            /* owned; n_lines + 1: line i has items first[i] .. first[i + 1] - 1 */
	size_t n_lines;
	uint16_t *touched; /* owned; of each line, the bytes that any chunk touched */
	/* owned; the chunk in the low TS_ITEM_CHUNK_BITS, above it the quarters touched */
	uint16_t *items;
	size_t n_items;
	struct ts_index_blocks *file;     /* borrowed; the arrays are mapped from it; NULL: they are owned */
	uint32_t n_chunks;          /* if they are, of the segment: what they say is checked when it is read */
};

/*
 * Sort the touches by line; @t is unchanged.
 *
 * @page_addrs gives the page number (address >> TS_PAGE_BITS) of each of the @n_pages ordinals of the noter.
 * If @slots is not NULL, *slots is set to an array of t->n numbers: touch i became item (*slots)[i].  The
 * caller frees it.
 *
 * Returns false if memory is exhausted; @set is then empty.
 */
bool ts_lines_seal(struct ts_lines *set, const struct ts_touches *t, const uint64_t *page_addrs,
		   size_t n_pages, uint32_t **slots);
void ts_lines_fini(struct ts_lines *set);

/* The ordinal of the line at @addr.  Returns false if it is not in the set. */
bool ts_lines_find(const struct ts_lines *set, uint64_t addr, uint32_t *line);

/*
 * As ts_lines_find(), which tries the page of ordinal *page first; *page is set to the ordinal of the line's page.
 *
 * Returns false if the line is not in the set.
 */
bool ts_lines_find_near(const struct ts_lines *set, uint64_t addr, size_t *page, uint32_t *line);

/*
 * Set [*first, *end) to the items of a line.  Returns false if the index file is damaged there.
 */
bool ts_lines_items(const struct ts_lines *set, uint32_t line, uint32_t *first, uint32_t *end);

/* The chunk of an item. */
uint32_t ts_lines_chunk(const struct ts_lines *set, uint32_t item);

/* The address of page @i, shifted as in struct ts_line_page. */
uint64_t ts_lines_page(const struct ts_lines *set, size_t i);

/* The last item of [first, end) with a chunk below @chunk.  Returns its ordinal, @end if no item has one. */
uint32_t ts_lines_before(const struct ts_lines *set, uint32_t first, uint32_t end, uint32_t chunk);

/*
 * The first chunk >= @chunk (@is_reverse: last chunk <= @chunk) in which a line that overlaps [addr, last] was touched.
 * @exact has the bytes of each item; if it is NULL, whole quarters of lines are assumed.
 *
 * Returns the chunk.
 * Returns UINT32_MAX if no chunk touched one.
 */
uint32_t ts_lines_find_touch(const struct ts_lines *set, const uint16_t *exact, uint64_t addr, uint64_t last, uint32_t chunk,
			     bool is_reverse);

/* Call @use with each line of the set (its address), by address, and each chunk that touched it, in order. */
void ts_lines_each(const struct ts_lines *set, void (*use)(void *user, uint64_t addr, uint32_t chunk),
		   void *user);

/* Call @use once with each line, and with its bytes that any chunk touched. */
void ts_lines_each_line(const struct ts_lines *set, void (*use)(void *user, uint64_t addr, uint16_t bytes),
			void *user);

/*
 * To an index file; from there, with its arrays, of a segment of @n_chunks chunks.  Loading returns false if
 * their lengths contradict each other.  Their contents are verified and bounded when it is read.
 */
void ts_lines_save(const struct ts_lines *set, struct ts_index_file *f);
bool ts_lines_load(struct ts_lines *set, struct ts_index_arrays *a, uint32_t n_chunks);

/* Bytes of memory that the set holds. */
size_t ts_lines_mem(const struct ts_lines *set);

#endif
