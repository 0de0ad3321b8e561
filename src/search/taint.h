/* SPDX-License-Identifier: MIT */
/*
 * The bytes of registers, flags and memory that come from others, and the step through which each came.
 */
#ifndef TS_SEARCH_TAINT_H
#define TS_SEARCH_TAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "location.h"
#include "src/query/query.h"

/* Bytes of the layout that one bit of a mask of registers stands for, and words of such a mask. */
#define TS_TAINT_UNIT  8u
#define TS_TAINT_WORDS 16u

/* More lines of memory do not come from others. */
#define TS_TAINT_MAX_LINES 65536u

/* A line of memory: TS_TOUCHED_LEN bytes. */
struct ts_taint_line {
	uint64_t addr;    /* of its first byte, as effects have it */
	uint32_t process;
	uint32_t n;       /* bytes that come from others */
	uint64_t next;    /* no chunk before it, from `asked` on, touches the line */
	uint64_t asked;
	uint64_t from[16];
};

/* 1 + the step through which a byte came; 0: it does not come from others. */
struct ts_taint_thread {
	uint64_t *regs;   /* owned; g_len of them, then 64 flags; NULL: none was ever written */
	uint64_t mask[TS_TAINT_WORDS]; /* units of registers that may have some; flags are in that of their register */
	uint64_t n;
};

struct ts_taint {
	const struct ts_regset *set;    /* borrowed */
	struct ts_taint_thread *threads; /* owned */
	uint32_t n_threads;
	struct ts_taint_line *lines;    /* owned; by process and address */
	size_t n_lines, cap_lines;
	uint64_t n_memory;              /* bytes of memory */
	bool is_cut;                    /* there were too many lines */
};

/* Returns false if memory is exhausted.  Call ts_taint_fini() in both cases. */
bool ts_taint_init(struct ts_taint *t, const struct ts_regset *set, uint32_t n_threads);
void ts_taint_fini(struct ts_taint *t);

/*
 * Set the source of byte @i (of flags: bit @i) of the location to @from: 1 + the step through which it came,
 * or 0 for none.  Returns false if memory is exhausted.
 */
bool ts_taint_set(struct ts_taint *t, const struct ts_location *loc, unsigned i, uint64_t from);

/* Through which step, plus 1, byte @i came; 0: it does not come from others. */
uint64_t ts_taint_get(const struct ts_taint *t, const struct ts_location *loc, unsigned i);

/* ts_taint_get() of the first byte in loc->mask with a source.  *i is set to that byte.  0: there is none. */
uint64_t ts_taint_any(const struct ts_taint *t, const struct ts_location *loc, unsigned *i);

/* The first line with a byte in [@first, @last] that has a source; NULL if there is none. */
struct ts_taint_line *ts_taint_line(const struct ts_taint *t, uint32_t process, uint64_t first, uint64_t last);

/* Does anything come from others? */
bool ts_taint_is_empty(const struct ts_taint *t);

#endif
