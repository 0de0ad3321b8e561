/* SPDX-License-Identifier: MIT */
/*
 * A cache of memory lines for a scan over the steps, updated with each access.
 *
 * A line is read once.  From then on all accesses to the process's memory must be passed in, in order.
 */
#ifndef TS_ASK_MIRROR_H
#define TS_ASK_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"
#include "src/search/budget.h"

#define TS_MIRROR_LINE    64u
#ifndef TS_MIRROR_N_LINES
#define TS_MIRROR_N_LINES 4096u
#endif

/* Memory reads that cost as much as decoding a chunk. */
#define TS_LOOKS_A_CHUNK 16u

/* Index queries (the next change of a match) that cost as much as a memory read. */
#define TS_QUESTIONS_A_LOOK 8u

struct ts_mirror_line {
	uint64_t addr; /* of its first byte; 1: the slot is empty */
	uint8_t data[TS_MIRROR_LINE], known[TS_MIRROR_LINE];
};

struct ts_mirror {
	struct ts_query *q;           /* borrowed */
	uint32_t process;
	struct ts_mirror_line *lines; /* owned; each in the slot of its address */
	uint64_t n_loads;             /* lines that were read since ts_mirror_pay() */
};

/* Returns false if memory is exhausted (TS_ENOMEM).  Call ts_mirror_fini() in both cases. */
bool ts_mirror_init(struct ts_mirror *m, struct ts_query *q, uint32_t process, struct ts_error *err);
void ts_mirror_fini(struct ts_mirror *m);

/*
 * Charge *n_looks memory reads, and the lines read since the last call, to @budget; *n_looks gets those that are not
 * charged yet.  Returns false if the budget is used up.
 */
bool ts_mirror_pay(struct ts_mirror *m, uint64_t *n_looks, struct ts_budget *budget);

/* Drop all lines.  The next access may be at any position. */
void ts_mirror_clear(struct ts_mirror *m);

/*
 * Returns the line with the byte at @addr, borrowed until another line is loaded.
 * Returns NULL if the line is not cached.
 */
static inline struct ts_mirror_line *ts_mirror_find(const struct ts_mirror *m, uint64_t addr)
{
	struct ts_mirror_line *line = &m->lines[addr / TS_MIRROR_LINE % TS_MIRROR_N_LINES];

	return line->addr == (addr & ~(uint64_t)(TS_MIRROR_LINE - 1)) ? line : NULL;
}

/*
 * The line with @addr.  If it is not cached, it is read as it is at position @pos.
 *
 * Returns the line, borrowed until another line is loaded.
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
struct ts_mirror_line *ts_mirror_load(struct ts_mirror *m, uint64_t pos, uint64_t addr, struct ts_error *err);

/* Set the cached bytes of [@first, @last] to @value, which an access read or wrote. */
void ts_mirror_change(struct ts_mirror *m, uint64_t first, uint64_t last, const uint8_t *value);
void ts_mirror_change_line(struct ts_mirror_line *line, uint64_t first, uint64_t last, const uint8_t *value);

/* Drop the lines that overlap [@first, @last], which changed in another way. */
void ts_mirror_forget(struct ts_mirror *m, uint64_t first, uint64_t last);

#endif
