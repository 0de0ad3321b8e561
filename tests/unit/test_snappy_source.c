/* SPDX-License-Identifier: MIT */
/*
 * A source over snappy chunks gives what was compressed, at any place and of any length, and the bytes before
 * damage.
 */
#include "unit.h"

#include "loaders/kit/snappy.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#define LEN (900u << 10)
#define MAX_CHUNKS 64

static uint8_t plain[LEN], file[2 * LEN];
static size_t file_len, chunk_at[MAX_CHUNKS], plain_at[MAX_CHUNKS], n_chunks;
static struct ts_source *inner, *src;
static struct snappy_frames frames;
static struct ts_error err;
static uint32_t x;

static uint32_t below(uint32_t n)
{
	x = x * 1664525u + 1013904223u;
	return (x >> 8) % n;
}

/* A chunk of these plain bytes, compressed or as they are. */
static void put_chunk(const uint8_t *data, size_t len, bool is_stored)
{
	uint8_t *at = file + file_len;
	uint32_t crc = snappy_mask_crc(snappy_crc32c(data, len));
	size_t n = sizeof(file) - file_len - 8;

	if (is_stored)
		memcpy(at + 8, data, n = len);
	else
		ck_assert_int_eq(snappy_compress((const char *)data, len, (char *)at + 8, &n), SNAPPY_OK);
	n += 4;
	memcpy(at, (uint8_t[]){ is_stored, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16) }, 4);
	memcpy(at + 4,
	       (uint8_t[]){ (uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16), (uint8_t)(crc >> 24) },
	       4);
	file_len += 4 + n;
}

/* The file: chunks of many lengths, among them some of no bytes. */
static void make_file(void)
{
	memcpy(file, SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
	file_len = SNAPPY_IDENTIFIER_LEN;
	n_chunks = 0;
	for (size_t off = 0, n; off < LEN; off += n) {
		n = below(4) ? SNAPPY_MAX_DECODED : 1 + below(SNAPPY_MAX_DECODED);
		n = n < LEN - off ? n : LEN - off;
		ck_assert_uint_lt(n_chunks, MAX_CHUNKS);
		chunk_at[n_chunks] = file_len;
		plain_at[n_chunks++] = off;
		put_chunk(plain + off, n, !below(3));
		if (!below(3))
			put_chunk(plain, 0, below(2));
	}
}

static void open_file(void)
{
	inner = ts_source_from_memory(file, file_len, "file", &err);
	ck_assert(inner && snappy_frames_scan(&frames, inner, 0, &err));
	ck_assert_int_eq(frames.end.code, TS_OK);
	src = snappy_source_open(&frames, &err);
	ck_assert_ptr_nonnull(src);
	ck_assert_uint_eq(ts_source_len(src), LEN);
	ck_assert_str_eq(ts_source_name(src), "file");
}

static void setup(void)
{
	x = 5;
	ts_error_reset(&err);
	for (size_t i = 0; i < LEN; i++) /* some of it compresses */
		plain[i] = (uint8_t)(i / 4096 % 2 ? below(256) : i % 7);
	make_file();
	open_file();
}

static void teardown(void)
{
	ts_source_close(src);
	snappy_frames_fini(&frames);
	ts_source_close(inner);
}

static void check_read(const struct ts_source *s, size_t off, size_t len)
{
	static uint8_t data[LEN + 1];
	size_t got, want = len < LEN - off ? len : LEN - off;

	ck_assert(ts_source_read(s, off, data, len, &got, &err));
	ck_assert_uint_eq(got, want);
	ck_assert_int_eq(memcmp(data, plain + off, got), 0);
}

START_TEST(every_place_and_length_gives_what_was_compressed)
{
	for (unsigned i = 0; i < 3000; i++)
		check_read(src, below(LEN), 1 + below(i % 10 ? 400 : 200000));
	check_read(src, 0, LEN);
	check_read(src, LEN - 1, 100);
}
END_TEST

START_TEST(chunks_begin_and_end_where_reads_do)
{
	for (size_t i = 0; i < n_chunks; i++) {
		size_t end = i + 1 < n_chunks ? plain_at[i + 1] : LEN;

		check_read(src, plain_at[i], end - plain_at[i]);
		check_read(src, plain_at[i], 1);
		check_read(src, end - 1, 2);
	}
}
END_TEST

START_TEST(damage_fails_after_the_bytes_before_it_and_what_follows_is_read)
{
	static uint8_t data[LEN];
	const size_t bad = n_chunks / 2;
	size_t got;

	file[chunk_at[bad] + 4] ^= 1; /* of the checksum */
	for (size_t before = 1; before < 200000 && before < plain_at[bad]; before *= 7) {
		ts_error_reset(&err);
		ck_assert(!ts_source_read(src, plain_at[bad] - before, data, before + 1, &got, &err));
		ck_assert_int_eq(err.code, TS_ECORRUPT);
		ck_assert_uint_eq(err.off, chunk_at[bad]);
		ck_assert_uint_eq(got, before);
		ck_assert_int_eq(memcmp(data, plain + plain_at[bad] - before, got), 0);
	}
	ts_error_reset(&err);
	check_read(src, plain_at[bad + 1], 100000);
	file[chunk_at[bad] + 4] ^= 1; /* a failure is not kept */
	check_read(src, plain_at[bad], 10);
}
END_TEST

START_TEST(a_copy_of_it_reads_the_same)
{
	struct ts_source *dup = ts_source_dup(src, &err);

	ck_assert_ptr_nonnull(dup);
	for (unsigned i = 0; i < 100; i++) {
		check_read(dup, below(LEN), 1 + below(90000));
		check_read(src, below(LEN), 1 + below(90000));
	}
	ts_source_close(dup);
}
END_TEST

UNIT_FIXTURE_SUITE("snappy_source", setup, teardown, every_place_and_length_gives_what_was_compressed,
		   chunks_begin_and_end_where_reads_do,
		   damage_fails_after_the_bytes_before_it_and_what_follows_is_read,
		   a_copy_of_it_reads_the_same)
