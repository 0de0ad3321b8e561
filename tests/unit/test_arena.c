/* SPDX-License-Identifier: MIT */
/*
 * Pieces of an arena: zero, apart from each other, aligned, and theirs until the end.
 */
#include "unit.h"

#include "src/base/collections/arena.h"

#include <stdlib.h>
#include <string.h>

START_TEST(pieces_are_zero_aligned_and_stay)
{
	struct ts_arena a = { 0 };
	unsigned char *pieces[400];

	for (size_t i = 0; i < 400; i++) {
		size_t len = i * 37 % 9000 + 1;

		pieces[i] = ts_arena_alloc(&a, len);
		ck_assert_ptr_nonnull(pieces[i]);
		ck_assert_uint_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < len; j++)
			ck_assert_uint_eq(pieces[i][j], 0);
		memset(pieces[i], (int)(i % 255 + 1), len);
	}
	for (size_t i = 0; i < 400; i++)
		for (size_t j = 0; j < i * 37 % 9000 + 1; j++)
			ck_assert_uint_eq(pieces[i][j], i % 255 + 1);
	ts_arena_fini(&a);
}
END_TEST

START_TEST(an_empty_piece_is_no_failure)
{
	struct ts_arena a = { 0 };

	ck_assert_ptr_nonnull(ts_arena_alloc(&a, 0));
	ts_arena_fini(&a);
}
END_TEST

START_TEST(an_impossible_length_fails_and_the_arena_lives)
{
	struct ts_arena a = { 0 };

	ck_assert_ptr_null(ts_arena_alloc(&a, SIZE_MAX));
	ck_assert_ptr_null(ts_arena_text(&a, "", SIZE_MAX));
	ck_assert_ptr_nonnull(ts_arena_alloc(&a, 10));
	ts_arena_fini(&a);
}
END_TEST

START_TEST(text_is_copied_and_terminated)
{
	struct ts_arena a = { 0 };
	char from[] = "register";
	char *copy = ts_arena_text(&a, from, 3);

	memset(from, 'x', sizeof(from));
	ck_assert_str_eq(copy, "reg");
	ts_arena_fini(&a);
}
END_TEST

START_TEST(after_fini_an_arena_is_empty_and_good)
{
	struct ts_arena a = { 0 };

	ck_assert_ptr_nonnull(ts_arena_alloc(&a, 100));
	ts_arena_fini(&a);
	ck_assert_ptr_null(a.blocks);
	ck_assert_ptr_nonnull(ts_arena_alloc(&a, 100));
	ts_arena_fini(&a);
	ts_arena_fini(&a);
}
END_TEST

UNIT_SUITE("arena", pieces_are_zero_aligned_and_stay, an_empty_piece_is_no_failure,
	   an_impossible_length_fails_and_the_arena_lives, text_is_copied_and_terminated,
	   after_fini_an_arena_is_empty_and_good)
