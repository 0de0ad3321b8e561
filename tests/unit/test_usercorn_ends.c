/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's versions 0 and 1: how recordings end, what is odd in them, decode points, and how they are recognised.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "ucir_case.h"

/* -------------------------------------------------------------------------------- ends */

/* Code: a store to (rax), then a system call. */
#define CODE "KEY 0 { MAP 1000 1000 5 exe p WRITE 1000 7f454c468900cd80 } "

START_TEST(an_exit_without_system_call_tracing_is_no_fault)
{
	expect(CODE "FRAME 0 { READ 0 1 JMP 1004 STEP 2 EXIT REG 35 0 STEP 2 }",
	       "1004/2@0\n1006/2@0 rax=0 exit\n");
	ck_assert(t.reader->end.has_exit && !t.reader->end.is_fault);
	ck_assert_uint_eq(t.reader->end.pc, 0x1008);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(an_unknown_system_call_ends_the_trace_without_a_fault)
{
	expect(CODE "FRAME 0 { JMP 1006 EXIT STEP 2 }", "1006/2@0 exit\n");
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(a_write_to_a_bad_address_did_not_happen)
{
	expect(CODE "FRAME 0 { JMP 1004 WRITE 10 06000000 EXIT STEP 2 }", "1004/2@0 fault10 exit\n");
	ck_assert(t.reader->end.has_exit && t.reader->end.is_fault && t.reader->end.has_pc);
	ck_assert_uint_eq(t.reader->end.pc, 0x1004);
	ck_assert(!t.reader->end.is_assumed); /* where it faulted */
}
END_TEST

START_TEST(a_read_from_a_bad_address_did_not_happen)
{
	expect(CODE "FRAME 0 { JMP 1004 READ 10 4 EXIT STEP 2 }", "1004/2@0 fault10 exit\n");
	ck_assert(t.reader->end.is_fault);
}
END_TEST

START_TEST(what_a_faulting_instruction_did_before_stays)
{
	expect(CODE "FRAME 0 { JMP 1004 READ 2000 1 WRITE 7000 11 } FRAME 0 { JMP 1004 READ 2001 1 WRITE "
		    "8000 22 EXIT "
		    "REG 38 1 STEP 2 }",
	       "1004/2@0 R2000,1 W7000=11 R2001,1 rcx=1 fault8000 exit\n");
}
END_TEST

START_TEST(an_undefined_instruction_is_a_fault_without_a_length)
{
	expect(CODE "FRAME 0 { JMP 1004 STEP 2 EXIT STEP 241 }", "1004/2@0\n1006/0@0 fault exit\n");
	ck_assert(t.reader->end.is_fault);
	ck_assert_uint_eq(t.reader->end.pc, 0x1006);
}
END_TEST

START_TEST(without_the_instructions_bytes_a_changed_register_shows_that_it_was_completed)
{
	expect("KEY 0 { } FRAME 0 { JMP 1004 EXIT REG 35 0 STEP 2 }", "1004/2@0 rax=0 exit\n");
	ck_assert(!t.reader->end.is_fault);
	ucir_close(&t);
	expect("KEY 0 { } FRAME 0 { JMP 1004 WRITE 0 01 EXIT STEP 2 }", "1004/2@0 fault0 exit\n");
	ck_assert(t.reader->end.is_fault);
}
END_TEST

START_TEST(a_fault_is_found_when_its_group_was_put_aside)
{
	expect_form(&ucir_v0,
		    CODE "KEY 5 { } FRAME 0 { JMP 1004 WRITE 7000 11 WRITE 10 06000000 } FRAME 5 { JMP 9 "
			 "STEP 1 } FRAME 0 { EXIT } "
			 "FRAME 5 { STEP 1 } FRAME 0 { STEP 2 } FRAME 5 { STEP 1 }",
		    "9/1@1\na/1@1\n1004/2@0 W7000=11 fault10 exit\nb/1@1\n");
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(an_exit_with_nothing_behind_it_ends_the_last_step)
{
	expect(START "FRAME 0 { JMP 1000 STEP 2 EXIT NOP }", "1000/2@0 exit\n");
	ck_assert(t.reader->end.has_exit);
	ucir_close(&t);
	expect(START "FRAME 0 { JMP 1000 STEP 2 } EXIT NOP", "1000/2@0 exit\n");
	ck_assert(t.reader->end.has_exit);
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(an_exit_at_stream_level_may_stand_before_its_step)
{
	expect(CODE "FRAME 0 { JMP 1004 STEP 2 } EXIT FRAME 0 { REG 35 0 STEP 2 }",
	       "1004/2@0\n1006/2@0 rax=0 exit\n");
}
END_TEST

/*
 * System call instructions of each architecture: with such code a bare EXIT is an exit, with other code a
 * fault.
 */
START_TEST(the_instruction_tells_an_exit_from_a_fault_on_each_architecture)
{
	static const struct {
		const char *arch, *code;
		unsigned len;
		bool is_big_endian, is_fault;
	} cases[] = {
		{ "x86_64", "0f05", 2, false, false },    { "x86_64", "0f34", 2, false, false },
		{ "x86_64", "8907", 2, false, true },     { "x86_64", "0f0b", 2, false, true },
		{ "x86", "cd80", 2, false, false },       { "x86_16", "cd21", 2, false, false },
		{ "arm", "000000ef", 4, false, false },   { "arm", "00df", 2, false, false },
		{ "arm", "000080e5", 4, false, true },    { "arm", "ef000000", 4, true, false },
		{ "arm64", "010000d4", 4, false, false }, { "arm64", "000000f9", 4, false, true },
		{ "mips", "0c000000", 4, false, false },  { "mips", "0000000c", 4, true, false },
		{ "mips", "0d000000", 4, false, true },   { "sparc", "91d02010", 4, true, false },
		{ "sparc", "d0224000", 4, true, true },   { "m68k", "4e40", 2, true, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ucir_form form = { .arch = cases[i].arch,
						.version = 1,
						.is_framed = true,
						.is_big_endian = cases[i].is_big_endian };
		char text[200];

		snprintf(text, sizeof(text),
			 "KEY 0 { MAP 1000 %x 5 exe - WRITE 1000 %s } FRAME 0 { JMP 1000 EXIT STEP %u }",
			 cases[i].len, cases[i].code, cases[i].len);
		open_form(&form, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
		ck_assert_msg(t.reader->end.is_fault == cases[i].is_fault, "%s %s", cases[i].arch,
			      cases[i].code);
		ucir_close(&t);
	}
}
END_TEST

/*
 * exit and exit_group by the kernel's tables of each architecture; the call after each, which other tables
 * have for something else, does not end with a status.
 */
START_TEST(the_status_is_the_argument_of_the_calls_that_exit)
{
	static const struct {
		const char *arch;
		unsigned exit, exit_group;
		bool is_big_endian;
	} cases[] = {
		{ "x86_64", 60, 231, false },   { "x86", 1, 252, false },     { "arm", 1, 248, false },
		{ "arm64", 93, 94, false },     { "mips", 4001, 4246, true }, { "mips", 4001, 4246, false },
		{ "sparc", 1, 188, true },      { "m68k", 1, 247, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ucir_form form = { .arch = cases[i].arch, .is_framed = true };
		const unsigned numbers[] = { cases[i].exit, cases[i].exit_group, cases[i].exit_group + 1,
					     cases[i].exit - 1 };

		form.is_big_endian = cases[i].is_big_endian;
		form.version = 1;
		for (unsigned k = 0; k < 4; k++) {
			char text[200], want[100];

			snprintf(text, sizeof(text),
				 "KEY 0 { } FRAME 0 { JMP 1000 READ 0 4 SYSCALL %u 0 115,7 { EXIT } STEP 4 }",
				 numbers[k]);
			snprintf(want, sizeof(want), "1000/4@0 R0,4 syscall%u(115,7) exit%s\n", numbers[k],
				 k < 2 ? "21" : "");
			expect_form(&form, text, want);
			ucir_close(&t);
		}
	}
}
END_TEST

START_TEST(only_linux_has_these_calls)
{
	const struct ucir_form form = { .arch = "x86_64", .os = "darwin", .version = 1, .is_framed = true };

	expect_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 READ 0 4 SYSCALL 60 0 15 { EXIT } STEP 2 }",
		    "1000/2@0 R0,4 syscall60(15) exit\n");
}
END_TEST

/* A program counter that a producer of version 0 may write in its own width and order. */
START_TEST(a_special_register_may_be_the_pc)
{
	const struct ucir_form mips = { .arch = "mips", .is_big_endian = true },
			       arm = { .arch = "arm" }, arm64 = { .arch = "arm64" };

	expect_form(&mips, "KEY 0 { SPREG 1 00001000 } FRAME 0 { STEP 4 SPREG 1 00402000 STEP 4 STEP 4 }",
		    "1000/4@0\n1004/4@0\n402000/4@0\n");
	ucir_close(&t);
	expect_form(&arm, "KEY 0 { SPREG 11 00100000 } FRAME 0 { STEP 4 SPREG 11 ff200000 STEP 4 STEP 2 }",
		    "1000/4@0\n1004/4@0\n20ff/2@0\n");
	ucir_close(&t);
	expect_form(&arm64,
		    "KEY 0 { } FRAME 0 { JMP 1000 SPREG 260 1032547698badc0e STEP 4 SPREG 260 - STEP 4 }",
		    "1000/4@0\nedcba9876543210/4@0\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------- oddities */

START_TEST(odd_regions_are_warned_of)
{
	expect(START "FRAME 0 { JMP 1000 MAP 3000 0 3 a - UNMAP 3000 0 MAP 4000 1000 15 b - PROT 4000 1000 8 "
		     "STEP 1 EXIT }",
	       "1000/1@0 M4000,1000,7,b,- P4000,1000,0 exit\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "MEM_MAP of no bytes"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "MEM_UNMAP of no bytes"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "above 7"), 2);
}
END_TEST

START_TEST(regions_may_end_where_the_address_space_ends)
{
	const struct ucir_form form = { .arch = "arm", .version = 1, .is_framed = true };

	expect(START "FRAME 0 { JMP 1000 MAP fffffffffffff000 1000 3 a - STEP 1 }",
	       "1000/1@0 Mfffffffffffff000,1000,3,a,-\n");
	ucir_close(&t);
	expect_form(&form,
		    "KEY 0 { MAP ffff0000 10000 5 - - } FRAME 0 { JMP 1000 MAP fffff000 1000 3 a - STEP 4 }",
		    "1000/4@0 Mfffff000,1000,3,a,-\n");
}
END_TEST

START_TEST(an_absurd_region_costs_nothing)
{
	open_form(&ucir_v1,
		  "KEY 0 { MAP 0 ffffffffffffffff 3 exe - WRITE 0 7f454c46 } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert_uint_lt(t.rec->initial.cap_data, 65536);
}
END_TEST

START_TEST(a_byte_order_that_the_architecture_does_not_have_is_warned_of)
{
	static const char *const others[] = { "x86", "x86_16", "sparc", "m68k" };
	struct ucir_form form = { .version = 1, .is_framed = true, .is_big_endian = true };

	open_form(&form, START "FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert_uint_eq(ucir_warned(t.rec, "big-endian"), 1);
	ck_assert(!t.rec->regs.arch->is_big_endian);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		form.arch = others[i];
		form.is_big_endian = i < 2;
		ucir_close(&t);
		open_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 STEP 1 }");
		ck_assert_uint_eq(ucir_warned(t.rec, i < 2 ? "big-endian" : "little-endian"), 1);
		ck_assert(t.rec->regs.arch->is_big_endian == (i >= 2));
	}
}
END_TEST

START_TEST(a_trace_without_any_access_says_so)
{
	open_form(&ucir_v1, "KEY 0 { } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert(!t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 1);
	ucir_close(&t);
	open_form(&ucir_v1, "KEY 0 { } FRAME 0 { READ 0 1000 } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert(t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 0);
}
END_TEST

/*
 * Without the frame of reads that the tool's snapshot leaves; state and the kernel's writes are no accesses.
 */
START_TEST(an_access_in_a_later_step_shows_that_they_were_recorded)
{
	open_form(&ucir_v1,
		  START "FRAME 0 { JMP 1000 STEP 2 } FRAME 0 { JMP 1002 STEP 1 READ 7000 8 STEP 1 }");
	ck_assert(t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 0);
	ucir_close(&t);
	open_form(&ucir_v1, START "FRAME 0 { JMP 1000 STEP 2 SYSCALL 3 0 - { WRITE 7000 01 READ 7000 1 } } "
				  "KEY 0 { WRITE 7000 02 } FRAME 0 { STEP 1 }");
	ck_assert(!t.rec->has_reads);
	ucir_close(&t);
	open_form(&ucir_v1, START "FRAME 0 { JMP 1000 STEP 2 SYSCALL 3 0 - { } WRITE 7000 01 STEP 1 }");
	ck_assert(t.rec->has_reads);
}
END_TEST

START_TEST(warnings_are_counted_once_however_often_the_ops_are_read)
{
	struct ts_reader *second;

	expect(START "FRAME 0 { JMP 1000 REG 3 1 STEP 1 REG 3 1 STEP 1 }", "1000/1@0\n1001/1@0\n");
	second = t.rec->ops->reader(t.rec, &t.err);
	ts_reader_close(t.reader);
	t.reader = second;
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "number 3 "), 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "without the program's exit"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------------------- decode points */

START_TEST(a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved)
{
	static const char *const texts[] = {
		all_ops,
		START "FRAME 0 { JMP 1000 STEP 2 } NOP FRAME 0 { SYSCALL 4 0 - { WRITE 7000 01 } NOP } FRAME "
		      "0 { STEP 1 WRITE 7000 05 }",
		TWO "FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } FRAME 20 { JMP 2000 STEP 1 WRITE 8000 21 } "
		    "FRAME 10 { WRITE 7001 12 } "
		    "FRAME 20 { REG 35 1 } KEY 30 { REG 35 9 } FRAME 10 { REG 35 2 STEP 2 STEP 1 } FRAME 30 "
		    "{ JMP 5 STEP 1 } "
		    "FRAME 20 { STEP 1 STEP 1 SYSCALL 60 0 1 { EXIT } STEP 1 } FRAME 20 { JMP 9 STEP 1 } "
		    "FRAME 30 { STEP 1 EXIT }",
		CODE "FRAME 0 { JMP 1004 STEP 2 JMP 1004 WRITE 10 06 EXIT STEP 2 }",
		TWO "FRAME 20 { JMP 2000 STEP 1 } FRAME 10 { JMP 1000 SYSCALL 60 0 1 { EXIT } } FRAME 20 { STEP 1 } "
		    "FRAME 10 { STEP 2 } FRAME 20 { STEP 1 EXIT }",
	};
	struct ucir_form form = { .version = 1, .is_framed = true };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (form.chunk = 3; form.chunk < 40; form.chunk += 12) {
			open_form(&form, texts[i]);
			ucir_resume_everywhere(&t);
			ucir_close(&t);
		}
		open_form(&ucir_v0, texts[i]);
		ucir_resume_everywhere(&t);
		ucir_close(&t);
	}
}
END_TEST

/* A group that is open over many frames of another process, resumed in all of them. */
START_TEST(a_group_that_stays_open_makes_no_long_decode_points)
{
	struct ts_buf text, point, lines, again;
	size_t longest = 0;

	ts_buf_init(&text);
	ts_buf_init(&point);
	ts_buf_init(&lines);
	ts_buf_init(&again);
	ts_buf_puts(&text, TWO "FRAME 20 { JMP 2000 REG 35 7 STEP 1 WRITE 8000 11 } ");
	for (int i = 0; i < 100; i++)
		ts_buf_printf(&text,
			      "FRAME 10 { JMP 1000 STEP 1 SYSCALL 3 0 - { WRITE 7000 55 } STEP 2 } NOP "
			      "FRAME 20 { WRITE %x 22 } FRAME 20 { NOP SYSCALL 9 0 - { REG 35 1 } } KEY 10 { REG 35 9 } ",
			      0x8001 + i);
	ts_buf_puts(&text, "FRAME 20 { STEP 1 } FRAME 10 { STEP 1 EXIT }");
	open_form(&ucir_v0, ts_buf_text(&text));
	for (int i = 0; i < 1 + 2 * 100; i++) {
		ts_steps_reset(&t.steps);
		ck_assert_int_eq(ts_reader_next(t.reader, &t.steps, &t.err), TS_ITEM);
		ts_buf_reset(&point);
		ts_reader_save(t.reader, &point);
		longest = point.len > longest ? point.len : longest;
		if (i % 20)
			continue;
		ck_assert(ts_reader_resume(t.reader, point.data, point.len, &t.err));
		ts_buf_reset(&again);
		ck_assert_int_eq(ucir_read_all(&t, &again), TS_END);
		if (i)
			ck_assert_ptr_nonnull(strstr(ts_buf_text(&lines), ts_buf_text(&again)));
		else
			ts_buf_puts(&lines, ts_buf_text(&again));
		ck_assert(ts_reader_resume(t.reader, point.data, point.len, &t.err));
	}
	ck_assert_uint_lt(longest, 80); /* two tasks, with their general registers */
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&lines), "2001/1@1 W8000=1122 syscall9()=0 rax=1 W8002=22"));
	ts_buf_fini(&text);
	ts_buf_fini(&point);
	ts_buf_fini(&lines);
	ts_buf_fini(&again);
}
END_TEST

START_TEST(a_damaged_decode_point_is_refused_or_harmless)
{
	struct ts_buf point;
	uint8_t bytes[256];

	open_form(&ucir_v1,
		  TWO "FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } FRAME 20 { JMP 2000 STEP 1 STEP 1 }");
	ts_buf_init(&point);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	ts_reader_save(t.reader, &point);
	ck_assert_uint_lt(point.len, sizeof(bytes));
	for (size_t len = 0; len < point.len; len++) {
		memcpy(bytes, point.data, point.len);
		ts_error_reset(&t.err);
		ck_assert(!ts_reader_resume(t.reader, bytes, len, &t.err));
		ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_FAIL);
	}
	for (size_t bit = 0; bit < point.len * 8; bit++) {
		memcpy(bytes, point.data, point.len);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_error_reset(&t.err);
		if (ts_reader_resume(t.reader, bytes, point.len, &t.err))
			ucir_read_all(&t, NULL);
	}
	ts_buf_fini(&point);
}
END_TEST

/* ------------------------------------------------------------------------------------------- registry */

START_TEST(a_trace_is_recognised_by_its_first_bytes)
{
	ucir_encode(&t.bytes, &ucir_v1, START "FRAME 0 { JMP 1000 STEP 1 }");
	t.src = ts_source_from_memory(t.bytes.data, t.bytes.len, "test", &t.err);
	ck_assert_ptr_eq(ts_loader_probe(t.src, &t.err), ts_loader_find("usercorn"));
	ck_assert_ptr_null(ts_loader_find("usercor"));
}
END_TEST

/* So that it is refused for what is odd in it, and not as something unknown. */
START_TEST(a_trace_of_an_unknown_version_or_without_one_is_recognised_too)
{
	static const char *const heads[] = { "UCIR", "UCIR\1\1\1\1 and more", "UCIR\0\0\0\3 and more" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		t.src = ts_source_from_memory(heads[i], i ? 17 : 4, "test", &t.err);
		ck_assert_ptr_eq(ts_loader_probe(t.src, &t.err), ts_loader_find("usercorn"));
		ts_source_close(t.src);
	}
	t.src = NULL;
}
END_TEST

START_TEST(an_unknown_file_is_refused_with_its_first_bytes_and_the_known_formats)
{
	t.src = ts_source_from_memory("\x7f"
				      "ELF\x02\x01",
				      6, "test", &t.err);
	ck_assert_ptr_null(ts_loader_probe(t.src, &t.err));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(t.err.text, "7f 45 4c 46 02 01 \".ELF..\""));
	ck_assert_ptr_nonnull(strstr(t.err.text, "usercorn"));
	ts_source_close(t.src);
	ts_error_reset(&t.err);
	t.src = ts_source_from_memory("", 0, "test", &t.err);
	ck_assert_ptr_null(ts_loader_probe(t.src, &t.err));
	ck_assert_ptr_nonnull(strstr(t.err.text, "empty"));
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_ends", setup, teardown, an_exit_without_system_call_tracing_is_no_fault,
		   an_unknown_system_call_ends_the_trace_without_a_fault,
		   a_write_to_a_bad_address_did_not_happen, a_read_from_a_bad_address_did_not_happen,
		   what_a_faulting_instruction_did_before_stays,
		   an_undefined_instruction_is_a_fault_without_a_length,
		   without_the_instructions_bytes_a_changed_register_shows_that_it_was_completed,
		   a_fault_is_found_when_its_group_was_put_aside,
		   an_exit_with_nothing_behind_it_ends_the_last_step,
		   an_exit_at_stream_level_may_stand_before_its_step,
		   the_instruction_tells_an_exit_from_a_fault_on_each_architecture,
		   the_status_is_the_argument_of_the_calls_that_exit, only_linux_has_these_calls,
		   a_special_register_may_be_the_pc, odd_regions_are_warned_of,
		   regions_may_end_where_the_address_space_ends, an_absurd_region_costs_nothing,
		   a_byte_order_that_the_architecture_does_not_have_is_warned_of,
		   a_trace_without_any_access_says_so,
		   an_access_in_a_later_step_shows_that_they_were_recorded,
		   warnings_are_counted_once_however_often_the_ops_are_read,
		   a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved,
		   a_group_that_stays_open_makes_no_long_decode_points,
		   a_damaged_decode_point_is_refused_or_harmless, a_trace_is_recognised_by_its_first_bytes,
		   a_trace_of_an_unknown_version_or_without_one_is_recognised_too,
		   an_unknown_file_is_refused_with_its_first_bytes_and_the_known_formats)
