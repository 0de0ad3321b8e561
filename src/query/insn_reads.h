/* SPDX-License-Identifier: MIT */
/*
 * Which memory a step read, by its instruction's operands: for recordings that hold code and registers, but no reads,
 * or not all.
 */
#ifndef TS_INSN_READS_H
#define TS_INSN_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "insns.h"

#define TS_MAX_INSN_READS 24u

struct ts_insn_reads {
	struct {
		uint64_t first, last;
	} items[TS_MAX_INSN_READS]; /* addresses as the recording has them: of a machine, physical ones; they may overlap */
	unsigned n;
	bool is_open; /* the code, or a register of an address, is not known: there may be others */
};

/* Which reads the recording lacks, for a sentence that goes on with "not recorded"; "" if none. */
const char *ts_query_lacking_reads(const struct ts_query *q);

/* Are reads to be had from the instructions?  No: all are recorded, or instructions are not decoded. */
bool ts_query_infers_reads(const struct ts_query *q);

/*
 * The reads of step @pos, whatever of them is recorded; those that are not.  A step that was borrowed before is to be asked for again.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_query_insn_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err);
bool ts_query_unrecorded_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err);

#endif
