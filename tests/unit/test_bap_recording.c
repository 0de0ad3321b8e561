/* SPDX-License-Identifier: MIT */
/*
 * A trace of BAP is read as its recorder wrote it; its registers, its end, its limits and its warnings are
 * those of the whole trace.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "bap_case.h"

/* --------------------------------------------------------------------------------------- the recorder */

START_TEST(flags_of_an_unknown_recorder_are_kept)
{
	load_text(OTHER "step 1000 1 90 RAX=1/8 EFLAGS=246/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	load_text(OTHER "step 1000 1 90 rax=1/8 > eflags=246/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	load_text(OTHER "step 1000 0 90 rax=1/8 rip=1/8 eflags=202/4 > rax=2/8\nstep 1001 0 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(reg(1, "rax"), "2");
}
END_TEST

START_TEST(the_old_tracewrap_logs_whole_flags_and_words_of_memory)
{
	load_text(OLD64 "step 1000 1 90 RFLAGS=246/8 @5000=0102030405060708\n"
			"step 1001 1 90 > EFLAGS=93/8 @5000=1112131415161718\nstep 1002 1 90\n");
	ck_assert_str_eq(reg(0, "eflags"), "246");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	ck_assert_str_eq(reg(2, "eflags"), "93");
	ck_assert_str_eq(mem(1, 0x5000), "01......"); /* only the first byte is sure to be accessed */
	ck_assert_str_eq(mem(2, 0x5000), "11......");
}
END_TEST

START_TEST(pins_old_recorder_lists_what_is_written_with_its_old_value)
{
	load_text("1 9:64\nold 1000 0 90 R_RAX=1/8! R_RBX=2/8 R_RFLAGS=246/8! @5000=01020304!\nold 1001 0 "
		  "90\n");
	ck_assert_str_eq(reg(0, "rax"), "1");
	ck_assert_str_eq(reg(0, "eflags"), "246");
	ck_assert_str_eq(reg(1, "rax"), "?");
	ck_assert_str_eq(reg(1, "rbx"), "2");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(mem(0, 0x5000), "01020304");
	ck_assert_str_eq(mem(1, 0x5000), "........");
}
END_TEST

/* -------------------------------------------------------------------------------------- the registers */

static void many_steps(const char *header, unsigned n)
{
	ts_buf_reset(&file);
	bap_text(&file, header);
	for (unsigned i = 0; i < n; i++)
		bap_text_line(&file, "step %x 1 90", 0x1000 + i);
}

START_TEST(registers_that_come_late_are_there)
{
	many_steps(X64, 5000);
	bap_text(&file, "step 9000 1 90 xmm0=1111/16\nstep 9001 1 90 > ymm0=2222/32\nstep 9002 1 90\n");
	load();
	ck_assert_str_eq(reg(5001, "xmm0"), "1111");
	ck_assert_str_eq(reg(5002, "xmm0"), "2222");
	ck_assert_str_eq(reg(5002, "ymm0h"), "0");
	close_trace();
	many_steps(I386, 5000);
	bap_text(&file, "step 9000 1 90 xmm1=5/16 mxcsr=1f80/4\nstep 9002 1 90\n");
	load();
	ck_assert_str_eq(reg(5001, "xmm1"), "5");
	ck_assert_str_eq(reg(5001, "mxcsr"), "1f80");
}
END_TEST

/* gdb wants some registers, whether the trace has their values or not. */
START_TEST(registers_that_gdb_wants_are_there)
{
	load_text(ARM "step 1000 1 00000000 r0=1/4\n");
	ck_assert_str_eq(reg(0, "d0"), "?");
	load_text(X64 "step 1000 1 90 rax=1/8\n");
	ck_assert_str_eq(reg(0, "fs_base"), "?");
	ck_assert_str_eq(rec->osabi, "GNU/Linux");
	load_text("3 9:2 qemu/6.2.0-tracewrap\nstep 1000 1 90 eax=1/4\n");
	ck_assert_ptr_null(rec->osabi); /* 16 bits */
}
END_TEST

START_TEST(registers_that_only_key_frames_have_are_there)
{
	load_text(I386 "key 1 xmm1=5/16\nstep 1000 1 90 eax=1/4\nkey 1 ymm2=7/32\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(0, "xmm1"), "5");
	ck_assert_str_eq(reg(1, "xmm2"), "7");
	ck_assert_str_eq(reg(1, "ymm2h"), "0");
	load_text(I386 "step 1000 1 90 eax=1/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(0, "xmm1"), "-");
}
END_TEST

/* -------------------------------------------------------------------------------------------- the end */

START_TEST(the_pc_at_the_end_is_assumed_where_the_last_instruction_may_lead_elsewhere)
{
	load_text(X64 "step 1000 1 90\nstep 1001 1 4889c3\n");
	ck_assert_uint_eq(tl->end_pc, 0x1004);
	ck_assert(!ts_query_is_end_assumed(q));
	load_text(X64 "step 1000 1 90\nstep 1001 1 7405\n");
	ck_assert_uint_eq(tl->end_pc, 0x1003);
	ck_assert(ts_query_is_end_assumed(q));
	load_text(X64 "step 1000 1 90\nstep 1001 1 7405 > rip=1008/8\n");
	ck_assert_uint_eq(tl->end_pc, 0x1008);
	ck_assert(!ts_query_is_end_assumed(q));
	load_text(OTHER "step 1000 0 90 rax=1/8\nstep 1001 0 7405 > rip=1008/8\n");
	ck_assert(ts_query_is_end_assumed(q));
	load_text(ARM "step 1000 1 00f020e3\n");
	ck_assert(ts_query_is_end_assumed(q));
}
END_TEST

/* --------------------------------------------------------------------------------------------- limits */

START_TEST(modules_have_a_limit)
{
	ts_buf_reset(&file);
	bap_text(&file, "2 9:64 bpt/1.0.0\n");
	for (unsigned i = 0; i < 4097; i++)
		bap_text_line(&file, "module /m%x %x %x", i, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0xfff);
	bap_text(&file, "step 1000 0 90\n");
	load();
	ck_assert(has_warning("modules beyond the first 4096"));
}
END_TEST

/*
 * 300 threads take turns; in step k the thread k % 300 reads rax = k and then writes rax = k + 300, which its
 * next step reads.  Every third one also writes CF, of flags that were known before.
 */
static void take_turns(unsigned n_steps)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned k = 0; k < n_steps; k++)
		bap_text_line(&file, "step %x %x 90 rax=%x/8%s > rax=%x/8%s", 0x1000 + k % 50, k % 300 + 1, k,
			      k < 300 ? " cf=0/1.1 pf=0/1.1 af=0/1.1 zf=0/1.1 sf=0/1.1 of=0/1.1" : "",
			      k + 300, k % 3 ? "" : " cf=1/1.1");
	load();
}

static void check_turns(unsigned n_steps)
{
	char want[24];

	for (unsigned k = 0; k < n_steps; k += 7) {
		snprintf(want, sizeof(want), "%x", k);
		ck_assert_str_eq(thread_reg(k, k % 300, "rax"), want);
		snprintf(want, sizeof(want), "%x", k + 300);
		ck_assert_str_eq(thread_reg(k + 1, k % 300, "rax"), want);
	}
}

START_TEST(of_many_threads_those_that_were_met_last_are_kept)
{
	struct ts_timeline_stats stats;

	take_turns(3000);
	ck_assert_uint_eq(rec->n_threads, 300);
	check_turns(3000);
	ck_assert_str_eq(thread_reg(299, 1, "eflags"), "202");
	ts_timeline_stats(tl, &stats);
	/* of 64 threads: id, flags, 8 bytes written; in three points */
	ck_assert_uint_lt(stats.points_len, 3 * (64 * 32 + 64));
}
END_TEST

START_TEST(threads_have_a_limit)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned i = 0; i < 16384; i++)
		bap_text_line(&file, "step 1000 %x 90", i + 1);
	bap_text(&file, "step 1000 1 90\nstep 1000 4001 90\n"); /* a thread that was met before, and one more */
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	tl = ts_timeline_new(rec, NULL, &err);
	while (ts_timeline_grow(tl, 1 << 20, &err) == TS_MORE)
		;
	ck_assert_int_eq(tl->damage.code, TS_ELIMIT);
	ck_assert_msg(strstr(tl->damage.text, "frame 16385: more than 16384 threads"), "%s", tl->damage.text);
	ck_assert_uint_eq(tl->n_steps, 16385);
}
END_TEST

static uint64_t n_warned(const char *words)
{
	for (unsigned i = 0; i < rec->n_warnings; i++)
		if (strstr(rec->warnings[i].text, words))
			return rec->warnings[i].count;
	return 0;
}

/*
 * Frames before the first instruction are read three times: by looks ahead, for the state at 0, by the
 * reader.
 */
START_TEST(a_warning_counts_frames_and_names_each_register)
{
	load_text(X64 "key 1 foo=1/8 foo=2/8 bar=1/8\n"
		      "step 1000 1 90 rax=1/8 foo=1/8 foo=1/8 > rax=2/8 foo=3/8\n"
		      "step 1001 1 90 rax=7/8 rax=9/8 bar=1/8 > rax=8/8\n"
		      "step 1002 1 90 rax=8/8 > rax=9/8\n");
	ck_assert_uint_eq(n_warned("\"foo\""), 2);
	ck_assert_uint_eq(n_warned("\"bar\""), 2);
	ck_assert_uint_eq(n_warned("contradict the result"), 1);
}
END_TEST

UNIT_FIXTURE_SUITE("bap_recording", setup, teardown, flags_of_an_unknown_recorder_are_kept,
		   the_old_tracewrap_logs_whole_flags_and_words_of_memory,
		   pins_old_recorder_lists_what_is_written_with_its_old_value,
		   registers_that_come_late_are_there, registers_that_gdb_wants_are_there,
		   registers_that_only_key_frames_have_are_there,
		   the_pc_at_the_end_is_assumed_where_the_last_instruction_may_lead_elsewhere,
		   modules_have_a_limit, of_many_threads_those_that_were_met_last_are_kept,
		   threads_have_a_limit, a_warning_counts_frames_and_names_each_register)
