/* SPDX-License-Identifier: MIT */
/*
 * The stack at a recording's start gives the arguments and the auxiliary vector if it is sane, and nothing
 * otherwise.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "place_case.h"

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

UNIT_FIXTURE_SUITE("usercorn_stack", setup, teardown, a_sane_stack_gives_arguments_and_auxiliary_vector,
		   a_stack_that_is_not_sane_gives_nothing, a_stack_ends_with_its_region,
		   a_stack_may_end_within_a_word)
