/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the verb strings share; private to strings*.c.
 *
 * strings.c goes over the steps, and gives the rows; strings_step.c looks at what a step reads and writes, in
 * strings_window.c's piece of memory; strings_growth.c has the texts that are being written, strings_list.c
 * those that were noted; strings_doubts.c tells which beginnings of a text are rows.
 */
#ifndef TS_ASK_STRINGS_PARTS_H
#define TS_ASK_STRINGS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/heap.h"
#include "src/ask/find/mirror.h"
#include "src/base/buf.h"
#include "texts.h"
#include "src/ask/verb.h"

/* A longer window is not taken from the mirror. */
#define TS_STRINGS_MAX_MIRRORED 4096u

/* How long a growing text was after a step. */
struct ts_growth_point {
	uint64_t pos;
	uint32_t n;
};

/* A text that the write at its end may go on with.  It has not been noted yet. */
struct ts_growth {
	uint64_t addr, end; /* end: the address after it */
	uint64_t used;      /* when */
	struct ts_buf chars;
	struct ts_buf points; /* struct ts_growth_point */
	uint32_t n_touches;   /* effects of the step that touch it */
	bool is_wide;
	bool is_there;
};

#define TS_STRINGS_N_GROWTHS 8u

/* Beginnings of a text that grew, which may still be shown. */
struct ts_doubt {
	uint64_t pos;   /* of the first one */
	uint64_t chunk; /* the last one that may decide it */
	uint32_t root;  /* ordinal of the text */
};

/* Where texts of a part of the recording are, which may have been seen before. */
struct ts_old_range {
	uint64_t first, last; /* addresses */
	uint64_t chunk;       /* the next one to look into; TS_NO_CHUNK: none */
	size_t n_young;       /* texts that have not been seen so far */
};

/* Long texts that were read lately and have not changed since: ordinals in items, plus 1. */
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
	struct ts_heap ready;  /* ordinals of texts that are rows and have not been told, in the table's order */
	struct ts_heap doubts; /* struct ts_doubt; by position */
	uint8_t *data;         /* owned; the window: values, then known flags */
	size_t cap_data;
	uint64_t addr; /* of the window */
	size_t len;
	uint64_t pos, to; /* the next step, and where they end */
	uint64_t n_looks;
	bool is_over, is_failed;
	bool is_part; /* only the steps asked about are looked at; then what comes before them: */
	struct ts_old_range *ranges; /* owned, by address; NULL: that has not begun */
	size_t n_ranges, n_young;
	struct ts_heap sorted;  /* struct ts_old_range: those that are not in ranges yet */
	struct ts_heap waiting; /* ordinals of ranges, that with the latest chunk first */
	size_t n_sorted, n_listed; /* texts whose ranges are or were in sorted, ranges that are or were in waiting */
	bool is_listed;
	uint64_t n_before;      /* ranges that were handled, for the budget */
	uint64_t below; /* chunks from here on have been looked at */
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
 * Does a change of [@first, @last] touch it?  What ends a text, and begins with the byte @begins, does not.
 */
static inline bool ts_strings_touches(const struct ts_growth *g, uint64_t first, uint64_t last,
				      uint8_t begins)
{
	return g->is_there && last + 2 >= g->addr &&
	       (first < g->end || (first == g->end && ts_strings_is_printable(begins)));
}

/*
 * The functions below that take an error return false if the trace cannot be read, or memory is exhausted.
 * Those that return nothing, and ts_strings_note(), set is_failed if memory is exhausted.
 */

/* Look at step x->pos. */
bool ts_strings_look_at_step(struct ts_strings *x, const struct ts_steps *batch, struct ts_error *err);

/* Read memory from @before bytes before the access to @after bytes after it, as it is after the step. */
bool ts_strings_read_window(struct ts_strings *x, uint64_t first, uint64_t last, uint64_t before,
			    uint64_t after, struct ts_error *err);

/* Does a run of characters that meets [@first, @last] reach the window's edge? */
bool ts_strings_is_short(const struct ts_strings *x, uint64_t first, uint64_t last);

/* Is a part of the text in WHAT? */
bool ts_strings_is_in_what(const struct ts_strings *x, uint64_t addr, size_t n, bool is_wide);

/* It is a row, if it is asked for. */
void ts_strings_show(struct ts_strings *x, struct ts_text *t);

/*
 * A text stands at @addr just after step @pos, which read or wrote a byte of it.  Returns NULL if it is not
 * in WHAT, or memory is exhausted.
 */
struct ts_text *ts_strings_note(struct ts_strings *x, uint64_t addr, uint64_t pos, const char *chars,
				size_t n, bool is_wide, bool is_read);

/*
 * Was what is read here read before, as a part of a long text that is still the same?  Its last byte is left
 * out: it may begin a wide text.
 */
bool ts_strings_is_recent(const struct ts_strings *x, const struct ts_effect *e, const uint8_t *value);

/* Texts that the effect touches, or stands next to, are looked at again. */
void ts_strings_forget_recent(struct ts_strings *x, const struct ts_effect *e);

/* The text that step x->pos left may grow at its end. */
void ts_strings_begin_growth(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide);

/* If the write goes on with the text, and does nothing else, the text becomes longer. */
bool ts_strings_grow(struct ts_strings *x, struct ts_growth *g, const struct ts_effect *e,
		     const uint8_t *value, bool *has_grown, struct ts_error *err);

/*
 * An access or another change of [@first, @last], the first byte of which is @begins then: texts that it
 * touches grow no more, but @grown (may be NULL).
 */
void ts_strings_end_growths(struct ts_strings *x, uint64_t first, uint64_t last, uint8_t begins,
			    const struct ts_growth *grown);

/* So do texts that have not grown for long; all when it @is_end. */
void ts_strings_end_old_growths(struct ts_strings *x, bool is_end);

/*
 * Beginnings of the text @root, the first one at @pos, may be rows.  Until the text is changed for the last
 * time nobody knows whether one of them stands again.
 */
void ts_strings_begin_doubt(struct ts_strings *x, const struct ts_text *root, uint64_t pos);

/* Does the effect touch a range with texts that have not been seen before the part so far? */
bool ts_strings_is_young(const struct ts_strings *x, const struct ts_effect *e);

/* The text was seen before the part. */
void ts_strings_seen_before(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide);

/* Is the question about so short a part that only its steps are looked at? */
bool ts_strings_is_part(const struct ts_strings *x);

/*
 * After the steps of the part: texts that were seen before it become old.
 *
 * Returns TS_GOT_END if that is done, TS_GOT_PENDING if the budget is used up, or TS_GOT_FAIL.
 */
enum ts_got ts_strings_look_before(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err);

/* Decide what can be decided before the step that comes next. */
bool ts_strings_decide(struct ts_strings *x, struct ts_error *err);

/* Does the one doubt (struct ts_doubt) have a lower position than the other?  For a heap. */
bool ts_strings_is_doubt_before(const void *user, const void *one, const void *other);

#endif
