/* SPDX-License-Identifier: MIT */
/*
 * The identity of an index: another trace, version or option has another one.
 */
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/index/keys/index_key.h"

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

/* A source of zeros; one read of it fails. */
static unsigned n_reads, bad_read;

static bool read_zeros(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		       struct ts_error *err)
{
	(void)src;
	if (n_reads++ == bad_read)
		return ts_fail(err, TS_EIO, off, "cannot read it: a test");
	memset(data, 0, len);
	*got = len;
	return true;
}

static void close_zeros(struct ts_source *src)
{
	(void)src;
}

START_TEST(a_trace_of_which_a_part_cannot_be_read_has_no_key)
{
	static const struct ts_source_ops ops = { .read = read_zeros, .close = close_zeros };
	struct ts_source *src = calloc(1, sizeof(*src));
	struct ts_error err = { 0 };
	struct ts_index_key key;
	unsigned n_all;

	ck_assert(src && ts_source_init(src, &ops, 300000, "zeros", &err));
	bad_read = UINT_MAX;
	ck_assert(ts_index_key(src, "v", "x", &key, &err));
	n_all = n_reads;
	ck_assert_uint_gt(n_all, 10);
	for (bad_read = 0; bad_read < n_all; bad_read++) {
		n_reads = 0;
		ck_assert(!ts_index_key(src, "v", "x", &key, &err));
		ck_assert_int_eq(err.code, TS_EIO);
		ck_assert_uint_eq(n_reads, bad_read + 1);
		ts_error_reset(&err);
	}
	ts_source_close(src);
}
END_TEST

UNIT_SUITE("index_key", a_trace_of_which_a_part_cannot_be_read_has_no_key, the_key_of_a_trace_changes_with_its_bytes_and_its_meaning)
