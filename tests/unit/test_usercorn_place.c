/* SPDX-License-Identifier: MIT */
/*
 * Where the contents of a keyframe's regions belong: each rule on a small trace whose truth is known, because
 * the trace is made from it here, with the tool's cut of zeros at both ends.
 */
#include "unit.h"

#include "ucir_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ucir_trace t;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
}

static void teardown(void)
{
	ucir_close(&t);
}

static void open_text(const struct ucir_form *form, const char *text, const char *exec)
{
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, exec), "%s", t.err.text);
}

/* Where the contents that begin with @bytes are in the initial state. */
static uint64_t address_of(const char *bytes, size_t len)
{
	const struct ts_steps *b = &t.rec->initial;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_WRITE && e->len >= len && memcmp(ts_effect_data(b, e), bytes, len) == 0)
			return e->addr;
	}
	ck_abort_msg("these contents are nowhere");
}

static void expect_uncertain(uint64_t addr)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	ck_assert_uint_eq(ucir_warned(t.rec, text), 1);
	ck_assert_ptr_nonnull(strstr(t.rec->warnings[0].text, "uncertain"));
}

#define STEPS "FRAME 0 { READ 0 1 } FRAME 0 { JMP 500000 STEP 1 EXIT } "

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

/* --------------------------------------------------------------------------------------- the program's file */

struct segment {
	uint64_t addr, mem_len;
	const char *bytes;
	size_t len;
	uint8_t flags; /* PF_R and so on; 0: read and execute */
};

static void put(FILE *f, uint64_t v, unsigned len, bool is_big)
{
	for (unsigned i = 0; i < len; i++)
		fputc((int)(v >> 8 * (is_big ? len - 1 - i : i) & 0xff), f);
}

/* An ELF file called "prog" with these segments. */
static void write_elf(bool is_64, bool is_big, const struct segment *s, unsigned n)
{
	FILE *f = fopen("prog", "wb");
	unsigned w = is_64 ? 8 : 4, phdr_len = is_64 ? 56 : 32, ehdr_len = is_64 ? 64 : 52;
	uint64_t off = ehdr_len + n * phdr_len;

	ck_assert_ptr_nonnull(f);
	fprintf(f, "\177ELF%c%c\1%9s", is_64 ? 2 : 1, is_big ? 2 : 1, "");
	put(f, 2, 2, is_big);
	put(f, 62, 2, is_big);
	put(f, 1, 4, is_big);
	put(f, s[0].addr, w, is_big);
	put(f, ehdr_len, w, is_big);
	put(f, 0, w, is_big);
	put(f, 0, 4, is_big);
	put(f, ehdr_len, 2, is_big);
	put(f, phdr_len, 2, is_big);
	put(f, n, 2, is_big);
	put(f, 0, 6, is_big);
	for (unsigned i = 0; i < n; i++) {
		put(f, 1, 4, is_big);
		if (is_64)
			put(f, s[i].flags ? s[i].flags : 5, 4, is_big);
		put(f, off, w, is_big);
		put(f, s[i].addr, w, is_big);
		put(f, s[i].addr, w, is_big);
		put(f, s[i].len, w, is_big);
		put(f, s[i].mem_len, w, is_big);
		if (!is_64)
			put(f, 5, 4, is_big);
		put(f, 0x1000, w, is_big);
		off += s[i].len;
	}
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(fwrite(s[i].bytes, 1, s[i].len, f), s[i].len);
	fclose(f);
}

/* Code at a page's start, data in the middle of one and with zeros in front. */
static const struct segment program[] = {
	{ 0x401000, 0x10, "\x90\x91\x92\x00\x00\x00", 6, 0 },
	{ 0x402234, 0x100, "\x00\x00\x00\xa1\x00\xa3\x00\x00", 8, 0 },
};

#define PROGRAM(code, data)                                                                             \
	"KEY 0 { MAP " code " 1000 5 exe p WRITE " code " 909192 MAP " data " 1000 3 exe p WRITE " data \
	" a100a3 } " STEPS

START_TEST(the_programs_file_tells_where_its_bytes_are)
{
	write_elf(true, false, program, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x401000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402237);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(a_file_of_32_bits_and_the_other_byte_order_tells_it_too)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	write_elf(false, true, program, 2);
	open_text(&form, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402237);
}
END_TEST

START_TEST(a_program_that_was_loaded_elsewhere_is_found_by_its_lowest_region)
{
	write_elf(true, false, program, 2);
	open_text(&ucir_v1, PROGRAM("1000000", "1001000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x1000000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x1001237);
}
END_TEST

START_TEST(a_segment_that_begins_before_its_region_counts_from_there)
{
	static const char bytes[0x1800] = { [0] = 'x', [0x1100] = 'y', [0x1101] = 'z', [0x17ff] = 'q' };
	const struct segment one = { 0x400000, 0x1800, bytes, sizeof(bytes), 0 };
	char text[8192],
		*hex = text +
		       sprintf(text,
			       "KEY 0 { MAP 400000 1000 5 exe p WRITE 400000 78 MAP 401000 1000 3 exe p "
			       "WRITE 401000 ");

	for (size_t i = 0x1100; i < 0x1800; i++)
		hex += sprintf(hex, "%02x", (unsigned char)bytes[i]);
	strcpy(hex, " } " STEPS);
	write_elf(true, false, &one, 1);
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(address_of("x", 1), 0x400000);
	ck_assert_uint_eq(address_of("yz", 2), 0x401100);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(another_program_than_the_recorded_one_is_warned_of)
{
	struct segment other[2];

	memcpy(other, program, sizeof(other));
	other[1].bytes = "\x00\x00\x00\xa1\x00\xa4\x00\x00";
	write_elf(true, false, other, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x401000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402000);
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "0x402000 of exe are uncertain"), 1);
	ucir_close(&t);
	/* more behind what was recorded */
	other[1].bytes = "\x00\x00\x00\xa1\x00\xa3\x00\x01";
	write_elf(true, false, other, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

/* The recording may begin after data was written; where it is is not known then. */
START_TEST(data_that_the_program_may_write_may_differ)
{
	static const struct {
		uint64_t addr, mem_len;
		bool is_warned;
	} data[] = { { 0x402234, 0x100, false }, { 0x401800, 0x1000, false }, { 0x500000, 0x100, true } };

	for (size_t i = 0; i < 3; i++) {
		const struct segment segments[] = {
			program[0], { data[i].addr, data[i].mem_len, "\xb1\xb2\xb3", 3, 6 }
		};

		write_elf(true, false, segments, 2);
		open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
		ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), data[i].is_warned);
		ck_assert_uint_eq(ucir_warned(t.rec, "0x402000 of exe are uncertain"), 1);
		ucir_close(&t);
	}
}
END_TEST

/* Whole pages are mapped: the file's head comes before the segment, which begins after it. */
START_TEST(a_page_of_the_file_has_more_than_its_segment)
{
	const struct segment one = { 0x400078, 3, "\x90\x91\x92", 3, 0 };
	char text[2000];
	FILE *f;
	int len, c;

	write_elf(true, false, &one, 1);
	len = sprintf(text, "KEY 0 { MAP 400000 1000 5 exe p WRITE 400000 ");
	f = fopen("prog", "rb");
	while ((c = fgetc(f)) != EOF)
		len += sprintf(text + len, "%02x", (unsigned)c);
	fclose(f);
	strcpy(text + len, " } " STEPS);
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(address_of("\177ELF", 4), 0x400000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	ucir_close(&t);
	memcpy(strstr(text, "909192"), "909193", 6); /* another file */
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x400000 differs"), 1);
}
END_TEST

/* The lower one of two bytes that are not zero counts, whichever segment has it, also where segments overlap. */
START_TEST(the_lowest_byte_of_all_segments_tells_the_place)
{
	static const struct segment overlap[] = {
		{ 0x402020, 1, "\xa3", 1, 0 }, { 0x402010, 1, "\xa1", 1, 0 },
		{ 0x402008, 10, "\0\0\0\0\0\0\0\0\xa1\xa2", 10, 0 }, { 0x402800, 8, "\0\0\0\0\0\0\0", 8, 0 },
	};

	write_elf(true, false, overlap, 4);
	open_text(&ucir_v1, "KEY 0 { MAP 402000 1000 5 exe p WRITE 402000 a1a20000000000000000000000000000a3 } "
		  STEPS,
		  "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402010);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* The region of 0x402000, of the file from @file_off on. */
static void open_mapped(uint8_t file_off, const char *hex)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 "
		 "RAW 090020400000000000001000000000000005%02x00000000000000000000000000000003000100" "65786570 "
		 "WRITE 402000 %s } " STEPS, file_off, hex);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, text, "prog");
}

/* What the file has there is nothing, all zeros, or something else; with one byte more it is the contents. */
START_TEST(a_page_of_the_file_that_has_other_bytes_tells_no_place)
{
	static const struct segment segments[] = {
		program[0], { 0x500000, 16, "\0\0\xb1\xb2\xb3\0\0\0\0\0\0\0\0\0\0\0", 16, 0 }
	};
	const uint8_t start = 64 + 2 * 56 + 6, end = (uint8_t)(start + 16);
	const struct {
		uint8_t off;
		const char *hex;
		bool is_there;
	} cases[] = {
		{ start, "b1b2b3", true }, { start, "b1b2b4", false }, { start, "b1b2", false },
		{ (uint8_t)(start + 5), "b1b2b3", false }, { end, "b1b2b3", false },
	};

	write_elf(true, false, segments, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_mapped(cases[i].off, cases[i].hex);
		ck_assert_uint_eq(address_of("\xb1\xb2", 2), cases[i].is_there ? 0x402002 : 0x402000);
		ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), !cases[i].is_there);
		ucir_close(&t);
	}
	/* the region is of no file */
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1,
		  "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe - WRITE 402000 b1b2b3 } "
		  STEPS, "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

/* The last byte that the region has room for, and one that it has not. */
START_TEST(a_place_from_which_the_contents_would_pass_the_region_is_none)
{
	static const struct segment last[] = { program[0], { 0x402ffd, 3, "\xa1\xa2\xa3", 3, 0 } };

	write_elf(true, false, last, 2);
	open_text(&ucir_v1, "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe p WRITE 402000 "
			    "a1a2a3 } " STEPS, "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402ffd);
	ucir_close(&t);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe p WRITE 402000 "
			    "a1a2a3a4 } " STEPS, "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402000);
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

START_TEST(a_file_that_does_not_help_is_warned_of)
{
	FILE *f = fopen("text", "wb");

	fputs("no program", f);
	fclose(f);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "text");
	ck_assert_uint_eq(ucir_warned(t.rec, "text does not help"), 1);
}
END_TEST

/* Of the reads of a file, that number fails; all are counted. */
static unsigned n_reads, bad_read = UINT_MAX;

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	if (n_reads++ == bad_read) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, len, off);
}

/* A failure that may pass must not make a recording whose contents are in worse places. */
START_TEST(a_read_of_the_program_that_fails_is_a_failure)
{
	static const char bytes[0x3000] = { [0x2800] = 'x' };
	const struct segment segments[] = { program[0], { 0x402000, sizeof(bytes), bytes, sizeof(bytes), 0 } };
	unsigned n_all;

	write_elf(true, false, segments, 2);
	ucir_encode(&t.bytes, &ucir_v1,
		    "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 4000 3 exe p WRITE 402000 78 } "
		    STEPS);
	n_reads = 0;
	ck_assert(ucir_open(&t, "prog"));
	ck_assert_uint_eq(address_of("x", 1), 0x404800);
	n_all = n_reads;
	ck_assert_uint_gt(n_all, 5);
	for (unsigned i = 0; i < n_all; i++) {
		const struct ts_loader_options opt = { .exec = "prog" };

		n_reads = 0;
		bad_read = i;
		ck_assert_msg(!ts_loader_open(ts_loader_find("usercorn"), t.src, &opt, &t.err), "read %u", i);
		ck_assert_int_eq(t.err.code, TS_EIO);
		ts_error_reset(&t.err);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------ the stack */

/* argc 1, argv, NULL, one environment pointer, NULL, two auxv entries and AT_NULL, "ab", "c=d". */
#define STACK(argc, argv, env, type)                                                         \
	"KEY 0 { REG 44 7f00 MAP 7000 1000 7 stack - WRITE 7000 " argc "00000000000000" argv \
	"7f000000000000"                                                                     \
	"0000000000000000" env "7f000000000000"                                              \
	"0000000000000000" type "0000000000000000100000000000000900000000000000"             \
	"0010400000000000"                                                                   \
	"00000000000000000000000000000000"                                                   \
	"616200"                                                                             \
	"633d64 } "

START_TEST(a_sane_stack_gives_arguments_and_auxiliary_vector)
{
	open_text(&ucir_v1, STACK("01", "58", "5b", "06") STEPS, NULL);
	ck_assert_uint_eq(t.rec->cmdline.len, 3);
	ck_assert_mem_eq(t.rec->cmdline.data, "ab", 3);
	ck_assert_uint_eq(t.rec->auxv_len, 48);
	ck_assert_mem_eq(t.rec->auxv, "\x06\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0\x10\x40", 27);
}
END_TEST

START_TEST(a_stack_that_is_not_sane_gives_nothing)
{
	static const char *const texts[] = {
		STACK("02", "58", "5b", "06") STEPS,   /* two arguments, the second is NULL */
		STACK("0100", "58", "5b", "06") STEPS, /* everything is a byte off */
	};
	struct ucir_form darwin = ucir_v1;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		open_text(&ucir_v1, texts[i], NULL);
		ck_assert_uint_eq(t.rec->cmdline.len, 0);
		ck_assert_ptr_null(t.rec->auxv);
		ucir_close(&t);
	}
	darwin.os = "darwin";
	open_text(&darwin, STACK("01", "58", "5b", "06") STEPS, NULL);
	ck_assert_uint_eq(t.rec->cmdline.len, 0);
	ck_assert_ptr_null(t.rec->auxv);
}
END_TEST

#define STACK_WORDS 32 /* from the stack pointer at 0x7f00 to the region's end */

/*
 * A stack of @n words, then words of @fill up to the end of its region; at 0x7fe0 the text "ab".  Its last
 * byte is not zero, because the tool leaves zeros out.
 */
static void open_words(const uint64_t *words, size_t n, uint64_t fill)
{
	char text[1000] = "KEY 0 { REG 44 7f00 MAP 7000 1000 7 stack - WRITE 7000 ";
	size_t len = strlen(text);

	for (size_t i = 0; i < STACK_WORDS; i++) {
		uint64_t word = i < n ? words[i] : i == 28 ? 0x6261 : fill;

		if (i == STACK_WORDS - 1)
			word |= UINT64_C(1) << 56;
		for (unsigned b = 0; b < 8; b++)
			len += (size_t)sprintf(text + len, "%02x", (unsigned)(word >> 8 * b & 0xff));
	}
	strcpy(text + len, " } " STEPS);
	open_text(&ucir_v1, text, NULL);
}

START_TEST(a_stack_ends_with_its_region)
{
	static const struct {
		uint64_t words[10];
		size_t n;
		uint64_t fill;
	} bad[] = {
		{ { 4097, 0x7fe0, 0, 0, 0, 0 }, 6, 0 },               /* too many arguments */
		{ { 1, 0x8000, 0, 0, 6, 1, 0, 0 }, 8, 0 },            /* an argument outside */
		{ { 1, 0x7fff, 0, 0, 6, 1, 0, 0 }, 8, UINT64_MAX },   /* one that does not end */
		{ { 1, 0x7fe0, 5, 0, 6, 1, 0, 0 }, 8, 0 },            /* one more than were counted */
		{ { 40 }, 1, 0x7fe0 },                                /* more than there is room for */
		{ { 1, 0x7fe0, 0, 0x8000, 0, 6, 1, 0, 0 }, 9, 0 },    /* a variable outside */
		{ { 1, 0x7fe0, 0 }, 3, 0x7fe0 },                      /* variables without an end */
		{ { 1, 0x7fe0, 0, 0, 0x10000, 1, 0, 0 }, 8, 0 },      /* a type that cannot be */
		{ { 1, 0x7fe0, 0, 0 }, 4, 6 },                        /* a vector without an end */
	};
	static const uint64_t good[] = { 1, 0x7fe0, 0, 0x7fe0, 0, 6, 1, 0, 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		open_words(bad[i].words, bad[i].n, bad[i].fill);
		ck_assert_msg(!t.rec->cmdline.len && !t.rec->auxv, "%zu", i);
		ucir_close(&t);
	}
	open_words(good, 9, 0);
	ck_assert_uint_eq(t.rec->cmdline.len, 3);
	ck_assert_uint_eq(t.rec->auxv_len, 32);
}
END_TEST

/* The region ends in the middle of the word that is read next: argc, argv, what ends it, and so on. */
START_TEST(a_stack_may_end_within_a_word)
{
	static const char *const words[] = { "", "0070000000000000", "0000000000000000", "0000000000000000",
					     "0600000000000000" };
	char contents[200] = "0100000000000000", text[600];

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len;

		strcat(contents, words[i]);
		len = strlen(contents);
		while (!strncmp(contents + len - 2, "00", 2)) /* as the tool saves it */
			len -= 2;
		snprintf(text, sizeof(text), "KEY 0 { REG 44 7f00 MAP 7000 %x 7 stack - WRITE 7000 %.*s } " STEPS,
			 0xf00 + 8 * (i + 1) + 4, (int)len, contents);
		ts_buf_reset(&t.bytes);
		open_text(&ucir_v1, text, NULL);
		ck_assert_uint_eq(address_of("\x01", 1), 0x7f00);
		ck_assert_uint_eq(t.rec->cmdline.len, 0);
		ck_assert_ptr_null(t.rec->auxv);
		ucir_close(&t);
	}
	/* with the rest of that word, and the two that end the vector */
	snprintf(text, sizeof(text), "KEY 0 { REG 44 7f00 MAP 7000 %x 7 stack - WRITE 7000 %s0010 } " STEPS,
		 0xf00 + 8 * 8, contents);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, text, NULL);
	ck_assert_uint_eq(t.rec->cmdline.len, 1);
	ck_assert_uint_eq(t.rec->auxv_len, 32);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		the_stack_of_linux_begins_at_the_stack_pointer,
		the_argument_count_of_a_big_endian_stack_ends_with_its_byte,
		the_stack_of_darwin_ends_a_byte_before_its_region,
		a_descriptor_table_begins_with_its_null_descriptor,
		a_program_begins_with_its_elf_header,
		the_vsyscall_page_begins_with_its_first_entry,
		contents_that_were_not_cut_are_right,
		contents_that_were_not_written_at_the_regions_start_are_right,
		contents_beside_a_region_are_others,
		contents_may_be_the_last_of_a_keyframe,
		contents_longer_than_their_region_stay_where_they_were_written,
		an_empty_region_needs_no_place,
		contents_of_which_nothing_tells_the_place_stay_and_are_said_to_be_uncertain,
		each_process_has_its_own_stack_pointer,
		loads_tell_where_the_loaded_bytes_are,
		big_endian_loads_tell_it_too,
		one_load_is_not_enough,
		a_load_of_zeros_does_not_count,
		what_was_written_from_before_the_region_on_tells_nothing_and_the_rest_does,
		a_place_must_fit_better_than_any_other,
		loads_of_what_was_written_before_tell_nothing,
		loads_from_a_region_that_was_replaced_tell_nothing,
	a_load_that_passes_the_end_of_the_region_tells_nothing,
	no_more_than_32_regions_are_looked_for,
		loads_that_do_more_tell_nothing,
		the_place_that_fits_best_wins_over_some_that_do_not_fit,
		branches_of_x86_tell_where_the_code_is,
		code_that_is_executed_at_the_regions_start_begins_there,
		the_same_recording_tells_where_they_were_when_it_was_opened_before,
		another_recording_does_not,
		the_programs_file_tells_where_its_bytes_are,
		a_file_of_32_bits_and_the_other_byte_order_tells_it_too,
		a_program_that_was_loaded_elsewhere_is_found_by_its_lowest_region,
		a_segment_that_begins_before_its_region_counts_from_there,
		another_program_than_the_recorded_one_is_warned_of,
		data_that_the_program_may_write_may_differ, a_page_of_the_file_has_more_than_its_segment,
		the_lowest_byte_of_all_segments_tells_the_place,
		a_page_of_the_file_that_has_other_bytes_tells_no_place,
		a_place_from_which_the_contents_would_pass_the_region_is_none,
		a_file_that_does_not_help_is_warned_of, a_read_of_the_program_that_fails_is_a_failure,
		a_sane_stack_gives_arguments_and_auxiliary_vector,
		a_stack_that_is_not_sane_gives_nothing, a_stack_ends_with_its_region,
	a_stack_may_end_within_a_word,
	};
	Suite *suite = suite_create("usercorn_place");
	TCase *tcase = tcase_create("usercorn_place");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
