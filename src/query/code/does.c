/* SPDX-License-Identifier: MIT */
#include "does.h"

/* The registers with a byte in [@off, @off + @len). */
static uint64_t regs_in(const struct ts_regset *set, uint64_t off, uint64_t len)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < set->n_regs; i++) {
		if (set->regs[i].off < off + len && off < (uint64_t)set->regs[i].off + set->regs[i].len)
			mask |= UINT64_C(1) << i % 64;
	}
	return mask;
}

struct ts_does ts_does_of_operands(const struct ts_regset *set, const struct ts_operands *ops)
{
	struct ts_does does = { 0 };

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_REG)
			does.regs |= regs_in(set, to->off, to->len);
		else if (to->kind == TS_AT_FLAGS)
			does.flags |= to->flags;
	}
	does.is_branch = ops->flow == TS_OP_BRANCH || ops->flow == TS_OP_JUMP_INDIRECT ||
			 ops->flow == TS_OP_CALL_INDIRECT || ops->flow == TS_OP_RETURN;
	return does;
}

struct ts_does ts_does_of_location(const struct ts_query *q, bool is_regs, uint64_t base, uint64_t mask)
{
	struct ts_does does = { 0 };

	if (!is_regs) {
		does.flags = (uint32_t)mask;
		does.is_branch = !mask;
		return does;
	}
	while (mask) { /* neighbouring bytes at a time */
		unsigned first = (unsigned)__builtin_ctzll(mask);
		uint64_t rest = mask >> first;
		unsigned len = ~rest ? (unsigned)__builtin_ctzll(~rest) : 64;

		does.regs |= regs_in(ts_query_regset(q), base + first, len);
		mask = first + len < 64 ? mask >> (first + len) << (first + len) : 0;
	}
	return does;
}
