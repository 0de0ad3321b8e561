/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "script.h"

/*
 * Seven rounds of a loop at 0x401000..0x401003 by two threads in turn.  Round i begins with i in rcx (gdb's
 * register 2) of its thread, and the second instruction writes i at 0x602000; rdx (3) is never known, nor
 * what lies at 0x602100.
 */
#define N_ROUNDS  7u
#define ROUND_LEN 4u

/* Agent expressions, as gdb writes them. */
#define RCX_IS_3          \
	"X7,260002220313" \
	"27"
#define RCX_IS_5          \
	"X7,260002220513" \
	"27"
#define RCX_IS_9          \
	"X7,260002220913" \
	"27"
#define RDX "X4,26000327"
#define MEM_IS_2        \
	"Xa,2400602000" \
	"19"            \
	"2202"          \
	"13"            \
	"27"
#define MEM_UNKNOWN     \
	"X7,2400602100" \
	"19"            \
	"27"
#define DIVIDES         \
	"X6,2201220005" \
	"27"
#define FALSE_CODE "X3,220027"

static void make_rounds(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;
	int rcx = ts_regset_find(&rec->regs, "rcx");

	ts_steps_reset(b);
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		uint8_t value[8] = { (uint8_t)(i + 1) };

		ts_steps_close(b, 0x401000, 1, i % 2);
		value[0] = (uint8_t)i;
		ts_steps_value(b, TS_FX_WRITE, 0x602000, value, 4);
		ts_steps_close(b, 0x401001, 1, i % 2);
		ts_steps_close(b, 0x401002, 1, i % 2);
		/* the next two rounds find in rcx what this one sets for its thread */
		value[0] = (uint8_t)(i + 2);
		ts_steps_value(b, TS_FX_REG_WRITE, rec->regs.regs[rcx].off, value, 8);
		ts_steps_close(b, 0x401003, 1, i % 2);
	}
	ck_assert(!b->is_failed);
}

/* In which rounds a breakpoint with these conditions stops on the way from the beginning, as digits. */
static const char *rounds(const char *conditions, unsigned insn)
{
	static char text[N_ROUNDS + 2];
	char packet[256];
	size_t n = 0;

	fake_again(&(struct fake_options){ .change = make_rounds });
	snprintf(packet, sizeof(packet), "Z0,40100%u,1%s", insn, conditions);
	ck_assert_msg(!strcmp(fake_send(packet), "OK"), "%s: %s", packet, fake.text);
	rsp_session_go(&fake.session, 0);
	for (;;) {
		fake_resume("c");
		if (strstr(fake.text, "replaylog"))
			break;
		ck_assert_uint_eq(fake.session.pos % ROUND_LEN, insn);
		ck_assert_uint_le(n, N_ROUNDS);
		text[n++] = (char)('0' + fake.session.pos / ROUND_LEN);
	}
	text[n] = '\0';
	return text;
}

START_TEST(without_a_condition_each_hit_stops)
{
	ck_assert_str_eq(rounds("", 2), "0123456");
}
END_TEST

START_TEST(a_condition_sees_the_registers_at_the_hit)
{
	ck_assert_str_eq(rounds(";" RCX_IS_3, 2), "013"); /* unknown in the first round of each thread */
	ck_assert_str_eq(rounds(";" RCX_IS_9, 2), "01");
}
END_TEST

START_TEST(a_condition_sees_the_memory_at_the_hit)
{
	ck_assert_str_eq(rounds(";" MEM_IS_2, 2), "2");
	/* before the write that is done by the instruction itself */
	ck_assert_str_eq(rounds(";" MEM_IS_2, 1), "03");
}
END_TEST

START_TEST(what_is_not_known_stops)
{
	ck_assert_str_eq(rounds(";" RDX, 2), "0123456");
	ck_assert_str_eq(rounds(";" MEM_UNKNOWN, 2), "0123456");
	/* and the console says what was asked for at the last of the stops */
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&fake.session.console),
				     "The breakpoint's condition is not known: "
				     "cannot read memory at 0x602100, position "));
}
END_TEST

START_TEST(what_cannot_be_evaluated_stops)
{
	ck_assert_str_eq(rounds(";" DIVIDES, 2), "0123456");
}
END_TEST

/* "const16 n; again: const8 1; sub; dup; if_goto again; end", which is 0 in the end. */
static const char *loop(unsigned n)
{
	static char text[64];

	snprintf(text, sizeof(text),
		 ";Xb,23%04x22010328200003"
		 "27",
		 n);
	return text;
}

START_TEST(a_condition_that_loops_for_long_stops)
{
	char twice[128];

	ck_assert_str_eq(rounds(loop(3000), 2), "");
	ck_assert_str_eq(rounds(loop(5000), 2), "0123456");
	snprintf(twice, sizeof(twice), "%s%s", loop(3000), loop(3000));
	ck_assert_str_eq(rounds(twice, 2), "0123456");
}
END_TEST

/* "const16 n; again: const32 602000; ref8; pop; const8 1; sub; dup; if_goto again; end" */
static const char *look(unsigned n)
{
	static char text[80];

	snprintf(text, sizeof(text), ";X12,23%04x240060200017292201032820000327", n);
	return text;
}

START_TEST(a_condition_that_looks_at_memory_too_often_stops)
{
	char twice[160];

	ck_assert_str_eq(rounds(look(200), 2), "");
	ck_assert_str_eq(rounds(look(300), 2), "0123456");
	snprintf(twice, sizeof(twice), "%s%s", look(200), look(200));
	ck_assert_str_eq(rounds(twice, 2), "0123456");
}
END_TEST

START_TEST(one_of_several_conditions_is_enough)
{
	ck_assert_str_eq(rounds(";" RCX_IS_3 ";" RCX_IS_5, 2), "0135");
	ck_assert_str_eq(rounds(";" FALSE_CODE ";" MEM_IS_2, 2), "2");
	ck_assert_str_eq(rounds(";" MEM_IS_2 ";" FALSE_CODE, 2), "2");
	ck_assert_str_eq(rounds(";" FALSE_CODE ";" FALSE_CODE, 2), "");
}
END_TEST

START_TEST(a_soft_and_a_hard_breakpoint_are_asked_both)
{
	fake_again(&(struct fake_options){ .change = make_rounds });
	fake_send("Z0,401002,1;" FALSE_CODE);
	fake_send("Z1,401002,1;" MEM_IS_2);
	fake_resume("c");
	ck_assert_uint_eq(fake.session.pos, 2 * ROUND_LEN + 2);
	ck_assert_msg(!strncmp(fake.text, "T05", 3), "%s", fake.text);
}
END_TEST

START_TEST(backwards_too)
{
	rounds(";" MEM_IS_2, 2);
	fake_resume("bc");
	ck_assert_uint_eq(fake.session.pos, 2 * ROUND_LEN + 2);
	fake_resume("bc");
	ck_assert_uint_eq(fake.session.pos, 0);
}
END_TEST

START_TEST(a_condition_sees_the_thread_that_runs_not_the_one_chosen)
{
	rounds(";" RCX_IS_3, 2);
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("Hg3e8"), "OK");
	fake_resume("c");
	ck_assert_uint_eq(fake.session.pos, 6); /* thread 1 does not know rcx there, thread 0 does */
	fake_resume("c");
	ck_assert_uint_eq(fake.session.pos, 3 * ROUND_LEN + 2);
}
END_TEST

FAKE_SUITE("condition", without_a_condition_each_hit_stops, a_condition_sees_the_registers_at_the_hit,
	   a_condition_sees_the_memory_at_the_hit, what_is_not_known_stops, what_cannot_be_evaluated_stops,
	   a_condition_that_loops_for_long_stops, a_condition_that_looks_at_memory_too_often_stops,
	   one_of_several_conditions_is_enough, a_soft_and_a_hard_breakpoint_are_asked_both, backwards_too,
	   a_condition_sees_the_thread_that_runs_not_the_one_chosen)
