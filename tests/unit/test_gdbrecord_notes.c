/* SPDX-License-Identifier: MIT */
/*
 * Notes of core files of gdb's recordings, as Intel's manual (FSAVE, FXSAVE, XSAVE) and <elf.h> lay them out.
 */
#include "unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_case.h"

static void le(uint8_t *p, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* FXSAVE: one register, st0 = 1.0, is in use; the top of the stack is 7. */
static void fxsave(uint8_t *p)
{
	le(p, 0x27f, 2);
	le(p + 2, 7 << 11, 2);
	p[4] = 0x80;
	le(p + 6, 0xfabc, 2);
	le(p + 8, 0x11223344, 4);
	le(p + 12, 0x23, 2);
	le(p + 16, 0x55667788, 4);
	le(p + 20, 0x2b, 2);
	le(p + 24, 0x1fa0, 4);
	le(p + 32, UINT64_C(0x8000000000000000), 8);
	le(p + 40, 0x3fff, 2);
	p[32 + 16 * 7] = 0x77;
	p[160] = 0xa0;
	p[160 + 16 * 7 + 15] = 0xa7;
	p[160 + 16 * 15] = 0xaf;
}

static void expect_x87(const char *fop)
{
	EXPECT_INITIAL(" fctrl=27f ");
	EXPECT_INITIAL(" fstat=3800 ");
	EXPECT_INITIAL(" ftag=3fff "); /* register 7 is valid, the others are empty */
	EXPECT_INITIAL(" fiseg=23 ");
	EXPECT_INITIAL(" fioff=11223344 ");
	EXPECT_INITIAL(" foseg=2b ");
	EXPECT_INITIAL(" fooff=55667788 ");
	EXPECT_INITIAL(fop);
	EXPECT_INITIAL(" st0=0000000000000080ff3f ");
}

static void expect_sse(bool is_64)
{
	EXPECT_INITIAL(" mxcsr=1fa0");
	EXPECT_INITIAL(" xmm0=a0");
	EXPECT_INITIAL(" xmm7=000000000000000000000000000000a7 ");
	ck_assert_int_eq(has(" xmm15=af"), is_64);
}

START_TEST(fxsave_of_both_widths)
{
	uint8_t p[512] = { 0 };

	fxsave(p);
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		for_machine(is_64 ? EM_X86_64 : EM_386, is_64, false);
		note(is_64 ? "CORE" : "LINUX", is_64 ? NT_FPREGSET : NT_PRXFPREG, p, sizeof(p));
		end();
		read_core();
		expect_x87(" fop=2bc "); /* eleven bits */
		expect_sse(is_64);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
	}
}
END_TEST

START_TEST(fsave_of_i386)
{
	uint8_t p[108] = { 0 };

	for_machine(EM_386, false, false);
	le(p, 0x27f, 2);
	le(p + 4, 0x3800, 2);
	le(p + 8, 0x3fff, 2);
	le(p + 12, 0x11223344, 4);
	le(p + 16, 0x23, 2);
	le(p + 18, 0xfabc, 2);
	le(p + 20, 0x55667788, 4);
	le(p + 24, 0x2b, 2);
	le(p + 28, UINT64_C(0x8000000000000000), 8);
	le(p + 36, 0x3fff, 2);
	p[28 + 70] = 0x77;
	note("CORE", NT_FPREGSET, p, sizeof(p));
	end();
	read_core();
	expect_x87(" fop=2bc ");
	EXPECT_INITIAL(" st7=77");
	EXPECT_NO_INITIAL("xmm0=");
}
END_TEST

/* Parts that are not in use are as FINIT leaves them, whatever the bytes are. */
START_TEST(xsave_says_which_parts_are_in_use)
{
	uint8_t p[832] = { 0 };

	fxsave(p);
	p[576] = 0xb0;
	p[576 + 16 * 15] = 0xbf;
	for (unsigned used = 0; used < 8; used++) {
		again();
		p[512] = (uint8_t)used;
		note("LINUX", NT_X86_XSTATE, p, sizeof(p));
		end();
		read_core();
		if (used & 1)
			expect_x87(" fop=2bc ");
		else
			EXPECT_INITIAL(" fctrl=37f fstat=0 ftag=ffff ");
		if (used & 2)
			expect_sse(true);
		else
			EXPECT_INITIAL(" xmm0=0");
		/* MXCSR belongs to SSE and to AVX (Intel's manual 1, 13.6) */
		EXPECT_INITIAL(used & 6 ? " mxcsr=1fa0" : " mxcsr=1f80");
		EXPECT_INITIAL(used & 4 ? " ymm0h=b0" : " ymm0h=0");
		EXPECT_INITIAL(used & 4 ? " ymm15h=bf" : " ymm15h=0");
	}
}
END_TEST

START_TEST(xsave_of_i386_has_eight_halves)
{
	uint8_t p[832] = { 0 };

	for_machine(EM_386, false, false);
	fxsave(p);
	p[512] = 7;
	p[576 + 16 * 7] = 0xb7;
	note("LINUX", NT_X86_XSTATE, p, sizeof(p));
	end();
	read_core();
	EXPECT_INITIAL(" ymm7h=b7");
	expect_sse(false);
	again();
	note("LINUX", NT_X86_XSTATE, p, 576 + 255); /* not all halves */
	end();
	read_core();
	EXPECT_INITIAL(" xmm0=a0");
	EXPECT_NO_INITIAL(" ymm0h=");
}
END_TEST

START_TEST(floating_point_notes_of_other_lengths_are_told)
{
	static const struct {
		uint16_t machine;
		const char *name;
		uint32_t type;
		unsigned len;
		bool is_told;
	} cases[] = {
		{ EM_X86_64, "CORE", NT_FPREGSET, 511, true },
		{ EM_386, "CORE", NT_FPREGSET, 107, true },
		{ EM_X86_64, "LINUX", NT_X86_XSTATE, 575, true },
		{ EM_AARCH64, "CORE", NT_FPREGSET, 519, true },
		{ EM_386, "LINUX", NT_PRXFPREG, 511, false }, /* NT_FPREGSET has the same */
		{ EM_X86_64, "OTHER", NT_FPREGSET, 511, false },
		{ EM_X86_64, "CORE", NT_X86_XSTATE, 1, false },
		{ EM_AARCH64, "OTHER", NT_FPREGSET, 519, false },
		{ EM_ARM, "CORE", NT_FPREGSET, 1, false },    /* its recordings have no floating point */
	};
	static const uint8_t zero[600];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for_machine(cases[i].machine, cases[i].machine == EM_X86_64 || cases[i].machine == EM_AARCH64,
			    false);
		note(cases[i].name, cases[i].type, zero, cases[i].len);
		end();
		read_core();
		ck_assert_msg(ucir_warned(t.rec, "floating-point registers of") == cases[i].is_told,
			      "case %zu", i);
		EXPECT_NO_INITIAL(" fctrl=");
		EXPECT_NO_INITIAL(" v0=");
	}
}
END_TEST

START_TEST(vectors_of_aarch64)
{
	for (unsigned big = 0; big < 2; big++) {
		struct ts_buf d;

		for_machine(EM_AARCH64, true, big);
		ts_buf_init(&d);
		for (unsigned i = 0; i < 32; i++) {
			zeros(&d, 15);
			ts_buf_putc(&d, (uint8_t)(0x80 + i));
		}
		put(&d, 0x11223344, 4);
		put(&d, 0x55667788, 4);
		note("CORE", NT_FPREGSET, d.data, d.len);
		end();
		read_core();
		EXPECT_INITIAL(" v0=00000000000000000000000000000080 "); /* in the order of their bytes */
		EXPECT_INITIAL(" v31=0000000000000000000000000000009f ");
		EXPECT_INITIAL(" fpsr=11223344 ");
		EXPECT_INITIAL(" fpcr=55667788");
		ts_buf_fini(&d);
	}
}
END_TEST

START_TEST(a_short_note_of_registers_is_refused)
{
	static const struct {
		uint16_t machine;
		unsigned len; /* up to the last register */
	} cases[] = { { EM_X86_64, 112 + 27 * 8 },
		      { EM_386, 72 + 17 * 4 },
		      { EM_ARM, 72 + 17 * 4 },
		      { EM_AARCH64, 112 + 34 * 8 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_64 = cases[i].machine == EM_X86_64 || cases[i].machine == EM_AARCH64;

		for_machine(cases[i].machine, is_64, false);
		c.prstatus_len = cases[i].len;
		end();
		read_core();
		for_machine(cases[i].machine, is_64, false);
		c.prstatus_len = cases[i].len - 1;
		end();
		build();
		expect_refused(TS_ECORRUPT, "the registers have only");
	}
}
END_TEST

START_TEST(arguments_are_the_words_of_a_text)
{
	static const struct {
		const char *text;
		size_t len; /* with the zero after them */
	} cases[] = { { "/bin/ls -l", 11 }, { "/bin/ls  -l  ", 11 }, { "   ", 0 }, { "", 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char d[136] = { 0 };

		again();
		memcpy(d + sizeof(d) - 80, cases[i].text, strlen(cases[i].text));
		note("CORE", NT_PRPSINFO, d, sizeof(d));
		end();
		read_core();
		ck_assert_uint_eq(t.rec->cmdline.len, cases[i].len);
		if (cases[i].len)
			ck_assert_mem_eq(t.rec->cmdline.data, "/bin/ls\0-l", 11);
	}
	again();
	note("CORE", NT_PRPSINFO, "short", 6);
	end();
	read_core();
	ck_assert_uint_eq(t.rec->cmdline.len, 0);
}
END_TEST

START_TEST(the_first_auxiliary_vector_counts)
{
	note("CORE", NT_AUXV, "", 0);
	note("CORE", NT_AUXV, "one", 3);
	note("CORE", NT_AUXV, "other", 5);
	end();
	read_core();
	ck_assert_uint_eq(t.rec->auxv_len, 3);
	ck_assert_mem_eq(t.rec->auxv, "one", 3);
}
END_TEST

/* The second one could not be. */
START_TEST(the_first_list_of_files_counts)
{
	for (uint64_t count = 1; count <= 2; count++) {
		struct ts_buf d;

		ts_buf_init(&d);
		word(&d, count);
		word(&d, 0x1000);
		word(&d, 0x1000);
		word(&d, 0x2000);
		word(&d, 3);
		ts_buf_put(&d, "/bin/x", 7);
		note("CORE", NT_FILE, d.data, d.len);
		ts_buf_fini(&d);
	}
	end();
	read_core();
}
END_TEST

START_TEST(lists_of_files_that_cannot_be_are_refused)
{
	static const struct {
		uint64_t count, page, start, end, off;
		const char *name;
		size_t name_len;
		const char *why; /* NULL: it is taken */
	} cases[] = {
		{ 1, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, NULL },
		{ 1, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 6, "entry 0" },             /* the name has no end */
		{ 1, 0x1000, 0x1000, 0x1000, 3, "/bin/x", 7, "entry 0" },
		{ 1, 0x1000, 0x2000, 0x1000, 3, "/bin/x", 7, "entry 0" },
		{ 1, 0x1000, 0x1000, 0x2000, UINT64_MAX / 2, "/bin/x", 7, "entry 0" }, /* an offset beyond 64 bits */
		{ 1, 0, 0x1000, 0x2000, UINT64_MAX, "/bin/x", 7, NULL },
		{ 2, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, "note" },                 /* fewer than it says */
		{ UINT64_MAX, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, "note" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ts_buf d;

		again();
		ts_buf_init(&d);
		word(&d, cases[i].count);
		word(&d, cases[i].page);
		word(&d, cases[i].start);
		word(&d, cases[i].end);
		word(&d, cases[i].off);
		ts_buf_put(&d, cases[i].name, cases[i].name_len);
		note("CORE", NT_FILE, d.data, d.len);
		ts_buf_fini(&d);
		end();
		if (!cases[i].why) {
			read_core();
			continue;
		}
		build();
		ck_assert_msg(!ucir_open(&t, NULL), "case %zu", i);
		ck_assert_msg(strstr(t.err.text, cases[i].why), "case %zu: %s", i, t.err.text);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("gdbrecord_notes", setup, teardown, fxsave_of_both_widths, fsave_of_i386,
		   xsave_says_which_parts_are_in_use, xsave_of_i386_has_eight_halves,
		   floating_point_notes_of_other_lengths_are_told, vectors_of_aarch64,
		   a_short_note_of_registers_is_refused, arguments_are_the_words_of_a_text,
		   the_first_auxiliary_vector_counts, the_first_list_of_files_counts,
		   lists_of_files_that_cannot_be_are_refused)
