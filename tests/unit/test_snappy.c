/* SPDX-License-Identifier: MIT */
/*
 * The framing codec against frames that are put together here byte by byte, checksums by the plain bitwise
 * definition.
 */
#include "unit.h"

#include "loaders/kit/snappy.h"

#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t file[1 << 20];
static size_t file_len;
static struct ts_source *src;
static struct snappy_frames frames;
static struct ts_error err;
static uint8_t out[SNAPPY_MAX_DECODED], scratch[SNAPPY_MAX_BODY];

static void setup(void)
{
	file_len = 0;
	frames = (struct snappy_frames){ 0 };
	ts_error_reset(&err);
}

static void teardown(void)
{
	snappy_frames_fini(&frames);
	ts_source_close(src);
	src = NULL;
}

/* CRC-32C as the polynomial says, a bit at a time. */
static uint32_t plain_crc(const uint8_t *data, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return crc ^ 0xffffffff;
}

static void put(const void *data, size_t len)
{
	ck_assert_uint_le(file_len + len, sizeof(file));
	memcpy(file + file_len, data, len);
	file_len += len;
}

static void put_chunk(uint8_t type, const void *body, size_t len)
{
	uint8_t head[4] = { type, (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16) };

	put(head, 4);
	put(body, len);
}

static void put_identifier(void)
{
	put_chunk(0xff, "sNaPpY", 6);
}

/* A data chunk: the checksum of @decoded, then @body. */
static void put_data(uint8_t type, const void *decoded, size_t decoded_len, const void *body, size_t body_len)
{
	uint32_t crc = plain_crc(decoded, decoded_len);
	uint32_t masked = (crc >> 15 | crc << 17) + 0xa282ead8;
	uint8_t *bytes = malloc(body_len + 4);

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(masked >> 8 * i);
	memcpy(bytes + 4, body, body_len);
	put_chunk(type, bytes, body_len + 4);
	free(bytes);
}

static void put_compressed(const void *data, size_t len)
{
	size_t block_len = snappy_max_compressed_length(len);
	char *block = malloc(block_len);

	ck_assert_int_eq(snappy_compress(data, len, block, &block_len), SNAPPY_OK);
	put_data(0x00, data, len, block, block_len);
	free(block);
}

static void put_stored(const void *data, size_t len)
{
	put_data(0x01, data, len, data, len);
}

static bool scan_at(uint64_t off)
{
	src = ts_source_from_memory(file, file_len, "test", &err);
	return snappy_frames_scan(&frames, src, off, &err);
}

static void expect_decoded(size_t i, const void *data, size_t len)
{
	ck_assert_uint_eq(snappy_frames_decoded_len(&frames, i), len);
	ck_assert_msg(snappy_frames_decode(&frames, i, out, scratch, &err), "%s", err.text);
	ck_assert_mem_eq(out, data, len);
}

static void expect_error(const struct ts_error *e, enum ts_code code, uint64_t off, const char *word)
{
	ck_assert_msg(e->code == code, "%s: %s", unit_code_name(e->code), e->text);
	ck_assert_msg(e->off == off, "offset 0x%" PRIx64 " in: %s", e->off, e->text);
	ck_assert_msg(strstr(e->text, word) != NULL, "no \"%s\" in: %s", word, e->text);
}

START_TEST(crc_gives_the_published_values)
{
	uint8_t zeros[32] = { 0 }, ones[32], up[32];

	memset(ones, 0xff, sizeof(ones));
	for (int i = 0; i < 32; i++)
		up[i] = (uint8_t)i;
	ck_assert_uint_eq(snappy_crc32c((const uint8_t *)"123456789", 9),
			  0xe3069283); /* the check value of CRC-32C */
	ck_assert_uint_eq(snappy_crc32c(zeros, 32), 0x8a9136aa);                       /* RFC 3720, B.4 */
	ck_assert_uint_eq(snappy_crc32c(ones, 32), 0x62a8ab43);
	ck_assert_uint_eq(snappy_crc32c(up, 32), 0x46dd794e);
	ck_assert_uint_eq(snappy_crc32c(zeros, 0), 0);
}
END_TEST

START_TEST(crc_by_instruction_and_by_table_agree_with_the_definition_at_each_length_and_alignment)
{
	uint8_t data[80];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 151 + 7);
	for (size_t at = 0; at < 8; at++)
		for (size_t len = 0; at + len <= sizeof(data); len++) {
			uint32_t want = plain_crc(data + at, len);

			ck_assert_uint_eq(snappy_crc32c(data + at, len), want);
			ck_assert_uint_eq(snappy_crc32c_by_table(data + at, len), want);
		}
}
END_TEST

START_TEST(crc_of_long_data_agrees_with_the_definition)
{
	static uint8_t data[65536];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i >> 7 ^ i * 151);
	for (size_t len = 3060; len < 3090; len++)
		ck_assert_uint_eq(snappy_crc32c(data + len % 8, len), plain_crc(data + len % 8, len));
	ck_assert_uint_eq(snappy_crc32c(data + 1, 6144), plain_crc(data + 1, 6144));
	ck_assert_uint_eq(snappy_crc32c(data, sizeof(data)), plain_crc(data, sizeof(data)));
}
END_TEST

START_TEST(a_table_holds_each_data_chunk_by_its_place_in_the_stream)
{
	char a[300];

	memset(a, 'a', sizeof(a));
	put("header", 6);
	put_identifier();
	put_compressed(a, sizeof(a));
	put_chunk(0xfe, "padding", 7);
	put_stored("bcdef", 5);
	put_identifier();
	put_chunk(0x80, "skip", 4);
	put_compressed("gh", 2);
	ck_assert_msg(scan_at(6), "%s", err.text);
	ck_assert_int_eq(frames.end.code, TS_OK);
	ck_assert_uint_eq(frames.n, 3);
	ck_assert_uint_eq(frames.len, 307);
	ck_assert_uint_eq(frames.chunks[0].file_off, 16);
	ck_assert_uint_eq(frames.chunks[0].off, 0);
	ck_assert_uint_eq(frames.chunks[1].off, 300);
	ck_assert_uint_eq(frames.chunks[2].off, 305);
	expect_decoded(2, "gh", 2);
	expect_decoded(0, a, sizeof(a));
	expect_decoded(1, "bcdef", 5);
}
END_TEST

START_TEST(each_stream_offset_is_found_in_its_chunk)
{
	put_identifier();
	put_stored("abc", 3);
	put_stored("", 0);
	put_compressed("de", 2);
	put_stored("f", 1);
	ck_assert(scan_at(0));
	ck_assert_uint_eq(snappy_frames_find(&frames, 0), 0);
	ck_assert_uint_eq(snappy_frames_find(&frames, 2), 0);
	ck_assert_uint_eq(snappy_frames_find(&frames, 3), 1); /* the one of no bytes does not count */
	ck_assert_uint_eq(snappy_frames_find(&frames, 4), 1);
	ck_assert_uint_eq(snappy_frames_find(&frames, 5), 2);
}
END_TEST

START_TEST(a_chunk_of_64_KiB_of_noise_decodes)
{
	static uint8_t noise[SNAPPY_MAX_DECODED];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	put_identifier();
	put_compressed(noise, sizeof(noise));
	put_stored(noise, sizeof(noise));
	ck_assert_msg(scan_at(0), "%s", err.text);
	ck_assert_int_eq(frames.end.code, TS_OK);
	expect_decoded(0, noise, sizeof(noise));
	expect_decoded(1, noise, sizeof(noise));
}
END_TEST

/* Copies may overlap their output: one literal and a copy of a hundred bytes from one byte back. */
START_TEST(a_copy_that_overlaps_itself_repeats)
{
	static const uint8_t block[] = { 101, 0 << 2, 'x', (63 << 2) | 2, 1, 0, (35 << 2) | 2, 1, 0 };
	uint8_t xs[101];

	memset(xs, 'x', sizeof(xs));
	put_identifier();
	put_data(0x00, xs, sizeof(xs), block, sizeof(block));
	ck_assert(scan_at(0));
	expect_decoded(0, xs, sizeof(xs));
}
END_TEST

START_TEST(a_stream_without_its_identifier_is_refused)
{
	put_stored("abc", 3);
	ck_assert(!scan_at(0));
	expect_error(&err, TS_ECORRUPT, 0, "type 0x01");
}
END_TEST

START_TEST(an_identifier_of_other_bytes_is_refused)
{
	put("..", 2);
	put_chunk(0xff, "sNaPpy", 6);
	ck_assert(!scan_at(2));
	expect_error(&err, TS_ECORRUPT, 2, "sNaPpY");
}
END_TEST

START_TEST(an_identifier_of_another_length_is_refused)
{
	put_chunk(0xff, "sNaPpY!", 7);
	ck_assert(!scan_at(0));
	expect_error(&err, TS_ECORRUPT, 0, "of 7 bytes");
}
END_TEST

START_TEST(a_cut_identifier_is_refused)
{
	put_identifier();
	for (file_len = 0; file_len < SNAPPY_IDENTIFIER_LEN; file_len++) {
		ck_assert(!scan_at(0));
		expect_error(&err, TS_ETRUNC, 0, "ends");
		ts_error_reset(&err);
		ts_source_close(src);
	}
	src = NULL;
}
END_TEST

/* What follows a good chunk is damaged: the good one serves, the end says what is wrong and where. */
static void scan_damage(enum ts_code code, const char *word)
{
	ck_assert_msg(scan_at(0), "%s", err.text);
	expect_error(&frames.end, code, 21, word);
	ck_assert_uint_eq(frames.n, 1);
	ck_assert_uint_eq(frames.len, 3);
	expect_decoded(0, "abc", 3);
}

static void put_good(void)
{
	put_identifier();
	put_stored("abc", 3);
	ck_assert_uint_eq(file_len, 21);
}

START_TEST(a_reserved_chunk_type_ends_the_table)
{
	put_good();
	put_chunk(0x7f, "what", 4);
	put_stored("d", 1);
	scan_damage(TS_ECORRUPT, "reserved type 0x7f");
}
END_TEST

START_TEST(a_later_identifier_of_other_bytes_ends_the_table)
{
	put_good();
	put_chunk(0xff, "snappy", 6);
	scan_damage(TS_ECORRUPT, "sNaPpY");
}
END_TEST

START_TEST(a_data_chunk_without_room_for_a_checksum_ends_the_table)
{
	put_good();
	put_chunk(0x01, "abc", 3);
	scan_damage(TS_ECORRUPT, "no checksum");
}
END_TEST

START_TEST(a_stored_chunk_past_64_KiB_ends_the_table)
{
	static uint8_t big[SNAPPY_MAX_DECODED + 1];

	put_good();
	put_stored(big, sizeof(big));
	scan_damage(TS_ECORRUPT, "65537 bytes");
}
END_TEST

START_TEST(a_block_that_announces_more_than_64_KiB_ends_the_table)
{
	put_good();
	put_data(0x00, "", 0, "\x81\x80\x04\x00", 4);
	scan_damage(TS_ECORRUPT, "65537 bytes");
}
END_TEST

START_TEST(a_body_longer_than_any_block_ends_the_table)
{
	static uint8_t big[SNAPPY_MAX_BODY];

	put_good();
	put_data(0x00, "", 0, big, sizeof(big));
	scan_damage(TS_ECORRUPT, "at most");
}
END_TEST

START_TEST(a_block_whose_length_does_not_end_ends_the_table)
{
	put_good();
	put_data(0x00, "", 0, "\xff\xff\xff\xff\xff\xff", 6);
	scan_damage(TS_ECORRUPT, "without a length");
}
END_TEST

START_TEST(a_compressed_chunk_without_a_block_ends_the_table)
{
	put_good();
	put_data(0x00, "", 0, "", 0);
	scan_damage(TS_ECORRUPT, "without a length");
}
END_TEST

START_TEST(a_chunk_of_no_bytes_is_not_in_the_table_but_its_checksum_is_looked_at)
{
	put_good();
	put_stored("", 0);
	put_compressed("", 0);
	put_stored("def", 3);
	ck_assert_msg(scan_at(0), "%s", err.text);
	ck_assert_int_eq(frames.end.code, TS_OK);
	ck_assert_uint_eq(frames.n, 2);
	teardown();
	file_len = 0;
	put_good();
	put_data(0x01, "x", 1, "", 0);
	scan_damage(TS_ECORRUPT, "its bytes give 0xa282ead8"); /* the framing's own: the CRC of nothing is 0 */
	teardown();
	file_len = 0;
	ts_error_reset(&err);
	put_good();
	put_data(0x00, "", 0, "\0a", 2);
	scan_damage(TS_ECORRUPT, "with a decoded length of 0 has 2 bytes");
}
END_TEST

START_TEST(a_file_cut_anywhere_in_a_chunk_keeps_the_chunks_before)
{
	size_t whole;

	put_good();
	put_compressed("defghijklmnopqrstuvwxyz", 23);
	whole = file_len;
	for (file_len = 22; file_len < whole; file_len++) {
		scan_damage(TS_ETRUNC, "ends inside");
		teardown();
		ts_error_reset(&err);
	}
}
END_TEST

/* Chunks until the file is nearly full, runs of short ones and of long ones: the table has to be what is put. */
#define MAX_PUT 4096
static struct snappy_chunk was_put[MAX_PUT];
static size_t n_put;

static void put_many(void)
{
	static uint8_t noise[60000];
	uint64_t off = 0;
	uint32_t random = 7;

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
	put_identifier();
	for (n_put = 0; file_len < sizeof(file) - 2 * sizeof(noise); n_put++) {
		size_t len = n_put / 40 % 3 == 0 ? 20 + n_put : n_put / 40 % 3 == 1 ? 9000 : 100;

		if (n_put % 31 == 30)
			len = sizeof(noise);
		ck_assert_uint_lt(n_put, MAX_PUT);
		was_put[n_put] = (struct snappy_chunk){ .file_off = file_len, .off = off };
		put_stored(noise, len);
		off += len;
	}
}

static void expect_table(size_t n)
{
	ck_assert_uint_eq(frames.n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(frames.chunks[i].file_off, was_put[i].file_off);
		ck_assert_uint_eq(frames.chunks[i].off, was_put[i].off);
	}
}

START_TEST(runs_of_short_and_of_long_chunks_are_all_in_the_table)
{
	put_many();
	ck_assert_msg(scan_at(0), "%s", err.text);
	ck_assert_int_eq(frames.end.code, TS_OK);
	expect_table(n_put);
}
END_TEST

/* A source over the file that cannot be read from bad_at on. */
static uint64_t bad_at;

static bool read_until_bad(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got,
			   struct ts_error *e)
{
	(void)s;
	for (; *got < len && off + *got < bad_at; ++*got)
		data[*got] = file[off + *got];
	return *got == len || ts_fail(e, TS_ECORRUPT, bad_at, "damaged");
}

static void close_nothing(struct ts_source *s)
{
	(void)s;
}

START_TEST(chunks_before_what_cannot_be_read_are_in_the_table)
{
	static const struct ts_source_ops ops = { .read = read_until_bad, .close = close_nothing };

	put_many();
	for (size_t n = 1; n < n_put; n += 7) { /* header n cannot be read */
		bad_at = was_put[n].file_off + 3;
		src = calloc(1, sizeof(*src));
		ck_assert(src && ts_source_init(src, &ops, file_len, "bytes", &err));
		ck_assert_msg(snappy_frames_scan(&frames, src, 0, &err), "%s", err.text);
		ck_assert_int_eq(frames.end.code, TS_ECORRUPT);
		ck_assert_uint_eq(frames.end.off, bad_at);
		expect_table(n);
		teardown();
	}
}
END_TEST

/* A chunk that scans well and does not decode. */
static void expect_bad_block(const void *block, size_t len)
{
	put_identifier();
	put_data(0x00, "abcd", 4, block, len);
	ck_assert_msg(scan_at(0), "%s", err.text);
	ck_assert_int_eq(frames.end.code, TS_OK);
	ck_assert(!snappy_frames_decode(&frames, 0, out, scratch, &err));
	expect_error(&err, TS_ECORRUPT, 10, "out of range");
}

START_TEST(a_literal_past_the_body_is_found)
{
	expect_bad_block("\x04\x0c" "abc", 5);
}
END_TEST

START_TEST(a_literal_past_the_announced_length_is_found)
{
	expect_bad_block("\x04\x10" "abcde", 7);
}
END_TEST

START_TEST(a_copy_of_offset_zero_is_found)
{
	expect_bad_block("\x04\x04" "ab\x06\x00\x00", 7);
}
END_TEST

START_TEST(a_copy_from_before_the_start_is_found)
{
	expect_bad_block("\x04\x04" "ab\x06\x03\x00", 7);
}
END_TEST

START_TEST(a_block_shorter_than_it_says_is_found)
{
	expect_bad_block("\x04\x08" "abc", 5);
}
END_TEST

START_TEST(a_wrong_checksum_names_both_values)
{
	char want[32];

	put_identifier();
	put_stored("abcd", 4);
	snprintf(want, sizeof(want), "0x%08" PRIx32, snappy_mask_crc(plain_crc((const uint8_t *)"abcd", 4)));
	file[14] ^= 0x40;
	ck_assert(scan_at(0));
	ck_assert(!snappy_frames_decode(&frames, 0, out, scratch, &err));
	expect_error(&err, TS_ECORRUPT, 10, want);
	snprintf(want, sizeof(want), "0x%02x%02x%02x%02x", file[17], file[16], file[15], file[14]);
	expect_error(&err, TS_ECORRUPT, 10, want);
}
END_TEST

START_TEST(each_flipped_bit_of_a_chunk_is_found)
{
	size_t len;

	put_identifier();
	put_compressed("one fish two fish red fish blue fish", 36);
	len = file_len;
	for (size_t bit = 10 * 8; bit < len * 8; bit++) {
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_error_reset(&err);
		ck_assert(scan_at(0));
		ck_assert_msg(frames.end.code != TS_OK || frames.n == 0 ||
				      !snappy_frames_decode(&frames, 0, out, scratch, &err),
			      "bit %zu", bit);
		teardown();
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		crc_gives_the_published_values,
		crc_by_instruction_and_by_table_agree_with_the_definition_at_each_length_and_alignment,
		crc_of_long_data_agrees_with_the_definition,
		a_table_holds_each_data_chunk_by_its_place_in_the_stream,
		each_stream_offset_is_found_in_its_chunk,
		a_chunk_of_64_KiB_of_noise_decodes,
		a_copy_that_overlaps_itself_repeats,
		a_stream_without_its_identifier_is_refused,
		an_identifier_of_other_bytes_is_refused,
		an_identifier_of_another_length_is_refused,
		a_cut_identifier_is_refused,
		a_reserved_chunk_type_ends_the_table,
		a_later_identifier_of_other_bytes_ends_the_table,
		a_data_chunk_without_room_for_a_checksum_ends_the_table,
		a_stored_chunk_past_64_KiB_ends_the_table,
		a_block_that_announces_more_than_64_KiB_ends_the_table,
		a_body_longer_than_any_block_ends_the_table,
		a_block_whose_length_does_not_end_ends_the_table,
		a_compressed_chunk_without_a_block_ends_the_table,
		a_chunk_of_no_bytes_is_not_in_the_table_but_its_checksum_is_looked_at,
		a_file_cut_anywhere_in_a_chunk_keeps_the_chunks_before,
		runs_of_short_and_of_long_chunks_are_all_in_the_table,
		chunks_before_what_cannot_be_read_are_in_the_table,
		a_literal_past_the_body_is_found,
		a_literal_past_the_announced_length_is_found,
		a_copy_of_offset_zero_is_found,
		a_copy_from_before_the_start_is_found,
		a_block_shorter_than_it_says_is_found,
		a_wrong_checksum_names_both_values,
		each_flipped_bit_of_a_chunk_is_found,
	};
	Suite *suite = suite_create("snappy");
	TCase *tcase = tcase_create("snappy");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
