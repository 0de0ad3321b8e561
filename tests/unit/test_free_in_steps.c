/* SPDX-License-Identifier: MIT */
/* Memory that is given back in pieces. */
#include "unit.h"

#include "src/base/free_in_steps.h"

#include <stdlib.h>
#include <string.h>

/* So many pieces, and the contents of what is left, until nothing is. */
static void check(size_t len, unsigned n_pieces)
{
	void *memory = malloc(len ? len : 1);
	unsigned n = 1;

	ck_assert_ptr_nonnull(memory);
	for (size_t i = 0; i < len; i++)
		((unsigned char *)memory)[i] = (unsigned char)(i * 7 >> 3);
	for (size_t left = len; ts_give_back_some(&memory, &left); n++) {
		ck_assert_uint_eq(left, len - n * TS_GIVE_BACK_LEN);
		ck_assert_ptr_nonnull(memory);
		ck_assert_uint_eq(((unsigned char *)memory)[left - 1], (unsigned char)((left - 1) * 7 >> 3));
		ck_assert_uint_eq(((unsigned char *)memory)[left / 2], (unsigned char)(left / 2 * 7 >> 3));
	}
	ck_assert_ptr_null(memory);
	ck_assert_uint_eq(n, n_pieces);
}

START_TEST(a_piece_at_a_time_is_given_back)
{
	check(0, 1);
	check(1, 1);
	check(TS_GIVE_BACK_LEN, 1);
	check(TS_GIVE_BACK_LEN + 1, 2);
	check(50 * TS_GIVE_BACK_LEN, 50);
}
END_TEST

START_TEST(nothing_is_given_back_once)
{
	void *memory = NULL;
	size_t len = 0;

	ck_assert(!ts_give_back_some(&memory, &len));
	ck_assert_ptr_null(memory);
}
END_TEST

UNIT_SUITE("give_back", a_piece_at_a_time_is_given_back, nothing_is_given_back_once)
