/* SPDX-License-Identifier: MIT */
/*
 * The identity of an index: another trace, version or option has another one.
 */
#include "unit.h"

#include "src/index/index_key.h"

START_TEST(the_key_of_a_trace_changes_with_its_bytes_and_its_meaning)
{
	static uint8_t bytes[300000];
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(bytes, sizeof(bytes), "trace", &err);
	struct ts_index_key a, b;

	ck_assert(ts_index_key(src, "v", "x", &a, &err));
	ck_assert_uint_eq(a.trace_len, sizeof(bytes));
	for (unsigned i = 0; i < 3; i++) {
		size_t off = i == 0 ? 0 : i == 1 ? sizeof(bytes) - 1 : sizeof(bytes) / 17 * 8;

		bytes[off] = 1;
		ck_assert(ts_index_key(src, "v", "x", &b, &err));
		ck_assert_uint_ne(a.content, b.content);
		bytes[off] = 0;
	}
	ck_assert(ts_index_key(src, "v", "y", &b, &err));
	ck_assert_uint_eq(a.content, b.content);
	ck_assert_uint_ne(a.meaning, b.meaning);
	ck_assert_uint_eq(a.version, b.version);
	ck_assert(ts_index_key(src, "w", "x", &b, &err));
	ck_assert_uint_ne(a.version, b.version);
	ck_assert_uint_eq(a.meaning, b.meaning);
	ts_source_close(src);
}
END_TEST

UNIT_SUITE("index_key", the_key_of_a_trace_changes_with_its_bytes_and_its_meaning)
