/* SPDX-License-Identifier: MIT */
/*
 * Where the contents of a keyframe's regions belong is told by rules and by loads and branches: each on a
 * small trace whose truth is known, because the trace is made from it here, with the tool's cut of zeros at
 * both ends.
 */
#include "unit.h"

#include <stdio.h>

#include "place_case.h"

/* -------------------------------------------------------------------------------- rules */

START_TEST(the_stack_of_linux_begins_at_the_stack_pointer)
{
	open_text(&ucir_v1,
		  "KEY 0 { REG 44 7f80 MAP 7000 1000 7 stack - WRITE 7000 0100000000000000aa } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\x01", 1), 0x7f80);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(the_argument_count_of_a_big_endian_stack_ends_with_its_byte)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	open_text(&form, "KEY 0 { REG 31 7f80 MAP 7000 1000 7 stack - WRITE 7000 01000070aa } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\x01", 1), 0x7f83);
}
END_TEST

START_TEST(the_stack_of_darwin_ends_a_byte_before_its_region)
{
	struct ucir_form form = ucir_v1;

	form.os = "darwin";
	open_text(&form, "KEY 0 { REG 44 7f00 MAP 7000 1000 7 stack - WRITE 7000 0102030405 } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\x01\x02", 2), 0x7ffa);
	ck_assert_ptr_null(t.rec->osabi);
}
END_TEST

START_TEST(a_descriptor_table_begins_with_its_null_descriptor)
{
	const struct ucir_form form = { .arch = "x86", .version = 1, .is_framed = true };

	open_text(&form, "KEY 0 { MAP 100000 1000 3 gdt - WRITE 100000 ffff00000097cf } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\xff\xff", 2), 0x100008);
}
END_TEST

START_TEST(a_program_begins_with_its_elf_header)
{
	open_text(&ucir_v1,
		  "KEY 0 { MAP 400000 1000 5 exe p WRITE 400000 7f454c4602 MAP 800000 1000 5 interp l "
		  "WRITE 800000 7f454c4603 } " STEPS,
		  NULL);
	ck_assert_uint_eq(address_of("\x7f"
				     "ELF\x02",
				     5),
			  0x400000);
	ck_assert_uint_eq(address_of("\x7f"
				     "ELF\x03",
				     5),
			  0x800000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(the_vsyscall_page_begins_with_its_first_entry)
{
	open_text(&ucir_v1,
		  "KEY 0 { MAP ffffffffff600000 1000 5 - - WRITE ffffffffff600000 c3001122 } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\xc3", 1), UINT64_C(0xffffffffff600000));
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* The cut leaves no zero at an end, so these were not cut; the last is a region that is full. */
START_TEST(contents_that_were_not_cut_are_right)
{
	open_text(&ucir_v0,
		  "KEY 0 { REG 44 7f80 MAP 7000 1000 7 stack - WRITE 7000 0011 MAP 8000 1000 7 exe p WRITE "
		  "8000 2200 "
		  "MAP 9000 4 7 exe p WRITE 9000 33445566 } " STEPS,
		  NULL);
	ck_assert_uint_eq(address_of("\x00\x11", 2), 0x7000);
	ck_assert_uint_eq(address_of("\x22\x00", 2), 0x8000);
	ck_assert_uint_eq(address_of("\x33\x44", 2), 0x9000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(contents_that_were_not_written_at_the_regions_start_are_right)
{
	open_text(&ucir_v0,
		  "KEY 0 { REG 44 7f80 MAP 7000 1000 7 stack - WRITE 7f40 0102 MAP 8000 1000 3 exe p WRITE "
		  "8000 11 "
		  "WRITE 8800 22 } " STEPS,
		  NULL);
	ck_assert_uint_eq(address_of("\x01\x02", 2), 0x7f40);
	ck_assert_uint_eq(address_of("\x11", 1), 0x8000);
	ck_assert_uint_eq(address_of("\x22", 1), 0x8800);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* What is written after a region's contents concerns them only if it lies in the region. */
START_TEST(contents_beside_a_region_are_others)
{
	static const char *const others[] = { "WRITE f0000 11", "WRITE 101000 11" };
	char text[200];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(text, sizeof(text), "KEY 0 { MAP 100000 1000 3 gdt - WRITE 100000 ffff97cf %s } " STEPS,
			 others[i]);
		open_text(&ucir_v1, text, NULL);
		ck_assert_uint_eq(address_of("\xff\xff", 2), 0x100008);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
		ucir_close(&t);
		ts_buf_reset(&t.bytes);
	}
}
END_TEST

/* All registers that are recorded are named, so that nothing follows the contents. */
START_TEST(contents_may_be_the_last_of_a_keyframe)
{
	open_text(&ucir_v1,
		  "KEY 0 { REG 35 1 REG 36 1 REG 37 1 REG 38 1 REG 39 1 REG 40 1 REG 43 1 REG 44 1 REG 106 1 REG 107 1 "
		  "REG 108 1 REG 109 1 REG 110 1 REG 111 1 REG 112 1 REG 113 1 MAP 100000 1000 3 gdt - "
		  "WRITE 100000 ffff97cf } " STEPS, NULL);
	ck_assert_uint_eq(t.rec->initial.effects[t.rec->initial.n_effects - 1].kind, TS_FX_WRITE);
	ck_assert_uint_eq(address_of("\xff\xff", 2), 0x100008);
}
END_TEST

/* So that is not what the tool saved of the region. */
START_TEST(contents_longer_than_their_region_stay_where_they_were_written)
{
	open_text(&ucir_v1, "KEY 0 { MAP 9000 4 3 gdt - WRITE 9000 1122334455 } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(an_empty_region_needs_no_place)
{
	open_text(&ucir_v1, "KEY 0 { MAP 9000 1000 3 exe p WRITE 9000 - } " STEPS, NULL);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(contents_of_which_nothing_tells_the_place_stay_and_are_said_to_be_uncertain)
{
	open_text(&ucir_v1, "KEY 0 { MAP 9000 1000 3 exe p WRITE 9000 1122334455 } " STEPS, NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9000);
	expect_uncertain(0x9000);
}
END_TEST

START_TEST(each_process_has_its_own_stack_pointer)
{
	open_text(&ucir_v0,
		  "KEY 1 { REG 44 7f80 MAP 7000 1000 7 stack - WRITE 7000 01aa } KEY 2 { REG 44 7e00 MAP "
		  "7000 1000 7 stack - "
		  "WRITE 7000 02bb } FRAME 1 { JMP 1000 STEP 1 }",
		  NULL);
	ck_assert_uint_eq(address_of("\x01", 1), 0x7f80);
	ck_assert_uint_eq(address_of("\x02", 1), 0x7e00);
}
END_TEST

/* -------------------------------------------------------------------------------- votes */

/* The true region at 9000: 1122334455667788 at 9123, a9bacb at 9140. */
#define VOTED                                       \
	"KEY 0 { MAP 9000 1000 3 exe p WRITE 9000 " \
	"112233445566778800000000000000000000000000000000000000000000a9bacb } "

START_TEST(loads_tell_where_the_loaded_bytes_are)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9123 4 REG 35 44332211 STEP 2 READ 9127 2 REG 38 "
			"6655 STEP 2 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9123);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(big_endian_loads_tell_it_too)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	open_text(&form,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9123 4 REG 4 11223344 STEP 4 READ 9127 2 REG 5 "
			"5566 STEP 4 STEP 4 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9123);
}
END_TEST

START_TEST(one_load_is_not_enough)
{
	open_text(&ucir_v1,
		  VOTED
		  "FRAME 0 { READ 0 1 JMP 1000 READ 9123 8 REG 35 8877665544332211 STEP 2 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9000);
	expect_uncertain(0x9000);
}
END_TEST

START_TEST(a_load_of_zeros_does_not_count)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9123 8 REG 35 8877665544332211 STEP 2 READ 9130 1 "
			"REG 38 0 STEP 2 STEP 1 EXIT }",
		  NULL);
	expect_uncertain(0x9000);
}
END_TEST

/* Four bytes that are not zero are enough.  The first two bytes of the region are overwritten before. */
START_TEST(what_was_written_from_before_the_region_on_tells_nothing_and_the_rest_does)
{
	open_text(&ucir_v1,
		  "KEY 0 { MAP 9000 1000 3 exe p WRITE 9000 112233445566 } "
		  "FRAME 0 { READ 0 1 JMP 1000 WRITE 8ffe 00000000 STEP 2 READ 9002 2 REG 35 2211 STEP 2 READ "
		  "9004 2 REG 38 4433 STEP 2 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9002);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* 11223344 lies there twice, followed by @first the first time and by bb the second time. */
#define TWICE(first)                                                                                 \
	"KEY 0 { MAP 9000 1000 3 exe p WRITE 9000 11223344" first                                    \
	"000000000000000000000011223344bb } FRAME 0 { READ 0 1 JMP 1000 READ 9123 2 REG 35 2211 STEP 2 " \
	"READ 9125 2 REG 38 4433 STEP 2 "

START_TEST(a_place_must_fit_better_than_any_other)
{
	open_text(&ucir_v1, TWICE("aa") "STEP 1 EXIT }", NULL);
	expect_uncertain(0x9000); /* both fit */
	ucir_close(&t);
	ts_buf_reset(&t.bytes);
	/* a zero speaks against the second place, but not for the first one */
	open_text(&ucir_v1, TWICE("00") "READ 9127 1 REG 40 0 STEP 2 STEP 1 EXIT }", NULL);
	expect_uncertain(0x9000);
	ucir_close(&t);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, TWICE("aa") "READ 9127 1 REG 40 aa STEP 2 STEP 1 EXIT }", NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9123);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(loads_of_what_was_written_before_tell_nothing)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 WRITE 9200 1122334455667788 STEP 2 READ 9200 4 REG 35 "
			"44332211 STEP 2 "
			"READ 9204 4 REG 38 88776655 STEP 2 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9000);
	expect_uncertain(0x9000);
}
END_TEST

START_TEST(loads_from_a_region_that_was_replaced_tell_nothing)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 STEP 2 SYSCALL 9 0 - { MAP 9000 1000 3 mmap - } READ "
			"9123 4 REG 35 44332211 "
			"STEP 2 READ 9127 4 REG 38 88776655 STEP 2 STEP 1 EXIT }",
		  NULL);
	expect_uncertain(0x9000);
}
END_TEST

START_TEST(a_load_that_passes_the_end_of_the_region_tells_nothing)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9ffd 4 REG 35 44332211 STEP 2 READ 9ffc 4 REG 38 0 STEP 2 "
			"STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9000);
	expect_uncertain(0x9000);
}
END_TEST

/* As many as are looked at; the next one stays where it was written, though loads show where it belongs. */
START_TEST(no_more_than_32_regions_are_looked_for)
{
	for (unsigned n = 32; n <= 33; n++) {
		struct ts_buf text;

		ts_buf_init(&text);
		ts_buf_puts(&text, "KEY 0 { ");
		for (unsigned i = 0; i < n; i++)
			ts_buf_printf(&text, "MAP %x 1000 3 exe p WRITE %x 1122334455667788%02x ", 0x100000 + i * 0x1000,
				      0x100000 + i * 0x1000, i + 1);
		ts_buf_printf(&text,
			      "} FRAME 0 { READ 0 1 JMP 1000 READ %x 4 REG 35 44332211 STEP 2 READ %x 4 REG 38 88776655 "
			      "STEP 2 STEP 1 EXIT }",
			      0x100123 + (n - 1) * 0x1000, 0x100127 + (n - 1) * 0x1000);
		ts_buf_reset(&t.bytes);
		open_text(&ucir_v1, ts_buf_text(&text), NULL);
		ts_buf_fini(&text);
		ck_assert_uint_eq(address_of((const char[]){ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, (char)0x88, (char)n }, 9),
				  0x100000 + (n - 1) * 0x1000 + (n == 32 ? 0x123 : 0));
		ucir_close(&t);
	}
}
END_TEST

/* An instruction that changes two registers, or writes too, did more than load. */
START_TEST(loads_that_do_more_tell_nothing)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9123 4 REG 35 44332211 REG 38 1 STEP 2 READ 9127 4 "
			"WRITE 1 00 "
			"REG 38 88776655 STEP 2 READ 912b 4 READ 9123 4 REG 35 44332211 STEP 2 STEP 1 EXIT }",
		  NULL);
	expect_uncertain(0x9000);
}
END_TEST

/* Two thirds of the loads are sums, as "add (mem), reg" gives them. */
START_TEST(the_place_that_fits_best_wins_over_some_that_do_not_fit)
{
	open_text(&ucir_v1,
		  VOTED "FRAME 0 { READ 0 1 JMP 1000 READ 9123 4 REG 35 44332211 STEP 2 READ 9127 4 REG 35 "
			"88776655 STEP 2 "
			"READ 9141 1 REG 35 ba STEP 2 READ 9142 1 REG 35 99 STEP 2 READ 9300 1 REG 35 77 "
			"STEP 2 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x11\x22", 2), 0x9123);
}
END_TEST

/*
 * Code at 9020: call 9040; at 9040: jmp 9030 (short); at 9030: jmp 9020 + 5 (near), all other bytes something
 * else.
 */
START_TEST(branches_of_x86_tell_where_the_code_is)
{
	open_text(&ucir_v1,
		  "KEY 0 { REG 44 7f00 MAP 9000 1000 5 exe p WRITE 9000 e81b0000009010111213141516171819"
		  "e9f0ffffff212223242526272829eb90ebee41 } "
		  "FRAME 0 { READ 0 1 JMP 9020 WRITE 7ef8 2590000000000000 REG 44 7ef8 STEP 5 JMP 9040 STEP "
		  "2 } "
		  "FRAME 0 { JMP 9030 STEP 5 } FRAME 0 { JMP 9025 STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\xe8\x1b", 2), 0x9020);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

#define CODE_AT(addr) "FRAME 0 { READ 0 1 JMP " addr " STEP 1 EXIT }"

/* Open this text in place of the open one, which is said to be the same. */
static void open_like_of(const char *text)
{
	struct ucir_trace first = t;
	const struct ts_loader_options opt = { .like = first.rec };

	t = (struct ucir_trace){ 0 };
	ucir_encode(&t.bytes, &ucir_v1, text);
	t.src = ts_source_from_memory(t.bytes.data, t.bytes.len, "test", &t.err);
	ck_assert_ptr_nonnull(t.src);
	t.rec = ts_loader_open(ts_loader_find("usercorn"), t.src, &opt, &t.err);
	ck_assert_msg(t.rec, "%s", t.err.text);
	ucir_close(&first);
}

#define SHELLCODE(bytes) \
	"KEY 0 { MAP 9000 1000 5 shellcode - WRITE 9000 " bytes " } FRAME 0 { READ 0 1 JMP 9000 STEP 1 EXIT }"

/* A recording whose contents were moved here, to where nothing else leads. */
static void open_moved(void)
{
	struct ts_effect *e;

	open_text(&ucir_v1, SHELLCODE("909090c3"), NULL);
	ck_assert_uint_eq(address_of("\x90\x90", 2), 0x9000);
	for (e = t.rec->initial.effects; e->kind != TS_FX_WRITE; e++)
		;
	e->addr = 0x9123;
}

START_TEST(the_same_recording_tells_where_they_were_when_it_was_opened_before)
{
	open_moved();
	open_like_of(SHELLCODE("909090c3"));
	ck_assert_uint_eq(address_of("\x90\x90", 2), 0x9123);
}
END_TEST

/* As where the trace was written anew meanwhile. */
START_TEST(another_recording_does_not)
{
	open_moved();
	open_like_of(SHELLCODE("9090c3"));
	ck_assert_uint_eq(address_of("\x90\x90", 2), 0x9000);
}
END_TEST

/* The first instruction executed is the region's first byte. */
START_TEST(code_that_is_executed_at_the_regions_start_begins_there)
{
	open_text(&ucir_v1,
		  "KEY 0 { MAP 9000 1000 5 shellcode - WRITE 9000 909090c3 } FRAME 0 { READ 0 1 JMP 9000 "
		  "STEP 1 EXIT }",
		  NULL);
	ck_assert_uint_eq(address_of("\x90\x90", 2), 0x9000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_place", setup, teardown, the_stack_of_linux_begins_at_the_stack_pointer,
		   the_argument_count_of_a_big_endian_stack_ends_with_its_byte,
		   the_stack_of_darwin_ends_a_byte_before_its_region,
		   a_descriptor_table_begins_with_its_null_descriptor, a_program_begins_with_its_elf_header,
		   the_vsyscall_page_begins_with_its_first_entry, contents_that_were_not_cut_are_right,
		   contents_that_were_not_written_at_the_regions_start_are_right,
		   contents_beside_a_region_are_others, contents_may_be_the_last_of_a_keyframe,
		   contents_longer_than_their_region_stay_where_they_were_written,
		   an_empty_region_needs_no_place,
		   contents_of_which_nothing_tells_the_place_stay_and_are_said_to_be_uncertain,
		   each_process_has_its_own_stack_pointer, loads_tell_where_the_loaded_bytes_are,
		   big_endian_loads_tell_it_too, one_load_is_not_enough, a_load_of_zeros_does_not_count,
		   what_was_written_from_before_the_region_on_tells_nothing_and_the_rest_does,
		   a_place_must_fit_better_than_any_other, loads_of_what_was_written_before_tell_nothing,
		   loads_from_a_region_that_was_replaced_tell_nothing,
		   a_load_that_passes_the_end_of_the_region_tells_nothing,
		   no_more_than_32_regions_are_looked_for, loads_that_do_more_tell_nothing,
		   the_place_that_fits_best_wins_over_some_that_do_not_fit,
		   branches_of_x86_tell_where_the_code_is,
		   the_same_recording_tells_where_they_were_when_it_was_opened_before,
		   another_recording_does_not, code_that_is_executed_at_the_regions_start_begins_there)
