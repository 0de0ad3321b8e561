/* SPDX-License-Identifier: MIT */
/*
 * Stores of Usercorn traces of which the tool shows nothing, or only a part: what they leave is unknown.
 */
#include "unit.h"

#include <string.h>

#include "ucir_text.h"

static struct ucir_trace t;
static struct ts_buf got;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&got);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&got);
}

static void expect_of(const char *arch, const char *text, const char *want)
{
	const struct ucir_form form = { .arch = arch, .version = 1, .is_framed = true };

	ucir_close(&t);
	ts_buf_reset(&t.bytes);
	ts_buf_reset(&got);
	ucir_encode(&t.bytes, &form, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), want);
}

static void expect(const char *text, const char *want)
{
	expect_of("x86_64", text, want);
}

/* rsp is 7100, and at 1000 is the code. */
#define KEY(code) "KEY 0 { REG 44 7100 MAP 1000 1000 5 exe p WRITE 1000 " code " MAP 7000 1000 3 stack - } "
/* fstpt (%rsp) */
#define FSTP KEY("db3c24")

START_TEST(a_store_that_is_not_in_the_trace_leaves_unknown_bytes)
{
	expect(FSTP "FRAME 0 { JMP 1000 STEP 3 }", "1000/3@0 W7100,a\n");
	expect(KEY("df3424") "FRAME 0 { JMP 1000 STEP 3 }", "1000/3@0 W7100,a\n");     /* fbstp (%rsp) */
	expect(KEY("dd3424") "FRAME 0 { JMP 1000 STEP 3 }", "1000/3@0 W7100,6c\n");    /* fnsave (%rsp) */
	expect(KEY("d97c2410") "FRAME 0 { JMP 1000 STEP 4 }", "1000/4@0\n");           /* fnstcw 16(%rsp) */
	expect(KEY("d9742410") "FRAME 0 { JMP 1000 STEP 4 }", "1000/4@0 W7110,1c\n");  /* fnstenv 16(%rsp) */
	expect(KEY("0fae0424") "FRAME 0 { JMP 1000 STEP 4 }", "1000/4@0 W7100,200\n"); /* fxsave (%rsp) */
	expect(KEY("db7cc4f0") "FRAME 0 { JMP 1100 REG 35 2 STEP 4 JMP 1000 STEP 4 }", /* -16(%rsp,%rax,8) */
	       "1100/4@0 rax=2\n1000/4@0 W7100,a\n");
	expect(KEY("db3df0ffffff") "FRAME 0 { JMP 1000 STEP 6 }", "1000/6@0 Wff6,a\n"); /* -16(%rip) */
}
END_TEST

START_TEST(what_the_trace_shows_of_a_store_is_known)
{
	expect(FSTP "FRAME 0 { JMP 1000 WRITE 7100 0102030405060708 STEP 3 }",
	       "1000/3@0 W7100=0102030405060708 W7108,2\n");
	expect(FSTP "FRAME 0 { JMP 1000 WRITE 7102 0304 STEP 3 }", "1000/3@0 W7102=0304 W7100,2 W7104,6\n");
	expect(FSTP "FRAME 0 { JMP 1000 WRITE 70fe 01020304 WRITE 7108 050607 WRITE 70f0 08 WRITE 710a 09 "
		    "STEP 3 }",
	       "1000/3@0 W70fe=01020304 W7108=050607 W70f0=08 W710a=09 W7102,6\n");
	expect(FSTP "FRAME 0 { JMP 1000 WRITE 7100 0102030405060708 WRITE 7108 090a STEP 3 }",
	       "1000/3@0 W7100=0102030405060708 W7108=090a\n");
}
END_TEST

START_TEST(other_instructions_leave_nothing_unknown)
{
	expect(KEY("48890424") "FRAME 0 { JMP 1000 STEP 4 }", "1000/4@0\n"); /* mov %rax,(%rsp) */
	expect(KEY("db2c24") "FRAME 0 { JMP 1000 STEP 3 }", "1000/3@0\n");   /* fldt (%rsp) */
	expect(KEY("64db3c24") "FRAME 0 { JMP 1000 STEP 4 }", "1000/4@0\n"); /* fs's base is not recorded */
	expect(FSTP "FRAME 0 { JMP 1000 STEP 2 }", "1000/2@0\n");            /* there is other code by now */
	expect(FSTP "FRAME 0 { JMP 1100 STEP 3 }", "1100/3@0\n");            /* code that is not recorded */
	expect(FSTP "FRAME 0 { JMP 1000 WRITE 7100 01 EXIT STEP 3 }", "1000/3@0 fault7100 exit\n");
}
END_TEST

START_TEST(the_address_is_that_of_the_registers_at_the_instruction)
{
	expect(FSTP "FRAME 0 { JMP 1100 REG 44 7080 STEP 2 JMP 1000 STEP 3 }",
	       "1100/2@0 rsp=7080\n1000/3@0 W7080,a\n");
	expect(FSTP "FRAME 0 { JMP 1100 STEP 2 SYSCALL 9 0 - { REG 44 7040 } JMP 1000 STEP 3 }",
	       "1100/2@0 syscall9()=0 rsp=7040\n1000/3@0 W7040,a\n");
	expect(FSTP "FRAME 0 { JMP 1100 SPREG 44 2070000000000000 STEP 2 JMP 1000 STEP 3 }",
	       "1100/2@0 rsp=7020\n1000/3@0 W7020,a\n");
	expect_of("x86",
		  "KEY 0 { REG 30 fffffff8 REG 20 7100 MAP 1000 1000 5 exe p WRITE 1000 db7d00db3c24 } "
		  "FRAME 0 { JMP 1000 STEP 3 STEP 3 }",
		  "1000/3@0 W7100,a\n1003/3@0\n"); /* (%ebp); (%esp) would pass the end of the addresses */
}
END_TEST

START_TEST(without_a_keyframe_no_address_is_known)
{
	expect("FRAME 0 { JMP 1000 REG 44 7100 STEP 3 JMP 1000 STEP 3 }", "1000/3@0 rsp=7100\n1000/3@0\n");
}
END_TEST

#define TWO                                                               \
	"KEY 10 { REG 44 7100 MAP 1000 1000 5 exe p WRITE 1000 db3c24 } " \
	"KEY 20 { REG 44 8100 MAP 1000 1000 5 exe p WRITE 1000 488b00db3c24 } "

START_TEST(processes_have_their_own_code_and_registers)
{
	expect(TWO "FRAME 20 { JMP 1000 STEP 3 } FRAME 10 { JMP 1000 STEP 3 } FRAME 20 { STEP 3 }",
	       "1000/3@1\n1000/3@0 W7100,a\n1003/3@1 W8100,a\n");
}
END_TEST

/* The registers are in the decode point. */
START_TEST(a_resumed_reader_knows_the_registers)
{
	struct ts_buf point;

	ts_buf_init(&point);
	expect(TWO "FRAME 20 { JMP 1000 REG 44 8080 STEP 3 } FRAME 10 { REG 44 7080 JMP 1010 STEP 3 JMP 1000 "
		   "STEP 3 } "
		   "FRAME 20 { STEP 3 }",
	       "1000/3@1 rsp=8080\n1010/3@0 rsp=7080\n1000/3@0 W7080,a\n1003/3@1 W8080,a\n");
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	for (unsigned i = 0; i < 2; i++) {
		ts_steps_reset(&t.steps);
		ck_assert_int_eq(ts_reader_next(t.reader, &t.steps, &t.err), TS_ITEM);
	}
	ts_reader_save(t.reader, &point);
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ck_assert(ts_reader_resume(t.reader, point.data, point.len, &t.err));
	ts_buf_reset(&got);
	ck_assert_int_eq(ucir_read_all(&t, &got), TS_END);
	ck_assert_str_eq(ts_buf_text(&got), "1000/3@0 W7080,a\n1003/3@1 W8080,a\n");
	ts_buf_fini(&point);
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_x87", setup, teardown, a_store_that_is_not_in_the_trace_leaves_unknown_bytes,
		   what_the_trace_shows_of_a_store_is_known, other_instructions_leave_nothing_unknown,
		   the_address_is_that_of_the_registers_at_the_instruction,
		   without_a_keyframe_no_address_is_known, processes_have_their_own_code_and_registers,
		   a_resumed_reader_knows_the_registers)
