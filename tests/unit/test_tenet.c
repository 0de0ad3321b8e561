/* SPDX-License-Identifier: MIT */
/*
 * Tenet logs, line by line.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/trace/point.h"
#include "ucir_text.h"

#define ALL_REGS "rax=0x1,rbx=0x2,rcx=0x3,rdx=0x4,rbp=0x5,rsp=0x7000,rsi=0x6,rdi=0x7,r8=0x8,r9=0x9,r10=0xa,r11=0xb," \
		 "r12=0xc,r13=0xd,r14=0xe,r15=0xf"
#define FIRST ALL_REGS ",rip=0x1000\n"

static struct ucir_trace t;
static struct ts_buf steps;

static void setup(void)
{
	t = (struct ucir_trace){ .format = "tenet" };
	ts_buf_init(&steps);
	ts_buf_init(&t.bytes);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&steps);
}

static void again(void)
{
	teardown();
	setup();
}

static void open_log(const char *text)
{
	ts_buf_puts(&t.bytes, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

/* The log @text gives these steps. */
static void expect(const char *text, const char *wanted)
{
	open_log(text);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), wanted);
}

static const char *initial(void)
{
	ts_buf_reset(&steps);
	ucir_describe_effects(&steps, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&steps);
}

/* The log @text cannot be opened, because of @word. */
static void expect_refused(const char *text, size_t len, const char *word)
{
	ts_buf_put(&t.bytes, text, len);
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_msg(strstr(t.err.text, word), "no \"%s\" in: %s", word, t.err.text);
	again();
}

/* -------------------------------------------------------------------------------------------------- whose */

START_TEST(a_step_is_what_the_next_line_lists)
{
	expect(FIRST "rax=0x2a,rip=0x1003,mr=0x5000:0102\nrip=0x1005,mw=0x6000:ff\n",
	       "1000/3@0 rax=2a R5000,2=\n"
	       "1003/2@0 W6000=ff\n");
	ck_assert(t.reader->end.has_pc && !t.reader->end.is_assumed);
	ck_assert_uint_eq(t.reader->end.pc, 0x1005);
	ck_assert(strstr(t.rec->variant, "the previous instruction (no votes)"));
}
END_TEST

START_TEST(stores_at_the_stack_pointer_vote_for_the_previous_instruction)
{
	expect(FIRST "rsp=0x6ff8,rip=0x1001,mw=0x6ff8:0200000000000000\nrip=0x1002\n",
	       "1000/1@0 rsp=6ff8 W6ff8=0200000000000000\n1001/1@0\n");
	ck_assert_str_eq(t.rec->variant, "accesses of the previous instruction (1 votes to 0)");
}
END_TEST

START_TEST(stores_at_the_next_stack_pointer_vote_for_the_lines_own)
{
	expect(ALL_REGS ",rip=0x1000,mw=0x6ff8:0200000000000000\n"
	       "rsp=0x6ff8,rip=0x1001,mr=0x5000:aa\nrax=0xaa,rip=0x1004,mr=0x5001:bb\n",
	       "1000/1@0 W6ff8=0200000000000000 rsp=6ff8\n1001/3@0 R5000,1= rax=aa\n");
	ck_assert_str_eq(t.rec->variant, "accesses of the line's own instruction (1 votes to 0)");
	ck_assert(!strstr(initial(), "6ff8"));
}
END_TEST

START_TEST(only_stores_where_the_stack_pointer_falls_to_vote)
{
	static const char *const lines[] = {
		"rip=0x1001,mw=0x0:0200000000000000",              /* it lists none */
		"rsp=0x7000,rip=0x1001,mw=0x7000:0200000000000000", /* it stays */
		"rsp=0x7008,rip=0x1001,mw=0x7008:0200000000000000", /* it rises */
		"rsp=0x6ff8,rip=0x1001,mw=0x6ff0:0200000000000000", /* beside it */
		"rsp=0x6ff8,rip=0x1001,mr=0x6ff8:0200000000000000", /* a load */
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[400];

		snprintf(text, sizeof(text), FIRST "%s\nrip=0x1002\n", lines[i]);
		open_log(text);
		ck_assert_msg(strstr(t.rec->variant, "(no votes)"), "%s: %s", lines[i], t.rec->variant);
		again();
	}
}
END_TEST

START_TEST(a_log_records_reads_if_one_of_its_first_lines_has_one)
{
	static const struct {
		const char *lines;
		bool has_reads;
	} cases[] = {
		{ "rip=0x1001\n", false },
		{ "rip=0x1001,mw=0x5000:01\n", false },
		{ "rip=0x1001,mr=0x5000:01\n", true },
		{ "rip=0x1001,mr=0x5000:01\nrip=0x1002,mw=0x5000:01\nrip=0x1003\n", true },
		{ "rip=0x1001,mrw=0x5000:01\n", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[400];

		snprintf(text, sizeof(text), FIRST "%s", cases[i].lines);
		open_log(text);
		ck_assert_msg(t.rec->has_reads == cases[i].has_reads, "%s", cases[i].lines);
		again();
	}
}
END_TEST

/*
 * A log has registers and memory; what the kernel does is not in it.  Threads are its files, gaps are found.
 */
START_TEST(which_events_there_can_be)
{
	static const bool is_absent[TS_N_EVENT_KINDS] = {
		[TS_EV_SYSCALL] = true, [TS_EV_SIGNAL] = true, [TS_EV_FAULT] = true, [TS_EV_EXIT] = true, [TS_EV_INTERRUPT] = true,
	};

	open_log(FIRST "rip=0x1001\n");
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		ck_assert_msg((t.rec->absent_events >> i & 1) == is_absent[i], "event %u", i);
}
END_TEST

START_TEST(a_line_of_a_repeated_instruction_is_its_first_position)
{
	expect(ALL_REGS ",rip=0x1000,mw=0x6ff8:0200000000000000\n"
	       "rsp=0x6ff8,rcx=0x2,rip=0x1001,mw=0x5000:aa,rcx=0x1,mw=0x5001:ab\nrcx=0x0,rip=0x1003\n",
	       "1000/1@0 W6ff8=0200000000000000 rsp=6ff8 rcx=2\n"
	       "1001/2@0 W5000=aa rcx=1 W5001=ab rcx=0\n");
}
END_TEST

START_TEST(registers_that_are_listed_again_belong_to_the_step)
{
	expect("rip=0x1000,rsp=0x7000,rcx=0x5,mw=0x6ff8:0200000000000000\n"
	       "rip=0x1001,rsp=0x6ff8,rcx=0x2,mw=0x5000:aa,rcx=0x1,mw=0x5001:ab\nrip=0x1003,rcx=0x9,rcx=0x8\nrip=0x1004\n",
	       "1000/1@0 W6ff8=0200000000000000 rsp=6ff8 rcx=2\n"
	       "1001/2@0 W5000=aa rcx=1 W5001=ab rcx=9\n1003/1@0 rcx=8\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------------- values */

START_TEST(a_fetched_read_of_written_bytes_shows_them_afterwards)
{
	expect(FIRST "rip=0x1003,mr=0x5000:01020304,mw=0x5002:0304\nrip=0x1006,mr=0x6000:01,mw=0x5002:0304\n",
	       "1000/3@0 R5000,4 W5002=0304 R5000,4=!\n"
	       "1003/3@0 R6000,1= W5002=0304\n");
}
END_TEST

START_TEST(an_access_may_share_one_byte_with_another)
{
	expect(FIRST "rip=0x1003,mr=0x5000:0102,mw=0x5001:02\nrip=0x1006,mr=0x5000:0102,mw=0x5002:03\n",
	       "1000/3@0 R5000,2 W5001=02 R5000,2=!\n"
	       "1003/3@0 R5000,2= W5002=03\n");
}
END_TEST

START_TEST(a_log_has_reads_if_its_first_lines_have)
{
	expect(FIRST "rip=0x1003,mr=0x5000:01\nrip=0x1006,mw=0x5000:01\n",
	       "1000/3@0 R5000,1=\n1003/3@0 W5000=01\n");
	ck_assert(t.rec->has_reads);
	again();
	expect(FIRST "rip=0x1003,mw=0x5000:01\nrip=0x1006\n", "1000/3@0 W5000=01\n1003/0@0\n");
	ck_assert(!t.rec->has_reads);
}
END_TEST

START_TEST(digits_are_of_either_case)
{
	expect(FIRST "rax=0xABCDEF,rbx=0xfedcba,rip=0x1003,mw=0x5000:aBCdEF\nrip=0x1006\n",
	       "1000/3@0 rax=abcdef rbx=fedcba W5000=abcdef\n1003/0@0\n");
}
END_TEST

START_TEST(a_register_of_i386_has_eight_digits_after_zeros)
{
	expect("EAX=1,EIP=0x1000\neax=0x00fedcba98,eip=0x1001\neip=0x1002\n", "1000/1@0 eax=fedcba98\n1001/1@0\n");
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	again();
	expect("EAX=1,EIP=0x1000\neax=0x1fedcba98,eip=0x1001\neip=0x1002\n", "1000/1@0 eax=\n1001/1@0\n");
	ck_assert_int_eq(ucir_warned(t.rec, "a register's value cannot be read"), 1);
}
END_TEST

START_TEST(a_read_that_differs_from_the_write_is_true)
{
	expect(FIRST "rip=0x1003,mr=0x5000:01,mw=0x5000:02\nrip=0x1006,mr=0x5000:02,mw=0x5000:02\n",
	       "1000/3@0 R5000,1= W5000=02\n"
	       "1003/3@0 R5000,1= W5000=02\n");
}
END_TEST

START_TEST(mrw_is_a_read_without_a_value_and_a_write)
{
	expect(FIRST "rip=0x1003,mrw=0x5000:01\nrip=0x1006\n", "1000/3@0 R5000,1 W5000=01\n1003/0@0\n");
}
END_TEST

START_TEST(accesses_may_be_joined)
{
	expect(FIRST "rip=0x1003,MR=5000:01;0x6000:02 ; 7:03,mw=8:FF\nrip=0x1006\n",
	       "1000/3@0 R5000,1= R6000,1= R7,1= W8=ff\n1003/0@0\n");
}
END_TEST

START_TEST(accesses_of_the_first_line_are_memory_at_position_0)
{
	open_log("rsp=0x7000,rip=0x1000,mr=0x5000:01,mw=0x5000:02\nrip=0x1001\n");
	ck_assert(strstr(initial(), "W5000=01"));
	ck_assert(strstr(initial(), "W5000=02"));
}
END_TEST

/* ------------------------------------------------------------------------------------------ absent things */

START_TEST(a_line_without_pc_is_where_the_line_before_was)
{
	expect(FIRST "rcx=0x2,,mw=0x5000:01\n\nrip=0x1002\n", "1000/0@0 rcx=2 W5000=01\n1000/2@0\n");
}
END_TEST

START_TEST(registers_before_any_pc_count_for_the_first)
{
	expect("r9=0x5\n" FIRST "rip=0x1001\n", "1000/1@0\n");
	ck_assert(strstr(initial(), "r9=5"));
}
END_TEST

START_TEST(registers_that_the_first_line_leaves_out)
{
	static const struct {
		const char *first;
		bool is_zero;
	} cases[] = {
		{ "rdi=0x7,rsp=0x7000,rip=0x1000\n", true },
		{ "rsp=0x7000,rdi=0x7,rip=0x1000\n", false },           /* no writer that leaves zeros out */
		{ "rdi=0x0,rsp=0x7000,rip=0x1000\n", false },           /* one that lists zeros */
		{ "rip=0x1000\n", false },
		{ "rip=0x1000,rdi=0x7,rsp=0x7000\n", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200];

		snprintf(text, sizeof(text), "%srip=0x1001\n", cases[i].first);
		open_log(text);
		ck_assert_msg(!!strstr(initial(), "r12?=0") == cases[i].is_zero, "%s:%s", text, initial());
		again();
	}
}
END_TEST

START_TEST(blanks_comments_and_line_ends_say_nothing)
{
	expect("# DUMP_DIR: x=1\r\n\r\n RAX = 0x1 , RSP=7000 ,, RIP = 1000 ,\r\n#\nrip=0x1001\t\r\n",
	       "1000/1@0\n");
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(lengths_are_known_where_the_next_address_tells)
{
	expect(FIRST "rip=0x1002\nrip=0x1005\nrax=0x9,rip=0x1008\nrip=0x1018,mr=0x1:00\nrip=0x1010\n",
	       "1000/2@0\n1002/0@0\n1005/3@0 rax=9\n1008/0@0 R1,1=\n1018/0@0\n");
}
END_TEST

/* call 0x1009: the return address is pushed, by the line before or the line itself */
START_TEST(a_call_over_a_few_bytes_is_as_long_as_its_return_address_tells)
{
	expect(FIRST "rsp=0x6ff8,rip=0x1009,mw=0x6ff8:0510000000000000\nrip=0x100a\n",
	       "1000/5@0 rsp=6ff8 W6ff8=0510000000000000\n1009/1@0\n");
	again();
	expect(ALL_REGS ",rip=0x1000,mw=0x6ff8:0510000000000000\nrsp=0x6ff8,rip=0x1009\nrip=0x100a\n",
	       "1000/5@0 W6ff8=0510000000000000 rsp=6ff8\n1009/1@0\n");
}
END_TEST

/* --------------------------------------------------------------------------------------------------- gaps */

START_TEST(a_return_from_code_that_is_not_listed_is_a_gap)
{
	expect(FIRST "rax=0x9,rip=0x1005,mr=0x6ff8:0510000000000000,mw=0x5000:01\nrip=0x1006\n",
	       "1000/5@0 rax=9 W6ff8=0510000000000000! W5000=01! gap(code that is not listed) unseen\n1005/1@0\n");
}
END_TEST

/* Windows' 32-bit functions remove their arguments: the stack pointer is above where it was before the call. */
START_TEST(a_return_that_removes_arguments_is_a_gap)
{
	expect(FIRST "rsp=0x7010,rip=0x1006,mr=0x6ff8:0610000000000000,mw=0x5000:01\nrip=0x1007\n",
	       "1000/6@0 rsp=7010 W6ff8=0610000000000000! W5000=01! gap(code that is not listed) unseen\n1006/1@0\n");
}
END_TEST

/* ret 0x10 by listed code: what it reads is at the stack pointer, not below it */
START_TEST(a_listed_return_over_a_few_bytes_is_none)
{
	expect(FIRST "rsp=0x7018,rip=0x1006,mr=0x7000:0610000000000000\nrip=0x1007\n",
	       "1000/6@0 rsp=7018 R7000,8=\n1006/1@0\n");
}
END_TEST

START_TEST(lines_of_other_address_spaces_are_told)
{
	open_log("asid=0x1000,kernel=0," FIRST "asid=0x1000,rip=0x1002\nasid=0x2000,rip=0x1000\nASID=0x2000,rip=0x1002\n"
		 "asid=0x1000,rip=0x1004\n");
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	ck_assert_uint_eq(t.rec->warnings[0].count, 2);
	ck_assert(strstr(t.rec->warnings[0].text, "first in line 3, offset 0x"));
	ck_assert(strstr(t.rec->warnings[0].text, "another address space"));
}
END_TEST

START_TEST(a_mark_of_utf_8_says_nothing)
{
	expect("\xef\xbb\xbf" FIRST "rax=0x9,rip=0x1003\nrip=0x1004\n", "1000/3@0 rax=9\n1003/1@0\n");
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	ck_assert(strstr(initial(), "rax=1"));
}
END_TEST

START_TEST(a_return_to_the_code_after_it_is_none)
{
	expect(FIRST "rsp=0x7008,rip=0x1005,mr=0x7000:0510000000000000\nrip=0x1006\n",
	       "1000/5@0 rsp=7008 R7000,8=\n1005/1@0\n");
}
END_TEST

START_TEST(a_stack_pointer_that_cannot_be_read_shows_no_gap)
{
	expect(FIRST "rsp=zz,rip=0x1001\nrip=0x1006,mr=0x6ff8:0610000000000000\n",
	       "1000/1@0 rsp=\n1001/5@0 R6ff8,8=\n");
}
END_TEST

START_TEST(a_call_from_code_that_is_not_listed_is_a_gap)
{
	expect(FIRST "rsp=0x6ff8,rip=0x3000,mw=0x6ff8:0580000000000000\nrip=0x3001\n",
	       "1000/0@0 rsp=6ff8 W6ff8=0580000000000000! gap(code that is not listed) unseen\n3000/1@0\n");
	again();
	expect(FIRST "rsp=0x6ff8,rip=0x3000,mw=0x6ff8:0510000000000000\nrip=0x3001\n",
	       "1000/0@0 rsp=6ff8 W6ff8=0510000000000000\n3000/1@0\n");
}
END_TEST

START_TEST(a_sorted_line_sums_code_up_that_is_not_listed)
{
	expect(FIRST "rax=0x9,rip=0x9000,rsp=0x6ff0,mr=0x5000:01\nrip=0x1005\n",
	       "1000/0@0 rax=9 rsp=6ff0 W5000=01! gap(code that is not listed) unseen\n9000/0@0\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------- system calls */

/* A log has no code: what an instruction did to the registers tells whether it may have been a system call. */
START_TEST(a_system_call_may_have_written_to_memory)
{
	expect("rax=0x0,rcx=0x9,rsp=0x7000,rip=0x1000\nrax=0x4,rcx=0x1002,r11=0x246,rip=0x1002\n"
	       "rax=0x5,rip=0x1004\nrbx=0x7,rcx=0x1006,rip=0x1006\n",
	       "1000/2@0 rax=4 rcx=1002 r11=246 unseen\n1002/2@0 rax=5\n1004/2@0 rbx=7 rcx=1006\n");
	again(); /* int $0x80: read(2) returns 4, and 3, which is its number */
	expect("eax=0x3,ecx=0x9,esp=0x7000,eip=0x1000\neax=0x4,eip=0x1002\neax=0x3,eip=0x1007\neip=0x1009\n"
	       "eax=0x12345678,eip=0x100e\neax=0x1,eip=0x1010\n",
	       "1000/2@0 eax=4 unseen\n1002/5@0 eax=3\n1007/2@0 unseen\n1009/5@0 eax=12345678\n100e/2@0 eax=1\n");
	again();
	expect("x0=0x0,x8=0x3f,sp=0x7000,pc=0x1000\nx0=0x4,pc=0x1004\nx1=0x4,pc=0x1008\n",
	       "1000/4@0 x0=4 unseen\n1004/4@0 x1=4\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------------- damage */

START_TEST(damage_is_found_item_by_item)
{
	static const struct {
		const char *line, *steps, *warning;
	} cases[] = {
		{ "rax=,rip=0x1001", "1000/1@0 rax=\n1001/1@0\n", "a register's value cannot be read" },
		{ "rax=-1,rip=0x1001", "1000/1@0 rax=\n1001/1@0\n", "a register's value cannot be read" },
		{ "rax=0x11112222333344445,rip=0x1001", "1000/1@0 rax=\n1001/1@0\n", "a register's value" },
		{ "rax=0x00000000000000000000000000001,rip=0x1001", "1000/1@0 rax=1\n1001/1@0\n", NULL },
		{ "rax=0xfedcba9876543210,rip=0x1001", "1000/1@0 rax=fedcba9876543210\n1001/1@0\n", NULL },
		{ "rax=0x0fedcba9876543210,rip=0x1001", "1000/1@0 rax=fedcba9876543210\n1001/1@0\n", NULL },
		{ "mr=0x5000,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mw=0x5000:0102030405060708,rip=0x1001", "1000/1@0 W5000=0102030405060708\n1001/1@0\n", NULL },
		{ "mw=0x5000:01020304050607080,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mw=0x5000:010203040506070809,rip=0x1001", "1000/1@0 W5000=010203040506070809\n1001/1@0\n", NULL },
		{ "mr=0x5000:012,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mr=0x5000:0g,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mr=0x5000:,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mr=0x5000:01;zz:02,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "mw=0xffffffffffffffff:0102,rip=0x1001", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "rip=0x1001,mr=0x5000", "1000/1@0\n1001/1@0\n", "an access cannot be read" },
		{ "rax=01,rip=0x1001", "1000/1@0 rax=1\n1001/1@0\n", NULL },
		{ "rax=0X1f,rip=0x1001", "1000/1@0 rax=1f\n1001/1@0\n", NULL },
		{ "rip=0x1001,rax=0x", "1000/1@0 rax= gap(code that is not listed) unseen\n1001/1@0\n", "a register's value cannot be read" },
		{ "foo=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown, 'foo' the first: the item is ignored" },
		{ "m=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown" },
		{ "mz=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown" },
		{ "mrx=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown" },
		{ "mxw=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown" },
		{ "mrww=1,rip=0x1001", "1000/1@0\n1001/1@0\n", "a name is unknown" },
		{ "a_name_of_many_letters_that_no_register_has=1,rip=0x1001", "1000/1@0\n1001/1@0\n",
		  "a name is unknown" },
		{ "rax=0x9,rip=0x1001z\nrip=0x1001", "1000/1@0 rax=9\n1001/1@0\n", "the program counter cannot be read" },
		{ "asid=0x1,kernel=0,rip=0x1001", "1000/1@0\n1001/1@0\n", NULL },
		{ "rax=0x9,rip=0xzz\nrip=0x1001", "1000/1@0 rax=9\n1001/1@0\n", "the program counter cannot be read" },
		{ "rax,rip=0x1001\nrip=0x1001", "1000/1@0 rax..+536=?\n1001/1@0\n", "the line is damaged" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[600];

		snprintf(text, sizeof(text), FIRST "%s\nrip=0x1002\n", cases[i].line);
		open_log(text);
		ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
		if (i + 1 < sizeof(cases) / sizeof(cases[0]))
			ck_assert_msg(!strcmp(ts_buf_text(&steps), cases[i].steps), "%s: %s", cases[i].line,
				      ts_buf_text(&steps));
		else
			ck_assert_msg(strstr(ts_buf_text(&steps), "1000/1@0 ") == ts_buf_text(&steps), "%s",
				      ts_buf_text(&steps));
		if (cases[i].warning)
			ck_assert_msg(ucir_warned(t.rec, cases[i].warning) == 1, "%s", cases[i].line);
		ck_assert_uint_eq(t.rec->n_warnings, cases[i].warning != NULL);
		again();
	}
}
END_TEST

START_TEST(a_kind_of_damage_is_one_warning_with_its_first_place)
{
	open_log(FIRST "foo=1,rip=0x1001\nrip=0x1002\nbar=1,rip=0x1003\nrax=1,baz=1,rip=0x1004\n");
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	ck_assert_uint_eq(t.rec->warnings[0].count, 3);
	ck_assert(strstr(t.rec->warnings[0].text, "first in line 2, offset 0x"));
}
END_TEST

START_TEST(a_nul_byte_loses_the_line)
{
	static const char text[] = FIRST "rax=0x5\0,rip=0x1001\nrbx=0x1,rip=0x1002\n";

	ts_buf_put(&t.bytes, text, sizeof(text) - 1);
	ck_assert(ucir_open(&t, NULL));
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert(strstr(ts_buf_text(&steps), "1000/2@0 ") == ts_buf_text(&steps));
	ck_assert(!strstr(ts_buf_text(&steps), "rax=5"));
	ck_assert_uint_eq(ucir_warned(t.rec, "the line is damaged"), 1);
	ck_assert_uint_eq(t.rec->n_warnings, 1);
}
END_TEST

START_TEST(a_last_line_without_an_end_is_dropped)
{
	expect(FIRST "rip=0x1001\nrip=0x10", "1000/1@0\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "no line end"), 1);
}
END_TEST

static void put_many(char c, size_t n)
{
	char *text = malloc(n);

	memset(text, c, n);
	ts_buf_put(&t.bytes, text, n);
	free(text);
}

START_TEST(a_line_of_more_than_a_mebibyte_is_passed_over)
{
	ts_buf_puts(&t.bytes, FIRST "rax=0x");
	put_many('0', 3 << 20);
	ts_buf_puts(&t.bytes, "1,rip=0x1001\nrip=0x1002\nrip=0x1003\n");
	ck_assert(ucir_open(&t, NULL));
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "more than 1 MiB"), 1);
	ck_assert_msg(strstr(ts_buf_text(&steps), "1002/1@0\n"), "%s", ts_buf_text(&steps));
	again();
	ts_buf_puts(&t.bytes, FIRST "rip=0x1001\nrip=0x");
	put_many('0', 3 << 20);
	ck_assert(ucir_open(&t, NULL));
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "the last line has no line end"), 1);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ opening */

START_TEST(what_is_no_log_is_refused)
{
	expect_refused("", 0, "empty");
	expect_refused("hello\nworld\n", 12, "is a list of NAME=VALUE");
	expect_refused("rax=0x1\nrbx=0x2\n", 16, "has rip, eip or pc");
	expect_refused("rip=0x1000\n", 11, "one line only");
	expect_refused("rip=0x1000\nrip=0x10", 19, "one line only");
	expect_refused("\xff\xfer\0i\0p\0=\0", 10, "UTF-16");
	expect_refused("\xfe\xff\0r\0i\0p\0=", 10, "UTF-16");
	expect_refused("r\0i\0p\0=\0", 8, "UTF-16");
	expect_refused("\0r\0i\0p\0=", 8, "UTF-16");
	expect_refused("\xff\0", 2, "UTF-16");
	expect_refused("\xff\xfd", 2, "is a list");
	expect_refused("\xfe\xfe", 2, "is a list");
	expect_refused("pc=0x1000\npc=0x1004\n", 20, "--arch");
	put_many('r', 3 << 20);
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
}
END_TEST

START_TEST(the_processor_is_in_the_names)
{
	static const struct {
		const char *text, *arch;
	} cases[] = {
		{ "rip=0x1\nrip=0x2\n", "x86_64" },
		{ "rip=0x1, ,\t\nrip=0x2 ,\n", "x86_64" },
		{ "EAX=1,EIP=1\nEIP=2\n", "i386" },
		{ "x0=0x1,pc=0x4\npc=0x8\n", "aarch64" },
		{ "x8=0x1,pc=0x4\npc=0x8\n", "aarch64" },
		{ "x29=0x1,pc=0x4\npc=0x8\n", "aarch64" },
		{ "r0=0x1,pc=0x4\npc=0x8\n", "arm" },
		{ "r7=0x1,pc=0x4\npc=0x8\n", "arm" },
		{ "r11=0x1,pc=0x4\npc=0x8\n", "arm" },
		{ "r2=0x1,r3=0x2,sp=0x7000,pc=0x8000\npc=0x8004\n", "arm" },
		{ "r0=0x1,r15=0x8000\nr15=0x8004\n", "arm" },
		{ "x2=0x1,x3=0x2,pc=0x8000\npc=0x8004\n", "aarch64" },
		{ "r15=0x1,r8=0x2,rip=0x8000\nrip=0x8004\n", "x86_64" },
		{ "r0=0x1,x1=0x1,pc=0x4\npc=0x8\n", "aarch64" },
		{ "x1=0x1,r0=0x1,pc=0x4\npc=0x8\n", "aarch64" },
		{ "pc=0x5500000000\npc=0x5500000004\n", "aarch64" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_log(cases[i].text);
		ck_assert_str_eq(t.rec->regs.arch->name, cases[i].arch);
		again();
	}
}
END_TEST

START_TEST(registers_of_arm_have_two_names)
{
	expect("r0=1,fp=0xb,ip=0xc,r13=0x100,r14=0xe,r15=0x1000\nlr=0x5,pc=0x1004\n", "1000/4@0 lr=5\n");
	ck_assert_str_eq(initial(), " r0=1 r11=b r12=c sp=100 lr=e");
	again();
	expect("x0=1,fp=0xb,lr=0xc,pc=0x1000\npc=0x1004\n", "1000/4@0\n");
	ck_assert_str_eq(initial(), " x0=1 x29=b x30=c");
}
END_TEST

/* Its Thumb bit says how the code is decoded. */
START_TEST(the_status_register_of_arm_is_taken)
{
	expect("r0=1,cpsr=0x400001f3,pc=0x1000\nr1=2,pc=0x1004\ncpsr=0x10,pc=0x1008\n", "1000/4@0 r1=2\n1004/4@0 cpsr=10\n");
	ck_assert_str_eq(initial(), " r0=1 cpsr=400001f3");
	again();
	expect("x0=1,pstate=0x60000000,pc=0x1000\npc=0x1004\n", "1000/4@0\n");
	ck_assert_str_eq(initial(), " x0=1 cpsr=60000000");
}
END_TEST

START_TEST(it_bids_less_than_a_magic_number)
{
	const struct ts_loader *loader = ts_loader_find("tenet");
	static const char *const others[] = { "", "a=1\nb=2\n", "[section]\nrip=0x1\n", "rip=hello\n", "rip=0x1", "PATH=/bin\n",
					      "tracestub text 1 x86_64\n", "rip=0x1\nfoo\nbar\n" };
	unsigned bits = loader->probe((const uint8_t *)FIRST, strlen(FIRST), 100);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(!loader->probe((const uint8_t *)others[i], strlen(others[i]), 100), "%s",
			      others[i]);
	ck_assert(bits > 0 && bits < 32);
	ck_assert_uint_eq(loader->probe((const uint8_t *)"rip=0x1, ,\t\n", 12, 12), bits); /* items may be empty */
}
END_TEST

/* ------------------------------------------------------------------------------------------ decode points */

static void go_on_from_every_point(const char *text)
{
	struct ts_buf point;
	enum ts_next next;

	open_log(text);
	do {
		struct ts_reader *other = t.rec->ops->reader(t.rec, &t.err);
		struct ts_buf a, b;

		ts_buf_init(&a);
		ts_buf_init(&b);
		ts_buf_init(&point);
		ts_steps_reset(&t.steps);
		ts_reader_save(t.reader, &point);
		next = ts_reader_next(t.reader, &t.steps, &t.err);
		if (next == TS_ITEM)
			ucir_describe(&a, t.rec, &t.steps, 0);
		ck_assert(ts_reader_resume(other, point.data, point.len, &t.err));
		ts_steps_reset(&t.steps);
		ck_assert_int_eq(ts_reader_next(other, &t.steps, &t.err), next);
		if (next == TS_ITEM)
			ucir_describe(&b, t.rec, &t.steps, 0);
		ck_assert_str_eq(ts_buf_text(&a), ts_buf_text(&b));
		ts_buf_fini(&point);
		ts_buf_fini(&a);
		ts_buf_fini(&b);
		ts_reader_close(other);
	} while (next == TS_ITEM);
	ck_assert_int_eq(next, TS_END);
}

START_TEST(a_reader_goes_on_from_every_decode_point)
{
	go_on_from_every_point(
		FIRST "rax=5,rip=0x1005,mr=0x6ff8:0510000000000000\nrbx=1,,mr=0x1:02\nrip=zz\nrip=0x1007\n"
		      "bad\nrip=0x1008\n");
	again();
	go_on_from_every_point(
		ALL_REGS ",rip=0x1000,mw=0x6ff8:0200000000000000\nrsp=0x6ff8,rip=0x1001,mr=0x5000:aa,rcx=4\n"
			 "rip=zz\nrax=0xaa,rip=0x1004,mr=0x5001:bb\nrip=0x1005\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------- large files */

#define FAR_AT (UINT64_C(5) << 30)
#define FAR    "rax=0x2a,rip=0x2002,mr=0x5000:0102\nrbx=zz,rip=0x2004\nrip=0x2005\n"

/* A file of more than 4 GiB: FIRST and a line at its beginning, FAR at its end, zeros between. */
static bool read_large(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		       struct ts_error *err)
{
	static const char head[] = FIRST "rip=0x1001\n";

	(void)err;
	*got = len < src->len - off ? len : (size_t)(src->len - off);
	for (size_t i = 0; i < *got; i++, off++) {
		data[i] = off < strlen(head) ? (uint8_t)head[off] : 0;
		if (off >= FAR_AT)
			data[i] = (uint8_t)FAR[off - FAR_AT];
	}
	return true;
}

static void close_large(struct ts_source *src)
{
	(void)src;
}

START_TEST(offsets_beyond_4_gib_are_whole)
{
	static const struct ts_source_ops ops = { .read = read_large, .close = close_large };
	static const struct ts_loader_options opt;
	const uint64_t place[] = { 0, FAR_AT, 3, 0x2000, 0x7000, 0, 3 }; /* part, offset, line, pc, sp, rcx, the first two are known */
	const uint64_t next = FAR_AT + strlen(FAR);
	struct ts_end end = { .pc = 0x2000, .has_pc = true };
	struct ts_buf point;
	struct ts_point p;

	t.src = calloc(1, sizeof(*t.src));
	ck_assert(ts_source_init(t.src, &ops, next, "large", &t.err));
	t.rec = ts_loader_open(ts_loader_find("tenet"), t.src, &opt, &t.err);
	ck_assert_msg(t.rec, "%s", t.err.text);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ts_steps_init(&t.steps);
	ts_buf_init(&point);
	p = ts_point_write(&point);
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
		ts_point_number(&p, place[i], UINT64_MAX);
	ts_point_end(&p, &end);
	ck_assert(ts_reader_resume(t.reader, point.data, point.len, &t.err));
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "2000/2@0 rax=2a R5000,2=\n2002/2@0 rbx=\n2004/1@0\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "first in line 4, offset 0x140000027"), 1);
	ts_buf_reset(&point);
	ts_reader_save(t.reader, &point);
	p = ts_point_open(point.data, point.len, &t.err);
	ck_assert_uint_eq(ts_point_number(&p, 0, UINT64_MAX), 0);
	ck_assert_uint_eq(ts_point_number(&p, 0, UINT64_MAX), next);
	ts_buf_fini(&point);
}
END_TEST

UNIT_FIXTURE_SUITE("tenet", setup, teardown, a_step_is_what_the_next_line_lists,
		   stores_at_the_stack_pointer_vote_for_the_previous_instruction,
		   stores_at_the_next_stack_pointer_vote_for_the_lines_own,
		   only_stores_where_the_stack_pointer_falls_to_vote,
		   a_log_records_reads_if_one_of_its_first_lines_has_one, which_events_there_can_be,
		   a_line_of_a_repeated_instruction_is_its_first_position,
		   registers_that_are_listed_again_belong_to_the_step,
		   a_stack_pointer_that_cannot_be_read_shows_no_gap,
		   a_fetched_read_of_written_bytes_shows_them_afterwards,
		   an_access_may_share_one_byte_with_another, a_log_has_reads_if_its_first_lines_have,
		   digits_are_of_either_case, a_register_of_i386_has_eight_digits_after_zeros, a_read_that_differs_from_the_write_is_true,
		   mrw_is_a_read_without_a_value_and_a_write, accesses_may_be_joined,
		   accesses_of_the_first_line_are_memory_at_position_0,
		   a_line_without_pc_is_where_the_line_before_was,
		   registers_before_any_pc_count_for_the_first, registers_that_the_first_line_leaves_out,
		   blanks_comments_and_line_ends_say_nothing, lengths_are_known_where_the_next_address_tells,
		   a_call_over_a_few_bytes_is_as_long_as_its_return_address_tells,
		   a_return_that_removes_arguments_is_a_gap, a_listed_return_over_a_few_bytes_is_none,
		   lines_of_other_address_spaces_are_told, a_mark_of_utf_8_says_nothing,
		   a_return_from_code_that_is_not_listed_is_a_gap, a_return_to_the_code_after_it_is_none,
		   a_call_from_code_that_is_not_listed_is_a_gap, a_system_call_may_have_written_to_memory,
		   a_sorted_line_sums_code_up_that_is_not_listed, damage_is_found_item_by_item,
		   a_kind_of_damage_is_one_warning_with_its_first_place, a_nul_byte_loses_the_line,
		   a_last_line_without_an_end_is_dropped, a_line_of_more_than_a_mebibyte_is_passed_over,
		   what_is_no_log_is_refused, the_processor_is_in_the_names, registers_of_arm_have_two_names,
		   the_status_register_of_arm_is_taken,
		   it_bids_less_than_a_magic_number, a_reader_goes_on_from_every_decode_point,
		   offsets_beyond_4_gib_are_whole)
