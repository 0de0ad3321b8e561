/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the verb strings; private to strings*.c.
 *
 * strings.c scans the steps and returns the rows.  strings_step.c examines what a step reads and writes, and
 * strings_window.c reads the memory around it.  strings_note.c adds texts.  strings_growth.c tracks texts that are being
 * written, and decides which of their prefixes are rows.  strings_before.c finds which texts of a short range were seen
 * before it; strings_old.c marks them, and strings_values.c rules out chunks for that.
 */
#ifndef TS_ASK_STRINGS_PARTS_H
#define TS_ASK_STRINGS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/heap.h"
#include "src/ask/find/mirror.h"
#include "src/base/collections/buf.h"
#include "texts.h"
#include "src/ask/verb.h"

/* A longer window is not read through the mirror. */
#define TS_STRINGS_MAX_MIRRORED 4096u

/* The length of a growing text after a step. */
struct ts_growth_point {
	uint64_t pos;
	uint32_t n;
};

/* A text that a write at its end may extend.  It has not been added to the texts yet. */
struct ts_growth {
	uint64_t addr, end; /* end: the address after it */
	uint64_t used;      /* the clock when it last grew */
	struct ts_buf chars;
	struct ts_buf points; /* struct ts_growth_point */
	uint32_t n_touches;   /* effects of the step that touch it */
	bool is_wide;
	bool is_there;
};

#define TS_STRINGS_N_GROWTHS 8u

/* Prefixes of a text that grew, which may still become rows. */
struct ts_doubt {
	uint64_t pos;   /* of the first prefix */
	uint64_t chunk; /* the last chunk that may decide it */
	uint32_t root;  /* ordinal of the text */
};

/* A range of memory with texts of a part of the recording, which may occur before that part. */
struct ts_old_range {
	uint64_t first, last; /* addresses */
	uint64_t chunk;       /* the next chunk to search; TS_NO_CHUNK: none */
	size_t n_young;       /* texts that have not been seen before the part */
	size_t text, n_texts; /* its texts, in old_texts; while ranges are sorted: the ordinal of the text */
};

/* A range that accesses of a chunk touch, and where the values of its bytes begin. */
#define TS_STRINGS_MAX_DUE 32u

struct ts_due_range {
	size_t range, at;
};

struct ts_byte_values;

/* Cache of long texts that were read recently and have not changed since: ordinals in items, plus 1. */
#define TS_STRINGS_N_RECENT 16u

struct ts_strings {
	struct ts_rows rows;
	uint32_t recent[TS_STRINGS_N_RECENT];
	unsigned at_recent;
	struct ts_growth growths[TS_STRINGS_N_GROWTHS];
	uint64_t clock;
	struct ts_mirror mirror;
	uint32_t process;
	uint64_t first, last, min; /* addresses; characters */
	struct ts_texts texts;
	struct ts_buf text;
	struct ts_heap ready;  /* ordinals of texts whose rows have not been returned, in the table's order */
	struct ts_heap doubts; /* struct ts_doubt; by position */
	uint8_t *data;         /* owned; the window: values, then known flags */
	size_t cap_data;
	uint64_t addr; /* of the window */
	size_t len;
	uint64_t pos, to; /* the next step, and where they end */
	uint64_t n_looks;
	bool is_over, is_failed;
	bool is_part; /* only the steps of the question are scanned; then the texts before them: */
	struct ts_old_range *ranges; /* owned, by address; NULL: this has not begun */
	size_t n_ranges, n_young;
	uint32_t *old_texts; /* owned; ordinals of texts, range by range */
	size_t n_old_texts;
	struct ts_heap sorted;  /* struct ts_old_range: the ones that are not in ranges yet */
	struct ts_heap waiting; /* ordinals of ranges, latest chunk first */
	size_t n_sorted, n_listed; /* texts whose ranges are or were in sorted, ranges that are or were in waiting */
	bool is_listed;
	uint64_t n_before;      /* ranges processed, for the budget */
	uint64_t below; /* chunks from this one on have been searched */
	struct ts_due_range due[TS_STRINGS_MAX_DUE];
	size_t n_due;
	uint64_t due_lines; /* a bit for each line of memory, modulo 64 */
	struct ts_byte_values *values; /* owned; NULL: not needed so far */
};

/* Is it a character of a text? */
static inline bool ts_strings_is_printable(uint8_t c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\t';
}

/* Is there a character of @width bytes at offset @i of the window? */
static inline bool ts_strings_is_char(const struct ts_strings *x, size_t i, unsigned width)
{
	const uint8_t *known = x->data + x->len;

	if (i + width > x->len || !known[i] || !ts_strings_is_printable(x->data[i]))
		return false;
	return width == 1 || (known[i + 1] && !x->data[i + 1]);
}

/*
 * Does a change of [@first, @last], whose first byte becomes @begins, touch the text?  A change just after
 * the text that begins with a non-printable byte ends the text and does not touch it.
 */
static inline bool ts_strings_touches(const struct ts_growth *g, uint64_t first, uint64_t last,
				      uint8_t begins)
{
	return g->is_there && last + 2 >= g->addr &&
	       (first < g->end || (first == g->end && ts_strings_is_printable(begins)));
}

/*
 * The functions below that have no result, and ts_strings_note(), set is_failed if memory is exhausted.
 */

/*
 * Process step x->pos.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_strings_look_at_step(struct ts_strings *x, const struct ts_steps *batch, struct ts_error *err);

/*
 * Set the window to [@first - @before, @last + @after] around an access, as memory is after the step.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_strings_read_window(struct ts_strings *x, uint64_t first, uint64_t last, uint64_t before,
			    uint64_t after, struct ts_error *err);

/* Is a part of the text in WHAT? */
bool ts_strings_is_in_what(const struct ts_strings *x, uint64_t addr, size_t n, bool is_wide);

/* Make the text a row if it is in the range of the question. */
void ts_strings_show(struct ts_strings *x, struct ts_text *t);

/*
 * Add the text that is at @addr after step @pos, which read or wrote a byte of it.
 *
 * Returns the text, borrowed from x->texts.
 * Returns NULL if the text is not in WHAT.
 * Returns NULL if memory is exhausted.
 */
struct ts_text *ts_strings_note(struct ts_strings *x, uint64_t addr, uint64_t pos, const char *chars,
				size_t n, bool is_wide, bool is_read);

/*
 * Does the effect, which reads @value (NULL: unknown), read a part of a long text in the cache of recent texts?  The last byte of the text does
 * not count: it may begin a wide text.
 */
bool ts_strings_is_recent(const struct ts_strings *x, const struct ts_effect *e, const uint8_t *value);

/* Remove texts that the effect overlaps or adjoins from the cache of recent texts. */
void ts_strings_forget_recent(struct ts_strings *x, const struct ts_effect *e);

/* Track the text, as step x->pos left it: later writes may extend it. */
void ts_strings_begin_growth(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide);

/*
 * Extend the text by the write if the write continues the text and changes no other byte of it.  *has_grown
 * is set to whether it was extended.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_strings_grow(struct ts_strings *x, struct ts_growth *g, const struct ts_effect *e,
		     const uint8_t *value, bool *has_grown, struct ts_error *err);

/*
 * End the growth of all texts but @grown (may be NULL) that an access or a change of [@first, @last] touches.
 * @begins is the first byte of the range after it.
 */
void ts_strings_end_growths(struct ts_strings *x, uint64_t first, uint64_t last, uint8_t begins,
			    const struct ts_growth *grown);

/* End the growth of texts that have not grown for many steps; if @is_end, of all texts. */
void ts_strings_end_old_growths(struct ts_strings *x, bool is_end);

/* Does the effect touch a range with texts that have not been seen before the part so far? */
bool ts_strings_is_young(const struct ts_strings *x, const struct ts_effect *e);

/* Mark the text as seen before the part. */
void ts_strings_seen_before(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide);

/* Is the question about a part so short that only its steps are scanned? */
bool ts_strings_is_part(const struct ts_strings *x);

/*
 * After the steps of the part: mark the texts that were seen before it as old.
 *
 * Returns TS_END when this is done.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT), or if memory is exhausted.
 */
enum ts_next ts_strings_look_before(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err);

/*
 * Set *may to false if no text that has not been seen before the part is there after a step of the decoded @chunk.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_strings_may_have(struct ts_strings *x, uint64_t chunk, const struct ts_steps *batch, bool *may, struct ts_error *err);

/*
 * Decide the doubts that can be decided before the next step.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_strings_decide(struct ts_strings *x, struct ts_error *err);

/* Heap order: does the doubt @one have a lower position than @other? */
bool ts_strings_is_doubt_before(const void *user, const void *one, const void *other);

#endif
