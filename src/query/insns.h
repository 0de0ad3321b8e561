/* SPDX-License-Identifier: MIT */
/*
 * The x86 instructions that steps executed, each decoded once where its bytes do not change.
 *
 * A query object keeps those that were asked for last; they go when the recording has grown.
 */
#ifndef TS_INSNS_H
#define TS_INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"
#include "src/arch/x86_insn.h"

#define TS_MAX_INSN_TEXT 96u

/* An instruction that was decoded, and the chunks in which it has these bytes. */
struct ts_decoded {
	uint64_t pc;
	uint32_t process;
	uint64_t first_chunk, end_chunk; /* from the first on, below the end; 0 and 0: there is none */
	bool is_insn;                    /* these bytes are one */
	struct ts_x86 x86;
	struct ts_x86_insn insn;
	struct ts_x86_fields fields;
	char text[TS_MAX_INSN_TEXT]; /* "": not made yet */
	uint8_t bytes[TS_X86_MAX_INSN];
	size_t len;
};

/* Has the recording an x86 processor?  Only then may the others be asked. */
bool ts_query_is_x86(const struct ts_query *q);

/*
 * The instruction of step @pos; ->is_insn is false if its bytes are not known, are no instruction, or are one
 * of 16-bit code.  It is valid until another instruction is asked for.
 *
 * Returns NULL if the trace cannot be read, or memory is exhausted.
 */
struct ts_decoded *ts_query_insn(struct ts_query *q, uint64_t pos, struct ts_error *err);

/* The instruction's text, "" if there is none. */
const char *ts_decoded_text(struct ts_decoded *d);

/*
 * The code of step @pos has 32 or 64 bits: x->is_64 gets that, if the recording tells.
 *
 * Returns false for 16-bit code, which is not decoded.
 */
bool ts_query_code_size(const struct ts_query *q, uint64_t pos, struct ts_x86 *x);

/*
 * From which chunk on the @len bytes of code at @pc are, to the end of @pos's chunk, what they are at @pos:
 * *first gets that, or the chunk after that of @pos where nothing tells.  Of a machine the page tables and
 * the mode are the same, too.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_query_code_since(struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos,
			 uint64_t *first, struct ts_error *err);

/* What a query object keeps; it frees it. */
struct ts_insns;

void ts_insns_free(struct ts_insns *x);

#endif
