/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's version 2: the wire, keyframes, threads, architectures, and a naive twin.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "ucir_case.h"

/* -------------------------------------------------------------------------------- the wire */

/*
 * Every byte of every op that version 2 changes, written out by hand from the tables of the specification:
 * this test does not use the encoder of the others.
 */
START_TEST(the_layouts_are_those_of_the_specification)
{
	static const char raw[] =
		"RAW 0203000000010000000100000005" /* KEYFRAME thread 3 of process 1, one op: REG */
		"2c000071000000000000"             /* 44, 0x7100 */
		"RAW 01030000000100000008000000"   /* FRAME, eight ops */
		"RAW 03001000000000000000000000"   /* JMP */
		"RAW 10003000000000000004000000000000000" "0" /* FORGET 4 at 0x3000 */
		"RAW 11002000000000000002000000aabb" /* CHANGED */
		"RAW 0402"                           /* STEP */
		"RAW 0c0100000005000000000000000201000000" "0100000000000000" "0020000000000000" "00" /* SYSCALL, NOP */
		"RAW 0e0a00faffffff6300000000000000190" "1000000" "08006f0000000000000100000055" /* SIGNAL, WRITE */
		"RAW 0f07000000"                     /* THREAD_END */
		"RAW 00"
		"RAW 120c020000006869"               /* NOTE */
		"RAW 130007000000";                  /* END */
	struct ts_buf ops, text;
	const char *p = raw;

	/* the string above is for reading: the words between RAWs follow each other */
	ts_buf_init(&ops);
	ts_buf_init(&text);
	for (; *p; p++) {
		if (strncmp(p, "RAW ", 4) == 0)
			p += 3;
		else
			ts_buf_putc(&text, (uint8_t)*p);
	}
	for (size_t i = 0; i + 1 < text.len; i += 2) {
		unsigned b;

		ck_assert_int_eq(sscanf(ts_buf_text(&text) + i, "%2x", &b), 1);
		ts_buf_putc(&ops, (uint8_t)b);
	}
	ucir_encode_stream(&t.bytes, &ucir_v2, ops.data, ops.len);
	ts_buf_fini(&ops);
	ts_buf_fini(&text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), "1000/2@0 F3000,4 R2000,2=! syscall1(1,2000)=5 signal30+/-6@63 "
					    "W6f00=55! threadend7 exit7\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "hi"), 1);
}
END_TEST

START_TEST(version_2_is_big_endian_in_the_header_and_always_framed)
{
	struct ucir_form form = { .version = 2, .is_framed = true, .is_version_le = true };

	ucir_encode(&t.bytes, &form, START_V2 "FRAME 7:7 { STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_ptr_nonnull(strstr(t.err.text, "02000000"));
	ucir_close(&t);
	form = (struct ucir_form){ .version = 2 };
	ucir_encode(&t.bytes, &form, START_V2 "FRAME 7:7 { STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
}
END_TEST

START_TEST(earlier_versions_have_none_of_its_ops_and_none_of_its_architectures)
{
	struct ucir_form form = { .version = 1, .is_framed = true };

	for (unsigned kind = 14; kind <= 19; kind++) {
		char text[128];

		snprintf(text, sizeof(text), "KEY 0 { } FRAME 0 { JMP 1000 STEP 2 } RAW %02x RAW 20*00",
			 kind);
		open_form(&form, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_FAIL);
		snprintf(text, sizeof(text), "unknown op %u", kind);
		ck_assert_ptr_nonnull(strstr(t.err.text, text));
		ucir_close(&t);
	}
	form.arch = "riscv64";
	ucir_encode(&t.bytes, &form, "KEY 0 { } FRAME 0 { JMP 1000 STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_ptr_nonnull(strstr(t.err.text, "unknown architecture \"riscv64\""));
}
END_TEST

/* -------------------------------------------------------------------------------- keyframes */

START_TEST(registers_that_a_keyframe_does_not_name_are_unknown)
{
	open_form(&ucir_v2, START_V2 "FRAME 7:7 { STEP 2 }");
	ck_assert_str_eq(initial(), " T0 rsp=7100 M1000,1000,5,exe,/bin/prog W1000=0f05 W1800=c3 "
				    "M7000,1000,3,stack,- W7100=01");
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(what_a_keyframe_forgets_is_unknown_from_the_start)
{
	open_form(&ucir_v2, "KEY 7:7 { JMP 1000 MAP 9000 1000 5 - /big FORGET 9000 1000 WRITE 9004 05 } "
			    "FRAME 7:7 { STEP 1 }");
	ck_assert_str_eq(initial(), " T0 M9000,1000,5,-,/big F9000,1000 W9004=05");
}
END_TEST

START_TEST(a_jump_in_the_keyframe_is_where_the_thread_begins)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 } " SECOND "FRAME 7:8 { STEP 1 } END 0 0",
		  "1000/2@0 T1 rsp=7800! rax=5!\n1800/1@1 exit0\n");
}
END_TEST

/* -------------------------------------------------------------------------------- threads */

START_TEST(threads_of_a_process_share_its_memory)
{
	open_form(&ucir_v2, START_V2 SECOND "KEY 9:9 { JMP 5 } FRAME 7:7 { STEP 2 }");
	ck_assert_uint_eq(t.rec->n_threads, 3);
	ck_assert_uint_eq(t.rec->n_processes, 2);
	ck_assert_uint_eq(t.rec->threads[0].process, 0);
	ck_assert_uint_eq(t.rec->threads[1].process, 0);
	ck_assert_uint_eq(t.rec->threads[2].process, 1);
	ck_assert_uint_eq(t.rec->threads[1].pid, 7);
	ck_assert_uint_eq(t.rec->threads[1].tid, 8);
	ck_assert_uint_eq(t.rec->threads[2].pid, 9);
}
END_TEST

START_TEST(an_ended_thread_and_a_later_one_of_its_number_are_two)
{
	expect_v2(START_V2 SECOND "FRAME 7:8 { STEP 1 THREAD_END 3 } " SECOND
				  "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 }",
		  "1800/1@1 threadend3 T2 rsp=7800! rax=5!\n1000/2@0\n1800/1@2\n");
	ck_assert_uint_eq(t.rec->threads[2].tid, 8);
	ck_assert_uint_eq(t.rec->n_processes, 1);
}
END_TEST

START_TEST(a_call_that_returns_after_steps_of_others_happens_there)
{
	expect_v2(START_V2 SECOND "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 STEP 1 } FRAME 7:7 { "
				  "SYSCALL 0 1 3 { WRITE 7000 61 } JMP 1002 STEP 1 }",
		  "1000/2@0\n1800/1@1\n1801/1@1 T0 syscall0(3)=1 W7000=61\n1002/1@0\n");
}
END_TEST

START_TEST(a_call_that_does_not_return_ends_nothing_by_itself)
{
	expect_v2(START_V2 SECOND "FRAME 7:8 { STEP 1 SYSCALL 60 0 0 { EXIT WRITE 7000 00 } THREAD_END 0 } "
				  "FRAME 7:7 { STEP 2 SYSCALL 231 0 15 { EXIT } } END 0 21",
		  "1800/1@1 syscall60(0) W7000=00 threadend0\n1000/2@0 syscall231(15) exit21\n");
	ck_assert(t.reader->end.has_exit);
}
END_TEST

START_TEST(a_thread_ends_where_it_stands_though_it_never_ran)
{
	expect_v2(START_V2 SECOND
		  "FRAME 7:7 { STEP 2 } FRAME 7:8 { THREAD_END 9 } FRAME 7:7 { STEP 1 } END 0 0",
		  "1000/2@0 T1 threadend9\n1002/1@0 exit0\n");
}
END_TEST

START_TEST(a_group_that_is_open_while_others_run_is_put_together)
{
	expect_v2(
		START_V2 SECOND
		"FRAME 7:7 { WRITE 7000 01 } FRAME 7:8 { WRITE 7000 02 STEP 1 } FRAME 7:7 { REG 35 9 STEP 2 "
		"} END 0 0",
		"1800/1@1 W7000=02\n1000/2@0 W7000=01 rax=9 exit0\n");
}
END_TEST

/* What stands between the frames of a group: notes, steps, calls and signals of others, threads that begin. */
START_TEST(a_group_goes_on_after_what_stands_between_its_frames)
{
	static const char text[] = START_V2 SECOND
		"FRAME 7:7 { STEP 2 WRITE 7000 01 } NOTE 9 =5 FRAME 7:7 { WRITE 7001 02 } "
		"FRAME 7:8 { STEP 1 SYSCALL 1 2 3 { WRITE 7100 03 } SIGNAL 10 1 2 25 { REG 44 6f00 } } "
		"KEY 7:9 { REG 44 5 SYSCALL 1 0 - { NOP } JMP 1900 } FRAME 7:9 { STEP 3 } NOTE 9 =6 "
		"FRAME 7:7 { WRITE 7002 04 } FRAME 7:8 { JMP 1800 STEP 1 SYSCALL 1 2 3 { NOP } } FRAME 7:7 { "
		"STEP 2 }";

	expect_v2(text, "1000/2@0\n"
			"1800/1@1 syscall1(3)=2 W7100=03 signal30/1@2 rsp=6f00! T2 rsp=5!\n"
			"1900/3@2\n"
			"1800/1@1 syscall1(3)=2\n"
			"1002/2@0 W7000=01 W7001=02 W7002=04\n");
	ucir_close(&t);
	open_form(&ucir_v2, text);
	ucir_resume_everywhere(&t);
}
END_TEST

START_TEST(a_jump_after_a_step_of_another_is_where_an_open_group_goes_on)
{
	expect_v2(START_V2 SECOND
		  "FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 2 } FRAME 7:8 { JMP 1900 STEP 1 }",
		  "1000/2@0\n1900/1@1 W7000=01\n");
}
END_TEST

/* -------------------------------------------------------------------------------- architectures */

START_TEST(every_register_of_every_new_architecture_is_kept)
{
	/* numbers: Unicorn 2's headers (riscv.h, ppc.h, mips.h, s390x.h) */
	static const struct {
		const char *arch, *model, *text, *want;
		bool is_big_endian;
	} cases[] = {
		{ "riscv64", "riscv64",
		  "REG 2 1 REG 3 2 REG 4 3 REG 5 4 REG 6 5 REG 8 6 REG 9 7 REG 10 8 REG 11 9 REG 18 a REG 19 b REG 28 c "
		  "REG 29 d REG 32 e REG 43 f REG 158 10 REG 166 11 REG 167 12 REG 168 13 REG 176 14 REG 185 15 REG 186 16 "
		  "REG 189 17",
		  "ra=1 sp=2 gp=3 tp=4 t0=5 t2=6 fp=7 s1=8 a0=9 a7=a s2=b s11=c t3=d t6=e fcsr=f ft0=10 fs0=11 fs1=12 fa0=13 "
		  "fs2=14 fs11=15 ft8=16 ft11=17",
		  false },
		{ "riscv32", "riscv32", "REG 3 2 REG 32 ffffffff87654321", "sp=2 t6=87654321", false },
		{ "mips64", "mips64", "REG 33 1 REG 31 123456789abcdef0 REG 129 2 REG 130 3 REG 57 4 REG 88 5 REG 139 6",
		  "r31=1 r29=123456789abcdef0 hi=2 lo=3 f0=4 f31=5 status=6", true },
		{ "mips64", "mips64el", "REG 33 1", "r31=1", false },
		{ "ppc64", "ppc64", "REG 2 1 REG 33 2 REG 42 3 REG 73 4 REG 74 5 REG 75 6 REG 76 7 REG 77 8 REG 78 9 REG 79 a",
		  "r0=1 r31=2 f0=3 f31=4 lr=5 xer=6 ctr=7 msr=8 fpscr=9 cr=a", true },
		{ "ppc64", "ppc64le", "REG 3 1122334455667788", "r1=1122334455667788", false },
		{ "ppc", "ppc", "REG 3 11223344 REG 42 1122334455667788", "r1=11223344 f0=1122334455667788", true },
		{ "s390x", "s390x", "REG 1 1 REG 16 2 REG 17 3 REG 32 4 REG 49 5 REG 64 6 REG 66 7 REG 99 8",
		  "r0=1 r15=2 f0=3 f15=4 acr0=5 acr15=6 pswm=7 fpc=8", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ucir_form form = { .arch = cases[i].arch,
						.version = 2,
						.is_framed = true,
						.is_big_endian = cases[i].is_big_endian };
		char text[1000], want[600];

		snprintf(text, sizeof(text),
			 "KEY 1:1 { %s JMP 1000 } FRAME 1:1 { READ 0 1 %s STEP 4 } END 0 0", cases[i].text,
			 cases[i].text);
		snprintf(want, sizeof(want), "1000/4@0 R0,1 %s exit0\n", cases[i].want);
		expect_form(&form, text, want);
		ck_assert_str_eq(t.rec->regs.arch->name, cases[i].model);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
		ucir_close(&t);
	}
}
END_TEST

START_TEST(signals_have_the_numbers_of_their_processor)
{
	const struct ucir_form form = { .arch = "mips64", .version = 2, .is_framed = true, .is_big_endian = true };

	expect_form(
		&form,
		"KEY 1:1 { JMP 1000 } FRAME 1:1 { READ 0 1 STEP 4 SIGNAL 10 0 0 1 { } STEP 4 } END 1 16",
		"1000/4@0 R0,1 signal10+\n1004/4@0 signal30+ exit(by SIGUSR1)\n"); /* SIGBUS, SIGUSR1 on MIPS */
}
END_TEST

/* -------------------------------------------------------------------------------- the naive twin */

#define N_THREADS 4

#define N_BYTES 16

/* The machine that the text was made from: registers of each thread, memory of all. */
struct machine {
	uint64_t rax[N_THREADS], pc[N_THREADS];
	uint8_t mem[N_BYTES];
	bool known[N_BYTES];
	bool lives[N_THREADS];
};

/* What a loader's effects make of the same: nothing but assignments. */
static void run_effects(struct machine *m, uint32_t thread, const struct ts_step *s)
{
	const struct ts_reg *rax = &t.rec->regs.regs[ts_regset_find(&t.rec->regs, "rax")];

	for (uint32_t i = s->first; i < s->first + s->n_effects; i++) {
		const struct ts_effect *e = &t.steps.effects[i];
		const uint8_t *data = ts_effect_data(&t.steps, e);

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind == TS_FX_REG_WRITE && e->addr == rax->off)
			m->rax[thread] = ts_arch_get(t.rec->regs.arch, data, 8);
		for (uint64_t k = 0; k < e->len; k++) {
			if ((e->kind == TS_FX_WRITE || e->kind == TS_FX_READ) && data) {
				m->mem[e->addr - 0x7000 + k] = data[k];
				m->known[e->addr - 0x7000 + k] = true;
			} else if (e->kind == TS_FX_FORGET) {
				m->known[e->addr - 0x7000 + k] = false;
			}
		}
		if (e->kind == TS_FX_EVENT && t.steps.events[e->item].kind == TS_EV_THREAD_END)
			m->lives[thread] = false;
	}
}

struct writer {
	struct machine m;
	struct script_random rnd;
	struct ts_buf text;
	unsigned n_steps;
	struct machine after[64]; /* each step and what belongs to it */
	uint32_t thread[64];
};

static void put_byte(struct writer *w, const char *op, unsigned at, uint8_t value)
{
	ts_buf_printf(&w->text, "%s %x %02x ", op, 0x7000 + at, value);
	w->m.mem[at] = value;
	w->m.known[at] = true;
}

/* One instruction of thread @i, and what may follow it. */
static void put_step(struct writer *w, unsigned i)
{
	if (!script_below(&w->rnd, 5))
		put_byte(w, "CHANGED", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
	if (!script_below(&w->rnd, 3))
		put_byte(w, "WRITE", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
	w->m.rax[i] = script_below(&w->rnd, 1000);
	ts_buf_printf(&w->text, "REG 35 %" PRIx64 " STEP 1 ", w->m.rax[i]);
	w->thread[w->n_steps] = i;
	w->m.pc[i]++;
}

static void put_tail(struct writer *w, unsigned i)
{
	switch (script_below(&w->rnd, 8)) {
	case 0:
		ts_buf_puts(&w->text, "SYSCALL 3 0 - { ");
		put_byte(w, "WRITE", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
		ts_buf_puts(&w->text, "} ");
		break;
	case 1:
		w->m.rax[i] = script_below(&w->rnd, 1000);
		w->m.pc[i] = 0x2000 + script_below(&w->rnd, 1000);
		ts_buf_printf(&w->text,
			      "SIGNAL 10 0 0 1 { REG 35 %" PRIx64 " FORGET 7003 2 } JMP %" PRIx64 " ",
			      w->m.rax[i], w->m.pc[i]);
		w->m.known[3] = w->m.known[4] = false;
		break;
	case 2:
		w->m.pc[i] = 0x3000 + script_below(&w->rnd, 1000);
		ts_buf_printf(&w->text, "JMP %" PRIx64 " ", w->m.pc[i]);
		break;
	}
}

static void write_random(struct writer *w, uint64_t seed)
{
	*w = (struct writer){ .rnd = { seed } };
	ts_buf_init(&w->text);
	for (unsigned i = 0; i < N_THREADS; i++) {
		w->m.pc[i] = 0x1000 * i;
		w->m.rax[i] = i;
		w->m.lives[i] = true;
		ts_buf_printf(&w->text, "KEY 1:%u { REG 35 %x JMP %x %s } ", i, i, 0x1000 * i,
			      i ? "" : "MAP 7000 10 3 - -");
	}
	for (unsigned k = 0; k < N_BYTES; k++)
		w->m.known[k] = true;
	while (w->n_steps < 60) {
		unsigned i = (unsigned)script_below(&w->rnd, N_THREADS);

		if (!w->m.lives[i])
			continue;
		/* a frame may also hold only what belongs to a step before, of whichever thread */
		ts_buf_printf(&w->text, "FRAME 1:%u { ", i);
		if (w->n_steps && !script_below(&w->rnd, 4)) {
			put_tail(w, i);
			w->after[w->n_steps - 1] = w->m;
		}
		for (uint64_t n = script_below(&w->rnd, 3); n > 0 && w->n_steps < 60; n--) {
			put_step(w, i);
			put_tail(w, i);
			w->after[w->n_steps++] = w->m;
		}
		if (i && w->n_steps && !script_below(&w->rnd, 25)) {
			ts_buf_puts(&w->text, "THREAD_END 0 ");
			w->m.lives[i] = false;
			w->after[w->n_steps - 1] = w->m;
		}
		ts_buf_puts(&w->text, "} ");
	}
	ts_buf_puts(&w->text, "END 0 0");
}

START_TEST(any_schedule_of_threads_gives_the_states_it_was_made_from)
{
	static struct writer w;

	for (uint64_t seed = 1; seed < 100; seed++) {
		struct machine m = { 0 };

		write_random(&w, seed);
		open_form(&ucir_v2, ts_buf_text(&w.text));
		for (unsigned i = 0; i < N_THREADS; i++) {
			m.rax[i] = i;
			m.lives[i] = true;
		}
		memset(m.known, true, sizeof(m.known));
		for (unsigned k = 0; k < w.n_steps; k++) {
			ts_steps_reset(&t.steps);
			ck_assert_msg(ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM, "%s in\n%s",
				      t.err.text, ts_buf_text(&w.text));
			ck_assert_uint_eq(t.steps.steps[0].thread, w.thread[k]);
			run_effects(&m, t.steps.steps[0].thread, &t.steps.steps[0]);
			for (unsigned i = 0; i < N_THREADS; i++) {
				ck_assert_uint_eq(m.rax[i], w.after[k].rax[i]);
				ck_assert(m.lives[i] == w.after[k].lives[i]);
			}
			for (unsigned i = 0; i < N_BYTES; i++) {
				ck_assert(m.known[i] == w.after[k].known[i]);
				ck_assert(!m.known[i] || m.mem[i] == w.after[k].mem[i]);
			}
			if (k)
				ck_assert_uint_eq(t.steps.steps[0].pc, w.after[k - 1].pc[w.thread[k]]);
		}
		ck_assert_int_eq(ts_reader_next(t.reader, &t.steps, &t.err), TS_END);
		ucir_close(&t);
		open_form(&ucir_v2, ts_buf_text(&w.text));
		ucir_resume_everywhere(&t);
		ucir_close(&t);
		ts_buf_fini(&w.text);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_v2", setup, teardown, the_layouts_are_those_of_the_specification,
		   version_2_is_big_endian_in_the_header_and_always_framed,
		   earlier_versions_have_none_of_its_ops_and_none_of_its_architectures,
		   registers_that_a_keyframe_does_not_name_are_unknown,
		   what_a_keyframe_forgets_is_unknown_from_the_start,
		   a_jump_in_the_keyframe_is_where_the_thread_begins, threads_of_a_process_share_its_memory,
		   an_ended_thread_and_a_later_one_of_its_number_are_two,
		   a_call_that_returns_after_steps_of_others_happens_there,
		   a_call_that_does_not_return_ends_nothing_by_itself,
		   a_thread_ends_where_it_stands_though_it_never_ran,
		   a_group_that_is_open_while_others_run_is_put_together,
		   a_group_goes_on_after_what_stands_between_its_frames,
		   a_jump_after_a_step_of_another_is_where_an_open_group_goes_on,
		   every_register_of_every_new_architecture_is_kept,
		   signals_have_the_numbers_of_their_processor,
		   any_schedule_of_threads_gives_the_states_it_was_made_from)
