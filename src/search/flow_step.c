/* SPDX-License-Identifier: MIT */
#include "flow_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/arch/syscall_name.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/query/code/insns.h"
#include "src/query/paging.h"
#include "writes.h"

/* ------------------------------------------------------------------------------------------------ addresses */

bool ts_flow_as_recorded(struct ts_flow *f, uint64_t pos, struct ts_location *loc, struct ts_error *err)
{
	struct ts_translation t;

	if (!f->is_physical || loc->kind != TS_IN_MEMORY || !ts_paging_is_known(f->q))
		return true;
	if (!ts_translate_at(f->q, pos, loc->owner, loc->base, &t, err) || t.mapping != TS_MAPPED)
		return false;
	loc->base = t.phys;
	return true;
}

uint64_t ts_flow_find_from(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, unsigned *i, struct ts_error *err)
{
	struct ts_location there = *loc;

	return ts_flow_as_recorded(f, pos, &there, err) ? ts_taint_any(&f->taint, &there, i) : 0;
}

/* ----------------------------------------------------------------------------------------------------- hops */

static bool add_hop(struct ts_flow *f, uint64_t pos, enum ts_flow_kind kind, const struct ts_location *loc, uint64_t from,
		    struct ts_error *err)
{
	if (!(f->question.kinds >> kind & 1) || pos < f->question.from || pos >= f->question.to)
		return true;
	if (!ts_vec_reserve(&f->hops, f->n_hops, &f->cap_hops, 1, sizeof(*f->hops)))
		return ts_no_memory(err, "a flow");
	f->hops[f->n_hops++] = (struct ts_flow_hop){ pos, kind, *loc, from == UINT64_MAX ? TS_FLOW_BEGIN : from - 1 };
	return true;
}

/* The bytes of @loc that come from others, as a hop. */
static bool add_read(struct ts_flow *f, uint64_t pos, enum ts_flow_kind kind, const struct ts_location *loc,
		     struct ts_error *err)
{
	struct ts_location there = *loc, part = *loc;
	uint64_t from, mask = 0;
	unsigned i;

	if (!ts_flow_as_recorded(f, pos, &there, err))
		return err->code == TS_OK;
	from = ts_taint_any(&f->taint, &there, &i);
	if (!from)
		return true;
	for (uint64_t rest = loc->mask; rest; rest &= rest - 1) {
		i = (unsigned)__builtin_ctzll(rest);
		if (ts_taint_get(&f->taint, &there, i))
			mask |= UINT64_C(1) << i;
	}
	part.mask = mask;
	return add_hop(f, pos, kind, &part, from, err);
}

/* -------------------------------------------------------------------------------------------- what is written */

/* Are the bytes beside the last destination?  Then they become part of it: a string that is moved in pieces is one. */
static bool joins_last(struct ts_flow *f, uint32_t owner, uint64_t base, uint64_t len)
{
	struct ts_location *last = f->n_dest ? &f->dest[f->n_dest - 1] : NULL;
	uint64_t n = last ? 64 - (unsigned)__builtin_clzll(last->mask) : 0;

	if (!last || last->kind != TS_IN_MEMORY || last->owner != owner || len > 32 - n ||
	    (base != last->base + n && base + len != last->base))
		return false;
	last->base = base < last->base ? base : last->base;
	last->mask = ts_mask(0, n + len);
	return true;
}

static void add_dest(struct ts_flow *f, enum ts_location_kind kind, uint32_t owner, uint64_t base, uint64_t len)
{
	for (uint64_t n; len; base += n, len -= n) {
		n = len < 32 ? len : 32;
		if (kind == TS_IN_MEMORY && joins_last(f, owner, base, n))
			continue;
		f->is_full |= f->n_dest == TS_FLOW_MAX_DEST;
		if (f->is_full)
			return;
		f->dest[f->n_dest++] = (struct ts_location){ kind, owner, base, ts_mask(0, n) };
	}
}

/* Are all bytes part of destinations that are listed? */
static bool has_dest(const struct ts_flow *f, enum ts_location_kind kind, uint32_t owner, uint64_t base, uint64_t len)
{
	for (uint64_t at = base; at - base < len; at++) {
		bool is_in = false;

		for (unsigned i = 0; i < f->n_dest && !is_in; i++)
			is_in = f->dest[i].kind == kind && f->dest[i].owner == owner && ts_location_overlap(&f->dest[i], at, 1);
		if (!is_in)
			return false;
	}
	return true;
}

/* Flags are places of their own. */
static bool is_of_flags(const struct ts_flow *f, const struct ts_effect *e)
{
	const struct ts_regset *set = f->taint.set;

	return set->flags >= 0 && e->addr >= set->regs[set->flags].off &&
	       e->addr - set->regs[set->flags].off < set->regs[set->flags].len;
}

static void leave_out_results(struct ts_operands *ops)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ops->n; i++) {
		if (ops->transfers[i].way != TS_WAY_SYSTEM)
			ops->transfers[n++] = ops->transfers[i];
	}
	ops->n = (uint8_t)n;
}

/*
 * Copy the operands of step @pos, whose instruction is @d, to *ops, without those that a condition leaves out.  The results of
 * a system call of a program stay: its thread executes nothing before they arrive.
 */
static bool find_operands(struct ts_flow *f, uint64_t pos, const struct ts_decoded *d, struct ts_operands *ops,
			  struct ts_error *err)
{
	unsigned omits = 0;

	*ops = d->ops;
	if ((ops->condition != TS_IF_ALWAYS || (f->is_physical && ops->flow == TS_OP_SYSCALL)) &&
	    !ts_step_omits(f->q, pos, d, NULL, &omits, err))
		return false;
	if (f->is_physical && omits & TS_OMITS_RESULT)
		leave_out_results(ops);
	if (omits & TS_OMITS_CONDITIONAL)
		ts_operands_leave_out(ops);
	return true;
}

/* Registers that the operands write: the wider of two that overlap comes once, with the bytes of both. */
static void add_operand_dest(struct ts_flow *f, const struct ts_operands *ops, uint32_t thread)
{
	uint32_t flags = 0;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_FLAGS)
			flags |= to->flags;
		if (to->kind != TS_AT_REG || has_dest(f, TS_IN_REGS, thread, to->off, to->len))
			continue;
		for (unsigned k = 0; k < f->n_dest; k++) { /* what it covers is not listed beside it */
			if (f->dest[k].kind == TS_IN_REGS && f->dest[k].base >= to->off &&
			    f->dest[k].base + 64 - (unsigned)__builtin_clzll(f->dest[k].mask) <= (uint64_t)to->off + to->len)
				f->dest[k--] = f->dest[--f->n_dest];
		}
		add_dest(f, TS_IN_REGS, thread, to->off, to->len);
	}
	if (flags)
		f->dest[f->n_dest < TS_FLOW_MAX_DEST ? f->n_dest++ : TS_FLOW_MAX_DEST - 1] =
			(struct ts_location){ TS_IN_FLAGS, thread, 0, flags };
}

/* Memory that a machine's instruction writes, by virtual addresses. */
static bool add_machine_dest(struct ts_flow *f, uint64_t pos, const struct ts_operands *ops, uint32_t thread,
			     struct ts_error *err)
{
	uint32_t process = ts_query_process(f->q, thread);
	struct ts_op_state state;
	uint64_t addr;

	if (!ts_query_op_state(f->q, pos, thread, &state, err))
		return false;
	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_MEM && ts_operands_addr(ops, to->mem, &state, &addr) &&
		    !has_dest(f, TS_IN_MEMORY, process, addr + to->off, to->len))
			add_dest(f, TS_IN_MEMORY, process, addr + to->off, to->len);
	}
	return true;
}

/*
 * Add registers that the recording lists and the operands do not cover: the bytes that count as written.  The
 * others keep their sources.  @is_lost: the written bytes come from no followed byte.
 */
static bool add_recorded(struct ts_flow *f, uint64_t pos, uint32_t thread, uint64_t base, uint64_t len, bool is_lost,
			 struct ts_error *err)
{
	for (uint64_t n; len; base += n, len -= n) {
		struct ts_location loc = { TS_IN_REGS, thread, base, 0 };
		struct ts_written w;
		unsigned i;

		n = len < 32 ? len : 32;
		for (uint64_t k = 0; k < n; k++)
			loc.mask |= has_dest(f, TS_IN_REGS, thread, base + k, 1) ? 0 : UINT64_C(1) << k;
		if (!loc.mask || (is_lost && !ts_taint_any(&f->taint, &loc, &i)))
			continue;
		if (!ts_step_writes(f->q, pos, &loc, false, &w, err))
			return false;
		loc.mask &= w.mask;
		f->is_full |= loc.mask && f->n_dest == TS_FLOW_MAX_DEST;
		if (loc.mask && !f->is_full)
			f->dest[f->n_dest++] = loc;
	}
	return true;
}

/* Add the memory, or the registers, that the step's effects list as written. */
static bool add_effects(struct ts_flow *f, uint64_t pos, bool is_insn, bool is_memory, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(f->q, pos, &b, err);
	uint32_t thread = st ? st->thread : 0;

	for (uint32_t i = 0; st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		bool is_lost = is_insn || st->is_undone || thread != st->thread, is_own = is_memory && ts_effect_is_access(e, true);

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (is_own && e->len <= 32 * TS_FLOW_MAX_DEST)
			add_dest(f, TS_IN_MEMORY, ts_query_process(f->q, thread), e->addr, e->len);
		f->is_full |= is_own && e->len > 32 * TS_FLOW_MAX_DEST;
		if (is_memory || e->kind != TS_FX_REG_WRITE || is_of_flags(f, e))
			continue;
		if (!add_recorded(f, pos, thread, e->addr, e->len, is_lost, err))
			return false;
		st = ts_query_step(f->q, pos, &b, err); /* the question may have ended the loan */
	}
	return st != NULL;
}

/* The bytes that come from others and that mremap(2) moves, at their new addresses. */
static void add_moved_dest(struct ts_flow *f, uint64_t pos, uint32_t process)
{
	struct ts_moved m;
	const struct ts_taint_line *line;
	uint64_t at, end;

	if (!ts_step_moves(f->q, pos, &m))
		return;
	end = m.from + m.len;
	for (at = m.from; at < end && (line = ts_taint_line(&f->taint, process, at, end - 1)); at = line->addr + 16) {
		f->is_full |= f->n_dest == TS_FLOW_MAX_DEST;
		if (f->is_full)
			return;
		f->dest[f->n_dest++] = (struct ts_location){ TS_IN_MEMORY, process, line->addr + (m.to - m.from), ts_mask(0, 16) };
	}
}

static bool loses_registers(const struct ts_steps *b, const struct ts_step *st)
{
	for (uint32_t i = 0; i < st->n_effects; i++) {
		if (b->effects[st->first + i].kind == TS_FX_FORGET_REGS)
			return true;
	}
	return false;
}

/* Store the destinations that the step writes in f->dest. */
static bool find_dest(struct ts_flow *f, uint64_t pos, struct ts_error *err)
{
	const struct ts_decoded *d = ts_query_insn(f->q, pos, err);
	const struct ts_steps *b;
	const struct ts_step *st = d ? ts_query_step(f->q, pos, &b, err) : NULL;
	uint32_t thread = st ? st->thread : 0;
	bool is_insn = d && d->is_insn, may_move = !is_insn || d->ops.flow == TS_OP_SYSCALL;

	f->n_dest = 0;
	f->is_full = false;
	f->is_described = true;
	if (!st)
		return false;
	f->loses_registers = loses_registers(b, st);
	if (is_insn && !f->loses_registers) {
		struct ts_operands ops;

		if (!find_operands(f, pos, d, &ops, err))
			return false;
		add_operand_dest(f, &ops, thread);
		f->is_described = ops.is_complete;
		if (f->is_physical && !add_machine_dest(f, pos, &ops, thread, err))
			return false;
	}
	f->n_described = f->n_dest;
	if (!f->loses_registers && !add_effects(f, pos, is_insn, false, err))
		return false;
	f->n_registers = f->n_dest;
	if (!f->is_physical && !add_effects(f, pos, is_insn, true, err))
		return false;
	if (may_move && !f->is_physical)
		add_moved_dest(f, pos, ts_query_process(f->q, thread));
	f->taint.is_cut |= f->is_full;
	return true;
}

/* ------------------------------------------------------------------------------------------------- one place */

/* Is the place one that the instruction of step @pos may write: of its thread, or its process? */
static bool is_of_step(const struct ts_flow *f, uint64_t pos, const struct ts_location *loc)
{
	uint32_t thread = ts_query_thread(f->q, pos);

	return loc->owner == (loc->kind == TS_IN_MEMORY ? ts_query_process(f->q, thread) : thread);
}

/* The step through which the sources of byte @mask of @loc came; 0: from no followed byte. */
static bool find_source(struct ts_flow *f, uint64_t pos, struct ts_location loc, uint64_t mask, uint64_t *from, bool *is_copy,
			struct ts_error *err)
{
	unsigned i;

	*from = 0;
	loc.mask = mask;
	if (!is_of_step(f, pos, &loc)) /* a value of another thread has no source */
		return true;
	if (!ts_sources_find(&f->sources, f->q, pos, &loc, false, err))
		return false;
	for (unsigned k = 0; k < f->sources.n && !*from; k++) {
		const struct ts_made_of *s = &f->sources.items[k];

		if (s->kind != TS_FROM_PLACE)
			continue;
		*from = ts_flow_find_from(f, pos, &s->loc, &i, err);
		*is_copy = s->is_copy;
	}
	return err->code == TS_OK;
}

/* What becomes of the bytes of a destination: 1 + the step through which each came. */
struct fate {
	uint64_t from[64];
	uint64_t copied, computed, lost;
	uint64_t through; /* of the first byte that comes from others */
};

static bool find_fate(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, struct fate *x, struct ts_error *err)
{
	struct ts_location there = *loc;
	uint64_t from;
	bool is_copy = false, is_there = ts_flow_as_recorded(f, pos, &there, err);

	*x = (struct fate){ 0 };
	if (!find_source(f, pos, *loc, loc->mask, &from, &is_copy, err))
		return false;
	for (uint64_t rest = loc->mask; rest; rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rest);
		uint64_t bit = UINT64_C(1) << i, byte = 0;

		if (from && !find_source(f, pos, *loc, bit, &byte, &is_copy, err))
			return false;
		x->from[i] = byte;
		x->copied |= byte && is_copy ? bit : 0;
		x->computed |= byte && !is_copy ? bit : 0;
		x->lost |= !byte && is_there && ts_taint_get(&f->taint, &there, i) ? bit : 0;
		x->through = x->through ? x->through : byte;
	}
	return true;
}

static bool add_part(struct ts_flow *f, uint64_t pos, enum ts_flow_kind kind, const struct ts_location *loc, uint64_t mask,
		     uint64_t from, struct ts_error *err)
{
	struct ts_location part = *loc;

	part.mask = mask;
	return !mask || add_hop(f, pos, kind, &part, from, err);
}

/* The step by which the first of the bytes that are overwritten came. */
static uint64_t lost_from(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, uint64_t mask, struct ts_error *err)
{
	struct ts_location part = *loc;
	unsigned i;

	part.mask = mask;
	return mask ? ts_flow_find_from(f, pos, &part, &i, err) : 0;
}

/* Set the sources of the bytes from here on: through the step, or none. */
static bool apply(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, const struct fate *x, struct ts_error *err)
{
	struct ts_location there = *loc;

	if (!ts_flow_as_recorded(f, pos, &there, err))
		return err->code == TS_OK;
	for (uint64_t rest = loc->mask; rest; rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rest);

		if (!ts_taint_set(&f->taint, &there, i, x->from[i] ? pos + 1 : 0))
			return ts_no_memory(err, "a flow");
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------- one step */

/* Registers of addresses that come from others. */
static bool report_addresses(struct ts_flow *f, uint64_t pos, const struct ts_operands *ops, uint32_t thread,
			     struct ts_error *err)
{
	for (unsigned i = 0; i < ops->n_mem; i++) {
		const uint16_t offs[] = { ops->mem[i].base, ops->mem[i].index, ops->mem[i].extra };
		const uint8_t lens[] = { ops->mem[i].base_len, ops->mem[i].index_len, ops->mem[i].extra_len };

		for (unsigned k = 0; k < 3; k++) {
			struct ts_location loc = { TS_IN_REGS, thread, offs[k], ts_mask(0, lens[k]) };

			if (offs[k] != TS_NO_OFF16 && !add_read(f, pos, TS_FLOW_ADDRESS, &loc, err))
				return false;
		}
	}
	return true;
}

/* Bytes that select others of a table. */
static bool report_selectors(struct ts_flow *f, uint64_t pos, const struct ts_operands *ops, uint32_t thread, struct ts_error *err)
{
	struct ts_op_state state;
	uint64_t addr;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *from = &ops->transfers[i].from;
		struct ts_location loc = { TS_IN_REGS, thread, from->off, ts_mask(0, from->len) };

		if (ops->transfers[i].way != TS_WAY_SELECTOR || (from->kind != TS_AT_REG && from->kind != TS_AT_MEM))
			continue;
		if (from->kind == TS_AT_MEM) {
			if (!ts_query_op_state(f->q, pos, thread, &state, err))
				return false;
			if (!ts_operands_addr(ops, from->mem, &state, &addr))
				continue;
			loc = (struct ts_location){ TS_IN_MEMORY, ts_query_process(f->q, thread), addr + from->off, ts_mask(0, from->len) };
		}
		for (unsigned k = 0; k < from->len; k++) /* the lowest byte of each element */
			loc.mask &= k % ops->transfers[i].unit ? ~(UINT64_C(1) << k) : UINT64_MAX;
		if (!add_read(f, pos, TS_FLOW_ADDRESS, &loc, err))
			return false;
	}
	return true;
}

static bool report_call(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	for (size_t i = 0; i < f->question.n_arguments; i++) {
		struct ts_location loc = f->arguments[i];

		loc.owner = thread;
		if (!add_read(f, pos, TS_FLOW_CALL, &loc, err))
			return false;
	}
	return true;
}

/* What the next address is made of. */
static bool report_branch(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	struct ts_location pc = { TS_IN_PC, thread, 0, 1 };
	struct ts_sources *s = &f->sources;

	if (!ts_sources_find(s, f->q, pos, &pc, false, err))
		return false;
	for (unsigned i = 0; i < s->n; i++) {
		struct ts_location loc = s->items[i].loc;

		if (s->items[i].kind == TS_FROM_PLACE && !add_read(f, pos, TS_FLOW_BRANCH, &loc, err))
			return false;
	}
	return true;
}

/* Does the system call read memory of args[2] bytes at args[1]? */
static bool is_sent(const struct ts_flow *f, const struct ts_event *e)
{
	static const char *const names[] = { "write", "pwrite64", "send", "sendto" };
	char text[64];
	const char *name = ts_syscall_name(f->taint.set->arch, e->number, text, sizeof(text));

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return e->n_args >= 3;
	}
	return false;
}

static bool report_sent(struct ts_flow *f, uint64_t pos, const struct ts_event *e, uint32_t thread, struct ts_error *err)
{
	struct ts_location loc = { TS_IN_MEMORY, ts_query_process(f->q, thread), e->args[1], 0 };
	uint64_t len = e->args[2] > UINT64_MAX - loc.base ? UINT64_MAX - loc.base : e->args[2], end = loc.base + len;
	const struct ts_taint_line *line;

	while (loc.base < end && (line = ts_taint_line(&f->taint, loc.owner, loc.base, end - 1)) != NULL) {
		loc.base = line->addr > loc.base ? line->addr : loc.base;
		loc.mask = ts_mask(0, line->addr + 16 < end ? line->addr + 16 - loc.base : end - loc.base);
		if (!add_read(f, pos, TS_FLOW_OUTPUT, &loc, err))
			return false;
		loc.base = line->addr + 16;
	}
	return true;
}

static bool report_output(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	const struct ts_event_at *h = ts_query_find_event(f->q, TS_EV_SYSCALL, pos, false);

	if (!h || h->step != pos)
		return true;
	return (!is_sent(f, &h->event) || report_sent(f, pos, &h->event, thread, err)) && report_call(f, pos, thread, err);
}

/* What the instruction does with bytes that come from others, but for what it writes. */
static bool report_reads(struct ts_flow *f, uint64_t pos, uint32_t thread, bool *is_compare, struct ts_error *err)
{
	const struct ts_decoded *d = ts_query_insn(f->q, pos, err);
	struct ts_operands ops;

	*is_compare = false;
	if (!d || !report_output(f, pos, thread, err))
		return false;
	d = ts_query_insn(f->q, pos, err);
	f->n_unknown += d && !d->is_insn && !d->is_stopped;
	if (!d || !d->is_insn)
		return d != NULL;
	if (!find_operands(f, pos, d, &ops, err))
		return false;
	*is_compare = ops.flow == TS_OP_NEXT;
	for (unsigned i = 0; i < ops.n; i++)
		*is_compare &= ops.transfers[i].to.kind == TS_AT_FLAGS;
	if (!report_addresses(f, pos, &ops, thread, err) || !report_selectors(f, pos, &ops, thread, err))
		return false;
	if (ops.flow == TS_OP_CALL || ops.flow == TS_OP_CALL_INDIRECT) {
		if (!report_call(f, pos, thread, err))
			return false;
	}
	if (ops.flow == TS_OP_BRANCH || ops.flow == TS_OP_JUMP_INDIRECT || ops.flow == TS_OP_CALL_INDIRECT ||
	    ops.flow == TS_OP_RETURN)
		return report_branch(f, pos, thread, err);
	return true;
}

/* For a comparison, the hop has the compared operands, not the flags. */
static bool report_compare(struct ts_flow *f, uint64_t pos, const struct ts_location *flags, struct ts_error *err)
{
	struct ts_sources *s = &f->sources;

	if (!ts_sources_find(s, f->q, pos, flags, false, err))
		return false;
	for (unsigned i = 0; i < s->n; i++) {
		struct ts_location loc = s->items[i].loc;

		if (s->items[i].kind == TS_FROM_PLACE && !add_read(f, pos, TS_FLOW_COMPARE, &loc, err))
			return false;
	}
	return true;
}

static bool report_written(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, const struct fate *x,
			   bool is_compare, struct ts_error *err)
{
	uint64_t lost = lost_from(f, pos, loc, x->lost, err);

	if (loc->kind == TS_IN_FLAGS)
		return !is_compare || !(x->copied | x->computed) || report_compare(f, pos, loc, err);
	return add_part(f, pos, TS_FLOW_COPY, loc, x->copied, x->through, err) &&
	       add_part(f, pos, TS_FLOW_COMPUTE, loc, x->computed, x->through, err) &&
	       add_part(f, pos, TS_FLOW_OVERWRITTEN, loc, x->lost, lost, err);
}

/* All registers became unknown: they no longer come from others. */
static bool forget_registers(struct ts_flow *f, uint64_t pos, struct ts_error *err)
{
	const struct ts_regset *set = f->taint.set;

	for (uint32_t thread = 0; thread < f->taint.n_threads; thread++) {
		for (uint32_t i = 0; f->taint.threads[thread].n && i < set->n_regs; i++) {
			bool is_flags = (int)i == set->flags;
			struct ts_location loc = { is_flags ? TS_IN_FLAGS : TS_IN_REGS, thread, set->regs[i].off,
						   is_flags ? UINT64_MAX : ts_mask(0, set->regs[i].len) };

			loc.base = is_flags ? 0 : loc.base;
			if (!is_flags && !add_read(f, pos, TS_FLOW_OVERWRITTEN, &loc, err))
				return false;
			for (uint64_t rest = loc.mask; rest; rest &= rest - 1)
				ts_taint_set(&f->taint, &loc, (unsigned)__builtin_ctzll(rest), 0);
		}
	}
	return true;
}

/* Memory that is mapped, unmapped or lost no longer comes from others; nor do registers that are. */
static bool forget(struct ts_flow *f, uint64_t pos, struct ts_error *err)
{
	bool done = !f->loses_registers || forget_registers(f, pos, err);
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(f->q, pos, &b, err);
	uint32_t process = st ? ts_query_process(f->q, st->thread) : 0;
	struct ts_taint_line *line;

	for (uint32_t i = 0; done && st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		enum ts_writer_kind writer;
		bool is_gone = ts_effect_writes_memory(e, &writer) && (writer != TS_WRITER_STEP || f->is_full);

		if (e->kind == TS_FX_THREAD)
			process = ts_query_process(f->q, e->item);
		while (is_gone && (line = ts_taint_line(&f->taint, process, e->addr, e->addr + (e->len - 1)))) {
			struct ts_location loc = { TS_IN_MEMORY, process, line->addr, ts_mask(0, 16) };

			loc.mask &= ts_location_overlap(&loc, e->addr, e->len);
			if (!add_read(f, pos, TS_FLOW_OVERWRITTEN, &loc, err))
				return false;
			for (unsigned k = 0; k < 16; k++) {
				if (loc.mask >> k & 1)
					ts_taint_set(&f->taint, &loc, k, 0);
			}
		}
	}
	return done && st != NULL;
}

static int by_order(const void *a, const void *b)
{
	const struct ts_flow_hop *x = a;
	const struct ts_flow_hop *y = b;

	return TS_ORDER(x->kind, y->kind) ?: TS_ORDER(x->loc.kind, y->loc.kind) ?:
	       TS_ORDER(x->loc.base, y->loc.base) ?: TS_ORDER(x->loc.owner, y->loc.owner) ?:
	       TS_ORDER(x->loc.mask, y->loc.mask) ?: TS_ORDER(x->from, y->from);
}

/* test cl, cl has one source twice, and setnz cl one destination. */
static void sort_hops(struct ts_flow *f)
{
	size_t n = 0;

	if (f->n_hops)
		qsort(f->hops, f->n_hops, sizeof(*f->hops), by_order);
	for (size_t i = 0; i < f->n_hops; i++) {
		if (!n || by_order(&f->hops[n - 1], &f->hops[i]))
			f->hops[n++] = f->hops[i];
	}
	f->n_hops = n;
}

/* Bytes are overwritten by what the operands of the instruction do not name: it is unknown whether they are part of what came. */
static bool is_lost_unknown(const struct ts_flow *f, const struct fate *fates)
{
	for (unsigned i = f->n_described; !f->is_described && i < f->n_registers; i++) {
		if (fates[i].lost)
			return true;
	}
	return false;
}

/* All that the step writes is found before any of it counts as written. */
bool ts_flow_take_step(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	struct fate *fates;
	bool is_compare, done;

	f->n_hops = f->next_hop = 0;
	if (!report_reads(f, pos, thread, &is_compare, err) || !find_dest(f, pos, err))
		return false;
	fates = calloc(f->n_dest + 1, sizeof(*fates));
	done = fates || ts_no_memory(err, "a flow");
	for (unsigned i = 0; i < f->n_dest && done; i++)
		done = find_fate(f, pos, &f->dest[i], &fates[i], err) &&
		       report_written(f, pos, &f->dest[i], &fates[i], is_compare, err);
	f->n_unknown += done && is_lost_unknown(f, fates);
	done = done && forget(f, pos, err);
	for (unsigned i = 0; i < f->n_dest && done; i++)
		done = apply(f, pos, &f->dest[i], &fates[i], err);
	free(fates);
	sort_hops(f);
	return done;
}
