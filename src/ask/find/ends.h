/* SPDX-License-Identifier: MIT */
/*
 * Until when does a value stand at an address?  The index tells in which chunks its bytes are changed; these
 * are looked at one after the other, however far ahead they are.
 *
 * Such looks have a credit, which the user raises with what it spends on a scan that will find the same: so a
 * first row comes at once, and looking ahead costs at most as much again as the scan.
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
	uint64_t addr;        /* of the last look */
	uint64_t chunk;       /* the chunks before this one have been looked at for it; 0: none */
	int64_t credit;       /* looks at memory that may still be spent */
	uint64_t n;           /* questions to the index */
	uint64_t n_looks;     /* that were spent; the user takes them off */
};

void ts_ends_init(struct ts_ends *e, const struct ts_ask *ask, const struct ts_value *value,
		  uint32_t process);

/*
 * The value stands at @addr at @pos.  Look at the next chunk that changes it: *is_found gets true with *end
 * the first position > @pos at which it stands no more, TS_NO_POS if there is none.  Else call again, also
 * with a later @pos.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_ends_look(struct ts_ends *e, uint64_t addr, uint64_t pos, uint64_t *end, bool *is_found,
		  struct ts_error *err);

#endif
