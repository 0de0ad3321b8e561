/* SPDX-License-Identifier: MIT */
/*
 * Compressed data of each kind, made by its own library, decoded in pieces of any size; truncated and
 * damaged.
 */
#include "unit.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "src/source/codec.h"

#define LEN 200000u

static uint8_t plain[LEN], packed[2 * LEN], out[2 * LEN + 16];
static size_t packed_len, out_len;
static struct ts_error err;

static size_t pack_gzip(uint8_t *to, size_t cap)
{
	z_stream z = { .next_in = plain, .avail_in = LEN, .next_out = to, .avail_out = (uInt)cap };

	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* With a checksum, as the tool writes it. */
static size_t pack_zstd(uint8_t *to, size_t cap)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(z, to, cap, plain, LEN);
	ck_assert(!ZSTD_isError(n));
	ZSTD_freeCCtx(z);
	return n;
}

/* Append @plain, packed in this way. */
static void pack(enum ts_codec_kind kind)
{
	uint8_t *to = packed + packed_len;
	size_t cap = sizeof(packed) - packed_len, at = 0;

	switch (kind) {
	case TS_CODEC_NONE: break;
	case TS_CODEC_GZIP: packed_len += pack_gzip(to, cap); break;
	case TS_CODEC_XZ:
		ck_assert_int_eq(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain, LEN, to, &at, cap),
				 LZMA_OK);
		packed_len += at;
		break;
	case TS_CODEC_ZSTD: packed_len += pack_zstd(to, cap); break;
	}
}

static void setup(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525u + 1013904223u;
		plain[i] = (uint8_t)(x >> 24 & (i & 64 ? 0xff : 3));
	}
	packed_len = out_len = 0;
	ts_error_reset(&err);
}

/* Decode all of @packed, given in pieces of @in_len, in pieces of @cap. */
static enum ts_next decode(enum ts_codec_kind kind, size_t in_len, size_t cap)
{
	struct ts_codec *c = ts_codec_new(kind, &err);
	struct ts_codec_input in = { packed, 0, packed_len == 0 };
	enum ts_next next = TS_ITEM;
	size_t given = 0, got;

	ck_assert_ptr_nonnull(c);
	out_len = 0;
	while (next == TS_ITEM) {
		if (!in.left && !in.is_last) {
			size_t n = packed_len - given < in_len ? packed_len - given : in_len;

			in = (struct ts_codec_input){ packed + given, n, given + n == packed_len };
			given += n;
		}
		ck_assert_uint_lt(out_len, sizeof(out));
		next = ts_codec_decode(c, &in, out + out_len,
				       cap < sizeof(out) - out_len ? cap : sizeof(out) - out_len, &got, &err);
		out_len += got;
	}
	ts_codec_free(c);
	return next;
}

static void check_plain(size_t copies)
{
	ck_assert_uint_eq(out_len, copies * LEN);
	for (size_t i = 0; i < copies; i++)
		ck_assert_int_eq(memcmp(out + i * LEN, plain, LEN), 0);
}

START_TEST(each_kind_is_detected_by_its_first_bytes)
{
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;

	pack(kind);
	ck_assert_int_eq(ts_codec_detect(packed, packed_len), kind);
	ck_assert_int_eq(ts_codec_detect(packed, 2), TS_CODEC_NONE);
	packed[1] ^= 1;
	ck_assert_int_eq(ts_codec_detect(packed, packed_len), TS_CODEC_NONE);
}
END_TEST

START_TEST(pieces_of_any_size_give_the_same_bytes)
{
	static const size_t sizes[][2] = {
		{ 1, 65536 }, { 7, 4096 }, { 4096, 7 }, { 65536, 65536 }, { 2 * LEN, 3000 }
	};
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;

	pack(kind);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(decode(kind, sizes[i][0], sizes[i][1]), TS_END);
		check_plain(1);
	}
}
END_TEST

START_TEST(what_was_packed_in_parts_is_one)
{
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;

	pack(kind);
	pack(kind);
	ck_assert_int_eq(decode(kind, 1000, 3000), TS_END);
	check_plain(2);
}
END_TEST

START_TEST(truncated_data_is_good_up_to_its_end)
{
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;
	size_t whole, last = 0;

	pack(kind);
	whole = packed_len;
	for (packed_len = 0; packed_len < whole; packed_len += whole / 16 + 1) {
		ts_error_reset(&err);
		ck_assert_int_eq(decode(kind, 1000, 3000), TS_FAIL);
		ck_assert_int_eq(err.code, TS_ETRUNC);
		ck_assert_uint_ge(out_len, last);
		ck_assert_int_eq(memcmp(out, plain, out_len), 0);
		last = out_len;
	}
	ck_assert_uint_gt(last, 0);
	packed_len = whole - 1; /* the last byte is of the checksum or the index */
	ts_error_reset(&err);
	ck_assert_int_eq(decode(kind, 1000, 3000), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ETRUNC);
}
END_TEST

START_TEST(damage_is_found_and_what_came_before_is_good)
{
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;

	pack(kind);
	for (size_t i = 0; i < 64; i++)
		packed[packed_len / 2 + i] ^= 0x55;
	ck_assert_int_eq(decode(kind, 1000, 3000), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_uint_lt(out_len, LEN);
}
END_TEST

START_TEST(what_follows_is_not_taken_for_a_part)
{
	enum ts_codec_kind kind = (enum ts_codec_kind)_i;

	pack(kind);
	memcpy(packed + packed_len, "something else", 14);
	packed_len += 14;
	ck_assert_int_eq(decode(kind, 1000, 3000), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	check_plain(1);
}
END_TEST

START_TEST(zeros_may_follow_gzip)
{
	pack(TS_CODEC_GZIP);
	memset(packed + packed_len, 0, 5000);
	packed_len += 5000;
	ck_assert_int_eq(decode(TS_CODEC_GZIP, 1000, 3000), TS_END);
	check_plain(1);
}
END_TEST

/* A frame header that asks for a window of 1 GiB (RFC 8878, 3.1.1.1.2). */
START_TEST(a_window_larger_than_any_usual_one_is_refused)
{
	memcpy(packed, "\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00", 9);
	packed_len = 9;
	ck_assert_int_eq(decode(TS_CODEC_ZSTD, 1000, 3000), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ELIMIT);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const plain_tests[] = { zeros_may_follow_gzip,
						    a_window_larger_than_any_usual_one_is_refused };
	Suite *s = unit_suite_of("codec", setup, NULL, plain_tests, 2);
	TCase *t = tcase_create("each kind");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, each_kind_is_detected_by_its_first_bytes, TS_CODEC_GZIP, TS_CODEC_ZSTD + 1);
	tcase_add_loop_test(t, pieces_of_any_size_give_the_same_bytes, TS_CODEC_GZIP, TS_CODEC_ZSTD + 1);
	tcase_add_loop_test(t, what_was_packed_in_parts_is_one, TS_CODEC_GZIP, TS_CODEC_ZSTD + 1);
	tcase_add_loop_test(t, truncated_data_is_good_up_to_its_end, TS_CODEC_GZIP, TS_CODEC_ZSTD + 1);
	tcase_add_loop_test(t, damage_is_found_and_what_came_before_is_good, TS_CODEC_GZIP,
			    TS_CODEC_ZSTD + 1);
	tcase_add_loop_test(t, what_follows_is_not_taken_for_a_part, TS_CODEC_GZIP, TS_CODEC_ZSTD + 1);
	suite_add_tcase(s, t);
	return s;
}
