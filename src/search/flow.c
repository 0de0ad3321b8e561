/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "src/arch/syscall_name.h"
#include "src/base/vec.h"
#include "src/query/insns.h"
#include "src/query/paging.h"
#include "taint.h"
#include "writes.h"

#define N_TOUCHES     4096u /* a power of two */
#define STEPS_A_CHUNK 1024u
#define MAX_DEST      64u   /* places that one step writes */

/* Which registers an instruction reads or writes, kept by its address and the chunks in which it has the same bytes. */
struct touch {
	uint64_t pc, first_chunk, end_chunk;
	uint32_t process;
	bool is_always; /* what it touches is not known: it is looked at whatever it is */
	bool has_load;
	uint64_t mask[TS_TAINT_WORDS];
};

struct ts_flow {
	struct ts_query *q; /* borrowed */
	struct ts_flow_question question;
	struct ts_location *arguments; /* owned; the question's */
	struct ts_taint taint;
	struct touch *touches; /* owned */
	uint64_t pos;          /* the next step to look at */
	uint64_t look_until;   /* steps before it are looked at one by one: one of them touches memory that comes from others */
	uint64_t busy_until;   /* steps before it are those of busy_thread */
	uint32_t busy_thread;
	unsigned n_looked;
	struct ts_flow_hop *hops; /* owned; of the last step: those from next_hop on are not reported yet */
	size_t n_hops, cap_hops, next_hop;
	struct ts_location dest[MAX_DEST]; /* of the step that is looked at */
	unsigned n_dest;
	struct ts_sources sources;
	bool is_physical, has_reads;
};

/* ------------------------------------------------------------------------------------------------ addresses */

/* The bytes as effects have them.  Returns false if a machine's tables do not map them, or the trace cannot be read. */
static bool as_recorded(struct ts_flow *f, uint64_t pos, struct ts_location *loc, struct ts_error *err)
{
	struct ts_translation t;

	if (!f->is_physical || loc->kind != TS_IN_MEMORY || !ts_paging_is_known(f->q))
		return true;
	if (!ts_translate_at(f->q, pos, loc->owner, loc->base, &t, err) || t.mapping != TS_MAPPED)
		return false;
	loc->base = t.phys;
	return true;
}

/* The source of a byte of @loc that comes from others; 0: there is none.  *i gets which byte. */
static uint64_t find_from(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, unsigned *i, struct ts_error *err)
{
	struct ts_location there = *loc;

	return as_recorded(f, pos, &there, err) ? ts_taint_any(&f->taint, &there, i) : 0;
}

/* ----------------------------------------------------------------------------------------------------- hops */

static bool add_hop(struct ts_flow *f, uint64_t pos, enum ts_flow_kind kind, const struct ts_location *loc, uint64_t from,
		    struct ts_error *err)
{
	if (!(f->question.kinds >> kind & 1) || pos < f->question.from || pos >= f->question.to)
		return true;
	if (!ts_vec_reserve(&f->hops, f->n_hops, &f->cap_hops, 1, sizeof(*f->hops)))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: a flow");
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

	if (!as_recorded(f, pos, &there, err))
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

/* -------------------------------------------------------------------------------------------- what is touched */

static void touch_range(struct touch *t, uint64_t off, uint64_t len)
{
	for (uint64_t unit = off / TS_TAINT_UNIT; len && unit <= (off + len - 1) / TS_TAINT_UNIT; unit++)
		t->mask[unit / 64 % TS_TAINT_WORDS] |= UINT64_C(1) << unit % 64;
}

static void touch_register(struct touch *t, uint16_t off, unsigned len)
{
	if (off != TS_NO_OFF16)
		touch_range(t, off, len);
}

static void touch_place(const struct ts_flow *f, struct touch *t, const struct ts_op_place *p)
{
	const struct ts_regset *set = f->taint.set;

	if (p->kind == TS_AT_REG)
		touch_range(t, p->off, p->len);
	else if (p->kind == TS_AT_FLAGS && set->flags >= 0)
		touch_range(t, set->regs[set->flags].off, 1);
}

static void touch_operands(const struct ts_flow *f, struct touch *t, const struct ts_operands *ops)
{
	for (unsigned i = 0; i < ops->n; i++) {
		touch_place(f, t, &ops->transfers[i].from);
		touch_place(f, t, &ops->transfers[i].to);
		t->has_load |= ops->transfers[i].from.kind == TS_AT_MEM;
	}
	for (unsigned i = 0; i < ops->n_mem; i++) {
		touch_register(t, ops->mem[i].base, ops->mem[i].base_len);
		touch_register(t, ops->mem[i].index, ops->mem[i].index_len);
		touch_register(t, ops->mem[i].extra, ops->mem[i].extra_len);
	}
	t->is_always = !ops->is_complete || ops->flow == TS_OP_SYSCALL || ops->flow == TS_OP_TRAP ||
		       ops->flow == TS_OP_CALL || ops->flow == TS_OP_CALL_INDIRECT;
}

/* What the instruction of step @pos touches; NULL if the trace cannot be read. */
static const struct touch *find_touch(struct ts_flow *f, uint64_t pos, const struct ts_step *st, struct ts_error *err)
{
	uint32_t process = ts_query_process(f->q, st->thread);
	struct touch *t = &f->touches[(st->pc ^ st->pc >> 12) & (N_TOUCHES - 1)];
	uint64_t pc = st->pc, chunk = pos / TS_CHUNK_STEPS;
	struct ts_decoded *d;

	if (t->pc == pc && t->process == process && chunk >= t->first_chunk && chunk < t->end_chunk)
		return t;
	d = ts_query_insn(f->q, pos, err);
	if (!d)
		return NULL;
	*t = (struct touch){ .pc = pc, .process = process, .first_chunk = d->first_chunk, .end_chunk = d->end_chunk };
	t->is_always = true;
	if (d->is_insn)
		touch_operands(f, t, &d->ops);
	return t;
}

static bool touches_registers(const struct ts_taint_thread *th, const struct touch *t)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TS_TAINT_WORDS; i++)
		any |= th->mask[i] & t->mask[i];
	return any != 0;
}

/* Does an effect of the step concern what comes from others? */
static bool touches_by_effects(const struct ts_flow *f, const struct ts_steps *b, const struct ts_step *st)
{
	uint32_t process = ts_query_process(f->q, st->thread);

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD || e->kind == TS_FX_FORGET_REGS || e->kind == TS_FX_EVENT)
			return true;
		if ((e->kind == TS_FX_READ || (e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET)) && e->len &&
		    f->taint.n_memory && ts_taint_line(&f->taint, process, e->addr, e->addr + (e->len - 1)))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- what is written */

static void add_dest(struct ts_flow *f, enum ts_location_kind kind, uint32_t owner, uint64_t base, uint64_t len)
{
	for (uint64_t n; len; base += n, len -= n) {
		n = len < 32 ? len : 32;
		if (f->n_dest == MAX_DEST)
			return;
		f->dest[f->n_dest++] = (struct ts_location){ kind, owner, base, ts_mask(0, n) };
	}
}

/* Are all bytes part of destinations that are listed? */
static bool has_dest(const struct ts_flow *f, enum ts_location_kind kind, uint64_t base, uint64_t len)
{
	for (uint64_t at = base; at - base < len; at++) {
		bool is_in = false;

		for (unsigned i = 0; i < f->n_dest && !is_in; i++)
			is_in = f->dest[i].kind == kind && ts_location_overlap(&f->dest[i], at, 1);
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

/* Registers that the operands write: the wider of two that overlap comes once, with the bytes of both. */
static void add_operand_dest(struct ts_flow *f, const struct ts_operands *ops, uint32_t thread)
{
	uint32_t flags = 0;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_FLAGS)
			flags |= to->flags;
		if (to->kind != TS_AT_REG || has_dest(f, TS_IN_REGS, to->off, to->len))
			continue;
		for (unsigned k = 0; k < f->n_dest; k++) { /* what it covers is not listed beside it */
			if (f->dest[k].kind == TS_IN_REGS && f->dest[k].base >= to->off &&
			    f->dest[k].base + 64 - (unsigned)__builtin_clzll(f->dest[k].mask) <= (uint64_t)to->off + to->len)
				f->dest[k--] = f->dest[--f->n_dest];
		}
		add_dest(f, TS_IN_REGS, thread, to->off, to->len);
	}
	if (flags)
		f->dest[f->n_dest < MAX_DEST ? f->n_dest++ : MAX_DEST - 1] =
			(struct ts_location){ TS_IN_FLAGS, thread, 0, flags };
}

/* Memory that a machine's instruction writes, by virtual addresses. */
static bool add_machine_dest(struct ts_flow *f, uint64_t pos, const struct ts_operands *ops, uint32_t thread,
			     struct ts_error *err)
{
	struct ts_op_state state;
	uint64_t addr;

	if (!ts_query_op_state(f->q, pos, thread, &state, err))
		return false;
	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *to = &ops->transfers[i].to;

		if (to->kind == TS_AT_MEM && ts_operands_addr(ops, to->mem, &state, &addr) &&
		    !has_dest(f, TS_IN_MEMORY, addr + to->off, to->len))
			add_dest(f, TS_IN_MEMORY, ts_query_process(f->q, thread), addr + to->off, to->len);
	}
	return true;
}

/* What the step writes, to f->dest. */
static bool find_dest(struct ts_flow *f, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_decoded *d = ts_query_insn(f->q, pos, err);
	const struct ts_step *st = d ? ts_query_step(f->q, pos, &b, err) : NULL;
	uint32_t thread;

	f->n_dest = 0;
	if (!st)
		return false;
	thread = st->thread;
	if (d->is_insn)
		add_operand_dest(f, &d->ops, thread);
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind == TS_FX_REG_WRITE && !is_of_flags(f, e) && !has_dest(f, TS_IN_REGS, e->addr, e->len))
			add_dest(f, TS_IN_REGS, thread, e->addr, e->len);
		if (e->kind == TS_FX_WRITE && !f->is_physical && e->len <= 32 * MAX_DEST)
			add_dest(f, TS_IN_MEMORY, ts_query_process(f->q, thread), e->addr, e->len);
	}
	return !f->is_physical || !d->is_insn || add_machine_dest(f, pos, &d->ops, thread, err);
}

/* ------------------------------------------------------------------------------------------------- one place */

/* Through which step what byte @mask of @loc is made of came; 0: from nothing that is followed. */
static bool find_source(struct ts_flow *f, uint64_t pos, struct ts_location loc, uint64_t mask, uint64_t *from, bool *is_copy,
			struct ts_error *err)
{
	unsigned i;

	*from = 0;
	loc.mask = mask;
	if (!ts_sources_find(&f->sources, f->q, pos, &loc, false, err))
		return false;
	for (unsigned k = 0; k < f->sources.n && !*from; k++) {
		const struct ts_made_of *s = &f->sources.items[k];

		if (s->kind != TS_FROM_PLACE)
			continue;
		*from = find_from(f, pos, &s->loc, &i, err);
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
	bool is_copy = false, is_there = as_recorded(f, pos, &there, err);

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
	return mask ? find_from(f, pos, &part, &i, err) : 0;
}

/* From here on the bytes come through the step, or from nothing. */
static bool apply(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, const struct fate *x, struct ts_error *err)
{
	struct ts_location there = *loc;

	if (!as_recorded(f, pos, &there, err))
		return err->code == TS_OK;
	for (uint64_t rest = loc->mask; rest; rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rest);

		if (!ts_taint_set(&f->taint, &there, i, x->from[i] ? pos + 1 : 0))
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: a flow");
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
	const struct ts_event_at *h = ts_query_next_event(f->q, TS_EV_SYSCALL, pos);

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
	if (!d || !d->is_insn)
		return d != NULL;
	ops = d->ops; /* a question in between may end the loan */
	*is_compare = ops.flow == TS_OP_NEXT;
	for (unsigned i = 0; i < ops.n; i++)
		*is_compare &= ops.transfers[i].to.kind == TS_AT_FLAGS;
	if (!report_addresses(f, pos, &ops, thread, err))
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

/* Of a comparison what it compares is told, not its flags. */
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

/* Memory that is mapped, unmapped or lost no longer comes from others. */
static bool forget_memory(struct ts_flow *f, uint64_t pos, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(f->q, pos, &b, err);
	uint32_t process = st ? ts_query_process(f->q, st->thread) : 0;
	struct ts_taint_line *line;

	for (uint32_t i = 0; st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		bool is_gone = e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET ||
			       (e->kind == TS_FX_WRITE && (e->is_hidden || e->len > 32 * MAX_DEST));

		while (is_gone && e->len && (line = ts_taint_line(&f->taint, process, e->addr, e->addr + (e->len - 1)))) {
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
	return st != NULL;
}

static int by_order(const void *a, const void *b)
{
	const struct ts_flow_hop *x = a;
	const struct ts_flow_hop *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->loc.kind != y->loc.kind)
		return x->loc.kind < y->loc.kind ? -1 : 1;
	return x->loc.base < y->loc.base ? -1 : x->loc.base > y->loc.base;
}

/* Look at a step as a whole.  All that it writes is found before any of it counts as written. */
static bool take_step(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	struct fate *fates;
	bool is_compare, done;

	f->n_hops = f->next_hop = 0;
	if (!report_reads(f, pos, thread, &is_compare, err) || !find_dest(f, pos, err))
		return false;
	fates = calloc(f->n_dest + 1, sizeof(*fates));
	done = fates || ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: a flow");
	for (unsigned i = 0; i < f->n_dest && done; i++)
		done = find_fate(f, pos, &f->dest[i], &fates[i], err) &&
		       report_written(f, pos, &f->dest[i], &fates[i], is_compare, err);
	done = done && forget_memory(f, pos, err);
	for (unsigned i = 0; i < f->n_dest && done; i++)
		done = apply(f, pos, &f->dest[i], &fates[i], err);
	free(fates);
	if (f->n_hops)
		qsort(f->hops, f->n_hops, sizeof(*f->hops), by_order);
	return done;
}

/* --------------------------------------------------------------------------------------------- which steps */

/* The first chunk from @chunk on in which the line may be touched. */
static uint64_t next_of_line(const struct ts_flow *f, struct ts_taint_line *l, uint64_t chunk)
{
	static const enum ts_access kinds[] = { TS_ACCESS_WRITE, TS_ACCESS_REPLACE, TS_ACCESS_READ };

	if (l->asked && l->asked <= chunk + 1 && l->next >= chunk)
		return l->next;
	l->next = TS_NO_CHUNK;
	l->asked = chunk + 1;
	for (unsigned i = 0; i < (f->has_reads ? 3u : 2u); i++) {
		uint64_t next = ts_query_next_access(f->q, kinds[i], l->process, l->addr, l->addr + 15, chunk);

		l->next = next < l->next ? next : l->next;
	}
	return l->next;
}

/* No thread has registers that come from others: the first chunk from @chunk on that touches memory that does. */
static uint64_t next_chunk(struct ts_flow *f, uint64_t chunk)
{
	uint64_t best = TS_NO_CHUNK;

	for (size_t i = 0; i < f->taint.n_lines && best != chunk; i++) {
		uint64_t next = f->taint.lines[i].n ? next_of_line(f, &f->taint.lines[i], chunk) : TS_NO_CHUNK;

		best = next < best ? next : best;
	}
	return best;
}

/* A system call may read memory that the recording does not say it read. */
static uint64_t next_call(const struct ts_flow *f)
{
	const struct ts_event_at *h = ts_query_next_event(f->q, TS_EV_SYSCALL, f->pos);

	return h ? h->step : TS_NO_POS;
}

/* The thread that runs has registers that come from others: each of its steps is looked at. */
static bool is_busy(struct ts_flow *f)
{
	uint32_t thread;

	if (f->pos < f->busy_until)
		return f->taint.threads[f->busy_thread].n != 0;
	thread = ts_query_thread(f->q, f->pos);
	if (!f->taint.threads[thread].n)
		return false;
	f->busy_thread = thread;
	f->busy_until = ts_query_slice_end(f->q, f->pos);
	return true;
}

/* Pass over steps that cannot matter. */
static void skip(struct ts_flow *f)
{
	uint64_t chunk = f->pos / TS_CHUNK_STEPS, next, touched;

	if (f->pos < f->look_until || f->pos >= f->question.to || is_busy(f))
		return;
	if (f->taint.n_memory && !f->has_reads)
		return; /* any step may read it */
	next = next_call(f);
	for (uint32_t i = 0; i < f->taint.n_threads && next > f->pos; i++) {
		uint64_t step = f->taint.threads[i].n ? ts_query_next_step(f->q, i, f->pos) : TS_NO_POS;

		next = step < next ? step : next;
	}
	if (next <= f->pos)
		return;
	touched = next_chunk(f, chunk);
	if (touched == chunk) {
		f->look_until = (chunk + 1) * TS_CHUNK_STEPS;
		return;
	}
	touched = touched == TS_NO_CHUNK ? TS_NO_POS : touched * TS_CHUNK_STEPS;
	f->pos = touched < next ? touched : next;
}

/* Without recorded reads: does the instruction load what comes from others? */
static bool loads(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err)
{
	const struct ts_decoded *d = ts_query_insn(f->q, pos, err);
	struct ts_op_state state;
	uint64_t addr;
	unsigned i;

	if (!d || !d->is_insn || !ts_query_op_state(f->q, pos, thread, &state, err))
		return true;
	for (unsigned k = 0; k < d->ops.n_mem; k++) {
		struct ts_location loc = { TS_IN_MEMORY, ts_query_process(f->q, thread), 0, ts_mask(0, 64) };

		if (d->ops.is_repeated || !ts_operands_addr(&d->ops, k, &state, &addr))
			return true;
		loc.base = addr;
		loc.mask = ts_mask(0, d->ops.mem[k].size ? d->ops.mem[k].size : 64);
		if (find_from(f, pos, &loc, &i, err))
			return true;
	}
	return false;
}

/* Is the step to be looked at?  *thread gets whose it is.  Returns false if the trace cannot be read. */
static bool judge(struct ts_flow *f, uint64_t pos, uint32_t *thread, bool *matters, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(f->q, pos, &b, err);
	const struct ts_taint_thread *th;
	const struct touch *t;

	if (!st)
		return false;
	*thread = st->thread;
	th = &f->taint.threads[st->thread];
	*matters = touches_by_effects(f, b, st);
	if (*matters || st->pc == TS_NO_PC || (!th->n && (f->has_reads || !f->taint.n_memory)))
		return true;
	t = find_touch(f, pos, st, err);
	if (!t)
		return false;
	*matters = (th->n && (t->is_always || touches_registers(th, t))) ||
		   (!f->has_reads && f->taint.n_memory && (t->has_load || t->is_always) && loads(f, pos, *thread, err));
	return err->code == TS_OK;
}

enum ts_got ts_flow_next(struct ts_flow *f, struct ts_flow_hop *hop, struct ts_budget *budget, uint64_t *at,
			 struct ts_error *err)
{
	uint64_t end = f->question.to;

	while (f->next_hop == f->n_hops) {
		uint32_t thread;
		bool matters;

		skip(f);
		*at = f->pos < end ? f->pos : end;
		if (f->pos >= end || ts_taint_is_empty(&f->taint))
			return TS_GOT_END;
		if (++f->n_looked % STEPS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		if (!judge(f, f->pos, &thread, &matters, err))
			return TS_GOT_FAIL;
		if (matters) {
			f->n_looked += 31;
			if (f->n_looked % STEPS_A_CHUNK < 32 && !ts_budget_take(budget))
				return TS_GOT_PENDING;
			if (!take_step(f, f->pos, thread, err))
				return TS_GOT_FAIL;
		}
		f->pos++;
	}
	*hop = f->hops[f->next_hop++];
	return TS_GOT_ROW;
}

bool ts_flow_is_cut(const struct ts_flow *f)
{
	return f->taint.is_cut;
}

/* ------------------------------------------------------------------------------------------------- opening */

static bool begin(struct ts_flow *f, struct ts_error *err)
{
	const struct ts_flow_question *q = &f->question;

	for (size_t i = 0; i < q->n_what; i++) {
		struct ts_location loc = q->what[i];

		if (!as_recorded(f, q->at, &loc, err)) {
			if (err->code != TS_OK)
				return false;
			continue;
		}
		for (uint64_t rest = loc.mask; rest; rest &= rest - 1) {
			if (!ts_taint_set(&f->taint, &loc, (unsigned)__builtin_ctzll(rest), UINT64_MAX))
				return false;
		}
	}
	return true;
}

struct ts_flow *ts_flow_open(struct ts_query *q, const struct ts_flow_question *question, struct ts_error *err)
{
	struct ts_flow *f = calloc(1, sizeof(*f));
	size_t len = question->n_arguments * sizeof(*f->arguments);

	if (f) {
		f->q = q;
		f->question = *question;
		f->pos = question->at;
		f->is_physical = ts_query_facts(q)->is_physical;
		f->has_reads = ts_query_facts(q)->has_reads;
		f->touches = calloc(N_TOUCHES, sizeof(*f->touches));
		f->arguments = malloc(len + 1);
		if (f->arguments && len)
			memcpy(f->arguments, question->arguments, len);
	}
	if (f && f->touches && f->arguments && ts_taint_init(&f->taint, ts_query_regset(q), ts_query_n_threads(q)) &&
	    begin(f, err))
		return f;
	ts_flow_close(f);
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory exhausted: a flow");
	return NULL;
}

void ts_flow_close(struct ts_flow *f)
{
	if (!f)
		return;
	ts_taint_fini(&f->taint);
	free(f->touches);
	free(f->arguments);
	free(f->hops);
	free(f);
}
