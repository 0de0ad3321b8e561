/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait, in recordings that have registers only before instructions (ts_facts.is_before).
 *
 * What a thread's last step before other threads' steps wrote to registers is recorded with the thread's next step.
 * Between the two no instruction of the thread runs, so that the registers of the next step are those after the last one.
 */
#ifndef TS_WAITING_H
#define TS_WAITING_H

#include "query.h"
#include "src/arch/operands/operands.h"

struct ts_waiting {
	uint64_t last; /* the thread's last step; TS_NO_POS: it does not wait, and the rest is not set */
	/*
	 * the thread's next step, of which the registers are those after `last`; TS_NO_POS if there is none, or
	 * instructions that were not recorded may have run before it
	 */
	uint64_t next;
	const struct ts_operands *ops; /* of `last`, valid until the next call; NULL: its instruction is not known */
};

/*
 * Does @thread wait at @pos?
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_waiting_find(struct ts_query *q, uint64_t pos, uint32_t thread, struct ts_waiting *w, struct ts_error *err);

#endif
