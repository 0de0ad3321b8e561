/* SPDX-License-Identifier: MIT */
#include "flow_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/code/insns.h"

#define N_TOUCHES     4096u /* a power of two */

/* The number of steps for one unit of the budget; a step that matters counts for more. */
#define STEPS_A_CHUNK  1024u
#define STEPS_A_MATTER 31u

/* Which registers an instruction reads or writes, kept by its address and the chunks in which it has the same bytes. */
struct ts_flow_touch {
	uint64_t pc, first_chunk, end_chunk;
	uint32_t process;
	bool is_always; /* what it touches is not known: it is examined whatever it is */
	bool has_load;
	uint64_t mask[TS_TAINT_WORDS];
};

/* -------------------------------------------------------------------------------------------- what is touched */

static void touch_range(struct ts_flow_touch *t, uint64_t off, uint64_t len)
{
	for (uint64_t unit = off / TS_TAINT_UNIT; len && unit <= (off + len - 1) / TS_TAINT_UNIT; unit++)
		t->mask[unit / 64 % TS_TAINT_WORDS] |= UINT64_C(1) << unit % 64;
}

static void touch_register(struct ts_flow_touch *t, uint16_t off, unsigned len)
{
	if (off != TS_NO_OFF16)
		touch_range(t, off, len);
}

static void touch_place(const struct ts_flow *f, struct ts_flow_touch *t, const struct ts_op_place *p)
{
	const struct ts_regset *set = f->taint.set;

	if (p->kind == TS_AT_REG)
		touch_range(t, p->off, p->len);
	else if (p->kind == TS_AT_FLAGS && set->flags >= 0)
		touch_range(t, set->regs[set->flags].off, 1);
}

static void touch_operands(const struct ts_flow *f, struct ts_flow_touch *t, const struct ts_operands *ops)
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

static size_t touch_slot(uint64_t pc)
{
	return (pc ^ pc >> 12) & (N_TOUCHES - 1);
}

/* The places that the instruction of step @pos touches.  Returns NULL if the trace cannot be read. */
static const struct ts_flow_touch *find_touch(struct ts_flow *f, uint64_t pos, const struct ts_step *st, struct ts_error *err)
{
	uint32_t process = ts_query_process(f->q, st->thread);
	struct ts_flow_touch *t = &f->touches[touch_slot(st->pc)];
	uint64_t pc = st->pc, chunk = pos / TS_CHUNK_STEPS;
	struct ts_decoded *d;

	if (t->pc == pc && t->process == process && chunk >= t->first_chunk && chunk < t->end_chunk)
		return t;
	d = ts_query_insn(f->q, pos, err);
	if (!d)
		return NULL;
	*t = (struct ts_flow_touch){ .pc = pc, .process = process, .first_chunk = d->first_chunk, .end_chunk = d->end_chunk };
	t->is_always = true;
	if (d->is_insn)
		touch_operands(f, t, &d->ops);
	return t;
}

static bool touches_registers(const struct ts_taint_thread *th, const struct ts_flow_touch *t)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < TS_TAINT_WORDS; i++)
		any |= th->mask[i] & t->mask[i];
	return any != 0;
}

/* Do registers [@off, @off + @len) of the thread come from others? */
static bool touches_range(const struct ts_taint_thread *th, uint64_t off, uint64_t len)
{
	if (!th->n || !len)
		return false;
	for (uint64_t unit = off / TS_TAINT_UNIT; unit <= (off + len - 1) / TS_TAINT_UNIT; unit++) {
		if (th->mask[unit / 64 % TS_TAINT_WORDS] >> unit % 64 & 1)
			return true;
	}
	return false;
}

/* Does an effect of the step concern what comes from others? */
static bool touches_by_effects(const struct ts_flow *f, const struct ts_steps *b, const struct ts_step *st)
{
	const struct ts_taint_thread *th = &f->taint.threads[st->thread];
	uint32_t process = ts_query_process(f->q, st->thread);

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD || e->kind == TS_FX_FORGET_REGS || e->kind == TS_FX_EVENT)
			return true;
		if (e->kind == TS_FX_REG_WRITE && touches_range(th, e->addr, e->len))
			return true;
		if ((e->kind == TS_FX_READ || (e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET)) && e->len &&
		    f->taint.n_memory && ts_taint_line(&f->taint, process, e->addr, e->addr + (e->len - 1)))
			return true;
	}
	return false;
}

/* --------------------------------------------------------------------------------------------- which steps */

/* The first chunk from @chunk on in which the line may be touched. */
static uint64_t next_of_line(const struct ts_flow *f, struct ts_taint_line *l, uint64_t chunk)
{
	unsigned accesses = TS_ACCESS_WRITE | TS_ACCESS_REPLACE | (f->has_reads ? TS_ACCESS_READ : 0);

	if (l->asked && l->asked <= chunk + 1 && l->next >= chunk)
		return l->next;
	l->asked = chunk + 1;
	l->next = ts_query_find_access(f->q, accesses, l->process, l->addr, l->addr + 15, chunk, TS_FORWARDS);
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

/* The next system call: it may read memory without a recorded read. */
static uint64_t next_call(const struct ts_flow *f)
{
	const struct ts_event_at *h = ts_query_find_event(f->q, TS_EV_SYSCALL, f->pos, false);

	return h ? h->step : TS_NO_POS;
}

/* The running thread has tainted registers: each of its steps is examined. */
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

		if (step != TS_NO_POS && step > f->pos)
			step--; /* with the step before it comes what happened to the thread's registers meanwhile */
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
		if (ts_flow_find_from(f, pos, &loc, &i, err))
			return true;
	}
	return false;
}

/*
 * Set whether the step must be examined, and *thread to its thread.  Returns false if the trace cannot be
 * read.
 */
static bool judge(struct ts_flow *f, uint64_t pos, uint32_t *thread, bool *matters, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(f->q, pos, &b, err);
	const struct ts_taint_thread *th;
	const struct ts_flow_touch *t;

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

/* Does judge() find that the step does not matter, as far as that is seen without a question to the recording? */
static bool is_passed(const struct ts_flow *f, const struct ts_steps *b, const struct ts_step *st, uint64_t chunk)
{
	const struct ts_taint_thread *th = &f->taint.threads[st->thread];
	const struct ts_flow_touch *t = &f->touches[touch_slot(st->pc)];

	if (st->n_effects && touches_by_effects(f, b, st))
		return false;
	if (st->pc == TS_NO_PC || (!th->n && (f->has_reads || !f->taint.n_memory)))
		return true;
	return t->pc == st->pc && chunk >= t->first_chunk && chunk < t->end_chunk &&
	       t->process == ts_query_process(f->q, st->thread) && !t->is_always && (!th->n || !touches_registers(th, t)) &&
	       (f->has_reads || !f->taint.n_memory || !t->has_load);
}

/* Go over the steps of one chunk that do not matter. */
static bool pass_over(struct ts_flow *f, struct ts_error *err)
{
	uint64_t chunk = f->pos / TS_CHUNK_STEPS, start = chunk * TS_CHUNK_STEPS, first = f->pos, end;
	const struct ts_steps *b;

	if (!ts_query_step_whole(f->q, f->pos, &b, err))
		return false;
	end = start + b->n_steps < f->question.to ? start + b->n_steps : f->question.to;
	while (f->pos < end && is_passed(f, b, &b->steps[f->pos - start], chunk))
		f->pos++;
	f->n_looked += (unsigned)(f->pos - first);
	return true;
}

static bool has_budget(struct ts_flow *f, unsigned n_steps, struct ts_budget *budget)
{
	f->n_looked += n_steps;
	if (f->n_looked < STEPS_A_CHUNK)
		return true;
	if (!ts_budget_take(budget))
		return false;
	f->n_looked = 0;
	return true;
}

enum ts_next ts_flow_next(struct ts_flow *f, struct ts_flow_hop *hop, struct ts_budget *budget, uint64_t *at,
			  struct ts_error *err)
{
	uint64_t end = f->question.to;

	while (f->next_hop == f->n_hops) {
		uint64_t before;
		uint32_t thread;
		bool matters;

		skip(f);
		*at = f->pos < end ? f->pos : end;
		if (f->pos >= end || ts_taint_is_empty(&f->taint))
			return TS_END;
		if (!has_budget(f, 1, budget))
			return TS_MORE;
		before = f->pos;
		if (!pass_over(f, err))
			return TS_FAIL;
		if (f->pos > before)
			continue;
		if (!judge(f, f->pos, &thread, &matters, err))
			return TS_FAIL;
		if (matters && !has_budget(f, STEPS_A_MATTER, budget))
			return TS_MORE;
		if (matters && !ts_flow_take_step(f, f->pos, thread, err))
			return TS_FAIL;
		f->pos++;
	}
	*hop = f->hops[f->next_hop++];
	return TS_ITEM;
}

bool ts_flow_is_cut(const struct ts_flow *f)
{
	return f->taint.is_cut;
}

uint64_t ts_flow_n_unknown(const struct ts_flow *f)
{
	return f->n_unknown;
}

/* ------------------------------------------------------------------------------------------------- opening */

static bool begin(struct ts_flow *f, struct ts_error *err)
{
	const struct ts_flow_question *q = &f->question;

	for (size_t i = 0; i < q->n_what; i++) {
		struct ts_location loc = q->what[i];

		if (!ts_flow_as_recorded(f, q->at, &loc, err)) {
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
		f->has_reads = ts_query_facts(q)->has_reads && !ts_query_facts(q)->misses_reads;
		f->touches = calloc(N_TOUCHES, sizeof(*f->touches));
		f->arguments = malloc(len + 1);
		if (f->arguments && len)
			memcpy(f->arguments, question->arguments, len);
	}
	if (f && f->touches && f->arguments && ts_taint_init(&f->taint, ts_query_regset(q), ts_query_n_threads(q)) &&
	    begin(f, err))
		return f;
	ts_flow_close(f);
	return ts_no_memory(err, "a flow");
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
