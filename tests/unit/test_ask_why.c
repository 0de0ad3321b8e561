/* SPDX-License-Identifier: MIT */
/*
 * why, against a walk over all steps of random x86-64 programs of a few kinds of instructions, by several
 * threads; and by hand: loops, flags, branches, system calls, the recording of a machine, other processors.
 */
#include "unit.h"

#include "ask_text.h"
#include "machine.h"
#include "src/ask/question.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE  UINT64_C(0x401000)
#define SLOTS UINT64_C(0x5000) /* memory of programs: r15 points there */
#define N_SLOTS 6u
#define N_REGS 4u              /* rax, rcx, rdx, rbx, as their numbers in instructions are */
#define MAX_STEPS 12000u

static const char *const reg_names[N_REGS] = { "rax", "rcx", "rdx", "rbx" };

#define N_THREADS 3u

/* Places: registers of the first thread, then slots, then registers of the other threads. */
#define N_PLACES (N_REGS + N_SLOTS + (N_THREADS - 1) * N_REGS)
#define NO_PLACE N_PLACES

/* ------------------------------------------------------------------------------------------- programs */

/* A step of the program: the place it writes, and what its value is made of. */
struct made {
	unsigned writes;    /* NO_PLACE: none */
	unsigned inputs[2]; /* n of them, in the order of the operands */
	unsigned n;
	bool is_constant;
	uint64_t constant;
	bool is_syscall;
	char text[48];
	uint64_t value;     /* that it leaves */
};

static struct {
	struct script *s;
	struct made steps[MAX_STEPS];
	uint32_t threads[MAX_STEPS];
	uint64_t n;
	uint64_t now[N_PLACES];
	uint32_t thread; /* that runs */
} p;

static struct ask_text a;

static void put_word(struct ts_steps *to, uint64_t addr, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * i);

		ts_steps_value(to, TS_FX_WRITE, addr + i, &byte, 1);
	}
}

static void put_reg(struct ts_steps *to, const char *name, uint64_t value)
{
	const struct ts_regset *set = &p.s->rec.regs;
	const struct ts_reg *r = &set->regs[ts_regset_find(set, name)];
	uint8_t bytes[8];

	ts_arch_put(set->arch, bytes, r->len, value);
	ts_steps_value(to, TS_FX_REG_WRITE, r->off, bytes, r->len);
}

static void put_code(uint64_t pc, const void *bytes, unsigned len)
{
	ts_steps_value(&p.s->rec.initial, TS_FX_WRITE, pc, bytes, len);
}

static uint64_t slot_addr(unsigned place)
{
	return SLOTS + 8 * (place - N_REGS);
}

static bool is_slot(unsigned place)
{
	return place >= N_REGS && place < N_REGS + N_SLOTS;
}

/* The place of a register of the thread that runs. */
static unsigned reg_place(unsigned reg)
{
	return p.thread ? N_SLOTS + N_REGS * p.thread + reg : reg;
}

static const char *reg_name(unsigned place)
{
	return reg_names[(place < N_REGS ? place : place - N_SLOTS) % N_REGS];
}

static void begin(void)
{
	memset(&p, 0, sizeof(p));
	p.s = script_new("x86_64", N_THREADS, NULL);
	ck_assert_ptr_nonnull(p.s);
	for (unsigned i = 0; i < N_PLACES; i++)
		p.now[i] = 0x1000 + i;
	for (unsigned i = N_REGS; i < N_REGS + N_SLOTS; i++)
		put_word(&p.s->rec.initial, slot_addr(i), p.now[i]);
	for (p.thread = N_THREADS; p.thread-- > 0;) {
		ts_steps_effect(&p.s->rec.initial, TS_FX_THREAD, 0, 0)->item = p.thread;
		put_reg(&p.s->rec.initial, "r15", SLOTS);
		for (unsigned reg = 0; reg < N_REGS; reg++)
			put_reg(&p.s->rec.initial, reg_names[reg], p.now[reg_place(reg)]);
	}
	p.thread = 0;
}

static void finish(void)
{
	ask_text_fini(&a);
	script_free(p.s);
}

/* The step is over: what it wrote is an effect. */
static void close_step(const struct made *m, uint64_t pc, unsigned len)
{
	p.steps[p.n] = *m;
	p.threads[p.n] = p.thread;
	if (is_slot(m->writes)) {
		uint8_t bytes[8];

		ts_arch_put(p.s->rec.regs.arch, bytes, 8, m->value);
		ts_steps_value(&p.s->steps, TS_FX_WRITE, slot_addr(m->writes), bytes, 8)->is_hidden =
			m->is_syscall;
	} else if (m->writes < NO_PLACE) {
		put_reg(&p.s->steps, reg_name(m->writes), m->value);
	}
	if (m->writes < NO_PLACE)
		p.now[m->writes] = m->value;
	ts_steps_close(&p.s->steps, pc, (uint16_t)len, p.thread);
	p.n++;
}

/* One instruction at @pc, of a random kind.  Returns its length. */
static unsigned make_step(struct script_random *rnd, uint64_t pc)
{
	unsigned dst = (unsigned)script_below(rnd, N_REGS), src = (unsigned)script_below(rnd, N_REGS);
	unsigned slot = N_REGS + (unsigned)script_below(rnd, N_SLOTS), at = 8 * (slot - N_REGS);
	char where[24];
	unsigned to = reg_place(dst), from = reg_place(src);
	struct made m = { .writes = to };
	uint8_t code[7] = { 0x48 };
	unsigned len = 3;

	if (at)
		snprintf(where, sizeof(where), "[r15+0x%02X]", at);
	else
		strcpy(where, "[r15]");
	switch (script_below(rnd, 7)) {
	case 0: /* mov r, imm32 */
		m.is_constant = true;
		m.value = m.constant = script_below(rnd, 1000);
		code[1] = 0xc7;
		code[2] = (uint8_t)(0xc0 | dst);
		code[3] = (uint8_t)m.value;
		code[4] = (uint8_t)(m.value >> 8);
		len = 7;
		break;
	case 1: /* mov r, r */
		m.inputs[m.n++] = from;
		m.value = p.now[from];
		code[1] = 0x89;
		code[2] = (uint8_t)(0xc0 | src << 3 | dst);
		break;
	case 2: /* add r, r */
		m.inputs[m.n++] = to;
		if (src != dst)
			m.inputs[m.n++] = from;
		m.value = p.now[to] + p.now[from];
		code[1] = 0x01;
		code[2] = (uint8_t)(0xc0 | src << 3 | dst);
		break;
	case 3: /* mov [r15+d], r */
		m.writes = slot;
		m.inputs[m.n++] = from;
		m.value = p.now[from];
		code[0] = 0x49;
		code[1] = 0x89;
		code[2] = (uint8_t)(0x47 | src << 3);
		code[3] = (uint8_t)at;
		len = 4;
		break;
	case 4: /* mov r, [r15+d] */
		m.inputs[m.n++] = slot;
		m.value = p.now[slot];
		code[0] = 0x49;
		code[1] = 0x8b;
		code[2] = (uint8_t)(0x47 | dst << 3);
		code[3] = (uint8_t)at;
		len = 4;
		break;
	case 5: /* xor r, r */
		m.is_constant = true;
		code[1] = 0x31;
		code[2] = (uint8_t)(0xc0 | dst << 3 | dst);
		break;
	default: { /* syscall, in which the kernel writes a slot */
		struct ts_event *e = ts_steps_event(&p.s->steps, TS_EV_SYSCALL);

		e->number = 0;
		m.writes = slot;
		m.is_syscall = true;
		m.value = script_below(rnd, 5000);
		memcpy(code, "\x0f\x05", 2);
		len = 2;
	}
	}
	put_code(pc, code, len);
	close_step(&m, pc, len);
	return len;
}

/* ----------------------------------------------------------------------------------------- naive twin */

static char want[400000];
static size_t n_want;
static struct {
	unsigned place;
	uint64_t pos;
} shown[2000];
static size_t n_shown;
static unsigned n_kinds[5];

static void put_want(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put_want(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	n_want += (size_t)vsnprintf(want + n_want, sizeof(want) - n_want, format, args);
	va_end(args);
	ck_assert_uint_lt(n_want, sizeof(want) - 1);
}

static const char *name_of(unsigned place)
{
	static char name[32];

	if (is_slot(place))
		snprintf(name, sizeof(name), "0x%" PRIx64 ",8", slot_addr(place));
	else
		snprintf(name, sizeof(name), "$%s", reg_name(place));
	return name;
}

/* The place of the register or slot number @i that a question at @at is about. */
static unsigned place_at(unsigned i, uint64_t at)
{
	p.thread = p.threads[at < p.n ? at : p.n - 1];
	return i < N_REGS ? reg_place(i) : i;
}

/* "depth position kind place value" of the last writer, then of what it used. */
static void walk(unsigned place, uint64_t before, unsigned depth, unsigned max_depth)
{
	uint64_t k = before;
	const struct made *m;

	while (k-- > 0 && p.steps[k].writes != place)
		;
	if (k == UINT64_MAX) {
		put_want("%u  start %s 0x%" PRIx64 "\n", depth, name_of(place), (uint64_t)0x1000 + place);
		n_kinds[0]++;
		return;
	}
	m = &p.steps[k];
	for (size_t i = 0; i < n_shown; i++) {
		if (shown[i].place == place && shown[i].pos == k) {
			put_want("%u %" PRIu64 " seen %s 0x%" PRIx64 "\n", depth, k, name_of(place),
				 m->value);
			n_kinds[1]++;
			return;
		}
	}
	ck_assert_uint_lt(n_shown, 2000);
	shown[n_shown].place = place;
	shown[n_shown++].pos = k;
	put_want("%u %" PRIu64 " %s %s 0x%" PRIx64 "\n", depth, k, m->is_syscall ? "input" : "write", name_of(place),
		 m->value);
	n_kinds[m->is_syscall ? 2 : 3]++;
	if (depth == max_depth || m->is_syscall)
		return;
	if (m->is_constant) {
		put_want("%u  constant  0x%" PRIx64 "\n", depth + 1, m->constant);
		n_kinds[4]++;
	}
	for (unsigned i = 0; i < m->n; i++)
		walk(m->inputs[i], k, depth + 1, max_depth);
}

/* Cell @i of a line of TSV. */
static const char *cell(const char *line, unsigned i, char *out, size_t size)
{
	size_t len;

	while (i--)
		line += strcspn(line, "\t\n") + 1;
	len = strcspn(line, "\t\n");
	ck_assert_uint_lt(len, size);
	memcpy(out, line, len);
	out[len] = 0;
	return out;
}

enum { DEPTH, POSITION, THREAD, PC, FUNCTION, INSTRUCTION, KIND, PLACE, VALUE, COUNT };

/* The same of the answer, after the line of column names. */
static char *got(const char *question)
{
	static char text[400000];
	char c[5][200];
	size_t n = 0;
	const char *line;

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	line = strchr(ts_buf_text(&a.out), '\n') + 1;
	for (text[0] = 0; *line; line = strchr(line, '\n') + 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s %s %s %s\n",
				      cell(line, DEPTH, c[0], 200), cell(line, POSITION, c[1], 200),
				      cell(line, KIND, c[2], 200), cell(line, PLACE, c[3], 200),
				      cell(line, VALUE, c[4], 200));
	return text;
}

#define N_PROGRAMS 200
#define N_QUESTIONS 40

START_TEST(the_naive_twin_agrees)
{
	uint64_t n_programs = twins_n_questions() ? twins_n_questions() / N_QUESTIONS + 1 : N_PROGRAMS;

	for (uint64_t program = 1; program <= n_programs; program++) {
		uint64_t seed = twins_seed(program);
		struct script_random rnd = { seed };
		uint64_t pc = CODE, n = 5 + script_below(&rnd, 200);

		begin();
		for (uint64_t i = 0; i < n; i++) {
			if (script_chance(&rnd, program % 3 * 20))
				p.thread = (uint32_t)script_below(&rnd, N_THREADS);
			pc += make_step(&rnd, pc);
		}
		ask_text_init(&a, &p.s->rec);
		for (unsigned i = 0; i < N_QUESTIONS; i++) {
			uint64_t at = script_below(&rnd, n + 1);
			unsigned place = place_at((unsigned)script_below(&rnd, N_REGS + N_SLOTS), at),
				 depth = (unsigned)script_below(&rnd, 7);
			char question[100];

			snprintf(question, sizeof(question), "why %s at %" PRIu64 " depth %u", name_of(place),
				 at, depth);
			n_want = n_shown = 0;
			walk(place, at, 0, depth);
			ck_assert_msg(!strcmp(got(question), want), "seed %" PRIu64 ": %s: got\n%swanted\n%s",
				      seed, question, got(question), want);
		}
		finish();
	}
	for (unsigned i = 0; i < 5; i++)
		ck_assert_msg(n_kinds[i] > n_programs / 5, "%u: %u", i, n_kinds[i]);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ by hand */

/* A step of an instruction whose code is put at @pc. */
static void run(uint64_t pc, const void *code, unsigned len, unsigned writes, uint64_t value)
{
	put_code(pc, code, len);
	close_step(&(struct made){ .writes = writes, .value = value }, pc, len);
}

/* 41 turns of: mov rax, [r15]; add rax, rcx; mov [r15], rax. */
START_TEST(turns_of_a_loop_are_one_row_with_a_count)
{
	uint64_t sum = 0x1000 + N_REGS;

	begin();
	for (unsigned i = 0; i < 41; i++) {
		run(CODE, "\x49\x8b\x07", 3, 0, sum);
		sum += 0x1001;
		run(CODE + 3, "\x48\x01\xc8", 3, 0, sum);
		run(CODE + 6, "\x49\x89\x07", 3, N_REGS, sum);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5000,8 depth 8"), "0 122 write 0x5000,8 0x2a02d\n"
						      "1 121 write $rax 0x2a02d\n"
						      "2 120 write $rax 0x2902c\n"
						      "3  start 0x5000,8 0x1004\n"
						      "2  start $rcx 0x1001\n");
	{
		char count[20];
		const char *line = ts_buf_text(&a.out);

		for (unsigned i = 0; i < 5; i++) {
			line = strchr(line, '\n') + 1;
			ck_assert_str_eq(cell(line, COUNT, count, sizeof(count)), i < 3 ? "41" : "1");
		}
	}
	finish();
}
END_TEST

/* The same by three threads in turn, and by one of them; the first one is asked about. */
START_TEST(registers_of_a_turn_are_those_of_its_thread)
{
	uint64_t sum = 0x1000 + N_REGS;
	char count[20];

	begin();
	p.thread = 2;
	run(CODE + 9, "\x48\x89\xd1", 3, reg_place(1), p.now[reg_place(2)]);
	for (unsigned i = 0; i < 42; i++) {
		p.thread = i < 20 ? 2 : i % N_THREADS;
		run(CODE, "\x49\x8b\x07", 3, reg_place(0), sum);
		sum += p.now[reg_place(1)];
		run(CODE + 3, "\x48\x01\xc8", 3, reg_place(0), sum);
		run(CODE + 6, "\x49\x89\x07", 3, N_REGS, sum);
	}
	p.thread = 0;
	run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < 2; i++) { /* the second time the loop is known */
		char expected[400];

		snprintf(expected, sizeof(expected),
			 "0 126 write 0x5000,8 0x%" PRIx64 "\n1 125 write $rax 0x%" PRIx64
			 "\n2 124 write $rax 0x%" PRIx64
			 "\n3  start 0x5000,8 0x1004\n2 0 write $rcx 0x1010\n3  start $rdx 0x1010\n",
			 sum, sum, sum - 0x1010);
		ck_assert_str_eq(got("why 0x5000,8"), expected);
		ck_assert_str_eq(cell(strchr(ts_buf_text(&a.out), '\n') + 1, COUNT, count, sizeof(count)),
				 "42");
	}
	finish();
}
END_TEST

/* mov rax, rdx; its bytes become: add rax, rcx; and that is executed 20 times. */
START_TEST(another_instruction_at_the_address_is_no_turn)
{
	char count[20];
	uint64_t sum;

	begin();
	sum = p.now[2];
	run(CODE, "\x48\x89\xd0", 3, 0, sum);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, CODE, "\x48\x01\xc8", 3);
	run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	for (unsigned i = 0; i < 20; i++) {
		sum += p.now[1];
		close_step(&(struct made){ .writes = 0, .value = sum }, CODE, 3);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 21 write $rax 0x15016\n"
					  "1  start $rcx 0x1001\n"
					  "1 0 write $rax 0x1002\n"
					  "2  start $rdx 0x1002\n");
	ck_assert_str_eq(cell(strchr(ts_buf_text(&a.out), '\n') + 1, COUNT, count, sizeof(count)), "20");
	finish();
}
END_TEST

/* cmp rax, rcx; 10,000 times mov rdx, rdx; jne: further back than a chunk. */
START_TEST(a_branch_has_the_instruction_that_set_its_condition_however_far_it_is)
{
	begin();
	run(CODE, "\x48\x39\xc8", 3, NO_PLACE, 0);
	for (unsigned i = 0; i < 10000; i++)
		run(CODE + 3, "\x48\x89\xd2", 3, 2, p.now[2]);
	run(CODE + 6, "\x75\x10", 2, NO_PLACE, 0);
	for (unsigned i = 0; i < 1500; i++)
		run(CODE + 3, "\x48\x89\xd2", 3, 2, p.now[2]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why branch depth 2"), "0 10001 branch  \n"
						    "1 0 write $ZF \n"
						    "2  start $rax 0x1000\n"
						    "2  start $rcx 0x1001\n");
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\tjnz 0x"), "%s", ts_buf_text(&a.out));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tcmp rax, rcx\t"));
	ck_assert_str_eq(got("why branch at 10001"), "");
	finish();
}
END_TEST

/*
 * mov rcx, rdx; @n_between steps; the same bytes become: mov rax, rcx; as many steps again; and that is
 * executed.
 */
static void check_rewritten(unsigned n_between)
{
	char expected[200];

	begin();
	run(CODE, "\x48\x89\xd1", 3, 1, p.now[2]);
	for (unsigned i = 0; i <= 2 * n_between; i++) {
		if (i == n_between)
			ts_steps_value(&p.s->steps, TS_FX_WRITE, CODE, "\x48\x89\xc8", 3);
		run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	}
	close_step(&(struct made){ .writes = 0, .value = p.now[1] }, CODE, 3);
	ask_text_init(&a, &p.s->rec);
	snprintf(expected, sizeof(expected),
		 "0 %u write $rax 0x1002\n1 0 write $rcx 0x1002\n2  start $rdx 0x1002\n", 2 * n_between + 2);
	ck_assert_str_eq(got("why $rax"), expected);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tmov rax, rcx\t"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tmov rcx, rdx\t"));
	finish();
}

/* Within a chunk, and in chunks before and after the change. */
START_TEST(an_instruction_is_that_which_stood_there_at_its_step)
{
	check_rewritten(2);
	check_rewritten(TS_CHUNK_STEPS - 10);
	check_rewritten(3 * TS_CHUNK_STEPS);
}
END_TEST

/* What `why $REG` at the end takes of a budget: about a unit for each chunk that is decoded. */
static uint32_t cost_of(const char *reg)
{
	const uint32_t all = 1000000;
	struct ts_question qn = { .verb = ts_verb_find("why", 3), .at = a.ask.n_steps, .thread = TS_NO_THREAD };
	struct ts_budget budget = { all };
	struct ts_error err = { 0 };
	enum ts_got got = TS_GOT_ROW;
	struct ts_rows *rows;

	qn.depth = TS_NO_LIMIT;
	ck_assert(ts_what_register(&qn.what, reg, strlen(reg), &p.s->rec.regs));
	rows = qn.verb->open(&a.ask, &qn, false, &err);
	ck_assert_ptr_nonnull(rows);
	while (got == TS_GOT_ROW) {
		struct ts_row row;

		ts_row_init(&row);
		got = rows->ops->next(rows, &row, &budget, &err);
		ts_row_fini(&row);
	}
	ck_assert_int_eq(got, TS_GOT_END);
	ts_rows_close(rows);
	return all - budget.left;
}

/*
 * mov rax, rdx; mov rdx, rbx in each of ten chunks; add rdx, rax.  The writer of rdx is found at the end, then
 * rax at step 0, and then rdx before that: not by way of the chunks between.
 */
START_TEST(a_value_used_far_back_is_found_without_what_was_written_since)
{
	begin();
	run(CODE, "\x48\x89\xd0", 3, 0, p.now[2]);
	for (unsigned i = 0; i < 10 * TS_CHUNK_STEPS; i++)
		run(CODE + 3, "\x48\x89\xda", 3, 2, p.now[3]);
	run(CODE + 6, "\x48\x01\xc2", 3, 2, p.now[2] + p.now[0]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"), "0 10241 write $rdx 0x2005\n"
					  "1 10240 write $rdx 0x1003\n"
					  "2  start $rbx 0x1003\n"
					  "1 0 write $rax 0x1002\n"
					  "2  start $rdx 0x1002\n");
	ck_assert_uint_le(cost_of("rdx"), 5 + 4); /* a unit for each value, and a chunk for each writer */
	finish();
}
END_TEST

/* --------------------------------------------------------------------------------------- loops once more */

/* The answer of a query object that was asked nothing before. */
static const char *answer_of_new(const char *question)
{
	static char text[400000];
	struct ts_query *q = a.ask.q;
	struct ts_error err = { 0 };

	a.ask.q = ts_query_new(a.tl, &err);
	ck_assert_ptr_nonnull(a.ask.q);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	snprintf(text, sizeof(text), "%s", ts_buf_text(&a.out));
	ts_query_free(a.ask.q);
	a.ask.q = q;
	return text;
}

static void check_as_new(const char *question)
{
	const char *wanted = answer_of_new(question);

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	ck_assert_msg(!strcmp(ts_buf_text(&a.out), wanted), "%s: got\n%swanted\n%s", question,
		      ts_buf_text(&a.out), wanted);
}

/* @n turns of: add rax, rcx; there is more of it than of other programs. */
static void spin(unsigned n)
{
	put_code(CODE, "\x48\x01\xc8", 3);
	for (unsigned i = 0; i < n; i++) {
		p.now[0] += p.now[1];
		put_reg(&p.s->steps, "rax", p.now[0]);
		ts_steps_close(&p.s->steps, CODE, 3, 0);
	}
}

START_TEST(a_loop_that_was_followed_is_not_followed_again)
{
	const unsigned n = 20 * TS_CHUNK_STEPS;
	uint32_t first;

	begin();
	spin(n);
	ask_text_init(&a, &p.s->rec);
	first = cost_of("rax");
	ck_assert_uint_ge(first, n);
	ck_assert_uint_le(cost_of("rax"), 20);
	check_as_new("why $rax");
	finish();
}
END_TEST

/* More turns than most loops have, each in a chunk of its own. */
START_TEST(a_loop_that_lasts_long_is_kept_as_a_whole)
{
	const unsigned n = 66000;

	begin();
	for (unsigned i = 0; i < n; i++) {
		spin(1);
		for (unsigned k = 1; k < TS_CHUNK_STEPS; k++)
			ts_steps_close(&p.s->steps, CODE + 16, 1, 0);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_uint_ge(cost_of("rax"), n);
	ck_assert_uint_le(cost_of("rax"), 20);
	finish();
}
END_TEST

/* As far as a row counts, and further: from a turn that was followed, before it, and behind the last one. */
START_TEST(turns_that_were_followed_are_counted_like_others)
{
	static const char *const questions[] = { "why $rax at 60000",  "why $rax at 60000",  "why $rax at 20000",
						 "why $rax at 130000", "why $rax at 129999", "why $rax at 80000",
						 "why $rax at 99999",  "why $rax at 100000", "why $rax at 100001",
						 "why $rax at 139999", "why $rax at 65537",  "why $rax at 3" };

	begin();
	spin(140000);
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check_as_new(questions[i]);
	ck_assert_uint_le(cost_of("rax"), 2 * TS_CHUNK_STEPS);
	finish();
}
END_TEST

/* `why $rax`, which is asked beside another question. */
struct counting {
	struct ts_question qn;
	struct ts_rows *rows;
	uint64_t count; /* of the first row; 0: there is none yet */
};

static void begin_counting(struct counting *c, uint64_t at)
{
	struct ts_error err = { 0 };

	*c = (struct counting){ .qn = { .verb = ts_verb_find("why", 3), .at = at, .thread = TS_NO_THREAD } };
	c->qn.depth = TS_NO_LIMIT;
	ck_assert(ts_what_register(&c->qn.what, "rax", 3, &p.s->rec.regs));
	c->rows = c->qn.verb->open(&a.ask, &c->qn, false, &err);
	ck_assert_ptr_nonnull(c->rows);
}

/* Returns false when it is over. */
static bool count_more(struct counting *c, uint32_t n_units)
{
	struct ts_budget budget = { n_units };
	struct ts_error err = { 0 };
	struct ts_row row;
	enum ts_got got;

	ts_row_init(&row);
	got = c->rows->ops->next(c->rows, &row, &budget, &err);
	ck_assert_int_ne(got, TS_GOT_FAIL);
	if (got == TS_GOT_ROW && !c->count)
		c->count = row.cells[COUNT].number;
	ts_row_fini(&row);
	if (got == TS_GOT_END)
		ts_rows_close(c->rows);
	return got != TS_GOT_END;
}

/* Two questions follow the same loop by turns, from a part of it that was followed. */
START_TEST(two_questions_may_follow_a_loop_at_a_time)
{
	const uint64_t n = 40 * TS_CHUNK_STEPS;
	uint64_t ends[2] = { n, n - 3 * TS_CHUNK_STEPS - 5 };
	struct counting c[2];
	bool is_on[2] = { true, true };

	begin();
	spin((unsigned)n);
	ask_text_init(&a, &p.s->rec);
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < 2; i++)
			begin_counting(&c[i], ends[i]);
		is_on[0] = is_on[1] = true;
		while (is_on[0] || is_on[1]) {
			for (unsigned i = 0; i < 2; i++)
				is_on[i] = is_on[i] && count_more(&c[i], 70);
		}
		for (unsigned i = 0; i < 2; i++)
			ck_assert_uint_eq(c[i].count, ends[i]);
	}
	finish();
}
END_TEST

/* Count of the line of the last answer that has @text; 0: there is no such line. */
static uint64_t count_of(const char *text)
{
	const char *line = strstr(ts_buf_text(&a.out), text);
	char count[20];

	while (line && line > ts_buf_text(&a.out) && line[-1] != '\n')
		line--;
	return line ? strtoull(cell(line, COUNT, count, sizeof(count)), NULL, 10) : 0;
}

/* 2,500 turns of: lea rax, [rbx+rcx]; mov rbx, rax; and 2,000 that have mov rcx, rax behind that. */
START_TEST(two_loops_through_one_instruction_are_told_apart)
{
	begin();
	for (unsigned i = 0; i < 4500; i++) {
		run(CODE, "\x48\x8d\x04\x0b", 4, 0, i);
		run(CODE + 4, "\x48\x89\xc3", 3, 3, i);
		if (i >= 2500)
			run(CODE + 7, "\x48\x89\xc1", 3, 1, i);
	}
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < 2; i++) {
		got("why $rcx");
		ck_assert_uint_eq(count_of("mov rbx, rax"), 4499);
		ck_assert_uint_eq(count_of("mov rcx, rax"), 2000);
	}
	finish();
}
END_TEST

/* Bodies of loops, each at an address of its own: what they execute is the same each time. */
#define N_BODIES 4u

static void make_loops(struct script_random *rnd)
{
	struct script_random bodies[N_BODIES];
	unsigned lens[N_BODIES];

	for (unsigned i = 0; i < N_BODIES; i++) {
		bodies[i].state = script_random(rnd) | 1;
		lens[i] = 1 + (unsigned)script_below(rnd, 5);
	}
	for (unsigned i = 0; i < 6; i++) {
		unsigned body = (unsigned)script_below(rnd, N_BODIES),
			 turns = 1 + (unsigned)script_below(rnd, 40 + TS_CHUNK_STEPS / 2);

		for (unsigned turn = 0; turn < turns; turn++) {
			struct script_random same = bodies[body];
			uint64_t pc = CODE + 0x100 * body;

			for (unsigned k = 0; k < lens[body] && p.n < MAX_STEPS; k++)
				pc += make_step(&same, pc);
			if (script_chance(rnd, 5))
				p.thread = (uint32_t)script_below(rnd, N_THREADS);
		}
	}
}

#define N_LOOP_PROGRAMS  40
#define N_LOOP_QUESTIONS 25

START_TEST(what_was_asked_before_changes_no_answer)
{
	uint64_t n_programs = twins_n_questions() ? twins_n_questions() / N_LOOP_QUESTIONS + 1 : N_LOOP_PROGRAMS;

	for (uint64_t program = 1; program <= n_programs; program++) {
		struct script_random rnd = { twins_seed(program) };

		begin();
		make_loops(&rnd);
		ask_text_init(&a, &p.s->rec);
		for (unsigned i = 0; i < N_LOOP_QUESTIONS; i++) {
			char question[100];

			snprintf(question, sizeof(question), "why %s at %" PRIu64,
				 name_of((unsigned)script_below(&rnd, N_REGS + N_SLOTS)),
				 script_below(&rnd, p.n + 1));
			check_as_new(question);
		}
		finish();
	}
}
END_TEST

/* push rbx; pop rcx; rep stosb; leave. */
START_TEST(a_pointer_that_an_instruction_moves_is_made_of_itself)
{
	static const uint8_t byte = 7;

	begin();
	put_reg(&p.s->rec.initial, "rsp", 0x7000);
	put_reg(&p.s->rec.initial, "rbp", 0x6000);
	put_reg(&p.s->rec.initial, "rdi", 0x6800);
	put_reg(&p.s->steps, "rsp", 0x6ff8);
	put_word(&p.s->steps, 0x6ff8, p.now[3]);
	run(CODE, "\x53", 1, NO_PLACE, 0);
	put_reg(&p.s->steps, "rsp", 0x7000);
	run(CODE + 1, "\x59", 1, 1, p.now[3]);
	put_reg(&p.s->steps, "rdi", 0x6801);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, 0x6800, &byte, 1);
	run(CODE + 2, "\xf3\xaa", 2, 1, p.now[3] - 1);
	put_reg(&p.s->steps, "rsp", 0x6008);
	put_reg(&p.s->steps, "rbp", 0x5555);
	run(CODE + 4, "\xc9", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rsp at 3"),
			 "0 1 write $rsp 0x7000\n1 0 write $rsp 0x6ff8\n2  start $rsp 0x7000\n");
	ck_assert_str_eq(got("why $rcx"), "0 2 write $rcx 0x1002\n1 1 write $rcx 0x1003\n"
					  "2 0 write 0x6ff8,8 0x1003\n3  start $rbx 0x1003\n");
	ck_assert_str_eq(got("why 0x6800"), "0 2 write 0x6800,1 0x7\n1  start $al 0x0\n1  unknown $DF \n");
	ck_assert_str_eq(got("why $rdi"), "0 2 write $rdi 0x6801\n1  start $rdi 0x6800\n1  unknown $DF \n");
	ck_assert_str_eq(got("why $rsp"), "0 3 write $rsp 0x6008\n1  start $rbp 0x6000\n");
	ck_assert_str_eq(got("why $rbp"), "0 3 write $rbp 0x5555\n1  unknown 0x6000,8 \n");
	finish();
}
END_TEST

/* nop, at which the recording has a system call; mov rcx, rax; mov rdx, rcx. */
START_TEST(what_a_system_call_left_is_input_whatever_its_instruction_is)
{
	begin();
	ts_steps_event(&p.s->steps, TS_EV_SYSCALL)->number = 0;
	run(CODE, "\x90", 1, 0, 5);
	run(CODE + 1, "\x48\x89\xc1", 3, 1, 5);
	run(CODE + 4, "\x48\x89\xca", 3, 2, 5);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"), "0 2 write $rdx 0x5\n1 1 write $rcx 0x5\n2 0 input $rax 0x5\n");
	finish();
}
END_TEST

START_TEST(what_is_not_known_is_said)
{
	static const uint8_t eight[8] = { 9 };

	begin();
	run(CODE, "\x48\x89\xf0", 3, 0, 5);                               /* mov rax, rsi */
	close_step(&(struct made){ .writes = 1, .value = 6 }, 0x900000, 3);  /* code that is not known */
	run(CODE + 3, "\x64\x48\x8b\x14\x25\x28\0\0\0", 9, 2, 7);       /* mov rdx, fs:[0x28] */
	ts_steps_value(&p.s->steps, TS_FX_READ, 0x7028, eight, 8);
	run(CODE + 3, "\x64\x48\x8b\x14\x25\x28\0\0\0", 9, 2, 9);
	run(CODE + 12, "\x49\x8b\x1e", 3, 3, 8);                          /* mov rbx, [r14] */
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 0 write $rax 0x5\n1  unknown $rsi \n");
	ck_assert_str_eq(got("why $rcx"), "0 1 write $rcx 0x6\n1  unknown  \n");
	ck_assert_str_eq(got("why branch at 2"), "");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "the bytes of the instruction at 0x900000 are not known: "));
	ck_assert_str_eq(got("why branch at 1"), "");
	ck_assert_ptr_null(strstr(ts_buf_text(&a.end), "not known"));
	ck_assert_str_eq(got("why $rdx at 3"), "0 2 write $rdx 0x7\n1  unknown  \n");
	ck_assert_str_eq(got("why $rdx"), "0 3 write $rdx 0x9\n1  start 0x7028,8 0x9\n");
	ck_assert_str_eq(got("why $rbx"), "0 4 write $rbx 0x8\n1  unknown  \n");
	finish();
}
END_TEST

START_TEST(other_processors_have_what_the_recording_shows_read)
{
	const struct ts_regset *set;
	uint8_t bytes[4] = { 1, 2, 3, 4 };

	memset(&p, 0, sizeof(p));
	p.s = script_new("arm", 1, NULL);
	ck_assert_ptr_nonnull(p.s);
	set = &p.s->rec.regs;
	ts_steps_value(&p.s->steps, TS_FX_WRITE, 0x6000, bytes, 4);
	ts_steps_close(&p.s->steps, 0x8000, 4, 0);
	ts_steps_value(&p.s->steps, TS_FX_READ, 0x6000, bytes, 4);
	ts_steps_value(&p.s->steps, TS_FX_REG_WRITE, set->regs[ts_regset_find(set, "r1")].off, bytes, 4);
	ts_steps_close(&p.s->steps, 0x8004, 4, 0);
	ts_steps_close(&p.s->steps, 0x8008, 4, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $r1"),
			 "0 1 write $r1 0x4030201\n1 0 write 0x6000,4 0x4030201\n2  unknown  \n");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end),
				     "the operands of arm are not known: inputs are what the recording says was read"));
	ck_assert_str_eq(got("why branch"), "");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "branches of arm are not known"));
	finish();
}
END_TEST

/* ---------------------------------------------------------------------------------------------- a machine */

#define CR3 UINT64_C(0x10000)
#define DATA_FRAME UINT64_C(0x40000)
#define CODE_FRAME UINT64_C(0x41000)

/* Virtual pages 3 and 7 are data and code, far from their physical addresses. */
START_TEST(addresses_of_a_machine_are_virtual)
{
	memset(&p, 0, sizeof(p));
	p.s = machine_new(40);
	ck_assert_ptr_nonnull(p.s);
	machine_long_mode(p.s, CR3);
	for (unsigned i = 0; i < 3; i++)
		machine_put(&p.s->rec.initial, CR3 + 0x1000 * i, (CR3 + 0x1000 * (i + 1)) | PTE_P, 8);
	machine_put(&p.s->rec.initial, CR3 + 0x3000 + 3 * 8, DATA_FRAME | PTE_P, 8);
	machine_put(&p.s->rec.initial, CR3 + 0x3000 + 7 * 8, CODE_FRAME | PTE_P, 8);
	machine_put(&p.s->rec.initial, CODE_FRAME, 0x1889, 2);     /* mov [rax], ebx */
	machine_put(&p.s->rec.initial, CODE_FRAME + 2, 0x088b, 2); /* mov ecx, [rax] */
	machine_reg(&p.s->rec.initial, p.s, "rax", 0x3010);
	machine_reg(&p.s->rec.initial, p.s, "rbx", 0x11223344);
	machine_put(&p.s->steps, DATA_FRAME + 0x10, 0x11223344, 4);
	machine_step(p.s, 0x7000);
	machine_reg(&p.s->steps, p.s, "rcx", 0x11223344);
	machine_step(p.s, 0x7002);
	machine_step(p.s, 0x7004);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $ecx"), "0 1 write $ecx 0x11223344\n"
					  "1 0 write 0x3010,4 0x11223344\n"
					  "2  start $ebx 0x11223344\n");
	finish();
}
END_TEST

/* Page 7 of the tables at @cr3 is @frame. */
static void put_tables(uint64_t cr3, uint64_t frame)
{
	for (unsigned i = 0; i < 3; i++)
		machine_put(&p.s->rec.initial, cr3 + 0x1000 * i, (cr3 + 0x1000 * (i + 1)) | PTE_P, 8);
	machine_put(&p.s->rec.initial, cr3 + 0x3000 + 7 * 8, frame | PTE_P, 8);
}

/*
 * mov ecx, ebx; @n_between steps; by a table's entry, or by other tables, the same address has: mov eax, ecx; as
 * many steps again; and that is executed.
 */
static void check_remapped(unsigned n_between, bool by_tables)
{
	const uint64_t other_cr3 = CR3 + 0x10000, other_frame = CODE_FRAME + 0x1000;
	char expected[200];

	memset(&p, 0, sizeof(p));
	p.s = machine_new(40);
	ck_assert_ptr_nonnull(p.s);
	machine_long_mode(p.s, CR3);
	put_tables(CR3, CODE_FRAME);
	put_tables(other_cr3, other_frame);
	machine_put(&p.s->rec.initial, CODE_FRAME, 0xd989, 2);  /* mov ecx, ebx */
	machine_put(&p.s->rec.initial, other_frame, 0xc889, 2); /* mov eax, ecx */
	machine_put(&p.s->rec.initial, CODE_FRAME + 0x10, 0x90, 1);
	machine_put(&p.s->rec.initial, other_frame + 0x10, 0x90, 1);
	machine_reg(&p.s->rec.initial, p.s, "rbx", 0x11223344);
	machine_reg(&p.s->steps, p.s, "rcx", 0x11223344);
	machine_step(p.s, 0x7000);
	for (unsigned i = 0; i <= 2 * n_between; i++) {
		if (i == n_between && by_tables)
			machine_reg(&p.s->steps, p.s, "cr3", other_cr3);
		else if (i == n_between)
			machine_put(&p.s->steps, CR3 + 0x3000 + 7 * 8, other_frame | PTE_P, 8);
		machine_step(p.s, 0x7010);
	}
	machine_reg(&p.s->steps, p.s, "rax", 0x11223344);
	machine_step(p.s, 0x7000);
	ask_text_init(&a, &p.s->rec);
	snprintf(expected, sizeof(expected),
		 "0 %u write $eax 0x11223344\n1 0 write $ecx 0x11223344\n2  start $ebx 0x11223344\n",
		 2 * n_between + 2);
	ck_assert_str_eq(got("why $eax"), expected);
	finish();
}

/* Within a chunk, and in chunks before and after the change. */
START_TEST(an_instruction_is_that_which_the_page_tables_of_its_step_lead_to)
{
	static const unsigned n_between[] = { 2, TS_CHUNK_STEPS - 10, 3 * TS_CHUNK_STEPS };

	for (unsigned i = 0; i < 3; i++) {
		check_remapped(n_between[i], false);
		check_remapped(n_between[i], true);
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { turns_of_a_loop_are_one_row_with_a_count,
				       registers_of_a_turn_are_those_of_its_thread,
				       another_instruction_at_the_address_is_no_turn,
				       a_branch_has_the_instruction_that_set_its_condition_however_far_it_is,
				       an_instruction_is_that_which_stood_there_at_its_step,
				       a_value_used_far_back_is_found_without_what_was_written_since,
				       a_loop_that_was_followed_is_not_followed_again,
				       a_loop_that_lasts_long_is_kept_as_a_whole,
				       turns_that_were_followed_are_counted_like_others,
				       two_questions_may_follow_a_loop_at_a_time,
				       two_loops_through_one_instruction_are_told_apart,
				       a_pointer_that_an_instruction_moves_is_made_of_itself,
				       what_a_system_call_left_is_input_whatever_its_instruction_is,
				       what_is_not_known_is_said,
				       other_processors_have_what_the_recording_shows_read,
				       addresses_of_a_machine_are_virtual,
				       an_instruction_is_that_which_the_page_tables_of_its_step_lead_to };
	Suite *suite = unit_suite_of("ask_why", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *c = twins_case();

	tcase_add_test(c, the_naive_twin_agrees);
	tcase_add_test(c, what_was_asked_before_changes_no_answer);
	suite_add_tcase(suite, c);
	return suite;
}
