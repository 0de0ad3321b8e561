/* SPDX-License-Identifier: MIT */
/*
 * Who called whom: made-up programs, whose calls are found again by the words of the definition, call by
 * call, from plain lists of every position's pc, stack pointer and stack.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "src/calls/linkage.h"
#include "src/calls/tracker.h"
#include "src/query/call_list.h"
#include "src/timeline/section.h"
#include "src/timeline/timeline.h"

#define MAX_STEPS     6000
#define MAX_THREADS   3
#define MAX_STACKS_OF 4
#define MAX_DEPTH     40
#define NO_POS        UINT64_MAX
#define END_PC        4

struct kind_of_processor {
	const char *arch, *sp, *link; /* link: NULL where calls push */
	unsigned word, insn, behind;  /* behind: bytes from the call to its return address */
	unsigned add;                 /* the link register holds the return address less this */
};

static const struct kind_of_processor processors[] = {
	{ "x86_64", "rsp", NULL, 8, 5, 5, 0 },  { "i386", "esp", NULL, 4, 5, 5, 0 },
	{ "m68k", "sp", NULL, 4, 6, 6, 0 },     { "arm", "sp", "lr", 4, 4, 4, 0 },
	{ "aarch64", "sp", "x30", 8, 4, 4, 0 }, { "mips", "r29", "r31", 4, 4, 8, 0 },
	{ "sparc64", "sp", "o7", 8, 4, 8, 8 },  { "riscv64", "sp", "ra", 8, 4, 4, 0 },
	{ "ppc", "r1", "lr", 4, 4, 4, 0 },      { "s390x", "r15", "r14", 8, 6, 6, 0 },
};
#define N_PROCESSORS (sizeof(processors) / sizeof(processors[0]))

/* One position of a thread, after one of its steps: the state there, and what that step did. */
struct place {
	uint64_t pos;         /* the step's + 1 */
	uint64_t pc, next_pc; /* of the step; of the thread's next one */
	uint64_t sp, lr;
	uint64_t top; /* word at sp, 0 unknown */
	unsigned stack;
	bool has_next, no_call;
};

struct frame {
	uint64_t ret, sp; /* where it returns; the stack pointer at its beginning */
	uint64_t body;    /* and in its body */
};

struct program {
	const struct kind_of_processor *cpu;
	struct script *s;
	struct script_random rnd;
	struct range_of {
		uint32_t off, len;
	} sp, lr;
	uint64_t n;
	struct thread_of {
		struct place places[MAX_STEPS];
		uint64_t n;
		uint64_t pc, sp, lr;
		unsigned stack;
		struct frame frames[MAX_STACKS_OF][MAX_DEPTH];
		unsigned depth[MAX_STACKS_OF];
		uint64_t left_sp[MAX_STACKS_OF], left_pc[MAX_STACKS_OF]; /* 0: the stack is new */
	} threads[MAX_THREADS];
};

static struct program prog;

static struct range_of find_reg(const char *name)
{
	const struct ts_regset *set = &prog.s->rec.regs;
	int i = ts_regset_find(set, name);

	ck_assert_msg(i >= 0, "%s", name);
	return (struct range_of){ set->regs[i].off, set->regs[i].len };
}

static void put_reg(struct range_of r, uint64_t value)
{
	uint8_t bytes[8];

	ts_arch_put(prog.s->rec.regs.arch, bytes, r.len, value);
	ts_steps_value(&prog.s->steps, TS_FX_REG_WRITE, r.off, bytes, r.len);
}

static void put_word(uint64_t addr, uint64_t value)
{
	uint8_t bytes[8];

	ts_arch_put(prog.s->rec.regs.arch, bytes, prog.cpu->word, value);
	ts_steps_value(&prog.s->steps, TS_FX_WRITE, addr, bytes, prog.cpu->word);
}

static void show_word(uint64_t addr, uint64_t value)
{
	uint8_t bytes[8];

	ts_arch_put(prog.s->rec.regs.arch, bytes, prog.cpu->word, value);
	ts_steps_value(&prog.s->steps, TS_FX_READ, addr, bytes, prog.cpu->word);
}

/* The thread's step from its pc to @next, with the effects that were put, and the state after it. */
static void step(unsigned thread, uint64_t next, uint64_t sp, uint64_t lr, uint64_t top)
{
	struct thread_of *t = &prog.threads[thread];
	struct place *before = t->n ? &t->places[t->n - 1] : NULL;

	if (sp != t->sp || !t->n)
		put_reg(prog.sp, sp);
	if (prog.cpu->link && (lr != t->lr || !t->n))
		put_reg(prog.lr, lr);
	if (prog.n % 7 == 3) /* effects of another thread could follow; the step stays this one's */
		ts_steps_effect(&prog.s->steps, TS_FX_THREAD, 0, 0)->item =
			(thread + 1) % prog.s->rec.n_threads;
	ts_steps_close(&prog.s->steps, t->pc, (uint16_t)prog.cpu->insn, thread);
	if (before) {
		before->next_pc = t->pc;
		before->has_next = true;
	}
	t->places[t->n++] = (struct place){
		.pos = ++prog.n,
		.pc = t->pc,
		.sp = sp,
		.lr = lr,
		.top = top,
		.stack = t->stack,
	};
	t->pc = next;
	t->sp = sp;
	t->lr = lr;
}

static uint64_t random_pc(void)
{
	return 0x10000 + script_below(&prog.rnd, 4096) * 16;
}

static void plain(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];

	step(thread, t->pc + prog.cpu->insn, t->sp, t->lr, 0);
}

/* Go to one of few addresses, from which functions are called: so that many calls return to one address. */
static void go_to_call_site(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];

	step(thread, 0x40000 + script_below(&prog.rnd, 12) * 64, t->sp, t->lr, 0);
}

static void delay_slot(unsigned thread, uint64_t target)
{
	struct thread_of *t = &prog.threads[thread];

	if (prog.s->rec.regs.arch->has_delay_slots)
		step(thread, target, t->sp, t->lr, 0);
}

static void call(unsigned thread, bool goes_on)
{
	struct thread_of *t = &prog.threads[thread];
	uint64_t ret, target;
	struct frame *f;

	if (t->depth[t->stack] == MAX_DEPTH)
		return;
	go_to_call_site(thread);
	ret = t->pc + prog.cpu->behind;
	target = goes_on ? ret : random_pc();
	if (!goes_on) {
		f = &t->frames[t->stack][t->depth[t->stack]++];
		*f = (struct frame){ ret, prog.cpu->link ? t->sp : t->sp - prog.cpu->word, t->sp };
	}
	if (prog.cpu->link) {
		bool has_slot = prog.s->rec.regs.arch->has_delay_slots;

		step(thread, has_slot ? t->pc + 4 : target, t->sp, ret - prog.cpu->add, 0);
		delay_slot(thread, target);
	} else {
		put_word(t->sp - prog.cpu->word, ret);
		step(thread, target, t->sp - prog.cpu->word, 0, ret);
	}
	if (!goes_on && script_chance(&prog.rnd, 60)) { /* a frame, now and then a large one */
		uint64_t len = 16 * (1 + script_below(&prog.rnd, script_chance(&prog.rnd, 20) ? 2000 : 12));

		step(thread, t->pc + prog.cpu->insn, t->sp - len, t->lr, 0);
	}
	if (!goes_on)
		f->body = t->sp;
}

static void ret(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];
	const struct frame *f;

	if (!t->depth[t->stack])
		return;
	f = &t->frames[t->stack][--t->depth[t->stack]];
	if (t->sp != f->sp)
		step(thread, t->pc + prog.cpu->insn, f->sp, t->lr, 0);
	if (prog.cpu->link) {
		bool has_slot = prog.s->rec.regs.arch->has_delay_slots;

		step(thread, t->pc + prog.cpu->insn, t->sp, f->ret - prog.cpu->add, 0);
		step(thread, has_slot ? t->pc + 4 : f->ret, t->sp, t->lr, 0);
		delay_slot(thread, f->ret);
	} else {
		step(thread, f->ret, t->sp + prog.cpu->word, 0, 0);
	}
}

/* Back to the body of a frame further out, of the same stack: what was called from there is over. */
static void longjmp_out(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];
	unsigned *depth = &t->depth[t->stack];

	if (*depth < 2)
		return;
	*depth -= 1 + (unsigned)script_below(&prog.rnd, *depth - 1);
	step(thread, random_pc() + 4, t->frames[t->stack][*depth - 1].body, t->lr, 0);
}

static uint64_t stack_top(unsigned thread, unsigned stack)
{
	return 0x20000000 + thread * 0x4000000 + stack * 0x200000;
}

/* To another of the thread's stacks, where it was left. */
static void switch_stack(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];
	unsigned to = (unsigned)script_below(&prog.rnd, MAX_STACKS_OF);
	uint64_t sp = t->left_sp[to] ? t->left_sp[to] : stack_top(thread, to);
	uint64_t next = t->left_sp[to] ? t->left_pc[to] : random_pc();

	if (to == t->stack)
		return;
	t->left_sp[t->stack] = t->sp;
	t->left_pc[t->stack] = t->pc + prog.cpu->insn;
	t->stack = to;
	if (script_chance(&prog.rnd, 50))
		show_word(0x5000, sp);
	step(thread, next, sp, t->lr, 0);
}

/* An interrupt's handler runs on the same stack and comes back; it calls nothing here. */
static void handle_interrupt(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];
	uint64_t sp = t->sp, lr = t->lr, back = t->pc + prog.cpu->insn;

	if (prog.cpu->link && prog.s->rec.regs.arch->has_delay_slots)
		return;
	put_word(sp - 1024, back); /* looks like a call */
	ts_steps_event(&prog.s->steps, TS_EV_INTERRUPT);
	ts_steps_effect(&prog.s->steps, TS_FX_EVENT, 0, 0)->item = prog.s->steps.n_events - 1;
	step(thread, random_pc(), sp - 1024, lr, back);
	t->places[t->n - 1].no_call = true;
	plain(thread);
	step(thread, back, sp, lr, 0);
}

/*
 * What a signal's handler called is over when it returns; where calls push, also when longjmp leaves it for the
 * frame that it interrupted.
 */
static void handle_signal(unsigned thread)
{
	struct thread_of *t = &prog.threads[thread];
	uint64_t sp = t->sp, lr = t->lr, back = t->pc + prog.cpu->insn;
	uint64_t handler = sp - 16 * (16 + script_below(&prog.rnd, 300));
	unsigned depth = t->depth[t->stack], n = (unsigned)script_below(&prog.rnd, 4);

	ts_steps_event(&prog.s->steps, TS_EV_SIGNAL);
	ts_steps_effect(&prog.s->steps, TS_FX_EVENT, 0, 0)->item = prog.s->steps.n_events - 1;
	step(thread, random_pc(), handler, lr, 0);
	if (script_chance(&prog.rnd, 50))
		step(thread, t->pc + prog.cpu->insn, t->sp - 16 * script_below(&prog.rnd, 300), lr, 0);
	while (n--)
		call(thread, false);
	if (script_chance(&prog.rnd, 30))
		handle_signal(thread);
	while (t->depth[t->stack] > depth && (prog.cpu->link || script_chance(&prog.rnd, 50)))
		ret(thread);
	t->depth[t->stack] = depth;
	step(thread, back, sp, lr, 0);
}

/* Where the thread that ran last stands is known. */
static void end_program(void)
{
	const struct ts_steps *b = &prog.s->steps;
	struct thread_of *t = &prog.threads[b->steps[b->n_steps - 1].thread];

	t->places[t->n - 1].next_pc = END_PC;
	t->places[t->n - 1].has_next = true;
}

static void random_program(uint64_t seed, const struct kind_of_processor *cpu, uint64_t n_steps)
{
	unsigned n_threads;

	memset(&prog, 0, sizeof(prog));
	prog.rnd.state = seed;
	prog.cpu = cpu;
	n_threads = 1 + (unsigned)script_below(&prog.rnd, MAX_THREADS);
	prog.s = script_new(cpu->arch, n_threads, NULL);
	ck_assert_ptr_nonnull(prog.s);
	prog.sp = find_reg(cpu->sp);
	if (cpu->link)
		prog.lr = find_reg(cpu->link);
	for (unsigned i = 0; i < n_threads; i++) {
		prog.threads[i].pc = random_pc();
		prog.threads[i].sp = stack_top(i, 0);
		plain(i);
	}
	while (prog.n < n_steps) {
		unsigned thread = (unsigned)script_below(&prog.rnd, n_threads);
		uint64_t what = script_below(&prog.rnd, 100);

		if (what < 30)
			call(thread, false);
		else if (what < 33)
			call(thread, true);
		else if (what < 60)
			ret(thread);
		else if (what < 63)
			longjmp_out(thread);
		else if (what < 68)
			switch_stack(thread);
		else if (what < 69)
			handle_interrupt(thread);
		else if (what < 71)
			handle_signal(thread);
		else
			plain(thread);
	}
	end_program();
}

/* ------------------------------------------------------------------------------------- the definition */

struct naive_call {
	uint64_t begin, end, pc, target, slot, ret;
	unsigned stack, thread, depth;
	enum ts_call_kind kind;
};

static struct naive_call calls[MAX_STEPS];
static unsigned n_calls;

/* Does the step before @p call?  *x gets the call, without its end. */
static bool is_call(const struct thread_of *t, uint64_t i, struct naive_call *x)
{
	const struct place *p = &t->places[i];
	uint64_t ret = p->pc + prog.cpu->behind, went = i;

	if (prog.s->rec.regs.arch->has_delay_slots)
		went++; /* its delay slot */
	if (went >= t->n || !t->places[went].has_next || p->no_call)
		return false;
	if (prog.cpu->link ? p->lr + prog.cpu->add != ret : p->top != ret)
		return false;
	*x = (struct naive_call){
		.begin = p->pos,
		.pc = p->pc,
		.target = t->places[went].next_pc,
		.slot = p->sp,
		.ret = ret,
		.stack = p->stack,
	};
	return x->target != ret;
}

static bool ends_by_itself(const struct naive_call *x, const struct place *p)
{
	if (p->pos <= x->begin || p->stack != x->stack)
		return false;
	return prog.cpu->link ? p->has_next && p->next_pc == x->ret && p->sp >= x->slot : p->sp > x->slot;
}

/* The calls of one thread: each ends by itself, or where one outside of it on its stack does. */
static void find_calls(unsigned thread)
{
	const struct thread_of *t = &prog.threads[thread];
	unsigned first = n_calls;

	for (uint64_t i = 0; i < t->n; i++) {
		struct naive_call *x = &calls[n_calls];

		if (!is_call(t, i, x))
			continue;
		x->thread = thread;
		x->end = NO_POS;
		for (uint64_t j = i + 1; j < t->n && x->end == NO_POS; j++) {
			if (ends_by_itself(x, &t->places[j]))
				x->end = t->places[j].pos;
		}
		for (unsigned j = first; j < n_calls; j++) { /* those outside of it */
			if (calls[j].stack == x->stack && calls[j].end > x->begin) {
				x->depth++;
				if (calls[j].end < x->end)
					x->end = calls[j].end;
			}
		}
		x->depth++;
		x->kind = x->end == NO_POS ? TS_CALL_OPEN : TS_CALL_UNWOUND;
		for (uint64_t j = i; j < t->n; j++) {
			if (t->places[j].pos == x->end && t->places[j].has_next &&
			    t->places[j].next_pc == x->ret)
				x->kind = TS_CALL_RETURN;
		}
		n_calls++;
	}
}

/* ------------------------------------------------------------------------------------------- the test */

/* What is shown before its segment is sealed is the same afterwards. */
static void show_and_seal(struct ts_calls *out)
{
	static struct ts_call shown[MAX_THREADS][MAX_STEPS];
	uint32_t n[MAX_THREADS];

	ck_assert(ts_calls_show(out));
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		struct ts_call_window w = { .n = 0 };

		n[t] = ts_calls_n(out, t);
		for (uint32_t i = 0; i < n[t]; i++)
			ts_calls_get(out, &w, t, i, &shown[t][i]);
	}
	ck_assert(ts_calls_seal(out));
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		struct ts_call_window w = { .n = 0 };
		struct ts_call got;

		ck_assert_uint_eq(ts_calls_n(out, t), n[t]);
		for (uint32_t i = 0; i < n[t]; i++) {
			const struct ts_call *x = &shown[t][i];

			ts_calls_get(out, &w, t, i, &got);
			ck_assert(got.pos == x->pos && got.end == x->end && got.kind == x->kind &&
				  got.depth == x->depth && got.parent == x->parent && got.ordinal == i &&
				  x->ordinal == i);
		}
	}
}

static struct ts_calls *track(unsigned seals)
{
	struct ts_calls *out = ts_calls_new();
	struct ts_call_tracker *tr =
		ts_call_tracker_new(out, &prog.s->rec.regs, false, prog.s->rec.is_before);
	struct ts_steps part = prog.s->steps;
	uint32_t n = prog.s->steps.n_steps, from = 0;

	ck_assert(out && tr && ts_call_tracker_start(tr, &prog.s->rec.initial));
	for (unsigned i = 0; i <= seals; i++) {
		uint32_t to = (uint32_t)((uint64_t)n * (i + 1) / (seals + 1));

		part.steps = prog.s->steps.steps + from;
		part.n_steps = to - from;
		ck_assert(ts_call_tracker_take(tr, from, &part));
		if (i == seals)
			ck_assert(ts_call_tracker_end(tr, END_PC));
		if (i)
			ck_assert(ts_calls_seal(out));
		else
			show_and_seal(out);
		from = to;
	}
	ts_call_tracker_free(tr);
	return out;
}

static const struct naive_call *naive_innermost(unsigned thread, uint64_t pos)
{
	const struct thread_of *t = &prog.threads[thread];
	const struct naive_call *found = NULL;
	unsigned stack = 0;

	for (uint64_t i = 0; i < t->n && t->places[i].pos <= pos; i++)
		stack = t->places[i].stack;
	for (unsigned i = 0; i < n_calls; i++) {
		if (calls[i].thread == thread && calls[i].stack == stack && calls[i].begin <= pos &&
		    calls[i].end > pos)
			found = &calls[i];
	}
	return found;
}

static void check_stack(const struct ts_calls *c, struct ts_call_window *w, unsigned thread, uint64_t pos)
{
	const struct naive_call *x = naive_innermost(thread, pos);
	struct ts_call got;

	ck_assert_int_eq(ts_calls_innermost(c, w, thread, pos, &got), x != NULL);
	if (!x)
		return;
	ck_assert_uint_eq(got.pos + 1, x->begin);
	ck_assert_uint_eq(got.depth, x->depth);
	for (unsigned depth = got.depth; depth > 1; depth--) {
		ck_assert(ts_calls_outer(c, w, &got));
		ck_assert_uint_eq(got.depth, depth - 1);
		ck_assert(got.end > pos);
	}
	ck_assert(!ts_calls_outer(c, w, &got));
}

static void check_list(const struct ts_calls *c, unsigned thread)
{
	struct ts_call_window w = { .n = 0 };
	uint32_t n = ts_calls_n(c, thread), at = 0;

	for (unsigned i = 0; i < n_calls; i++) {
		const struct naive_call *x = &calls[i];
		struct ts_call got;

		if (x->thread != thread)
			continue;
		do {
			ck_assert_msg(at < n, "the call at %lu is not there", (long)x->begin - 1);
			ts_calls_get(c, &w, thread, at++, &got);
		} while (got.kind == TS_CALL_SWITCH);
		if (got.pos + 1 != x->begin || got.end != x->end || got.kind != x->kind ||
		    got.depth != x->depth || got.pc != x->pc || got.target != x->target)
			ck_abort_msg("%s: call at %ld: end %ld kind %d depth %u, not at %ld: %ld %d %u",
				     prog.cpu->arch, (long)got.pos, (long)got.end, got.kind, got.depth,
				     (long)x->begin - 1, (long)x->end, x->kind, x->depth);
	}
	for (; at < n; at++) {
		struct ts_call got;

		ts_calls_get(c, &w, thread, at, &got);
		ck_assert_msg(got.kind == TS_CALL_SWITCH, "no call at %ld", (long)got.pos);
	}
}

/* The nearest returns, from all of them. */
static void check_returns(const struct ts_calls *c, unsigned thread, uint64_t pos)
{
	uint64_t next = NO_POS, prev = NO_POS;

	for (unsigned i = 0; i < n_calls; i++) {
		uint64_t end = calls[i].end;

		if (calls[i].thread != thread || calls[i].kind != TS_CALL_RETURN)
			continue;
		if (end > pos && end < next)
			next = end;
		if (end < pos && (prev == NO_POS || end > prev))
			prev = end;
	}
	ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, NO_POS), next);
	ck_assert_uint_eq(ts_calls_prev_return(c, thread, pos), prev);
	if (next != NO_POS) {
		ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, next), NO_POS);
		ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, next + 1), next);
	}
}

static void check_random_program(unsigned seed)
{
	const struct kind_of_processor *cpu = &processors[seed % N_PROCESSORS];
	struct script_random rnd = { seed };
	struct ts_call_window w = { .n = 0 };
	struct ts_calls *c;

	random_program((uint64_t)seed * 77 + 1, cpu, 300 + script_below(&rnd, 3000));
	c = track((unsigned)script_below(&rnd, 6));
	n_calls = 0;
	for (unsigned i = 0; i < MAX_THREADS; i++) {
		find_calls(i);
		check_list(c, i);
	}
	ck_assert_uint_gt(n_calls, 10);
	for (unsigned i = 0; i < 300; i++) {
		unsigned thread = (unsigned)script_below(&rnd, MAX_THREADS);
		uint64_t pos = script_below(&rnd, prog.n + 1);

		check_stack(c, &w, thread, pos);
		check_returns(c, thread, pos);
	}
	ts_calls_free(c);
	script_free(prog.s);
}

START_TEST(calls_of_random_programs_are_those_of_the_definition)
{
	check_random_program((unsigned)_i);
}
END_TEST

/*
 * A call that longjmp left stays open until control is at its return address; the calls inside of it then end
 * too, some of whose frames are still there.  A longjmp to one of these stays on its stack.
 */
START_TEST(longjmp_leads_to_a_frame_whose_call_has_ended)
{
	static const unsigned seeds[] = { 984, 1237 };

	check_random_program(seeds[_i]);
}
END_TEST

static void begin_program(const struct kind_of_processor *cpu)
{
	memset(&prog, 0, sizeof(prog));
	prog.cpu = cpu;
	prog.rnd.state = 1;
	prog.s = script_new(cpu->arch, 1, NULL);
	ck_assert_ptr_nonnull(prog.s);
	prog.sp = find_reg(cpu->sp);
	if (cpu->link)
		prog.lr = find_reg(cpu->link);
	prog.threads[0].pc = random_pc();
	prog.threads[0].sp = stack_top(0, 0);
	plain(0);
}

static struct ts_call nth_call(const struct ts_calls *c, unsigned n)
{
	struct ts_call_window w = { .n = 0 };
	struct ts_call got = { 0 };

	for (uint32_t i = 0; i < ts_calls_n(c, 0); i++) {
		ts_calls_get(c, &w, 0, i, &got);
		if (got.kind != TS_CALL_SWITCH && !n--)
			return got;
	}
	ck_abort_msg("there is no such call");
}

/* The move to a stack just below looks like that of a frame; the way back shows what it was. */
START_TEST(a_call_ends_though_a_stack_below_was_entered_from_it)
{
	struct thread_of *t = &prog.threads[0];
	struct ts_calls *c;
	uint64_t sp;

	begin_program(&processors[_i]);
	call(0, false);
	sp = t->sp;
	t->stack = 1;
	step(0, t->pc + prog.cpu->insn, sp - 0x10000, t->lr, 0);
	call(0, false);
	call(0, false);
	t->stack = 0;
	step(0, t->pc + prog.cpu->insn, sp, t->lr, 0);
	ret(0);
	plain(0);
	end_program();
	c = track(0);
	ck_assert_int_eq(nth_call(c, 0).kind, TS_CALL_RETURN);
	ck_assert_int_eq(nth_call(c, 1).kind, TS_CALL_OPEN);
	ck_assert_int_eq(nth_call(c, 2).kind, TS_CALL_OPEN);
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* A return address that is stored at the stack pointer, which stays where it is, makes a call too. */
START_TEST(a_return_address_may_be_stored_without_a_push)
{
	static const struct kind_of_processor x86_64 = { "x86_64", "rsp", NULL, 8, 5, 5, 0 };
	struct thread_of *t = &prog.threads[0];
	struct ts_calls *c;
	uint64_t pc;

	begin_program(&x86_64);
	pc = t->pc;
	put_word(t->sp, pc + 5);
	step(0, 0x5000, t->sp, 0, pc + 5);
	plain(0);
	end_program();
	c = track(0);
	ck_assert_uint_eq(nth_call(c, 0).pc, pc);
	ck_assert_uint_eq(nth_call(c, 0).target, 0x5000);
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/*
 * A recorder that writes registers down before instructions only: what a thread's last one did shows when it
 * runs again.
 */
START_TEST(the_last_step_before_another_thread_may_be_a_call)
{
	static const struct kind_of_processor x86_64 = { "x86_64", "rsp", NULL, 8, 5, 5, 0 };
	struct ts_call got;
	struct ts_calls *c;

	begin_program(&x86_64);
	script_free(prog.s);
	prog.s = script_new("x86_64", 2, NULL);
	prog.s->rec.is_before = true;
	put_reg(prog.sp, 0x8000);
	ts_steps_close(&prog.s->steps, 0x1000, 5, 0);
	put_word(0x7ff8, 0x100a);
	ts_steps_close(&prog.s->steps, 0x1005, 5, 0); /* the call, _i == 0; or nothing but a write */
	ts_steps_effect(&prog.s->steps, TS_FX_THREAD, 0, 0)->item = 0;
	put_reg(prog.sp, _i ? 0x8000 : 0x7ff8);
	ts_steps_close(&prog.s->steps, 0x5000, 5, 1);
	ts_steps_close(&prog.s->steps, 0x2000, 1, 0);
	put_reg(prog.sp, 0x8000);
	ts_steps_close(&prog.s->steps, 0x2001, 1, 0); /* ret */
	ts_steps_close(&prog.s->steps, 0x100a, 1, 0);
	c = track((unsigned)_i);
	if (_i) {
		ck_assert_uint_eq(ts_calls_n(c, 0), 0);
	} else {
		got = nth_call(c, 0);
		ck_assert_uint_eq(got.pos, 1);
		ck_assert_uint_eq(got.end, 5);
		ck_assert_uint_eq(got.target, 0x2000);
		ck_assert_int_eq(got.kind, TS_CALL_RETURN);
	}
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* A call leaves a return address of 4 or 8 bytes: 16-bit code has none. */
/* "call rax" has two bytes; no instruction of the processor has more than 15. */
START_TEST(where_a_call_of_unknown_length_returns)
{
	struct ts_linkage l;

	ts_linkage_init(&l, ts_arch_find("x86_64"));
	for (uint64_t len = 0; len < 32; len++) {
		ck_assert(ts_linkage_is_return_of(&l, 0x1000 + len, 0x1000, 0) == (len >= 2 && len <= 15));
		ck_assert(ts_linkage_is_return_of(&l, 0x1000 + len, 0x1000, 5) == (len == 5));
	}
}
END_TEST

START_TEST(code_of_16_bits_has_no_calls)
{
	static const struct kind_of_processor i8086 = { "i8086", "esp", NULL, 2, 3, 3, 0 };
	struct ts_call_window w = { .n = 0 };
	struct ts_calls *c;

	begin_program(&i8086);
	step(0, 0x1000, 0x8000, 0, 0);
	put_word(0x7ffe, 0x1003);
	step(0, 0x2000, 0x7ffe, 0, 0);
	plain(0);
	end_program();
	c = track(1);
	for (uint32_t i = 0; i < ts_calls_n(c, 0); i++) {
		struct ts_call got;

		ts_calls_get(c, &w, 0, i, &got);
		ck_assert_int_eq(got.kind, TS_CALL_SWITCH);
	}
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* ------------------------------------------------------------------------------------------- index files */

#define PATH    "trace.tsindex"
#define SIBLING PATH ".calls"

static const struct ts_index_key the_key = { .trace_len = 10, .content = 30 };

static const struct ts_section *without_calls[TS_MAX_SECTIONS];

/* A timeline of the program, with what its index file has; @has_calls: it knows of calls. */
static struct ts_timeline *open_timeline(bool has_calls, bool is_finished)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&prog.s->rec, NULL, &err);
	struct ts_index_file *f;
	unsigned n = 0;

	ck_assert_ptr_nonnull(tl);
	for (unsigned i = 0; ts_sections[i]; i++) {
		if (ts_sections[i] != &ts_calls_section)
			without_calls[n++] = ts_sections[i];
	}
	without_calls[n] = NULL;
	if (!has_calls)
		tl->sections = without_calls;
	f = is_finished ? ts_index_open(PATH, &the_key, &err) : ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f && ts_timeline_use_file(tl, f, &err), "%s", err.text);
	return tl;
}

static void grow(struct ts_timeline *tl, uint64_t n_steps)
{
	struct ts_error err = { 0 };
	enum ts_grow grown;

	do
		grown = ts_timeline_grow(tl, n_steps, &err);
	while (grown == TS_GROW_MORE && n_steps == UINT64_MAX);
	ck_assert_msg(grown != TS_GROW_FAILED, "%s", err.text);
}

static void make_program(int seed)
{
	remove(PATH);
	remove(PATH ".part");
	remove(SIBLING);
	random_program((uint64_t)seed * 31 + 5, &processors[seed % (int)N_PROCESSORS], 2000);
	if (prog.n % (TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS) == 0)
		plain(0);
	end_program();
	prog.s->end = (struct ts_end){ .pc = END_PC, .has_pc = true };
	n_calls = 0;
	for (unsigned i = 0; i < MAX_THREADS; i++)
		find_calls(i);
}

static void check_timeline(const struct ts_timeline *tl)
{
	ck_assert(ts_timeline_has(tl, &ts_calls_section));
	for (unsigned i = 0; i < MAX_THREADS; i++)
		check_list(tl->calls, i);
}

START_TEST(calls_are_the_same_from_an_index_file_and_after_an_interruption)
{
	struct script_random rnd = { (uint64_t)_i };
	struct ts_timeline *tl;

	make_program(_i);
	for (unsigned i = 0; i < 3; i++) { /* interrupted twice */
		tl = open_timeline(true, false);
		grow(tl, i == 2 ? UINT64_MAX : script_below(&rnd, 700));
		if (i == 2)
			check_timeline(tl);
		ts_timeline_free(tl);
	}
	tl = open_timeline(true, true);
	ck_assert_ptr_null(tl->builder);
	check_timeline(tl);
	ts_timeline_free(tl);
	script_free(prog.s);
}
END_TEST

START_TEST(an_index_without_calls_gets_them_when_they_are_asked_for)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl;
	struct ts_query *q;
	enum ts_need need;

	make_program(_i);
	tl = open_timeline(false, false);
	grow(tl, UINT64_MAX);
	ts_timeline_free(tl);
	tl = open_timeline(true, true);
	ck_assert(!ts_timeline_has(tl, &ts_calls_section));
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
	while ((need = ts_query_need_calls(q, 100, &err)) == TS_NEED_MORE)
		ck_assert(!ts_timeline_has(tl, &ts_calls_section));
	ck_assert_msg(need == TS_NEED_DONE, "%s", err.text);
	check_timeline(tl);
	ts_query_free(q);
	ts_timeline_free(tl);
	tl = open_timeline(true, true);
	check_timeline(tl); /* from a file of its own */
	ts_timeline_free(tl);
	script_free(prog.s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("calls");
	TCase *tc = tcase_create("calls");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, calls_of_random_programs_are_those_of_the_definition, 0, 260);
	tcase_add_loop_test(tc, longjmp_leads_to_a_frame_whose_call_has_ended, 0, 2);
	tcase_add_loop_test(tc, a_call_ends_though_a_stack_below_was_entered_from_it, 0, N_PROCESSORS);
	tcase_add_test(tc, a_return_address_may_be_stored_without_a_push);
	tcase_add_loop_test(tc, the_last_step_before_another_thread_may_be_a_call, 0, 2);
	tcase_add_test(tc, where_a_call_of_unknown_length_returns);
	tcase_add_test(tc, code_of_16_bits_has_no_calls);
	tcase_add_loop_test(tc, calls_are_the_same_from_an_index_file_and_after_an_interruption, 0, 60);
	tcase_add_loop_test(tc, an_index_without_calls_gets_them_when_they_are_asked_for, 0, 60);
	suite_add_tcase(s, tc);
	return s;
}
