/* SPDX-License-Identifier: MIT */
/*
 * The code of steps, decoded once for all chunks in which its bytes do not change.
 *
 * A query object caches recent instructions, until the recording grows.
 */
#ifndef TS_DECODE_H
#define TS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "does.h"
#include "src/query/query.h"
#include "src/arch/operands/operands.h"

/* An instruction that was decoded, and the chunks in which it has these bytes. */
struct ts_decoded {
	uint64_t pc;
	uint64_t first_chunk, end_chunk; /* chunks [first_chunk, end_chunk); 0 and 0: the entry is empty */
	uint64_t serial;                 /* unique in the query object */
	uint32_t process;
	bool is_insn;                    /* these bytes are one, and the step did what it does */
	bool is_stopped;                 /* a fault or an interrupt came instead: what the step did are its effects */
	struct ts_does does;             /* what it writes, whether or not it completed */
	uint32_t n_read;                 /* the number of bytes that it reads, if the recording has all its reads; 0: it reads no memory */
	struct ts_op_mode mode;
	size_t len; /* the number of known bytes; the instruction has ops.len bytes */
	uint8_t bytes[TS_MAX_INSN];
	char text[TS_MAX_OP_TEXT]; /* see ts_decoded_text(); "": not made yet */
	struct ts_operands ops;
};

/* The facts of an instruction without its operands. */
struct ts_insn_brief {
	struct ts_does does;
	uint32_t n_read;    /* as in struct ts_decoded */
	uint16_t len;
	bool is_syscall;
};

struct ts_insn_brief ts_query_brief_of(const struct ts_query *q, const struct ts_operands *ops);

/*
 * The instruction at @pc does so in all chunks from the one of @pos back to @first_chunk, and its bytes do not change in them:
 * ts_query_known_does() needs no decode.
 */
void ts_query_note_brief(struct ts_query *q, uint32_t process, uint64_t pc, const struct ts_insn_brief *brief, uint64_t pos,
			 uint64_t first_chunk);

/* Are the instructions of the recording's processor decoded? */
bool ts_query_has_operands(const struct ts_query *q);

/*
 * The code at the address of step @pos, whether or not its instruction completed (ts_query_insn()): is_insn says only that
 * the bytes are one.
 *
 * Returns the code, borrowed until the next call of this function or of ts_query_insn().
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_decoded *ts_query_code(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * Returns the code at the address of @st, a step of chunk @chunk, if it was decoded before.  It is valid until another
 * instruction is read.  The trace is not read.
 * Returns NULL if ts_query_code() must be used.
 */
const struct ts_decoded *ts_query_known_code(struct ts_query *q, uint64_t chunk, const struct ts_step *st);

/*
 * Set *does to what the instruction of @st, a step of chunk @chunk in batch @b, writes.  The trace is not read.
 *
 * Returns true with *does set.
 * Returns false if ts_query_insn() must be used: this code was not decoded before, the step has events, or it is a
 * system call.
 */
bool ts_query_known_does(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b, const struct ts_step *st,
			 struct ts_does *does);

/*
 * Returns true if the recording has all reads of memory of @st, a step of chunk @chunk in batch @b.  The trace is not read.
 * Returns false if ts_query_unrecorded_reads() must be used.
 */
bool ts_query_reads_are_recorded(const struct ts_query *q, uint64_t chunk, const struct ts_steps *b, const struct ts_step *st);

/*
 * As ts_query_code(), for a caller inside of a question about registers: the result of ts_query_insn() stays valid.
 *
 * Returns the code, borrowed until the next call of this function.
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
const struct ts_decoded *ts_query_code_aside(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * Set *len to the length in bytes of the instruction of step @pos.  It is @recorded, the length in the step,
 * unless the recording guesses_lengths (struct ts_facts) and instructions are decoded; then it is the length
 * of the decoded instruction, 0 if the bytes are not an instruction.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_insn_len(struct ts_query *q, uint64_t pos, uint16_t recorded, uint16_t *len, struct ts_error *err);

/* Returns the instruction's text, borrowed from @d; "" if the bytes are no instruction. */
const char *ts_decoded_text(struct ts_query *q, struct ts_decoded *d);

/*
 * Set *mode to the mode in which the processor reads the code of step @pos, as far as the recording has it.
 *
 * Returns false for 16-bit code, which is not decoded.
 */
bool ts_query_op_mode(struct ts_query *q, uint64_t pos, struct ts_op_mode *mode);

/* Decode bytes with the query object's decoder.  Returns as ts_decoder_decode(). */
bool ts_query_decode(struct ts_query *q, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		     struct ts_operands *ops);

/*
 * *first is set to the first chunk from which the @len bytes of code at @pc do not change until the end of
 * the chunk of @pos.  It is set to the chunk after that of @pos if they may change in that chunk, or if this
 * is not known.  In the recording of a machine the page tables that map @pc and the mode do not change
 * either.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_code_since(struct ts_query *q, uint32_t process, uint64_t pc, unsigned len, uint64_t pos,
			 uint64_t *first, struct ts_error *err);

/* Memory of the query object for the questions of insns.h. */
struct ts_insn_room {
	uint8_t *g;                /* owned; registers, and after them their known flags */
	struct ts_decoded stopped; /* of the last step that did not complete */
};

/*
 * Returns that memory, owned by the query object.
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_insn_room *ts_query_insn_room(struct ts_query *q, struct ts_error *err);

/* The cache of instructions, owned by the query object. */
struct ts_insns;

void ts_insns_free(struct ts_insns *x);

#endif
