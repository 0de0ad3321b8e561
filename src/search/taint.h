/* SPDX-License-Identifier: MIT */
/*
 * Tainted bytes: the bytes of registers, flags and memory that were made of the bytes of the question, each with the step that
 * wrote it last.
 */
#ifndef TS_SEARCH_TAINT_H
#define TS_SEARCH_TAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "location.h"
#include "src/query/query.h"

/* The number of bytes of the layout that one bit of a register mask covers, and the number of words of such a mask. */
#define TS_TAINT_UNIT  8u
#define TS_TAINT_WORDS 16u

/* The maximum number of tainted lines of memory; bytes in further lines are not followed. */
#define TS_TAINT_MAX_LINES 65536u

/* A line of memory: 16 aligned bytes. */
struct ts_taint_line {
	uint64_t addr;    /* of its first byte, as effects have it */
	uint32_t process;
	uint32_t n;       /* the number of tainted bytes */
	uint64_t next;    /* no chunk before it, from `asked` on, touches the line */
	uint64_t asked;
	uint64_t from[16];
};

/* For each byte 1 + the step that wrote it; 0: the byte is not tainted. */
struct ts_taint_thread {
	uint64_t *regs;   /* owned; g_len items for registers, then 64 for flags; NULL: none was ever tainted */
	uint64_t mask[TS_TAINT_WORDS]; /* the units that may have tainted bytes; flags belong to the unit of their register */
	uint64_t n;
};

struct ts_taint {
	const struct ts_regset *set;    /* borrowed */
	struct ts_taint_thread *threads; /* owned */
	uint32_t n_threads;
	struct ts_taint_line *lines;    /* owned; by process and address */
	size_t n_lines, cap_lines;
	uint64_t n_memory;              /* the number of tainted bytes of memory */
	bool is_cut;                    /* there were too many lines */
};

/* Returns false if memory is exhausted.  Call ts_taint_fini() in both cases. */
bool ts_taint_init(struct ts_taint *t, const struct ts_regset *set, uint32_t n_threads);
void ts_taint_fini(struct ts_taint *t);

/*
 * Set the source of byte @i (of flags: bit @i) of the location to @from: 1 + the step through which it came,
 * or 0 for none.  Beyond TS_TAINT_MAX_LINES lines of memory, is_cut is set instead.  Returns false if memory is exhausted.
 */
bool ts_taint_set(struct ts_taint *t, const struct ts_location *loc, unsigned i, uint64_t from);

/* Returns 1 + the step that wrote byte @i of @loc; 0: the byte is not tainted. */
uint64_t ts_taint_get(const struct ts_taint *t, const struct ts_location *loc, unsigned i);

/* ts_taint_get() of the first byte in loc->mask with a source.  *i is set to that byte.  0: no byte has a source. */
uint64_t ts_taint_any(const struct ts_taint *t, const struct ts_location *loc, unsigned *i);

/* The first line with a byte in [@first, @last] that has a source, borrowed until a source is set; NULL if no line has one. */
struct ts_taint_line *ts_taint_line(const struct ts_taint *t, uint32_t process, uint64_t first, uint64_t last);

/* Is no byte tainted? */
bool ts_taint_is_empty(const struct ts_taint *t);

#endif
