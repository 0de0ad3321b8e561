/* SPDX-License-Identifier: MIT */
/*
 * What x86 instructions may change, by their encoding: each decoded once, and kept while it comes again soon.
 */
#ifndef LOADERS_BAP_RESULTS_H
#define LOADERS_BAP_RESULTS_H

#include "src/arch/x86_insn.h"

struct bap_result {
	uint64_t pc;
	uint8_t bytes[TS_X86_MAX_INSN + 1]; /* zeros after them */
	uint8_t len;                        /* of the bytes; 0: empty */
	bool is_insn;                       /* else the two below are empty */
	struct ts_x86_insn insn;            /* the memory that it uses */
	struct ts_x86_results results;      /* registers and flags */
};

struct bap_results;

/*
 * The instruction at @pc that @bytes (@len, not 0) begin with.  *table is made when it is first needed (NULL
 * before); the caller frees it with free().
 *
 * Returns it, valid until the next call; NULL if memory is exhausted.
 */
const struct bap_result *bap_results_find(struct bap_results **table, const struct ts_x86 *x, uint64_t pc,
					  const uint8_t *bytes, uint64_t len);

#endif
