/* SPDX-License-Identifier: MIT */
/*
 * The memory that a step read, derived from the operands of its instruction: for recordings that have code and registers, but
 * lack some or all reads.
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

/*
 * Returns the reads that the recording lacks, as the beginning of a sentence that ends with "not recorded", a literal:
 * "reads of memory are".  "" if all reads are recorded.
 */
const char *ts_query_lacking_reads(const struct ts_query *q);

/* Are reads derived from instructions?  Returns false if all reads are recorded, or if instructions are not decoded. */
bool ts_query_infers_reads(const struct ts_query *q);

/*
 * Set *r to all reads of step @pos; to those that are not recorded.  A step that the caller borrowed before may be invalid
 * afterwards.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_insn_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err);
bool ts_query_unrecorded_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err);

#endif
