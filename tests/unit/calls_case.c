/* SPDX-License-Identifier: MIT */
#include "calls_case.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

const struct kind_of_processor processors[N_PROCESSORS] = {
	{ "x86_64", "rsp", NULL, 8, 5, 5, 0 },  { "i386", "esp", NULL, 4, 5, 5, 0 },
	{ "m68k", "sp", NULL, 4, 6, 6, 0 },     { "arm", "sp", "lr", 4, 4, 4, 0 },
	{ "aarch64", "sp", "x30", 8, 4, 4, 0 }, { "mips", "r29", "r31", 4, 4, 8, 0 },
	{ "sparc64", "sp", "o7", 8, 4, 8, 8 },  { "riscv64", "sp", "ra", 8, 4, 4, 0 },
	{ "ppc", "r1", "lr", 4, 4, 4, 0 },      { "s390x", "r15", "r14", 8, 6, 6, 0 },
};

struct program prog;

struct range_of find_reg(const char *name)
{
	const struct ts_regset *set = &prog.s->rec.regs;
	int i = ts_regset_find(set, name);

	ck_assert_msg(i >= 0, "%s", name);
	return (struct range_of){ set->regs[i].off, set->regs[i].len };
}

void put_reg(struct range_of r, uint64_t value)
{
	uint8_t bytes[8];

	ts_arch_put(prog.s->rec.regs.arch, bytes, r.len, value);
	ts_steps_value(&prog.s->steps, TS_FX_REG_WRITE, r.off, bytes, r.len);
}

void put_word(uint64_t addr, uint64_t value)
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
void step(unsigned thread, uint64_t next, uint64_t sp, uint64_t lr, uint64_t top)
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

uint64_t random_pc(void)
{
	return 0x10000 + script_below(&prog.rnd, 4096) * 16;
}

void plain(unsigned thread)
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

void call(unsigned thread, bool goes_on)
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

void ret(unsigned thread)
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

uint64_t stack_top(unsigned thread, unsigned stack)
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
void end_program(void)
{
	const struct ts_steps *b = &prog.s->steps;
	struct thread_of *t = &prog.threads[b->steps[b->n_steps - 1].thread];

	t->places[t->n - 1].next_pc = END_PC;
	t->places[t->n - 1].has_next = true;
}

void random_program(uint64_t seed, const struct kind_of_processor *cpu, uint64_t n_steps)
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

struct naive_call calls[MAX_STEPS];
unsigned n_calls;

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
void find_calls(unsigned thread)
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
