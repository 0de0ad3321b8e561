/* SPDX-License-Identifier: MIT */
/*
 * calls, stack, executions, hot, coverage, when and goto of recordings of each format, against walks over all
 * steps: calls by the words of their definition, from each position's pc, stack pointer, link register and
 * memory.
 */
#include "unit.h"

#include "ask_text.h"
#include "sample.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_POS UINT64_MAX

/* Processors of the samples: the stack pointer and the link register; calls of the others push. */
static const struct processor {
	const char *arch, *sp, *link;
	unsigned word, behind; /* behind: bytes from a call to its return address; 0: the instruction's */
	uint64_t mode;         /* the bit of the link register that is no part of an address */
} processors[] = {
	{ "x86_64", "rsp", NULL, 8, 0, 0 },  { "i386", "esp", NULL, 4, 0, 0 },  { "arm", "sp", "lr", 4, 0, 1 },
	{ "aarch64", "sp", "x30", 8, 4, 0 }, { "mips", "r29", "r31", 4, 8, 1 }, { "ppc", "r1", "lr", 4, 4, 0 },
	{ "mipsel", "r29", "r31", 4, 8, 1 }, { "riscv64", "sp", "ra", 8, 4, 1 },
};

/* After a step: what the definition looks at. */
struct place {
	uint64_t pos; /* the step's + 1 */
	uint64_t pc, next_pc, sp, lr, top;
	unsigned len;
	bool has_next, has_sp, has_lr, has_top, is_interruption;
};

struct call {
	uint64_t begin, end, pc, target, slot, ret; /* end: NO_POS while it is open */
	uint32_t thread;
	unsigned depth;
	const char *kind;
};

static struct sample sample;
static const struct script *s;
static struct ask_text a;
static struct script_random rnd;
static uint64_t n_steps;
static const struct processor *cpu;
static struct place *places; /* of one thread */
static size_t n_places;
static struct call *calls;   /* of all threads, by position */
static size_t n_calls;

/* ----------------------------------------------------------------------------------------- the definition */

static bool reg_at(uint64_t pos, uint32_t thread, const char *name, uint64_t *value)
{
	const struct ts_regset *set = &s->rec.regs;
	int i = ts_regset_find(set, name);
	bool is_known = i >= 0;
	uint8_t bytes[8];

	for (uint32_t k = 0; is_known && k < set->regs[i].len; k++)
		is_known = naive_reg(sample.nv, pos, thread, set->regs[i].off + k, &bytes[k]);
	*value = is_known ? ts_arch_get(set->arch, bytes, set->regs[i].len) : 0;
	return is_known;
}

static bool word_at(uint64_t pos, uint32_t process, uint64_t addr, uint64_t *value)
{
	uint8_t bytes[8];
	uint64_t phys;

	for (unsigned i = 0; i < cpu->word; i++) {
		if (!sample_physical(&sample, pos, addr + i, &phys) ||
		    !sample_byte(&sample, pos, process, phys, &bytes[i]))
			return false;
	}
	*value = ts_arch_get(s->rec.regs.arch, bytes, cpu->word);
	return true;
}

static void list_places(uint32_t thread)
{
	n_places = 0;
	for (uint64_t k = 0; k < n_steps; k++) {
		const struct ts_step *st = &s->steps.steps[k];
		struct place *p = &places[n_places];
		uint64_t shown;

		if (st->thread != thread)
			continue;
		if (n_places) {
			p[-1].next_pc = st->pc;
			p[-1].has_next = st->pc != TS_NO_PC;
		}
		/* registers that are recorded before instructions only are those of the thread's next one */
		shown = s->rec.is_before ? naive_next_step(sample.nv, thread, k + 1) : k + 1;
		shown = shown == TS_NO_POS ? n_steps : shown;
		*p = (struct place){ .pos = k + 1, .pc = st->pc, .len = st->insn_len };
		p->has_sp = reg_at(shown, thread, cpu->sp, &p->sp);
		p->has_lr = cpu->link && reg_at(shown, thread, cpu->link, &p->lr);
		p->has_top = !cpu->link && p->has_sp && word_at(k + 1, s->process_of[thread], p->sp, &p->top);
		for (uint32_t i = 0; i < st->n_effects; i++) {
			const struct ts_effect *e = &s->steps.effects[st->first + i];
			enum ts_event_kind kind = e->kind == TS_FX_EVENT ? s->steps.events[e->item].kind : TS_EV_SYSCALL;

			p->is_interruption |= kind == TS_EV_FAULT || kind == TS_EV_INTERRUPT;
		}
		n_places++;
	}
	if (n_places && places[n_places - 1].pos == n_steps)
		places[n_places - 1].has_next =
			naive_pc(sample.nv, n_steps, thread, &places[n_places - 1].next_pc);
}

/* May the address be that behind the instruction, as far as its length is known? */
static bool is_behind(const struct place *p, uint64_t ret)
{
	if (cpu->behind)
		return ret == p->pc + cpu->behind;
	return p->len ? ret == p->pc + p->len : ret - p->pc >= 2 && ret - p->pc <= 15;
}

static bool is_call(size_t i, struct call *x)
{
	const struct place *p = &places[i];
	size_t went = i + s->rec.regs.arch->has_delay_slots;
	uint64_t ret = cpu->link ? p->lr & ~cpu->mode : p->top;

	if (went >= n_places || !places[went].has_next || p->is_interruption || !p->has_sp || !(cpu->link ? p->has_lr : p->has_top) ||
	    !is_behind(p, ret))
		return false;
	*x = (struct call){ .begin = p->pos,
			    .end = NO_POS,
			    .pc = p->pc,
			    .target = places[went].next_pc,
			    .slot = p->sp,
			    .ret = ret };
	return x->target != ret;
}

static bool ends_by_itself(const struct call *x, const struct place *p)
{
	if (!p->has_sp)
		return false;
	return cpu->link ? p->has_next && p->next_pc == x->ret && p->sp >= x->slot : p->sp > x->slot;
}

/* All stacks are one: no sample leaves its own. */
static void find_calls(uint32_t thread)
{
	size_t first = n_calls;

	list_places(thread);
	for (size_t i = 0; i < n_places; i++) {
		struct call *x = &calls[n_calls];

		if (!is_call(i, x))
			continue;
		x->thread = thread;
		x->depth = 1;
		for (size_t j = i + 1; j < n_places && x->end == NO_POS; j++) {
			if (ends_by_itself(x, &places[j]))
				x->end = places[j].pos;
		}
		for (size_t j = first; j < n_calls; j++) {
			if (calls[j].end <= x->begin)
				continue;
			x->depth++;
			x->end = calls[j].end < x->end ? calls[j].end : x->end;
		}
		x->kind = x->end == NO_POS ? "open" : "unwound";
		for (size_t j = i; j < n_places; j++) {
			if (places[j].pos == x->end && places[j].has_next && places[j].next_pc == x->ret)
				x->kind = "return";
		}
		n_calls++;
	}
}

static int by_begin(const void *one, const void *other)
{
	const struct call *x = one, *y = other;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* ------------------------------------------------------------------------------------------ the questions */

static char *cells[20];

/* The cells of the next row; false after the last. */
static bool next_row(char **rest)
{
	char *line = strsep(rest, "\n");

	if (!line || !*line)
		return false;
	for (unsigned i = 0; i < 20; i++)
		cells[i] = line ? strsep(&line, "\t") : (char *)"";
	return true;
}

static char *ask(const char *question)
{
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	return strchr((char *)(uintptr_t)ts_buf_text(&a.out), '\n') + 1;
}

static uint64_t number(unsigned i)
{
	return *cells[i] ? strtoull(cells[i], NULL, 0) : NO_POS;
}

/* The position of the first instruction that was called: after the delay slot, where there is one. */
static uint64_t entry_of(const struct call *x)
{
	uint64_t pos = x->begin;

	while (pos < n_steps && s->steps.steps[pos].thread != x->thread)
		pos++;
	return s->rec.regs.arch->has_delay_slots && pos < n_steps && s->steps.steps[pos].pc != x->target ? pos + 1 : x->begin;
}

/*
 * The next row of a call.  A question about one function also has its other entries, which the walk does not follow; e2e/call_entries
 * compares these with gdb's breakpoints.
 */
static bool next_called(char **rest)
{
	bool has_row;

	do
		has_row = next_row(rest);
	while (has_row && (!strcmp(cells[3], "tail") || !strcmp(cells[3], "handler") || !strcmp(cells[3], "gap")));
	return has_row;
}

static void ask_calls(void)
{
	uint64_t from, to, depth = UINT64_MAX, target = NO_POS;
	char question[200] = "calls", *rest;

	if (n_calls && script_chance(&rnd, 40)) {
		target = calls[script_below(&rnd, n_calls)].target;
		sprintf(question + strlen(question), " 0x%" PRIx64, target);
	}
	sample_range(&rnd, n_steps, &from, &to, question);
	if (script_chance(&rnd, 30)) {
		depth = 1 + script_below(&rnd, 6);
		sprintf(question + strlen(question), " depth %" PRIu64, depth);
	}
	rest = ask(question);
	for (size_t i = 0; i < n_calls; i++) {
		const struct call *x = &calls[i];

		if (x->begin - 1 < from || x->begin - 1 >= to || x->depth > depth ||
		    (target != NO_POS && x->target != target))
			continue;
		ck_assert_msg(next_called(&rest), "%s: no call at %" PRIu64, question, x->begin - 1);
		ck_assert_msg(number(0) == x->begin - 1 && number(1) == entry_of(x) && number(2) == x->end &&
				      !strcmp(cells[3], x->kind) &&
				      number(4) == (uint64_t)a.names.tids[x->thread] &&
				      number(5) == x->depth && number(6) == x->pc && number(8) == x->target,
			      "%s: at %s %s:%s %s depth %s, not %" PRIu64 ":%" PRId64 " %s depth %u",
			      question, cells[0], cells[1], cells[2], cells[3], cells[5], x->begin,
			      (int64_t)x->end, x->kind, x->depth);
	}
	ck_assert_msg(!next_called(&rest), "%s: a call at %s", question, cells[0]);
}

/* The next row of a stack that is a call: a signal and what it interrupted are two rows, which the twin does not know. */
static bool next_call(char **rest, uint64_t *depth)
{
	bool is_row = next_row(rest);

	while (is_row && !strcmp(cells[5], "signal")) {
		ck_assert(number(0) == *depth && next_row(rest) && number(0) == *depth + 1);
		*depth += 2;
		is_row = next_row(rest);
	}
	return is_row;
}

/* Is the call open at @pos?  Its delay slot is the caller's. */
static bool is_open_at(const struct call *x, uint64_t pos)
{
	bool is_slot = s->rec.regs.arch->has_delay_slots && pos == x->begin && pos < n_steps &&
		       s->steps.steps[pos].pc == x->pc + 4;

	return x->begin <= pos && x->end > pos && !is_slot;
}

static void ask_stack(void)
{
	uint64_t at = script_below(&rnd, n_steps + 1), depth = 1;
	uint32_t thread = naive_thread(sample.nv, at);
	char question[60], *rest;

	sprintf(question, "stack at %" PRIu64, at);
	rest = ask(question);
	ck_assert(next_row(&rest) && number(0) == 0 && number(1) == at);
	for (size_t i = n_calls; i-- > 0;) {
		const struct call *x = &calls[i];

		if (x->thread != thread || !is_open_at(x, at))
			continue;
		ck_assert_msg(next_call(&rest, &depth) && number(0) == depth++ && number(1) == x->begin - 1 &&
				      number(2) == x->pc,
			      "%s: %s at %s, not at %" PRIu64, question, cells[0], cells[1], x->begin - 1);
	}
	ck_assert_msg(!next_call(&rest, &depth), "%s: a call at %s", question, cells[1]);
}

/* Where the innermost open call of the step's thread was made. */
static uint64_t caller_at(uint64_t pos)
{
	for (size_t i = n_calls; i-- > 0;) {
		if (calls[i].thread == s->steps.steps[pos].thread && is_open_at(&calls[i], pos))
			return calls[i].pc;
	}
	return NO_POS;
}

static void ask_executions(void)
{
	uint64_t pc = s->steps.steps[script_below(&rnd, n_steps)].pc, len = 1 + script_below(&rnd, 30), from,
		 to;
	char question[200], *rest;

	if (pc == TS_NO_PC)
		return;
	sprintf(question, "executions 0x%" PRIx64 ",%" PRIu64, pc, len);
	sample_range(&rnd, n_steps, &from, &to, question);
	rest = ask(question);
	for (uint64_t k = from; k < to; k++) {
		const struct ts_step *st = &s->steps.steps[k];

		if (st->pc == TS_NO_PC || st->pc - pc >= len)
			continue;
		ck_assert_msg(next_row(&rest) && number(0) == k &&
				      number(1) == (uint64_t)a.names.tids[st->thread] &&
				      number(2) == st->pc && number(4) == caller_at(k),
			      "%s: %s, caller %s, not %" PRIu64 ", 0x%" PRIx64, question, cells[0], cells[4],
			      k, caller_at(k));
	}
	ck_assert_msg(!next_row(&rest), "%s: at %s", question, cells[0]);
}

struct executed {
	uint64_t pc, steps;
	unsigned len; /* the shortest that is known */
};

static int by_pc(const void *one, const void *other)
{
	const struct executed *x = one, *y = other;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_steps(const void *one, const void *other)
{
	const struct executed *x = one, *y = other;

	return x->steps != y->steps ? (x->steps > y->steps ? -1 : 1) : by_pc(one, other);
}

/* What ran in [from, to), by address. */
static size_t count_executed(uint64_t from, uint64_t to, struct executed *x)
{
	size_t n = 0, kept = 0;

	for (uint64_t k = from; k < to; k++) {
		if (s->steps.steps[k].pc != TS_NO_PC)
			x[n++] = (struct executed){ s->steps.steps[k].pc, 1, s->steps.steps[k].insn_len };
	}
	if (n)
		qsort(x, n, sizeof(*x), by_pc);
	for (size_t i = 0; i < n; i++) {
		struct executed *last = kept ? &x[kept - 1] : NULL;

		if (!last || last->pc != x[i].pc) {
			x[kept++] = x[i];
			continue;
		}
		last->steps++;
		if (x[i].len && (!last->len || x[i].len < last->len))
			last->len = x[i].len;
	}
	return kept;
}

/* Of the @n addresses those that were not executed in [@from, @to).  Returns how many are left. */
static size_t leave_out(struct executed *x, size_t n, uint64_t from, uint64_t to)
{
	struct executed *y = calloc(n_steps, sizeof(*y));
	size_t n_y, kept = 0;

	ck_assert_ptr_nonnull(y);
	n_y = count_executed(from, to, y);
	for (size_t i = 0, k = 0; i < n; i++) { /* both ascend */
		while (k < n_y && y[k].pc < x[i].pc)
			k++;
		if (k == n_y || y[k].pc != x[i].pc)
			x[kept++] = x[i];
	}
	free(y);
	return kept;
}

/* Addresses of one range that another one has not. */
static void ask_minus(void)
{
	struct executed *x = calloc(n_steps, sizeof(*x));
	uint64_t at = script_below(&rnd, n_steps), from = script_below(&rnd, n_steps), to;
	char question[120], *rest;
	size_t n;

	ck_assert_ptr_nonnull(x);
	to = from + 1 + script_below(&rnd, n_steps - from);
	n = leave_out(x, count_executed(at, n_steps, x), from, to);
	sprintf(question, "coverage in %" PRIu64 ": minus %" PRIu64 ":%" PRIu64, at, from, to);
	rest = ask(question);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(next_row(&rest) && number(0) == x[i].pc && number(2) == x[i].steps, "%s: %s", question, cells[0]);
	ck_assert_msg(!next_row(&rest), "%s: %s", question, cells[0]);
	free(x);
}

static void ask_counts(void)
{
	struct executed *x = calloc(n_steps, sizeof(*x));
	uint64_t from, to, wanted = 1 + script_below(&rnd, 30);
	char words[80] = "", question[120], *rest;
	size_t n;

	ck_assert_ptr_nonnull(x);
	sample_range(&rnd, n_steps, &from, &to, words);
	n = count_executed(from, to, x);
	sprintf(question, "coverage%s", words);
	rest = ask(question);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(next_row(&rest) && number(0) == x[i].pc &&
				      (s->rec.guesses_lengths || number(1) == (x[i].len ? x[i].len : NO_POS)) &&
				      number(2) == x[i].steps,
			      "%s: %s %s %s, not 0x%" PRIx64, question, cells[0], cells[1], cells[2],
			      x[i].pc);
	ck_assert(!next_row(&rest));
	if (n)
		qsort(x, n, sizeof(*x), by_steps);
	sprintf(question, "hot %" PRIu64 " by address%s", wanted, words);
	rest = ask(question);
	for (size_t i = 0; i < n && i < wanted; i++) {
		ck_assert_msg(next_row(&rest) && number(0) == x[i].pc && number(2) == x[i].steps, "%s: %s",
			      question, cells[0]);
		ck_assert_double_eq_tol(strtod(cells[3], NULL), (double)x[i].steps / (double)n_steps, 1e-6);
	}
	ck_assert(!next_row(&rest));
	free(x);
}

/* ------------------------------------------------------------------------------------------------- places */

static bool has_event(uint64_t step, enum ts_event_kind kind)
{
	const struct ts_step *st = &s->steps.steps[step];

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if (e->kind == TS_FX_EVENT && s->steps.events[e->item].kind == kind)
			return true;
	}
	return false;
}

static bool is_call_at(uint64_t pos, bool is_return)
{
	for (size_t i = 0; i < n_calls; i++) {
		if (is_return ? calls[i].end == pos && !strcmp(calls[i].kind, "return") : calls[i].begin == pos)
			return true;
	}
	return false;
}

enum nearest { SYSCALL, EXIT, SIGNAL, CALL, RETURN, SWITCH, N_NEAREST };

static bool is_nearest(enum nearest what, uint64_t pos)
{
	static const enum ts_event_kind kinds[] = { TS_EV_SYSCALL, TS_EV_EXIT, TS_EV_SIGNAL };

	if (what <= SIGNAL)
		return pos < n_steps && has_event(pos, kinds[what]);
	if (what == SWITCH)
		return pos && pos < n_steps && s->steps.steps[pos].thread != s->steps.steps[pos - 1].thread;
	return is_call_at(pos, what == RETURN);
}

static void ask_nearest(uint64_t here)
{
	static const char *const names[] = { "syscall", "exit", "signal", "call", "return", "switch" };
	enum nearest what = (enum nearest)script_below(&rnd, N_NEAREST);
	bool is_reverse = script_chance(&rnd, 50);
	uint64_t want = here;
	char question[60];

	do {
		want = is_reverse ? want - 1 : want + 1;
	} while (want <= n_steps && !is_nearest(what, want));
	sprintf(question, "goto %s %s", is_reverse ? "previous" : "next", names[what]);
	ask(question);
	ck_assert_msg(a.go == (want <= n_steps ? want : TS_NO_POS), "%s at %" PRIu64 ": %" PRId64 ", not %" PRId64, question, here,
		      (int64_t)a.go, (int64_t)want);
}

static void ask_places(void)
{
	uint64_t here = script_below(&rnd, n_steps + 1), to = script_below(&rnd, n_steps + 1),
		 thousandths = script_below(&rnd, 100001);
	char question[80], *rest;

	a.ask.has_here = true;
	a.ask.here = here;
	ask_nearest(here);
	sprintf(question, to < here ? "goto -%" PRIu64 : "goto +%" PRIu64, to < here ? here - to : to - here);
	ask(question);
	ck_assert_uint_eq(a.go, to);
	sprintf(question, "goto %" PRIu64 ".%03" PRIu64 "%%", thousandths / 1000, thousandths % 1000);
	ask(question);
	ck_assert_uint_eq(a.go, n_steps * thousandths / 100000);
	rest = ask("when");
	ck_assert(next_row(&rest) && number(0) == here && number(1) == n_steps &&
		  number(2) == (uint64_t)a.names.tids[naive_thread(sample.nv, here)]);
	naive_pc(sample.nv, here, naive_thread(sample.nv, here), &to);
	ck_assert_msg(number(3) == (to == TS_NO_PC ? NO_POS : to), "when at %" PRIu64 ": %s", here, cells[3]);
	a.ask.has_here = false;
}

START_TEST(walks_say_the_same)
{
	unsigned n = sample_n_questions(_i, 10);

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	s = sample.s;
	n_steps = s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)_i);
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		cpu = !strcmp(processors[i].arch, s->rec.regs.arch->name) ? &processors[i] : cpu;
	ck_assert_msg(cpu, "%s", s->rec.regs.arch->name);
	places = calloc(n_steps + 1, sizeof(*places));
	calls = calloc(n_steps + 1, sizeof(*calls));
	ck_assert(places && calls);
	for (uint32_t i = 0; i < s->n_threads; i++)
		find_calls(i);
	if (n_calls)
		qsort(calls, n_calls, sizeof(*calls), by_begin);
	for (unsigned i = 0; i < n; i++) {
		ask_calls();
		ask_stack();
		ask_executions();
		ask_counts();
		ask_minus();
		ask_places();
	}
	free(places);
	free(calls);
	n_calls = 0;
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* A batch of calls has thousands of rows; what prints them does other work in between. */
START_TEST(the_rows_of_calls_are_given_in_slices)
{
	sample_open(&sample, "usercorn/x64_lib.ucir");
	ask_text_init(&a, sample.rec);
	ck_assert(ask_text(&a, TS_FORM_JSON, "calls"));
	ck_assert_uint_gt(a.n_rows, 400);
	ck_assert_uint_le(a.most_rows, 64 * (ASK_TEXT_CHUNKS + 1));
	ck_assert(ask_text(&a, TS_FORM_JSON, "calls if $rsp > 0"));
	ck_assert_uint_gt(a.n_rows, 400);
	ck_assert_uint_le(a.most_rows, 64 * (ASK_TEXT_CHUNKS + 1));
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* 2000 system calls, every second one of another thread; a fault in the last but one step. */
static struct script *make_events(void)
{
	struct script *made = script_new("x86_64", 2, NULL);

	for (unsigned i = 0; i < 2000; i++) {
		struct ts_event *ev = ts_steps_event(&made->steps, i == 1998 ? TS_EV_FAULT : TS_EV_SYSCALL);

		ev->number = i;
		ts_steps_close(&made->steps, 0x401000, 4, i % 2);
	}
	return made;
}

/* The events of a long recording are not looked at before the first one is told. */
START_TEST(the_rows_of_events_are_given_in_slices)
{
	static const struct {
		const char *question;
		uint64_t n_rows;
		const char *first;
	} questions[] = {
		{ "events", 2001, "0\t1000\tsyscall" }, /* and the second thread's start */
		{ "events syscall in 100:", 1899, "100\t1000\tsyscall" },
		{ "events fault", 1, "1998\t1000\tfault" },
		{ "events syscall thread 1001 last 3", 3, "1995\t1001\tsyscall" },
		{ "events exit", 0, "" },
	};
	struct script *made = make_events();

	ask_text_init(&a, &made->rec);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const char *first = questions[i].first, *rows;

		ck_assert(ask_text(&a, TS_FORM_TSV, questions[i].question));
		ck_assert_msg(a.n_rows == questions[i].n_rows, "%s: %u", questions[i].question,
			      (unsigned)a.n_rows);
		ck_assert_uint_le(a.most_rows, 64 * (ASK_TEXT_CHUNKS + 1));
		rows = strchr(ts_buf_text(&a.out), '\n') + 1;
		ck_assert_msg(!strncmp(rows, first, strlen(first)), "%s: %.60s", questions[i].question, rows);
	}
	ask_text_fini(&a);
	script_free(made);
}
END_TEST

/* Many addresses are not put in order in one piece. */
START_TEST(what_was_executed_is_put_in_order_in_slices)
{
	static const char *const questions[] = { "hot 3", "hot 3 by address", "coverage first 1", "coverage last 1" };
	enum { N_ADDRESSES = 20000, N_A_CHUNK = TS_CHUNK_STEPS / 4 };
	struct script *made = script_new("x86_64", 1, NULL);

	for (unsigned i = 0; i < N_ADDRESSES; i++)
		ts_steps_close(&made->steps, 0x401000 + 8 * (uint64_t)(i * 7919 % N_ADDRESSES), 4, 0);
	ask_text_init(&a, &made->rec);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		ck_assert(ask_text(&a, TS_FORM_TSV, questions[i]));
		ck_assert_uint_ge(a.n_runs, N_ADDRESSES / N_A_CHUNK / ASK_TEXT_CHUNKS);
		ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out),
					     i < 3 ? "\n0x401000\t" : "\n0x4280f8\t")); /* the last one */
	}
	ask_text_fini(&a);
	script_free(made);
}
END_TEST

/* Nor are they sorted and written to a file in one piece. */
START_TEST(files_of_coverage_are_written_in_slices)
{
	enum { N_ADDRESSES = 20000, N_A_CHUNK = TS_CHUNK_STEPS / 4,
	       N_TIMES = 5 }; /* sorted, in and out; strays, and twice the blocks */
	struct script *made = script_new("x86_64", 1, NULL);
	unsigned n_runs;

	for (unsigned i = 0; i < N_ADDRESSES; i++)
		ts_steps_close(&made->steps, 0x401000 + 8 * (uint64_t)(i * 7919 % N_ADDRESSES), 4, 0);
	ask_text_init(&a, &made->rec);
	ck_assert(ask_text(&a, TS_FORM_TSV, "coverage first 1"));
	n_runs = a.n_runs;
	ck_assert(ask_text(&a, TS_FORM_TSV, "coverage --drcov ask_walk.drcov first 1"));
	ck_assert_uint_ge(a.n_runs, n_runs + N_TIMES * (N_ADDRESSES / N_A_CHUNK) / ASK_TEXT_CHUNKS);
	ck_assert_int_eq(remove("ask_walk.drcov"), 0);
	ask_text_fini(&a);
	script_free(made);
}
END_TEST

/* What expressions take is charged to the slice, and all those of one position have one budget. */
START_TEST(positions_with_long_expressions_are_judged_in_slices)
{
	enum { N_STEPS = 500, N_TERMS = 8 };
	struct script *made = script_new("x86_64", 1, NULL);
	char question[1024] = "executions 0x401000,8 if agent 210000";
	unsigned n_one, n_more;

	for (unsigned i = 0; i < N_STEPS; i++)
		ts_steps_close(&made->steps, 0x401000, 4, 0);
	ask_text_init(&a, &made->rec);
	ck_assert(ask_text(&a, TS_FORM_TSV, "executions 0x401000,8 if agent 220027"));
	ck_assert_uint_lt(a.n_runs, N_STEPS / 4);
	ck_assert(ask_text(&a, TS_FORM_TSV, question));
	n_one = a.n_runs;
	ck_assert_uint_ge(n_one, N_STEPS * 4 / ASK_TEXT_CHUNKS / 2); /* 16,384 instructions each */
	for (unsigned i = 1; i < N_TERMS; i++)
		strcat(question, " || agent 210000");
	ck_assert(ask_text(&a, TS_FORM_TSV, question));
	n_more = a.n_runs;
	ck_assert_uint_ge(n_more, n_one * 9 / 10);
	ck_assert_uint_le(n_more, n_one * 11 / 10);
	ask_text_fini(&a);
	script_free(made);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_walk");
	TCase *c = tcase_create("slices");

	suite_add_tcase(suite, sample_case(walks_say_the_same));
	tcase_add_test(c, the_rows_of_calls_are_given_in_slices);
	tcase_add_test(c, the_rows_of_events_are_given_in_slices);
	tcase_add_test(c, what_was_executed_is_put_in_order_in_slices);
	tcase_add_test(c, files_of_coverage_are_written_in_slices);
	tcase_add_test(c, positions_with_long_expressions_are_judged_in_slices);
	suite_add_tcase(suite, c);
	return suite;
}
