/* SPDX-License-Identifier: MIT */
/*
 * A fast test that rules out most accesses to memory: can this access create a match of the value?
 *
 * The bytes of an access are compared with the value at all alignments at once.  If they agree with a part of
 * the value, the rest of it is compared with memory around the access.
 */
#ifndef TS_ASK_SIEVE_H
#define TS_ASK_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "mirror.h"
#include "src/base/error.h"
#include "src/query/query.h"
#include "src/ask/grammar/value.h"

enum ts_sieved {
	TS_SIEVED_SAME,      /* memory already held these bytes */
	TS_SIEVED_OTHER,     /* no match begins; one may end */
	TS_SIEVED_DIFFERS,   /* as OTHER, but a read contradicts the mirror, which was corrected */
	TS_SIEVED_MAY_BEGIN, /* a match may begin */
};

struct ts_sieve {
	struct ts_mirror mirror;       /* memory before the next access */
	const struct ts_value *value;  /* borrowed */
	uint64_t last;                 /* of the address space */
	/* accepts[b]: bit i is set if byte i of the value can be b; i < 64 */
	uint64_t accepts[256];
};

/*
 * Returns false if memory is exhausted (TS_ENOMEM).  Call ts_sieve_fini() in both cases.
 */
bool ts_sieve_init(struct ts_sieve *s, struct ts_query *q, const struct ts_value *value, uint32_t process,
		   struct ts_error *err);
void ts_sieve_fini(struct ts_sieve *s);

/*
 * Process effect @i of step @pos, a read or a write of a value in the sieve's process.  From the first call
 * on, all effects on memory must be processed, in order.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_sieve_take(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		   enum ts_sieved *sieved, struct ts_error *err);

/*
 * For a read that was TS_SIEVED_OTHER because its lines are not cached: set *is_same to true if memory
 * already held these bytes, to false if it did not, if that is unknown, or if the read is too long to check.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_sieve_is_same(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		      bool *is_same, struct ts_error *err);

/*
 * Set *line to the line with @addr after step @pos, all effects of which have been processed; NULL if its
 * contents are uncertain.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_sieve_line(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint64_t addr,
		   struct ts_mirror_line **line, struct ts_error *err);

#endif
