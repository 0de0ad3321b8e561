/* SPDX-License-Identifier: MIT */
/*
 * What wrote a register or memory last, for many places at once: the steps from which why goes on.
 *
 * The searches that were made are kept, so that the writers of a place, each before the one found last, cost
 * one pass over them.
 */
#ifndef TS_ASK_WRITERS_H
#define TS_ASK_WRITERS_H

#include <stdint.h>

#include "verb.h"
#include "what.h"

enum ts_writer_kind {
	TS_WRITER_STEP, /* the first three are those of history */
	TS_WRITER_MAP,
	TS_WRITER_UNEXPLAINED,
	TS_WRITER_INPUT, /* a system call */
};

struct ts_writer {
	uint64_t pos, pc; /* pc: TS_NO_PC if it is not known */
	uint32_t thread;
	enum ts_writer_kind kind;
};

struct ts_writers;

/* Returns NULL if memory is exhausted. */
struct ts_writers *ts_writers_new(struct ts_ask *ask);

/*
 * What wrote @place last before @before; a register is that of the thread @owner.  Of x86's flags it is the
 * last instruction that sets them, to whatever value.
 *
 * Returns TS_GOT_ROW: *w has it; TS_GOT_END: nothing wrote it; TS_GOT_PENDING: the budget is used up, ask
 * again for the same; TS_GOT_FAIL.  *at becomes the position up to which the flags' instructions have been
 * searched.
 */
enum ts_got ts_writers_find(struct ts_writers *ws, const struct ts_what *place, uint32_t owner,
			    uint64_t before, struct ts_writer *w, uint64_t *at, struct ts_budget *budget,
			    struct ts_error *err);

/*
 * The last conditional branch of @thread before @before; x86 only.  Returns as ts_writers_find(); w->kind is of no
 * meaning.
 */
enum ts_got ts_writers_find_branch(struct ts_writers *ws, uint32_t thread, uint64_t before,
				   struct ts_writer *w, uint64_t *at, struct ts_budget *budget,
				   struct ts_error *err);

void ts_writers_free(struct ts_writers *ws);

#endif
