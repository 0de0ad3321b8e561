/* SPDX-License-Identifier: MIT */
/*
 * A fast test that rules out most accesses to memory: may the value begin to stand somewhere by this one?
 *
 * The bytes of an access are compared with the value at all alignments at once.  Where they agree with a part
 * of it, the rest is compared with what memory holds around the access.
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
	TS_SIEVED_SAME,      /* memory held these bytes anyway */
	TS_SIEVED_OTHER,     /* the value begins to stand nowhere; it may end to stand somewhere */
	TS_SIEVED_DIFFERS,   /* as OTHER, but a read shows what the mirror did not hold; the mirror was corrected */
	TS_SIEVED_MAY_BEGIN, /* the value may begin to stand somewhere */
};

struct ts_sieve {
	struct ts_mirror mirror;       /* memory before the access that comes next */
	const struct ts_value *value;  /* borrowed */
	uint64_t last;                 /* of the address space */
	/* by byte: bit i is set if byte i of the value may be this one; of a value of at most 64 bytes */
	uint64_t accepts[256];
};

/*
 * Returns false if memory is exhausted (TS_ENOMEM); @s needs its fini either way.
 */
bool ts_sieve_init(struct ts_sieve *s, struct ts_query *q, const struct ts_value *value, uint32_t process,
		   struct ts_error *err);
void ts_sieve_fini(struct ts_sieve *s);

/*
 * Take effect @i of step @pos, a read or a write of a value in the sieve's process.  All effects on memory
 * since the first one that was taken must pass, in order.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_sieve_take(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		   enum ts_sieved *sieved, struct ts_error *err);

/*
 * Of a read that was taken as TS_SIEVED_OTHER because the mirror does not have its lines: did memory hold
 * these bytes anyway?  False of one that is too long to look.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_sieve_is_same(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint32_t i,
		      bool *is_same, struct ts_error *err);

/*
 * The line with @addr after step @pos, all effects of which were taken; *line gets NULL if it cannot be told.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_sieve_line(struct ts_sieve *s, const struct ts_steps *batch, uint64_t pos, uint64_t addr,
		   struct ts_mirror_line **line, struct ts_error *err);

#endif
