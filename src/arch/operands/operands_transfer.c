/* SPDX-License-Identifier: MIT */
/* The transfers of an instruction, as the decoders of all processors append them. */
#include "operands_parts.h"

struct ts_transfer *ts_operands_add(struct ts_operands *ops, struct ts_op_place to, struct ts_op_place from,
				    enum ts_way way)
{
	struct ts_transfer *t;

	if (ops->n == TS_MAX_TRANSFERS) {
		/* the last one becomes: made of something that is not followed */
		ops->is_complete = false;
		t = &ops->transfers[ops->n - 1];
		t->way = TS_WAY_UNKNOWN;
		return t;
	}
	t = &ops->transfers[ops->n++];
	*t = (struct ts_transfer){ .to = to, .from = from, .way = (uint8_t)way };
	return t;
}

void ts_operands_set_selection(struct ts_transfer *t, const struct ts_selection *how)
{
	t->unit = how->unit;
	t->constant = how->shift | (uint64_t)how->mask << 8 | (uint64_t)how->zero << 16 | (uint64_t)how->first << 24;
}

unsigned ts_operands_selected(const struct ts_transfer *t, unsigned i, uint8_t selector)
{
	unsigned shift = t->constant & 255, mask = t->constant >> 8 & 255, zero = t->constant >> 16 & 255, first = t->constant >> 24 & 255;
	unsigned element = selector >> shift & mask;

	if (selector & zero || element < first || (element - first) * t->unit >= t->from.len)
		return t->from.len;
	return (element - first) * t->unit + i % t->unit;
}
