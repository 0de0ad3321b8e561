/* SPDX-License-Identifier: MIT */
#include "stepped.h"

#include <string.h>

#include "src/query/code/insns.h"
#include "src/query/paging.h"

/* The maximum distance in bytes from the call to the thread's next instruction. */
#define MAX_LACKING 32u

void ts_stepped_init(struct ts_stepped *s, struct ts_query *q, uint32_t thread, uint64_t from, uint64_t to, bool is_reverse)
{
	*s = (struct ts_stepped){ .q = q, .thread = thread, .is_reverse = is_reverse };
	s->next = ts_query_n_events_below(q, TS_EV_GAP, from);
	s->end = ts_query_n_events_below(q, TS_EV_GAP, to);
}

/* The address to which a call with pointer @value leads; TS_NO_PC if it is not known. */
static uint64_t address_of(const struct ts_arch *arch, uint64_t value)
{
	uint64_t high = value >> 48;

	if (!strncmp(arch->name, "aarch64", 7) && high && high != 0xffff)
		return TS_NO_PC; /* it is signed */
	if (arch->min_insn_len > 1)
		value &= ~UINT64_C(1); /* the mode of the code there */
	return value & ts_arch_addr_mask(arch);
}

/* The address that an indirect call of step @pos takes from a register or from memory; TS_NO_PC if it is not known. */
static bool find_indirect(const struct ts_stepped *s, uint64_t pos, uint32_t thread, const struct ts_operands *ops, uint64_t *target,
			  struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(s->q)->arch;
	const struct ts_op_place *from = NULL;
	unsigned word = arch->addr_bits / 8;
	uint8_t data[8], known[8];
	struct ts_op_state state;
	uint64_t addr;

	*target = TS_NO_PC;
	for (unsigned i = 0; i < ops->n; i++) {
		if (ops->transfers[i].to.kind == TS_AT_PC && (ops->transfers[i].from.kind == TS_AT_REG || ops->transfers[i].from.kind == TS_AT_MEM))
			from = &ops->transfers[i].from;
	}
	if (!from || from->len != word)
		return true;
	if (!ts_query_op_state(s->q, pos, thread, &state, err))
		return false;
	if (from->kind == TS_AT_REG) {
		memcpy(data, state.g + from->off, word);
		memcpy(known, state.known + from->off, word);
	} else if (!ts_operands_addr(ops, from->mem, &state, &addr)) {
		return true;
	} else if (!ts_virtual_mem(s->q, pos, ts_query_process(s->q, thread), addr + from->off, word, data, known, err)) {
		return false;
	}
	if (!memchr(known, 0, word))
		*target = address_of(arch, ts_arch_get(arch, data, word) + ops->target);
	return true;
}

/*
 * The thread goes on at call->end: behind the call, with its return address off the stack, the call has returned.  Where the first
 * instructions behind it are lacking, too, its result may be gone.
 */
static bool find_end(const struct ts_stepped *s, struct ts_call *call, uint64_t behind, struct ts_error *err)
{
	int sp = ts_query_regset(s->q)->sp;
	uint64_t pc = 0, before, after;
	bool has_pc, is_back;

	if (!ts_query_pc(s->q, call->end, call->thread, &pc, &has_pc, err))
		return false;
	is_back = has_pc && pc >= behind && pc - behind <= MAX_LACKING &&
		  ts_query_reg(s->q, call->pos, call->thread, sp, &before, err) && ts_query_reg(s->q, call->end, call->thread, sp, &after, err) &&
		  after >= before;
	if (!is_back)
		call->end = TS_NO_END;
	else if (pc == behind)
		call->kind = TS_CALL_RETURN;
	return err->code == TS_OK;
}

static bool is_call_insn(const struct ts_decoded *d)
{
	return d->is_insn && (d->ops.flow == TS_OP_CALL || d->ops.flow == TS_OP_CALL_INDIRECT);
}

/*
 * Find the call that a gap follows: the gap's own step, or the branch in whose delay slot that step is.
 *
 * Returns the instruction of the call; *pos is its position.
 * Returns NULL if the gap follows no call, or on failure.
 */
static const struct ts_decoded *find_call(const struct ts_stepped *s, const struct ts_event_at *gap, uint64_t *pos, struct ts_error *err)
{
	bool has_slots = ts_query_regset(s->q)->arch->has_delay_slots;
	const struct ts_decoded *d = ts_query_insn(s->q, gap->step, err);
	uint64_t pc = d ? d->pc : TS_NO_PC;

	*pos = gap->step;
	if (d && has_slots && !is_call_insn(d) && gap->step) {
		d = ts_query_insn(s->q, --*pos, err);
		if (d && d->pc + d->ops.len != pc)
			return NULL;
	}
	return d && is_call_insn(d) && ts_query_thread(s->q, *pos) == gap->thread ? d : NULL;
}

/* Set *is_call to whether the step of the gap is a call that the calls section lacks. */
static bool look(const struct ts_stepped *s, const struct ts_event_at *gap, struct ts_call *call, bool *is_call, struct ts_error *err)
{
	const struct ts_arch *arch = ts_query_regset(s->q)->arch;
	uint64_t pos, next = ts_query_next_step(s->q, gap->thread, gap->step + 1), pc;
	const struct ts_decoded *d = find_call(s, gap, &pos, err);
	struct ts_call open;

	*is_call = false;
	if (!d || (ts_query_innermost_call(s->q, gap->thread, gap->step + 1, &open) && open.pos == pos))
		return err->code == TS_OK;
	*call = (struct ts_call){ .pos = pos, .end = next == TS_NO_POS ? gap->step + 1 : next, .pc = d->pc, .target = TS_NO_PC,
				  .thread = gap->thread, .ordinal = TS_NO_CALL, .parent = TS_NO_CALL, .depth = 1, .kind = TS_CALL_OPEN };
	*is_call = true;
	pc = d->pc + d->ops.len + (arch->has_delay_slots ? arch->min_insn_len : 0);
	if (ts_query_innermost_call(s->q, gap->thread, pos, &open))
		call->depth = open.depth + 1;
	if (d->ops.flow == TS_OP_CALL && d->ops.has_target)
		call->target = d->ops.target;
	else if (d->ops.flow == TS_OP_CALL_INDIRECT && !find_indirect(s, pos, gap->thread, &d->ops, &call->target, err))
		return false;
	return find_end(s, call, pc, err);
}

enum ts_next ts_stepped_next(struct ts_stepped *s, struct ts_call *call, struct ts_budget *budget, struct ts_error *err)
{
	while (s->next < s->end) {
		const struct ts_event_at *gap = ts_query_event(s->q, TS_EV_GAP, s->is_reverse ? s->end - 1 : s->next);
		bool is_call = false;

		if (!ts_budget_take(budget))
			return TS_MORE;
		*(s->is_reverse ? &s->end : &s->next) += s->is_reverse ? UINT64_MAX : 1;
		if (!gap || (s->thread != TS_NO_THREAD && s->thread != gap->thread))
			continue;
		if (!look(s, gap, call, &is_call, err))
			return TS_FAIL;
		if (is_call)
			return TS_ITEM;
	}
	return TS_END;
}
