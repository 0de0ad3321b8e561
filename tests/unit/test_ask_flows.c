/* SPDX-License-Identifier: MIT */
/*
 * flows against a walk that looks at each step and each byte that it wrote, on recordings of each format.
 *
 * What a byte is made of is the answer of ts_sources_find(), which e2e/slices compares with a slicer that shares no code; the
 * walk passes over nothing and keeps its own list of bytes.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"
#include "sample.h"
#include "src/ask/grammar/what.h"
#include "src/search/sources.h"
#include "src/search/writes.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 600u /* of one walk */
#define MAX_BYTES 4096u

enum kind {
	IN_REGS,
	IN_FLAGS,
	IN_MEMORY,
};

struct byte {
	enum kind kind;
	uint32_t owner;
	uint64_t at; /* the offset in the layout, the bit, the address */
};

static struct ask_text a;
static struct sample sample;
static struct script_random rnd;
static uint64_t n_steps;
static struct byte from[MAX_BYTES];   /* what comes from the bytes that are asked about */
static unsigned n_from;
static unsigned n_rows_checked;

static enum kind kind_of(enum ts_location_kind kind)
{
	return kind == TS_IN_MEMORY ? IN_MEMORY : kind == TS_IN_FLAGS ? IN_FLAGS : IN_REGS;
}

static unsigned find(struct byte b)
{
	unsigned i = 0;

	while (i < n_from && (from[i].kind != b.kind || from[i].owner != b.owner || from[i].at != b.at))
		i++;
	return i;
}

static void put(struct byte b, bool is_in)
{
	unsigned i = find(b);

	if (is_in && i == n_from && n_from < MAX_BYTES)
		from[n_from++] = b;
	else if (!is_in && i < n_from)
		from[i] = from[--n_from];
}

/* Is the byte, as step @pos wrote it, made of one that is listed? */
static bool is_made_of_listed(uint64_t pos, enum ts_location_kind kind, uint32_t owner, uint64_t base, unsigned bit)
{
	struct ts_location loc = { kind, owner, base, kind == TS_IN_FLAGS ? UINT64_C(1) << bit : 1 };
	static struct ts_sources sources;
	struct ts_error err = { 0 };

	ck_assert(ts_sources_find(&sources, a.q, pos, &loc, false, &err));
	for (unsigned i = 0; i < sources.n; i++) {
		const struct ts_location *l = &sources.items[i].loc;

		for (unsigned k = 0; sources.items[i].kind == TS_FROM_PLACE && l->kind != TS_IN_PC && k < 64; k++) {
			if (l->mask >> k & 1 && find((struct byte){ kind_of(l->kind), l->owner, l->base + k }) < n_from)
				return true;
		}
	}
	return false;
}

/* Of a thread's registers and flags. */
static unsigned list_registers(uint64_t pos, uint32_t thread, struct byte *written, unsigned n)
{
	const struct ts_regset *set = ts_query_regset(a.q);
	struct ts_error err = { 0 };

	for (uint64_t base = 0; base < set->g_len; base += 64) {
		struct ts_location loc = { TS_IN_REGS, thread, base, UINT64_MAX };
		struct ts_written w;

		if (set->g_len - base < 64)
			loc.mask = (UINT64_C(1) << (set->g_len - base)) - 1;
		ck_assert(ts_step_writes(a.q, pos, &loc, false, &w, &err));
		for (unsigned i = 0; i < 64 && n < MAX_BYTES; i++) {
			if (w.mask >> i & 1)
				written[n++] = (struct byte){ IN_REGS, thread, base + i };
		}
	}
	if (set->flags >= 0) {
		struct ts_location loc = { TS_IN_FLAGS, thread, 0, UINT64_MAX };
		struct ts_written w;

		ck_assert(ts_step_writes(a.q, pos, &loc, false, &w, &err));
		for (unsigned i = 0; i < 64 && n < MAX_BYTES; i++) {
			if (w.mask >> i & 1)
				written[n++] = (struct byte){ IN_FLAGS, thread, i };
		}
	}
	return n;
}

/* What a step wrote, byte by byte; *is_lost: all registers became unknown. */
static unsigned list_written(uint64_t pos, struct byte *written, bool *is_lost)
{
	const struct ts_step *st = &sample.s->steps.steps[pos];
	uint32_t thread = st->thread;
	unsigned n = 0;

	*is_lost = false;
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &sample.s->steps.effects[st->first + i];

		if (e->kind == TS_FX_THREAD && e->item != thread)
			n = list_registers(pos, e->item, written, n);
		*is_lost |= e->kind == TS_FX_FORGET_REGS;
		thread = e->kind == TS_FX_THREAD ? e->item : thread;
		for (uint64_t k = 0; e->kind == TS_FX_WRITE && k < e->len && e->len < 2048 && n < MAX_BYTES; k++)
			written[n++] = (struct byte){ IN_MEMORY, ts_query_process(a.q, thread), e->addr + k };
	}
	for (uint32_t i = 0; i < ts_query_n_threads(a.q); i++) {
		if (i == st->thread || *is_lost)
			n = list_registers(pos, i, written, n);
	}
	return n;
}

/* Bytes of the flags register and of the pc are told as flags, or not at all. */
static bool is_told(const struct byte *b)
{
	const struct ts_regset *set = ts_query_regset(a.q);
	const struct ts_reg *flags = set->flags < 0 ? NULL : &set->regs[set->flags], *pc = &set->regs[set->pc];

	return b->kind == IN_MEMORY || (b->kind == IN_REGS && (!flags || b->at - flags->off >= flags->len) && b->at - pc->off >= pc->len);
}

/* Do rows of the step say that the byte was copied or computed? */
static bool is_in_rows(char *rows, uint64_t pos, const struct byte *b)
{
	char *copy = strdup(rows), *rest = copy, *line;
	bool is_in = false;

	while (!is_in && (line = strsep(&rest, "\n")) && *line) {
		char *cells[11];
		struct ts_what what;
		uint64_t first, len;

		for (unsigned i = 0; i < 11; i++)
			cells[i] = strsep(&line, "\t");
		if (strtoull(cells[0], NULL, 0) != pos || (strcmp(cells[7], "copy") != 0 && strcmp(cells[7], "compute") != 0))
			continue;
		if (*cells[8] == '$') {
			char *part = strchr(cells[8], '[');
			unsigned begin = 0, end = 0;

			if (part)
				ck_assert_int_eq(sscanf(part, "[%u:%u]", &begin, &end), 2);
			ck_assert_msg(ts_what_register(&what, cells[8] + 1, part ? (size_t)(part - cells[8]) - 1 : strlen(cells[8]) - 1,
						       ts_query_regset(a.q)), "%s", cells[8]);
			is_in = b->kind == IN_REGS && b->at - (what.off + begin) < (part ? end - begin : what.len);
		} else {
			ck_assert_int_eq(sscanf(cells[8], "0x%" SCNx64 ",%" SCNu64, &first, &len), 2);
			is_in = b->kind == IN_MEMORY && b->at - first < len;
		}
	}
	free(copy);
	return is_in;
}

/* Follow the listed bytes over the steps [at, to), and compare each byte that they write. */
static void walk(uint64_t at, uint64_t to, char *rows, const char *question)
{
	static struct byte written[MAX_BYTES];
	static bool is_made[MAX_BYTES];

	for (uint64_t pos = at; pos < to && n_from; pos++) {
		bool is_lost;
		unsigned n = list_written(pos, written, &is_lost);
		uint32_t thread = ts_query_thread(a.q, pos), process = ts_query_process(a.q, thread);

		for (unsigned i = 0; i < n; i++) {
			enum ts_location_kind kind = written[i].kind == IN_MEMORY ? TS_IN_MEMORY :
						     written[i].kind == IN_FLAGS ? TS_IN_FLAGS : TS_IN_REGS;
			bool is_own = written[i].owner == (kind == TS_IN_MEMORY ? process : thread);

			is_made[i] = !(is_lost && kind != TS_IN_MEMORY) && is_own &&
				     is_made_of_listed(pos, kind, written[i].owner, kind == TS_IN_FLAGS ? 0 : written[i].at,
						       (unsigned)written[i].at & 63);
			if (is_told(&written[i]))
				ck_assert_msg((is_own && is_in_rows(rows, pos, &written[i])) == is_made[i],
					      "%s: step %" PRIu64 ", %s 0x%" PRIx64 ": %s", question, pos,
					      written[i].kind == IN_MEMORY ? "memory" : "registers", written[i].at,
					      is_made[i] ? "not told" : "told, and is not");
		}
		for (unsigned i = 0; i < n; i++) {
			if (is_told(&written[i]) || written[i].kind == IN_FLAGS)
				put(written[i], is_made[i]);
		}
	}
}

/* A register of the thread that runs there, or some bytes near its stack pointer. */
static void choose(uint64_t at, char *what)
{
	const struct ts_regset *set = ts_query_regset(a.q);
	uint32_t thread = ts_query_thread(a.q, at);
	uint8_t *g = malloc(2 * set->g_len);
	struct ts_error err = { 0 };

	n_from = 0;
	ck_assert(ts_query_regs(a.q, at, thread, g, g + set->g_len, &err));
	if (script_chance(&rnd, 60) || set->sp < 0) {
		const struct ts_reg *r;

		do {
			r = &set->regs[script_below(&rnd, set->n_regs)];
		} while (r->len > 8 || r - set->regs == set->pc || r - set->regs == set->flags || r - set->regs == set->sp);
		sprintf(what, "$%s", r->name);
		for (unsigned i = 0; i < r->len; i++)
			put((struct byte){ IN_REGS, thread, r->off + i }, true);
	} else {
		const struct ts_reg *r = &set->regs[set->sp];
		uint64_t addr = (ts_arch_get(set->arch, g + r->off, r->len) + 8 * script_below(&rnd, 12)) & ts_arch_addr_mask(set->arch);

		sprintf(what, "0x%" PRIx64 ",4", addr);
		for (unsigned i = 0; i < 4; i++)
			put((struct byte){ IN_MEMORY, ts_query_process(a.q, thread), addr + i }, true);
	}
	free(g);
}

/* Not of a machine. */
static bool is_compared(void)
{
	return ts_query_has_operands(a.q) && !ts_query_facts(a.q)->is_physical;
}

START_TEST(bytes_that_flow_are_those_of_the_walk)
{
	unsigned n = sample_n_questions(_i, 15);

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	n_steps = sample.s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)_i);
	for (unsigned i = 0; i < n && is_compared(); i++) {
		uint64_t at = script_below(&rnd, n_steps), to = at + MAX_STEPS < n_steps ? at + MAX_STEPS : n_steps;
		char what[100], question[300];

		choose(at, what);
		sprintf(question, "flows %s at %" PRIu64 " in :%" PRIu64, what, at, to);
		ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
		ts_buf_putc(&a.out, 0);
		walk(at, to, strchr((char *)a.out.data, '\n') + 1, question);
		n_rows_checked += (unsigned)a.n_rows;
	}
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* ----------------------------------------------------------------------------------------- made by hand */

#define CODE UINT64_C(0x401000)

static struct script *s;

static void put_reg(struct ts_steps *to, const char *name, uint64_t value)
{
	const struct ts_reg *r = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, name)];
	uint8_t bytes[8];

	ts_arch_put(s->rec.regs.arch, bytes, r->len, value);
	ts_steps_value(to, TS_FX_REG_WRITE, r->off, bytes, r->len);
}

/* The rows "step kind place" of @question to steps that execute @code, each of @len bytes. */
static void check_open(const char *question, const char *code, unsigned len, const char *wanted, bool is_open)
{
	char rows[600] = "", *rest, *line;

	ts_steps_value(&s->rec.initial, TS_FX_WRITE, CODE, code, s->steps.n_steps * len);
	ask_text_init(&a, &s->rec);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	ts_buf_putc(&a.out, 0);
	rest = strchr((char *)a.out.data, '\n') + 1;
	while ((line = strsep(&rest, "\n")) && *line) {
		char *cells[9];

		for (unsigned i = 0; i < 9; i++)
			cells[i] = strsep(&line, "\t");
		snprintf(rows + strlen(rows), sizeof(rows) - strlen(rows), "%s %s %s; ", cells[0], cells[7], cells[8]);
	}
	ck_assert_str_eq(rows, wanted);
	ck_assert(ask_text(&a, TS_FORM_JSON, question));
	ck_assert_msg(!strstr(ts_buf_text(&a.out), "\"complete\":true") == is_open, "%s", ts_buf_text(&a.out));
	ask_text_fini(&a);
	script_free(s);
}

static void check_code(const char *question, const char *code, unsigned len, const char *wanted)
{
	check_open(question, code, len, wanted, false);
}

static void run(unsigned n, unsigned len)
{
	for (unsigned i = 0; i < n; i++)
		ts_steps_close(&s->steps, CODE + (uint64_t)i * len, (uint16_t)len, 0);
}

/* Of ecx that is 0: bsf eax, ecx; shl rbx, cl; rep movsb; then mov edx, eax. */
START_TEST(what_an_instruction_leaves_still_flows)
{
	s = script_new("x86_64", 1, NULL);
	for (unsigned i = 0; i < 4; i++)
		put_reg(&s->rec.initial, (const char *const[]){ "rax", "rcx", "rsi", "rdi" }[i], i == 1 ? 0 : 0x5000);
	run(4, 3);
	check_code(_i ? "flows $rsi" : "flows $rax", "\x0f\xbc\xc1" "\x48\xd3\xe3" "\xf3\x48\xa4" "\x48\x89\xc2", 3,
		   _i ? "" : "3 copy $rdx; ");
}
END_TEST

/* Z is set: movne r0, #0; strne r0, [r1]; strne r1, [r0]; blne; mov r2, r0. */
START_TEST(a_condition_that_does_not_hold_leaves_all)
{
	s = script_new("arm", 1, NULL);
	put_reg(&s->rec.initial, "cpsr", 0x40000010);
	put_reg(&s->rec.initial, "r0", 0x5000);
	put_reg(&s->rec.initial, "r1", 0x6000);
	run(5, 4);
	check_code("flows $r0", "\x00\x00\xa0\x13" "\x00\x00\x81\x15" "\x00\x10\x80\x15" "\x00\x00\x00\x1b" "\x00\x20\xa0\xe1", 4,
		   "4 copy $r2; ");
}
END_TEST

/* stc p1, c1, [ip], #8, whose operands are not described (the answer is not complete): the recording has r12, of which one byte changes; mov r2, ip. */
START_TEST(bytes_that_no_operand_writes_and_that_stay_flow_on)
{
	s = script_new("arm", 1, NULL);
	put_reg(&s->rec.initial, "cpsr", 0x10);
	put_reg(&s->rec.initial, "r12", 0x6c508);
	put_reg(&s->steps, "r12", 0x6c510);
	run(2, 4);
	check_open("flows $r12", "\x02\x11\xac\xec" "\x0c\x20\xa0\xe1", 4, "0 overwritten $r12[0:1]; 1 copy $r2[1:4]; ", true);
}
END_TEST

/* mov [rsi], rax (which flows on); nop, in which something happens to registers; mov rbx, rax or, by thread 1, mov rdx, rcx. */
static void begin_lost(void)
{
	s = script_new("x86_64", 2, NULL);
	put_reg(&s->rec.initial, "rax", 0x77);
	put_reg(&s->rec.initial, "rsi", 0x5000);
	ts_steps_effect(&s->rec.initial, TS_FX_THREAD, 0, 0)->item = 1;
	put_reg(&s->rec.initial, "rcx", 0x88);
	put_reg(&s->rec.initial, "rdx", 0x99);
	ts_steps_close(&s->steps, CODE, 3, 0);
}

static void close_lost(uint64_t pc, uint32_t thread)
{
	ts_steps_close(&s->steps, CODE + 3, 3, 0);
	ts_steps_close(&s->steps, pc, 3, thread);
}

START_TEST(registers_that_are_lost_flow_no_further)
{
	begin_lost();
	ts_steps_event(&s->steps, TS_EV_GAP);
	ts_steps_effect(&s->steps, TS_FX_FORGET_REGS, 0, s->rec.regs.g_len);
	close_lost(CODE + 6, 0);
	check_code("flows $rax", "\x48\x89\x06" "\x66\x66\x90" "\x48\x89\xc3", 3, "1 overwritten $rax; ");
}
END_TEST

/* Thread 0's step shows another value of thread 1's rcx: what wrote it without an instruction wrote all of it. */
START_TEST(a_register_that_another_threads_step_changes_flows_no_further)
{
	begin_lost();
	ts_steps_effect(&s->steps, TS_FX_THREAD, 0, 0)->item = 1;
	put_reg(&s->steps, "rcx", 0x1188);
	close_lost(CODE + 6, 1);
	check_code("flows $rcx thread 1001 at 0", "\x48\x89\x06" "\x66\x66\x90" "\x48\x89\xca", 3,
		   "1 overwritten $rcx; ");
}
END_TEST

/* rep movsb of N bytes in one step, with one access or one a byte; mov eax, [rdi-4]. */
START_TEST(a_string_that_one_step_moves_flows)
{
	enum { N = 5000 };
	static uint8_t bytes[N];

	s = script_new("x86_64", 1, NULL);
	put_reg(&s->rec.initial, "rcx", N);
	put_reg(&s->rec.initial, "rsi", 0x10000);
	put_reg(&s->rec.initial, "rdi", 0x20000);
	for (unsigned i = 0; i < N; i += _i ? 1 : N) {
		ts_steps_value(&s->steps, TS_FX_READ, 0x10000 + i, bytes, _i ? 1 : N);
		ts_steps_value(&s->steps, TS_FX_WRITE, 0x20000 + i, bytes, _i ? 1 : N);
	}
	put_reg(&s->steps, "rcx", 0);
	put_reg(&s->steps, "rsi", 0x10000 + N);
	put_reg(&s->steps, "rdi", 0x20000 + N);
	ts_steps_close(&s->steps, CODE, 3, 0);
	ts_steps_value(&s->steps, TS_FX_READ, 0x20000 + N - 4, bytes, 4);
	put_reg(&s->steps, "rax", 0);
	ts_steps_close(&s->steps, CODE + 3, 3, 0);
	check_code("flows 0x11384,4", "\xf3\x48\xa4" "\x8b\x47\xfc", 3, "0 copy 0x21384,4; 1 copy $eax; ");
}
END_TEST

START_TEST(what_is_not_understood_is_refused)
{
	sample_open(&sample, sample_names[0]);
	ask_text_init(&a, sample.rec);
	ck_assert(!ask_text(&a, TS_FORM_TSV, "flows $pc"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "flows $sp to nowhere"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "flows 0x1000,5000"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "flows"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "history $sp to copy"));
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* @n turns of: movzx eax, byte [rsi]; xor ebx, eax; imul ebx, ebx, 31; inc rsi. */
static void begin_hash(unsigned n)
{
	static const uint8_t lens[] = { 3, 2, 3, 3 };
	uint64_t hash = 7;

	s = script_new("x86_64", 1, NULL);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, CODE, "\x0f\xb6\x06" "\x31\xc3" "\x6b\xdb\x1f" "\x48\xff\xc6", 11);
	put_reg(&s->rec.initial, "rbx", hash);
	put_reg(&s->rec.initial, "rsi", 0x5000);
	for (unsigned i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)(i * 7);
		uint64_t pc = CODE;

		ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x5000 + i, &byte, 1);
		for (unsigned k = 0; k < 4; pc += lens[k++]) {
			hash = k == 1 ? hash ^ byte : k == 2 ? (hash * 31) & UINT32_MAX : hash;
			put_reg(&s->steps, k == 0 ? "rax" : k == 3 ? "rsi" : "rbx", k == 0 ? byte : k == 3 ? 0x5001 + i : hash);
			ts_steps_close(&s->steps, pc, lens[k], 0);
		}
	}
	ask_text_init(&a, &s->rec);
}

/* All bytes of a hash are its inputs; of a long one, those that entered last, and the answer is cut. */
START_TEST(a_long_loop_has_the_inputs_of_its_last_turns)
{
	const char *place;
	unsigned long first, len;

	begin_hash(400);
	ck_assert(ask_text(&a, TS_FORM_JSON, "why $ebx inputs"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\"place\":\"0x5000,400\"") && strstr(ts_buf_text(&a.out), "{\"complete\":true,"),
		      "%s", ts_buf_text(&a.out));
	ask_text_fini(&a);
	script_free(s);
	begin_hash(1500);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(ask_text(&a, TS_FORM_JSON, i ? "why $ebx" : "why $ebx inputs"));
		place = strstr(ts_buf_text(&a.out), "\"kind\":\"start\",\"place\":\"0x");
		ck_assert_msg(place && sscanf(place + 23, "\"%lx,%lu\"", &first, &len) == 2, "%s", ts_buf_text(&a.out));
		ck_assert_uint_eq(first + len, 0x5000 + 1500);
		ck_assert_uint_ge(len, 900);
		ck_assert_uint_lt(len, 1500);
		ck_assert(strstr(ts_buf_text(&a.out), "\"kind\":\"cut\"") && strstr(ts_buf_text(&a.out), "{\"complete\":false,"));
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_flows");
	TCase *c = twins_case();

	tcase_add_test(c, what_is_not_understood_is_refused);
	tcase_add_loop_test(c, what_an_instruction_leaves_still_flows, 0, 2);
	tcase_add_test(c, a_condition_that_does_not_hold_leaves_all);
	tcase_add_test(c, bytes_that_no_operand_writes_and_that_stay_flow_on);
	tcase_add_test(c, registers_that_are_lost_flow_no_further);
	tcase_add_test(c, a_register_that_another_threads_step_changes_flows_no_further);
	tcase_add_loop_test(c, a_string_that_one_step_moves_flows, 0, 2);
	tcase_add_test(c, a_long_loop_has_the_inputs_of_its_last_turns);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, sample_case(bytes_that_flow_are_those_of_the_walk));
	return suite;
}
