/* SPDX-License-Identifier: MIT */
/*
 * Find the end of a match: the first later position at which the value is no longer at its address.  The
 * index lists the chunks that change these bytes; they are decoded in order, however far ahead they are.
 *
 * Looking ahead has a credit, counted in memory reads.  The caller raises the credit in proportion to the
 * work of its own scan.  So the first rows are reported at once, and looking ahead costs no more than the
 * scan.
 */
#ifndef TS_ASK_ENDS_H
#define TS_ASK_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/value.h"
#include "src/ask/verb.h"

struct ts_ends {
	const struct ts_ask *ask;     /* borrowed */
	const struct ts_value *value; /* borrowed */
	uint32_t process;
	uint64_t addr;        /* of the last call */
	uint64_t chunk;       /* for addr, chunks before this one have been searched; 0: none */
	int64_t credit;       /* memory reads that may still be spent */
	uint64_t n;           /* calls, which query the index */
	uint64_t n_looks;     /* memory reads that were spent; the caller resets it */
};

void ts_ends_init(struct ts_ends *e, const struct ts_ask *ask, const struct ts_value *value,
		  uint32_t process);

/*
 * Search the next chunk that changes the value, which is at @addr at position @pos.  If the end is found,
 * *is_found is set to true and *end to the first position > @pos at which the value is not there, TS_NO_POS
 * if there is none.  Otherwise call again; a later @pos is allowed.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_ends_look(struct ts_ends *e, uint64_t addr, uint64_t pos, uint64_t *end, bool *is_found,
		  struct ts_error *err);

#endif
