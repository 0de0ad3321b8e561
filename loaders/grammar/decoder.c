/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "src/arch/operands.h"

/* Instructions that are remembered, by their addresses; a power of two. */
#define N_REMEMBERED 2048u

struct remembered {
	uint64_t pc;
	uint8_t code[GRAMMAR_MAX_CODE];
	uint8_t n_code;
	bool is_there;
	struct grammar_insn insn;
};

struct grammar_decoder {
	struct ts_decoder *decoder;   /* owned */
	const struct ts_image *memory; /* borrowed */
	struct remembered insns[N_REMEMBERED];
};

struct grammar_decoder *grammar_decoder_new(const struct ts_regset *set, const struct ts_image *memory,
					    struct ts_error *err)
{
	struct grammar_decoder *d = calloc(1, sizeof(*d));

	if (!d) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no decoder");
		return NULL;
	}
	d->memory = memory;
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

/* Accesses are as large as the memory operands, if these are all of one size. */
static void take_size(const struct ts_operands *ops, struct grammar_insn *insn)
{
	uint16_t size = ops->n_mem ? ops->mem[0].size : 0;

	for (unsigned i = 1; i < ops->n_mem; i++)
		size = ops->mem[i].size == size ? size : 0;
	insn->size = size <= 64 ? (uint8_t)size : 0;
	insn->is_load = insn->is_store = true; /* the line says which */
}

static void decode(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn)
{
	uint8_t bytes[GRAMMAR_MAX_CODE] = { 0 };
	size_t len = find_code(d, line, bytes);
	struct ts_operands ops;

	if (!len || !ts_decoder_decode(d->decoder, ts_decoder_mode(d->decoder), line->pc, bytes, len, &ops))
		return;
	insn->len = ops.len;
	take_size(&ops, insn);
	switch (ops.flow) {
	case TS_OP_NEXT: insn->flow = ops.is_repeated ? GRAMMAR_FLOW_ANY : GRAMMAR_FLOW_NEXT; break;
	case TS_OP_SYSCALL: insn->flow = GRAMMAR_FLOW_SYSCALL; break;
	default: insn->flow = GRAMMAR_FLOW_ANY; break;
	}
	insn->is_push = ops.flow == TS_OP_CALL || ops.flow == TS_OP_CALL_INDIRECT;
	insn->pushed = line->pc + ops.len;
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
