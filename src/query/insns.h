/* SPDX-License-Identifier: MIT */
/*
 * The instructions that steps executed, each decoded once where its bytes do not change.
 *
 * A query object keeps those that were asked for last; they go when the recording has grown.
 */
#ifndef TS_INSNS_H
#define TS_INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "does.h"
#include "query.h"
#include "src/arch/operands/operands.h"

/* An instruction that was decoded, and the chunks in which it has these bytes. */
struct ts_decoded {
	uint64_t pc;
	uint64_t first_chunk, end_chunk; /* from the first on, below the end; 0 and 0: there is none */
	uint64_t serial;                 /* of what was decoded: nothing else of the query object gets it */
	uint32_t process;
	bool is_insn;                    /* these bytes are one, and the step did what it does */
	bool is_stopped;                 /* a fault or an interrupt came instead: what the step did are its effects */
	struct ts_op_mode mode;
	size_t len; /* bytes that are known; those of the instruction are ops.len */
	uint8_t bytes[TS_MAX_INSN];
	char text[TS_MAX_OP_TEXT]; /* "": not made yet */
	struct ts_operands ops;
};

/* Are the instructions of the recording's processor decoded? */
bool ts_query_has_operands(const struct ts_query *q);

/*
 * The instruction of step @pos; ->is_insn is false if its bytes are not known, are no instruction, or are one
 * of 16-bit code, or if it did not complete (->is_stopped: ops.len and the text are those of an instruction that faulted).
 * It is valid until another instruction is asked for.
 *
 * Returns NULL if the trace cannot be read, or memory is exhausted.
 */
struct ts_decoded *ts_query_insn(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * The instruction of @st, a step of chunk @chunk in batch @b, if it was decoded before; it does not read the trace.  It has
 * completed, and is valid until another instruction is asked for.
 *
 * Returns NULL if only ts_query_insn() can tell: it was not decoded for this chunk, its bytes are no instruction, or the step
 * has events.
 */
const struct ts_decoded *ts_query_insn_at_hand(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b,
					       const struct ts_step *st);

/*
 * Set *does to what the instruction of @st, a step of chunk @chunk in batch @b, writes.  It does not read the trace.
 *
 * Returns false if only ts_query_insn() can tell: it was not asked for this code before, or the step has events.
 */
bool ts_query_does_at_hand(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b, const struct ts_step *st,
			   struct ts_does *does);

/* The code at the address of step @pos, as ts_query_insn(), whether or not it completed. */
struct ts_decoded *ts_query_code(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * The same for a caller inside a question about registers: what ts_query_insn() returned stays valid.  It is valid until
 * the next call.
 */
const struct ts_decoded *ts_query_code_aside(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * The length in bytes of the instruction of step @pos: @recorded, the length in the step, unless lengths are
 * guessed (ts_facts) and instructions are decoded.  Then *len is the decoded instruction's length, 0 if
 * there is no instruction.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_query_insn_len(struct ts_query *q, uint64_t pos, uint16_t recorded, uint16_t *len, struct ts_error *err);

/* The instruction's text, "" if there is none. */
const char *ts_decoded_text(struct ts_query *q, struct ts_decoded *d);

/*
 * How the processor reads the code of step @pos: *mode gets that, as far as the recording tells.
 *
 * Returns false for 16-bit code, which is not decoded.
 */
bool ts_query_op_mode(struct ts_query *q, uint64_t pos, struct ts_op_mode *mode);

/* Decode bytes as ts_decoder_decode() does, with the query object's decoder. */
bool ts_query_decode(struct ts_query *q, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		     struct ts_operands *ops);

/*
 * The registers of @thread before step @pos, for ts_operands_addr(); valid until the next call.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_query_op_state(struct ts_query *q, uint64_t pos, uint32_t thread, struct ts_op_state *state,
		       struct ts_error *err);

/* Do the conditional transfers of the instruction of step @pos happen?  Returns false as the above. */
bool ts_query_happens(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
		      enum ts_op_happens *happens, struct ts_error *err);

/*
 * *first is set to the first chunk from which the @len bytes of code at @pc do not change until the end of
 * the chunk of @pos.  It is set to the chunk after that of @pos if they may change in that chunk, or if this
 * is not known.  In the recording of a machine the page tables that map @pc and the mode do not change
 * either.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_query_code_since(struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos,
			 uint64_t *first, struct ts_error *err);

/* What a query object keeps; it frees it. */
struct ts_insns;

void ts_insns_free(struct ts_insns *x);

/*
 * Find the virtual address by which step @pos of a whole machine accessed the physical address @phys.  A memory operand in the page
 * of @phys decides.  Without one, *addr is set by ts_untranslate_at().  *is_found is false if no address is
 * found.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err);

#endif
