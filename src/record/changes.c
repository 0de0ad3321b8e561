/* SPDX-License-Identifier: MIT */
/* Write changes that no instruction made as ops: of memory, when it is known whose they are, and of registers. */
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"

/* Append @from to @to, and empty it. */
static void move_piece(struct ts_op_piece *to, struct ts_op_piece *from)
{
	ts_op_piece_append(to, from);
	ts_op_piece_reset(from);
}

void ts_decode_settle(struct ts_log_decoder *d, struct ts_log_task *t)
{
	if (!d->loose.n_ops || !d->is_begun)
		return;
	if (t && t->call.is_open) {
		move_piece(&t->call.ops, &d->loose);
	} else if (d->modules && !d->is_waiting) { /* with what else changed, before the next step */
		ts_gap_settle(&d->gap);
		move_piece(&d->gap.ops, &d->loose);
	} else if (t && t->is_known) {
		ts_op_frames_piece(d->frames, t->pid, UCIR_FRAME, &d->loose);
	}
	ts_op_piece_reset(&d->loose);
}

void ts_decode_registers(struct ts_log_decoder *d, struct ts_log_task *t, struct ts_op_piece *p, const uint8_t *state,
			 bool is_all)
{
	ts_decode_registers_as(d, t, p, state, ts_log_guest_same_mmx(d->guest, t->mmx, t->state, state), is_all);
}

void ts_decode_registers_as(struct ts_log_decoder *d, struct ts_log_task *t, struct ts_op_piece *p, const uint8_t *state,
			    uint8_t mmx, bool is_all)
{
	const struct ts_log_guest *g = d->guest;

	for (unsigned i = 0; i < g->n_regs; i++) {
		const struct ts_guest_reg *r = &g->regs[i];
		uint32_t n = 0;
		uint8_t *at;

		if (r->kind == TS_GUEST_XMM || (!is_all && !ts_log_guest_differs(g, r, t->state, state)))
			continue;
		at = ts_op_piece_room(p, TS_GUEST_X87_PUT);
		if (!at)
			continue;
		at = ts_log_guest_put(g, r, state, mmx, at, &n);
		ts_op_piece_done(p, at, n);
	}
	memmove(t->state, state, g->n_state);
	t->mmx = mmx;
}
