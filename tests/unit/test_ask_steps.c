/* SPDX-License-Identifier: MIT */
/*
 * steps, compares and unexplained against walks over all steps, on random recordings and on those of each format.
 * Comparisons of a few plain encodings are decoded here by hand.
 */
#include "unit.h"

#include "ask_text.h"
#include "naive.h"
#include "sample.h"
#include "src/ask/grammar/what.h"
#include "src/query/code/insns.h"
#include "twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_STEPS 200u

static struct script *s;
static struct naive *nv;
static struct ask_text a;
static struct sample sample; /* the recording, if it is one of a format */
static struct script_random rnd;
static uint64_t n_steps;
static unsigned n_compares, n_places; /* that were checked */

static uint32_t process_of_thread(uint32_t thread)
{
	return s->rec.threads[thread].process;
}

static uint64_t tid_of(uint32_t thread)
{
	return (uint64_t)a.names.tids[thread];
}

/* --------------------------------------------------------------------------------------------------- steps */

/* The register, or a part of it, that a place names: "$eax", "$xmm0[4:8]". */
static void find_register(const char *name, size_t len, struct ts_what *what)
{
	const char *part = memchr(name, '[', len);
	unsigned first, end;

	ck_assert_msg(ts_what_register(what, name + 1, part ? (size_t)(part - name) - 1 : len - 1, &s->rec.regs), "%.*s",
		      (int)len, name);
	if (!part)
		return;
	ck_assert_int_eq(sscanf(part, "[%u:%u]", &first, &end), 2);
	what->off += first;
	what->len = end - first;
}

/* May what the thread's last instruction wrote be unknown at @pos, because the thread does not go on? */
static bool is_left(uint64_t pos, uint32_t thread)
{
	return s->rec.is_before && thread != naive_thread(nv, pos) && naive_next_step(nv, thread, pos) == TS_NO_POS;
}

static void check_register(const char *item, const char *value, uint64_t pos, uint32_t thread)
{
	struct ts_what what;

	find_register(item, (size_t)(value - 1 - item), &what);
	for (uint32_t i = 0; i < what.len && !what.is_pc; i++) {
		uint8_t want = 0, got = 0;
		bool is_known = naive_reg(nv, pos, thread, what.off + i, &want);

		if (is_left(pos, thread) && strchr(value, '?'))
			break;
		if (what.is_flag) {
			ck_assert_msg(is_known == (*value != '?') && (!is_known || *value == '0' + (want >> what.bit & 1)),
				      "%s at %" PRIu64, item, pos);
			return;
		}
		ck_assert_msg(ask_byte(&a, value, i, what.len, &got) == is_known, "%s at %" PRIu64, item, pos);
		ck_assert_msg(!is_known || got == want, "%s at %" PRIu64, item, pos);
	}
	n_places++;
}

/* A byte that one step reads and writes may have been seen between the two: only what no other effect has is compared. */
static unsigned n_effects_on(const struct ts_step *st, uint64_t addr)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		n += (e->kind == TS_FX_WRITE || e->kind == TS_FX_READ) && addr - e->addr < e->len;
		if (e->kind >= TS_FX_MAP)
			return 2;
	}
	return n;
}

static void check_memory(const char *item, const char *value, uint64_t pos, uint64_t step, uint32_t process)
{
	char *rest;
	uint64_t addr = strtoull(item, &rest, 16), len;

	ck_assert_int_eq(*rest, ',');
	len = strtoull(rest + 1, &rest, 10);
	ck_assert_int_eq(*rest, '=');
	for (uint64_t i = 0; i < len && i < 64; i++) {
		uint8_t want = 0, got = 0;
		bool is_known;

		if (!naive_is_tracked(nv, addr + i) || n_effects_on(&s->steps.steps[step], addr + i) > 1)
			continue;
		is_known = naive_mem(nv, pos, process, addr + i, &want);
		ck_assert_msg(ask_byte(&a, value, i, len, &got) == is_known || !is_known, "%s at %" PRIu64, item, pos);
		ck_assert_msg(!is_known || got == want, "%s at %" PRIu64 ": byte %" PRIu64, item, pos, i);
	}
	n_places++;
}

/* Each place of the list has the value that the walk has. */
static void check_places(const char *list, uint64_t step, bool is_write)
{
	const struct ts_step *st = &s->steps.steps[step];
	char *copy = strdup(list), *rest = copy, *item;

	for (char *end; rest && *rest; rest = end) {
		char *value;

		end = strstr(rest, ", ");
		item = rest;
		if (end) {
			*end = 0;
			end += 2;
		}
		value = strchr(item, '=') + 1;
		if (*item == '$')
			check_register(item, value, step + is_write, st->thread);
		else if (!ts_query_facts(a.q)->is_physical)
			check_memory(item, value, step + is_write, step, process_of_thread(st->thread));
	}
	free(copy);
}

/* What the recording shows to be written is among the places. */
static void check_all_writes(const char *list, uint64_t step)
{
	const struct ts_step *st = &s->steps.steps[step];

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];
		char addr[32];

		if (e->kind == TS_FX_THREAD || ts_query_facts(a.q)->is_physical)
			return;
		snprintf(addr, sizeof(addr), "0x%" PRIx64 ",", e->addr);
		if (e->kind == TS_FX_WRITE && !e->is_hidden && e->len && !strstr(list, addr))
			ck_abort_msg("step %" PRIu64 " writes %s and shows %s", step, addr, list);
	}
}

static void check_row(unsigned row, uint64_t step)
{
	const struct ts_step *st = &s->steps.steps[step];

	ck_assert_uint_eq(ask_number(&a, row, 0), step);
	ck_assert_uint_eq(ask_number(&a, row, 1), tid_of(st->thread));
	ck_assert_uint_eq(ask_number(&a, row, 2), st->pc);
	/* what a format only guesses from the next address is no length */
	if (st->insn_len && st->pc != TS_NO_PC && !ts_query_facts(a.q)->guesses_lengths)
		ck_assert_uint_eq(ask_number(&a, row, 8), st->insn_len);
	for (unsigned i = 0; i < 15 && 3 * i < strlen(a.cells[row][9]) && !ts_query_facts(a.q)->is_physical; i++) {
		uint8_t want, got;

		if (st->pc + i >= st->pc && naive_is_tracked(nv, st->pc + i) &&
		    naive_mem(nv, step, process_of_thread(st->thread), st->pc + i, &want))
			ck_assert_msg(ask_byte(&a, a.cells[row][9], i, 15, &got) && got == want, "step %" PRIu64 ": %s", step,
				      a.cells[row][9]);
	}
	check_places(a.cells[row][11], step, false);
	check_places(a.cells[row][12], step, true);
	if (*a.cells[row][10] || st->pc == TS_NO_PC)
		return;
	check_all_writes(a.cells[row][12], step);
}

/* Steps in a range, of code or of all, of a thread or of all: each that the walk has, in its order. */
static void check_steps(void)
{
	uint64_t from, to, first = 0, last = UINT64_MAX, thread = TS_NO_THREAD, k;
	char question[200] = "steps";
	bool has_what = script_chance(&rnd, 40);
	unsigned row = 0;
	uint32_t process = process_of_thread(naive_thread(nv, n_steps));

	if (has_what) {
		first = s->steps.steps[script_below(&rnd, n_steps)].pc;
		last = first + script_below(&rnd, 64);
		if (first == TS_NO_PC || last < first || last > ts_arch_addr_mask(s->rec.regs.arch))
			return;
		sprintf(question, "steps 0x%" PRIx64 ",%" PRIu64, first, last - first + 1);
	}
	sample_range(&rnd, n_steps, &from, &to, question);
	if (script_chance(&rnd, 30)) {
		thread = script_below(&rnd, a.names.n_tids);
		process = process_of_thread(thread);
		sprintf(question + strlen(question), " thread %" PRIu64, tid_of((uint32_t)thread));
	}
	ask_cells(&a, question);
	for (k = from; k < to; k++) {
		const struct ts_step *st = &s->steps.steps[k];

		if ((thread != TS_NO_THREAD && st->thread != thread) || (has_what && (st->pc < first || st->pc > last)) ||
		    (has_what && process_of_thread(st->thread) != process))
			continue;
		ck_assert_msg(row < a.n_rows, "%s: step %" PRIu64, question, k);
		check_row(row++, k);
	}
	ck_assert_uint_eq(row, a.n_rows);
}

/* ------------------------------------------------------------------------------------------------- compares */

static bool code_at(uint64_t step, uint8_t *code, unsigned len)
{
	const struct ts_step *st = &s->steps.steps[step];

	for (unsigned i = 0; i < len; i++) {
		if (st->pc == TS_NO_PC ||
		    !sample_byte(&sample, step, process_of_thread(st->thread), st->pc + i, &code[i]))
			return false;
	}
	return true;
}

/* A 32-bit general register of the processor's number @i. */
static bool value_of(uint64_t step, unsigned i, uint64_t *value)
{
	static const char *const names[] = { "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi" };
	struct ts_what what;
	uint8_t byte;

	*value = 0;
	ck_assert(ts_what_register(&what, names[i], 3, &s->rec.regs));
	for (unsigned k = 0; k < 4; k++) {
		if (!naive_reg(nv, step, s->steps.steps[step].thread, what.off + k, &byte))
			return false;
		*value |= (uint64_t)byte << 8 * k;
	}
	return true;
}

/* cmp r32,r32 or test r32,r32 or cmp r32,imm8, and a short or near jump right after it, of one thread. */
static void check_compare(uint64_t step)
{
	uint8_t code[3], jump[2];
	uint64_t left, right;
	char question[80], want[32];
	bool is_taken;

	if (step + 2 >= n_steps || s->steps.steps[step + 1].thread != s->steps.steps[step].thread ||
	    s->steps.steps[step + 2].thread != s->steps.steps[step].thread || !code_at(step, code, 3) ||
	    code[1] < 0xc0 || !code_at(step + 1, jump, 2) ||
	    s->steps.steps[step + 1].pc != s->steps.steps[step].pc + (code[0] == 0x83 ? 3 : 2) ||
	    (jump[0] >> 4 != 7 && (jump[0] != 0x0f || jump[1] >> 4 != 8)))
		return;
	if (!(code[0] == 0x39 || code[0] == 0x85 || (code[0] == 0x83 && (code[1] & 0x38) == 0x38)) ||
	    !value_of(step, code[1] & 7, &left) || !value_of(step, code[1] >> 3 & 7, &right))
		return;
	if (code[0] == 0x83)
		right = (uint32_t)(int32_t)(int8_t)code[2];
	is_taken = s->steps.steps[step + 2].pc != s->steps.steps[step + 1].pc + (jump[0] == 0x0f ? 6 : 2);
	sprintf(question, "compares in %" PRIu64 ":%" PRIu64, step, step + 1);
	ask_cells(&a, question);
	ck_assert_msg(a.n_rows == 1 && ask_number(&a, 0, 0) == step, "%s: %" PRIu64, question, a.n_rows);
	sprintf(want, "0x%" PRIx64, left);
	ck_assert_msg(!strcmp(a.cells[0][7], want), "%s: %s, not %s", question, a.cells[0][7], want);
	sprintf(want, "0x%" PRIx64, right);
	ck_assert_msg(!strcmp(a.cells[0][8], want), "%s: %s, not %s", question, a.cells[0][8], want);
	ck_assert_uint_eq(ask_number(&a, 0, 9), is_taken);
	ck_assert_uint_eq(ask_number(&a, 0, 11), 1);
	if (is_taken)
		ck_assert_uint_eq(ask_number(&a, 0, 10), s->steps.steps[step + 2].pc);
	sprintf(question, "compares == 0x%" PRIx64 " in %" PRIu64 ":%" PRIu64, right, step, step + 1);
	ask_cells(&a, question);
	ck_assert_uint_eq(a.n_rows, 1);
	sprintf(question, "compares == %" PRIu64 " in %" PRIu64 ":%" PRIu64, (left ^ right) + left + 77, step, step + 1);
	ask_cells(&a, question);
	ck_assert_uint_eq(a.n_rows, left + (left ^ right) + 77 == right);
	n_compares++;
}

/* ---------------------------------------------------------------------------------------------- unexplained */

/* Has the byte another value after the step, or one for the first time, and did nothing in the step write it? */
static bool is_unexplained(uint64_t step, uint32_t process, uint64_t addr)
{
	const struct ts_step *st = &s->steps.steps[step];
	uint32_t thread = st->thread;
	uint8_t old = 0, new = 0;
	bool was_known, is_inferred = false;

	was_known = naive_mem(nv, step, process, addr, &old);
	if (!naive_mem(nv, step + 1, process, addr, &new) || (was_known && old == new))
		return false;
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (process_of_thread(thread) != process || e->kind < TS_FX_WRITE || e->kind > TS_FX_FORGET ||
		    e->kind == TS_FX_READ || e->kind == TS_FX_PROTECT || addr - e->addr >= e->len)
			continue;
		is_inferred = e->kind == TS_FX_WRITE && e->is_inferred;
		if (!is_inferred)
			return false;
	}
	return true;
}

/* The bytes of the rows are those of the walk, each once. */
static void check_unexplained(void)
{
	uint64_t n_want = 0, n_got = 0;

	ask_cells(&a, "unexplained");
	for (uint64_t step = 0; step < n_steps; step++) {
		for (uint32_t process = 0; process < ts_query_n_processes(a.q); process++) {
			for (size_t i = 0; i < s->n_bytes; i++)
				n_want += is_unexplained(step, process, s->bytes[i]);
		}
	}
	for (unsigned row = 0; row < a.n_rows; row++) {
		ck_assert(!row || ask_number(&a, row - 1, 0) <= ask_number(&a, row, 0));
		for (uint64_t i = 0; i < ask_number(&a, row, 5); i++) {
			bool is_one = false;

			for (uint32_t process = 0; process < ts_query_n_processes(a.q); process++)
				is_one |= naive_is_tracked(nv, ask_number(&a, row, 4) + i) &&
					  is_unexplained(ask_number(&a, row, 0), process, ask_number(&a, row, 4) + i);
			n_got += is_one;
		}
	}
	ck_assert_msg(n_got == n_want, "%" PRIu64 " of %" PRIu64 ": %.*s", n_got, n_want, (int)a.out.len,
		      (const char *)a.out.data);
}

/* ---------------------------------------------------------------------------------------------------- tests */

START_TEST(rows_of_a_random_recording_are_those_of_the_walk)
{
	s = script_random_new((uint64_t)_i + 1, N_STEPS);
	ck_assert_ptr_nonnull(s);
	ask_text_init(&a, &s->rec);
	nv = naive_new(s, false, false);
	ck_assert_ptr_nonnull(nv);
	n_steps = N_STEPS;
	rnd.state = (uint64_t)_i;
	for (unsigned i = 0; i < 10; i++)
		check_steps();
	check_unexplained();
	naive_free(nv);
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

START_TEST(rows_of_a_sample_are_those_of_the_walk)
{
	unsigned n = sample_n_questions(_i, 12);
	bool is_x86;

	sample_open(&sample, sample_names[_i]);
	ask_text_init(&a, sample.rec);
	s = sample.s;
	nv = sample.nv;
	n_steps = s->steps.n_steps;
	rnd.state = twins_seed((uint64_t)_i);
	is_x86 = ts_query_has_operands(a.q) && !ts_query_facts(a.q)->is_physical;
	for (unsigned i = 0; i < n; i++) {
		check_steps();
		for (unsigned k = 0; k < 40 && is_x86; k++)
			check_compare(script_below(&rnd, n_steps));
	}
	if (n_steps * s->n_bytes < 400000)
		check_unexplained();
	ask_text_fini(&a);
	sample_close(&sample);
}
END_TEST

/* mov eax, 5; cmp eax, 7; nop; jb +0; test eax, eax; jz; in a loop: equal neighbours are one row. */
START_TEST(equal_comparisons_of_a_loop_are_one_row)
{
	static const uint8_t code[] = { 0x83, 0xf8, 0x07, 0x90, 0x72, 0xfa };
	struct ts_what eax, flags;

	s = script_new("x86_64", 1, NULL);
	ck_assert(ts_what_register(&eax, "rax", 3, &s->rec.regs) && ts_what_register(&flags, "eflags", 6, &s->rec.regs));
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, code, sizeof(code));
	ts_steps_value(&s->rec.initial, TS_FX_REG_WRITE, eax.off, "\5\0\0\0\0\0\0", 8);
	for (unsigned i = 0; i < 31; i++) {
		if (i == 15)
			ts_steps_value(&s->steps, TS_FX_REG_WRITE, eax.off, "\6\0\0\0\0\0\0", 8);
		ts_steps_close(&s->steps, 0x401000 + (i % 3 == 0 ? 0 : i % 3 == 1 ? 3 : 4), i % 3 ? (uint16_t)i % 3 : 3, 0);
	}
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "compares");
	ck_assert_uint_eq(a.n_rows, 2);
	ck_assert_str_eq(a.cells[0][6], "cmp eax, 0x07; jb 0x0000000000401000");
	ck_assert_str_eq(a.cells[0][7], "0x5");
	ck_assert_str_eq(a.cells[0][8], "0x7");
	ck_assert_uint_eq(ask_number(&a, 0, 11) + ask_number(&a, 1, 11), 10);
	ck_assert_str_eq(a.cells[1][7], "0x6");
	ck_assert_uint_eq(ask_number(&a, 1, 10), 0x401000);
	ask_cells(&a, "compares == 6");
	ck_assert_uint_eq(a.n_rows, 1);
	ask_cells(&a, "compares 0x401003,8");
	ck_assert_uint_eq(a.n_rows, 0);
	ck_assert(!ask_text(&a, TS_FORM_TSV, "compares == x"));
	ck_assert_ptr_nonnull(strstr(a.err.text, "'x' is not a number"));
	ck_assert(!ask_text(&a, TS_FORM_TSV, "steps == 5"));
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

static void put_number(struct ts_steps *to, const char *name, uint64_t value)
{
	const struct ts_reg *r = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, name)];
	uint8_t bytes[8];

	ts_arch_put(s->rec.regs.arch, bytes, r->len, value);
	ts_steps_value(to, TS_FX_REG_WRITE, r->off, bytes, r->len);
}

/* Of r0 that is 0 and r1 that is 9: cmp r0, #0; cmpne r1, #2; bhi; subs r2, r1, #8; bne; ldreq r3, [r0]. */
START_TEST(what_a_condition_leaves_out_is_not_told)
{
	static const char code[] = "\x00\x00\x50\xe3\x02\x00\x51\x13\x00\x00\x00\x8a\x08\x20\x51\xe2\xff\xff\xff\x1a\x00\x30\x90\x05";

	s = script_new("arm", 1, NULL);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x1000, code, sizeof(code) - 1);
	put_number(&s->rec.initial, "cpsr", 0x10);
	put_number(&s->rec.initial, "r0", 0);
	put_number(&s->rec.initial, "r1", 9);
	for (unsigned i = 0; i < 6; i++) {
		if (i == 3)
			put_number(&s->steps, "r2", 1);
		if (i == 0 || i == 3)
			put_number(&s->steps, "cpsr", i ? 0x20000010 : 0x60000010);
		ts_steps_close(&s->steps, 0x1000 + 4 * i, 4, 0);
	}
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "compares");
	ck_assert_uint_eq(a.n_rows, 2);
	ck_assert_msg(!strncmp(a.cells[0][6], "cmp r0, #0; bhi ", 16), "%s", a.cells[0][6]);
	ck_assert_str_eq(a.cells[0][7], "0x0");
	ck_assert_str_eq(a.cells[0][8], "0x0");
	ck_assert_str_eq(a.cells[1][7], "0x9");
	ck_assert_str_eq(a.cells[1][8], "0x8");
	ask_cells(&a, "steps");
	ck_assert_str_eq(a.cells[1][11], "");
	ck_assert_str_eq(a.cells[1][12], "");
	ck_assert_str_eq(a.cells[3][11], "$r1=0x9");
	ck_assert_str_eq(a.cells[5][11], "");
	ck_assert_str_eq(a.cells[5][12], "");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* rep movsb and bsf eax, ecx, of rcx that is 0. */
START_TEST(what_decides_that_nothing_happens_is_read)
{
	s = script_new("x86_64", 1, NULL);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, "\xf3\xa4\x0f\xbc\xc1", 5);
	put_number(&s->rec.initial, "rcx", 0);
	put_number(&s->rec.initial, "rsi", 0x5000);
	ts_steps_close(&s->steps, 0x401000, 2, 0);
	ts_steps_close(&s->steps, 0x401002, 3, 0);
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "steps");
	ck_assert_str_eq(a.cells[0][11], "$rcx=0x0");
	ck_assert_str_eq(a.cells[0][12], "");
	ck_assert_str_eq(a.cells[1][11], "$ecx=0x0");
	ck_assert_str_eq(a.cells[1][12], "$eflags=?? ?? ?? ??");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Two of three instructions are known: an answer about all three is not complete, one about the known ones is. */
START_TEST(instructions_that_are_not_known_may_have_compared)
{
	s = script_new("x86_64", 1, NULL);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, (const uint8_t[]){ 0x90, 0x90 }, 2);
	ts_steps_close(&s->steps, 0x401000, 1, 0);
	ts_steps_close(&s->steps, 0x401001, 1, 0);
	ts_steps_close(&s->steps, 0x402000, 0, 0);
	ask_text_init(&a, &s->rec);
	ck_assert(ask_text(&a, TS_FORM_JSON, "compares"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "{\"complete\":false,\"rows\":0,\"total\":0,\"note\":\"of 1 steps the"));
	ck_assert(ask_text(&a, TS_FORM_JSON, "compares in 0:2"));
	ck_assert_str_eq(ts_buf_text(&a.out), "{\"complete\":true,\"rows\":0,\"total\":0}\n");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* mov eax, 5 with an event that came instead, elsewhere a nop, the same mov, and cmp eax, 5; jz; event and mov as step 0 and 2. */
static void begin_stopped(enum ts_event_kind kind, bool is_after)
{
	static const uint8_t code[] = { 0xb8, 5, 0, 0, 0, 0x83, 0xf8, 0x05, 0x74, 0x00 };
	static const struct { uint64_t pc; uint16_t len; } steps[] = {
		{ 0x401000, 5 }, { 0x402000, 1 }, { 0x401000, 5 }, { 0x401005, 3 }, { 0x402001, 1 }, { 0x401005, 3 }, { 0x401008, 2 },
	};
	struct ts_what eax;
	struct ts_event *ev;

	s = script_new("x86_64", 1, NULL);
	ck_assert(ts_what_register(&eax, "rax", 3, &s->rec.regs));
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, code, sizeof(code));
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x402000, (const uint8_t[]){ 0x90, 0x90 }, 2);
	ts_steps_value(&s->rec.initial, TS_FX_REG_WRITE, eax.off, "\5\0\0\0\0\0\0", 8);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (i == 0 || i == 3) {
			ev = ts_steps_event(&s->steps, kind);
			ev->is_after = is_after;
		}
		ts_steps_close(&s->steps, steps[i].pc, steps[i].len, 0);
	}
	ask_text_init(&a, &s->rec);
}

/* An instruction that did not complete wrote nothing and compared nothing. */
START_TEST(an_instruction_that_was_stopped_did_nothing)
{
	static const enum ts_event_kind kinds[] = { TS_EV_INTERRUPT, TS_EV_FAULT, TS_EV_SIGNAL };

	begin_stopped(kinds[_i], false);
	ask_cells(&a, "compares");
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert_uint_eq(ask_number(&a, 0, 0), 5);
	ask_cells(&a, "history $eax");
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert_uint_eq(ask_number(&a, 0, 0), 2);
	ask_cells(&a, "why $eax at 2");
	ck_assert(!strcmp(a.cells[0][8], "start"));
	ask_cells(&a, "steps first 1");
	ck_assert_str_eq(a.cells[0][10], kinds[_i] == TS_EV_INTERRUPT ? "" : "mov eax, 0x05");
	ck_assert_str_eq(a.cells[0][12], "");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* What comes after an instruction did not stop it. */
START_TEST(an_instruction_before_a_signal_ran)
{
	begin_stopped(TS_EV_SIGNAL, true);
	ask_cells(&a, "history $eax");
	ck_assert_uint_eq(a.n_rows, 2);
	ask_cells(&a, "steps first 1");
	ck_assert_str_eq(a.cells[0][12], "$rax=0x5");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* The last step is a system call: rax becomes known, rcx has the value that it had, r11 stays unknown. */
START_TEST(of_a_call_without_a_result_what_became_known_is_written)
{
	s = script_new("x86_64", 1, NULL);
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, "\x0f\x05", 2);
	put_number(&s->rec.initial, "rcx", 7);
	put_number(&s->steps, "rcx", 7);
	put_number(&s->steps, "rax", 0);
	ts_steps_close(&s->steps, 0x401000, 2, 0);
	ask_text_init(&a, &s->rec);
	ask_cells(&a, "steps");
	ck_assert_str_eq(a.cells[0][10], "syscall");
	ck_assert_str_eq(a.cells[0][12], "$rax=0x0");
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Between slices of the search, too, a step of another thread is none. */
START_TEST(steps_of_another_thread_are_passed_over_in_slices)
{
	char question[64];

	s = script_new("x86_64", 2, NULL);
	for (unsigned i = 0; i < 3000; i++)
		ts_steps_close(&s->steps, 0x401000 + i % 40, 1, i == 2990);
	ask_text_init(&a, &s->rec);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(question, sizeof(question), "%s 0x401000,40 thread %u", i ? "executions" : "steps", (unsigned)tid_of(1));
		ask_cells(&a, question);
		ck_assert_uint_eq(a.n_rows, 1);
		ck_assert_uint_eq(ask_number(&a, 0, 0), 2990);
		ck_assert_uint_gt(a.n_runs, 1);
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_steps");
	TCase *c = twins_case();

	if (twins_has_format(TWINS_MADE_UP))
		tcase_add_loop_test(c, rows_of_a_random_recording_are_those_of_the_walk, 0, 40);
	tcase_add_test(c, equal_comparisons_of_a_loop_are_one_row);
	tcase_add_test(c, what_a_condition_leaves_out_is_not_told);
	tcase_add_test(c, what_decides_that_nothing_happens_is_read);
	tcase_add_test(c, instructions_that_are_not_known_may_have_compared);
	tcase_add_loop_test(c, an_instruction_that_was_stopped_did_nothing, 0, 3);
	tcase_add_test(c, an_instruction_before_a_signal_ran);
	tcase_add_test(c, of_a_call_without_a_result_what_became_known_is_written);
	tcase_add_test(c, steps_of_another_thread_are_passed_over_in_slices);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, sample_case(rows_of_a_sample_are_those_of_the_walk));
	return suite;
}
