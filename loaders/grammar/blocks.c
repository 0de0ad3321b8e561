/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <string.h>

#include "src/arch/operands/operands.h"

/* The number of examined states. */
#define MAX_LOOKED 4096u

/* The bytes at @pc among those of modules at position 0.  Returns how many there are, at most TS_MAX_INSN. */
static size_t code_at(const struct ts_steps *initial, uint64_t pc, const uint8_t **bytes)
{
	for (uint32_t i = 0; i < initial->n_effects; i++) {
		const struct ts_effect *e = &initial->effects[i];

		if (e->kind != TS_FX_WRITE || e->data == TS_NO_DATA || pc - e->addr >= e->len)
			continue;
		*bytes = initial->data + e->data + (pc - e->addr);
		return e->len - (pc - e->addr) < TS_MAX_INSN ? (size_t)(e->len - (pc - e->addr)) : TS_MAX_INSN;
	}
	return 0;
}

/* Instructions that are known, those that lead to the next one, and those of them that do so in the log. */
struct counts {
	unsigned n_known, n_plain, n_followed;
};

static void count(struct ts_decoder *d, const struct ts_steps *initial, const struct ts_step *s, uint64_t next,
		  struct counts *c)
{
	struct ts_operands ops;
	const uint8_t *bytes;
	size_t len = code_at(initial, s->pc, &bytes);

	if (!len || !ts_decoder_decode(d, ts_decoder_mode(d), s->pc, bytes, len, &ops))
		return;
	c->n_known++;
	if (ops.flow != TS_OP_NEXT)
		return;
	c->n_plain++;
	c->n_followed += next == s->pc + ops.len || (ops.is_repeated && next == s->pc);
}

static bool count_steps(struct grammar_log *log, struct ts_decoder *d, struct ts_reader *r, struct counts *c,
			struct ts_error *err)
{
	struct ts_steps b;
	enum ts_next next = TS_ITEM;
	bool done;

	ts_steps_init(&b);
	while (b.n_steps < MAX_LOOKED && next == TS_ITEM)
		next = ts_reader_next(r, &b, err);
	for (uint32_t i = 0; i + 1 < b.n_steps; i++) {
		if (b.steps[i].thread == b.steps[i + 1].thread)
			count(d, &log->base.initial, &b.steps[i], b.steps[i + 1].pc, c);
	}
	done = next != TS_FAIL && !b.is_failed;
	if (b.is_failed)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for steps");
	ts_steps_fini(&b);
	return done;
}

bool grammar_find_blocks(struct grammar_log *log, struct ts_error *err)
{
	struct ts_decoder *d = ts_decoder_new(&log->base.regs, err);
	struct ts_reader *r = d ? grammar_reader_new(log, err) : NULL;
	struct counts c = { 0 };
	bool done = r && (!ts_decoder_is_able(d) || count_steps(log, d, r, &c, err));

	ts_reader_close(r);
	if (d)
		ts_decoder_free(d);
	/* of programs, a fifth of the instructions are branches; where routines are listed, nearly all are */
	log->is_blocks = c.n_plain - c.n_followed > c.n_plain / 10 || (c.n_known >= 8 && c.n_plain < c.n_known / 4);
	return done;
}
