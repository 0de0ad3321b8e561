/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "src/arch/operands/operands.h"

/* Instructions that are remembered, by their addresses; a power of two. */
#define N_REMEMBERED 2048u

struct remembered {
	uint64_t pc;
	uint8_t code[GRAMMAR_MAX_CODE];
	uint8_t n_code;
	bool is_there;
	struct grammar_insn insn;
};

/* ARM's instruction set bit (Arm ARM, "CPSR"). */
#define THUMB_BIT 0x20u

#define N_MOVES 512u /* a power of two */

struct remembered_moves {
	uint64_t pc;
	struct ts_op_mode mode;
	uint8_t code[GRAMMAR_MAX_CODE];
	uint8_t n_code;
	bool is_there, is_insn;
	struct grammar_moves moves;
};

struct grammar_decoder {
	const struct ts_arch *arch;   /* borrowed */
	bool is_arm;
	struct ts_decoder *decoder;   /* owned */
	const struct ts_image *memory; /* borrowed */
	struct remembered insns[N_REMEMBERED];
	struct remembered_moves moves[N_MOVES];
};

struct grammar_decoder *grammar_decoder_new(const struct ts_regset *set, const struct ts_image *memory,
					    struct ts_error *err)
{
	struct grammar_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return ts_no_memory(err, "a decoder");
	d->memory = memory;
	d->arch = set->arch;
	d->is_arm = !strcmp(set->arch->name, "arm");
	d->decoder = ts_decoder_new(set, err);
	if (d->decoder)
		return d;
	free(d);
	return NULL;
}

void grammar_decoder_free(struct grammar_decoder *d)
{
	if (d)
		ts_decoder_free(d->decoder);
	free(d);
}

/* The code at the line's address: its own, or the program's.  Returns how many bytes are known. */
static size_t find_code(const struct grammar_decoder *d, const struct grammar_line *line,
			uint8_t bytes[GRAMMAR_MAX_CODE])
{
	uint8_t known[GRAMMAR_MAX_CODE] = { 0 };
	size_t n = 0;

	if (d->memory->n_ranges && (!line->n_code || line->is_head)) {
		ts_image_fill(d->memory, 0, line->pc, TS_MAX_INSN, bytes, known);
		while (n < TS_MAX_INSN && known[n])
			n++;
	}
	if (n && n >= line->n_code && !memcmp(bytes, line->code, line->n_code))
		return n;
	memcpy(bytes, line->code, line->n_code);
	return line->n_code;
}

/* Bytes of an instruction of x86 that a head shows (enum grammar_order): zeros above those that are listed. */
#define HEAD_LEN 4u

/* The number of tried continuations of an instruction's first bytes. */
#define N_TAILS 3u

/*
 * The instruction whose code begins as the line's does, way @i of N_TAILS to go on after what is known.  Where all of
 * them are of one kind and length, the bytes that are not known are part of a displacement or of a constant: an
 * opcode, a mode byte or a scale byte of 0, 0xff and 0x25 makes a difference.
 */
static bool decode_tail(const struct grammar_decoder *d, const struct grammar_line *line, unsigned i, struct ts_operands *ops)
{
	static const uint8_t tails[N_TAILS] = { 0x00, 0xff, 0x25 };
	uint8_t bytes[TS_MAX_INSN] = { 0 };

	memset(bytes + HEAD_LEN, tails[i], sizeof(bytes) - HEAD_LEN);
	memcpy(bytes, line->code, line->n_code < HEAD_LEN ? line->n_code : HEAD_LEN);
	return ts_decoder_decode(d->decoder, ts_decoder_mode(d->decoder), line->pc, bytes, sizeof(bytes), ops);
}

static bool is_x86_head(const struct grammar_decoder *d, const struct grammar_line *line)
{
	return line->is_head && line->n_code && line->n_code <= HEAD_LEN && grammar_family_of(d->arch) == GRAMMAR_X86;
}

/* Do both have the same length, flow, and sizes of memory operands? */
static bool are_alike(const struct ts_operands *a, const struct ts_operands *b)
{
	for (unsigned i = 0; i < a->n_mem && a->n_mem == b->n_mem; i++) {
		if (a->mem[i].size != b->mem[i].size)
			return false;
	}
	return a->len == b->len && a->flow == b->flow && a->n_mem == b->n_mem && a->is_repeated == b->is_repeated;
}

/* Decode all ways to go on after a head.  Returns false if they are of several kinds. */
static bool decode_head(const struct grammar_decoder *d, const struct grammar_line *line, struct ts_operands ops[N_TAILS])
{
	for (unsigned i = 0; i < N_TAILS; i++) {
		if (!decode_tail(d, line, i, &ops[i]) || !are_alike(&ops[0], &ops[i]))
			return false;
	}
	return true;
}

/* Accesses are as large as the memory operands, if these are all of one size. */
static void take_size(const struct ts_operands *ops, struct grammar_insn *insn)
{
	uint16_t size = ops->n_mem ? ops->mem[0].size : 0;

	for (unsigned i = 1; i < ops->n_mem; i++)
		size = ops->mem[i].size == size ? size : 0;
	insn->size = size <= 64 ? (uint8_t)size : 0;
	insn->is_load = insn->is_store = true; /* the line says which */
}

/* A call to the instruction after it, which takes its own address so. */
static bool is_call_next(const uint8_t *bytes, unsigned len)
{
	static const uint8_t zeros[4];

	return len >= sizeof(zeros) && !memcmp(bytes + len - sizeof(zeros), zeros, sizeof(zeros));
}

static void decode(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn)
{
	uint8_t bytes[GRAMMAR_MAX_CODE] = { 0 };
	size_t len = find_code(d, line, bytes);
	struct ts_operands all[N_TAILS], *const ops = &all[0];

	if (!(len && ts_decoder_decode(d->decoder, ts_decoder_mode(d->decoder), line->pc, bytes, len, ops)) &&
	    !(is_x86_head(d, line) && decode_head(d, line, all)))
		return;
	insn->len = ops->len;
	take_size(ops, insn);
	switch (ops->flow) {
	case TS_OP_NEXT: insn->flow = ops->is_repeated ? GRAMMAR_FLOW_ANY : GRAMMAR_FLOW_NEXT; break;
	case TS_OP_SYSCALL: insn->flow = GRAMMAR_FLOW_SYSCALL; break;
	case TS_OP_BRANCH:
		insn->flow = ops->has_target ? GRAMMAR_FLOW_BRANCH : GRAMMAR_FLOW_ANY;
		insn->target = ops->target;
		break;
	case TS_OP_CALL: insn->flow = is_call_next(bytes, ops->len) ? GRAMMAR_FLOW_ANY : GRAMMAR_FLOW_CALL_ANY; break;
	case TS_OP_CALL_INDIRECT: insn->flow = GRAMMAR_FLOW_CALL_ANY; break;
	default: insn->flow = GRAMMAR_FLOW_ANY; break;
	}
	insn->is_push = ops->flow == TS_OP_CALL || ops->flow == TS_OP_CALL_INDIRECT;
}

void grammar_decoder_look(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn)
{
	struct remembered *r = &d->insns[(line->pc ^ line->pc >> 11) & (N_REMEMBERED - 1)];

	if (!r->is_there || r->pc != line->pc || r->n_code != line->n_code ||
	    memcmp(r->code, line->code, line->n_code) != 0) {
		r->is_there = true;
		r->pc = line->pc;
		r->n_code = line->n_code;
		memcpy(r->code, line->code, line->n_code);
		r->insn = *insn;
		decode(d, line, &r->insn);
	}
	*insn = r->insn;
}

/*
 * How the processor reads the line's code: ARM by its instruction set bit, by the line, or by what can only be Thumb.
 * Returns false if nothing determines it.
 */
static bool find_mode(const struct grammar_decoder *d, const struct grammar_line *line, const struct ts_op_state *state,
		      struct ts_op_mode *mode)
{
	uint16_t off = state->flags_off;

	*mode = ts_decoder_mode(d->decoder);
	if (!d->is_arm)
		return true;
	if (off != TS_NO_OFF16 && !memchr(state->known + off, 0, 4))
		mode->is_thumb = state->g[off] & THUMB_BIT;
	else
		mode->is_thumb = line->says & GRAMMAR_THUMB || line->n_code == 2 || line->pc & 2;
	return mode->is_thumb || (off != TS_NO_OFF16 && !memchr(state->known + off, 0, 4)) || (line->n_code == 4 && !line->is_head);
}

static bool decode_moves(struct grammar_decoder *d, const struct grammar_line *line, struct ts_op_mode mode,
			 struct grammar_moves *moves)
{
	uint8_t bytes[GRAMMAR_MAX_CODE] = { 0 };
	size_t len = find_code(d, line, bytes);
	struct ts_operands ops[N_TAILS];

	if (len && ts_decoder_decode(d->decoder, mode, line->pc, bytes, len, &ops[0])) {
		grammar_moves_take(moves, d->arch, line->pc, &ops[0]);
		return true;
	}
	if (!is_x86_head(d, line) || !decode_head(d, line, ops))
		return false;
	grammar_moves_take(moves, d->arch, line->pc, &ops[0]);
	for (unsigned i = 1; i < N_TAILS; i++) {
		struct grammar_moves others;

		grammar_moves_take(&others, d->arch, line->pc, &ops[i]);
		if (!grammar_moves_keep_common(moves, &others))
			return false;
	}
	return true;
}

const struct grammar_moves *grammar_decoder_moves(struct grammar_decoder *d, const struct grammar_line *line,
						  const struct ts_op_state *state)
{
	struct remembered_moves *r = &d->moves[(line->pc >> 1 ^ line->pc >> 10) & (N_MOVES - 1)];
	struct ts_op_mode mode;

	if (!find_mode(d, line, state, &mode))
		return NULL;
	if (!r->is_there || r->pc != line->pc || r->n_code != line->n_code || r->mode.is_thumb != mode.is_thumb ||
	    memcmp(r->code, line->code, line->n_code) != 0) {
		r->is_there = true;
		r->pc = line->pc;
		r->mode = mode;
		r->n_code = line->n_code;
		memcpy(r->code, line->code, line->n_code);
		r->is_insn = decode_moves(d, line, mode, &r->moves);
	}
	return r->is_insn ? &r->moves : NULL;
}
