/* SPDX-License-Identifier: MIT */
/*
 * All readers of a file share the frames that are kept, and these have a bound.  Byte for byte the same as
 * without: test_zstd_seek.
 */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/collections/buf.h"
#include "src/source/zstd_frames.h"

#define MIB       ((size_t)1 << 20)
#define N_FRAMES  100u
#define N_THREADS 4u

/* The compressed file, and how often it is read. */
struct counted {
	struct ts_source base;
	unsigned n_reads;
	bool is_unreadable;
};

static struct ts_buf file;
static size_t frame_len;
static struct counted *src;
static struct ts_zstd_frames *frames;
static struct ts_error err;

static bool read_counted(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *e)
{
	struct counted *c = (struct counted *)s;

	__atomic_add_fetch(&c->n_reads, 1, __ATOMIC_RELAXED);
	if (c->is_unreadable)
		return ts_fail(e, TS_EIO, off, "it cannot be read");
	memcpy(data, file.data + off, len);
	*got = len;
	return true;
}

static void close_counted(struct ts_source *s)
{
	(void)s;
}

static void put32(uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		ts_buf_putc(&file, (uint8_t)(v >> 8 * i));
}

/* Frame i is @len times the byte i. */
static void make(size_t len)
{
	static const struct ts_source_ops ops = { .read = read_counted, .close = close_counted };
	uint8_t *plain = malloc(len);
	uint32_t lens[N_FRAMES];

	ck_assert_ptr_nonnull(plain);
	frame_len = len;
	for (unsigned i = 0; i < N_FRAMES; i++) {
		uint8_t *to = ts_buf_room(&file, ZSTD_compressBound(len));

		memset(plain, (int)i, len);
		lens[i] = (uint32_t)ZSTD_compress(to, ZSTD_compressBound(len), plain, len, 1);
		file.len += lens[i];
	}
	free(plain);
	put32(0x184d2a5e);
	put32(N_FRAMES * 8 + 9);
	for (unsigned i = 0; i < N_FRAMES; i++) {
		put32(lens[i]);
		put32((uint32_t)len);
	}
	put32(N_FRAMES);
	ts_buf_putc(&file, 0);
	put32(0x8f92eab1);
	src = calloc(1, sizeof(*src));
	ck_assert(src && ts_source_init(&src->base, &ops, file.len, "test", &err));
	frames = ts_zstd_frames_open(&src->base, &err);
	ck_assert_ptr_nonnull(frames);
	ck_assert_uint_eq(ts_zstd_frames_len(frames), N_FRAMES * len);
	src->n_reads = 0;
}

static void setup(void)
{
	ts_buf_init(&file);
	ts_error_reset(&err);
}

static void teardown(void)
{
	ts_zstd_frames_release(frames);
	ts_source_close(&src->base);
	ts_buf_fini(&file);
	frames = NULL;
	src = NULL;
}

/* A byte in the middle of a frame. */
static bool read_in(unsigned frame)
{
	uint8_t byte = 255;
	size_t n;

	if (!ts_zstd_frames_read(frames, &src->base, frame * frame_len + frame_len / 2, &byte, 1, &n, &err))
		return false;
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(byte, frame);
	return true;
}

START_TEST(no_more_bytes_are_kept_than_may_be)
{
	make(MIB);
	for (unsigned i = 0; i < N_FRAMES; i++) {
		ck_assert(read_in(i));
		ck_assert_uint_eq(ts_zstd_frames_kept(frames),
				  i + 1 < TS_ZSTD_MAX_KEPT_LEN / MIB ? (i + 1) * MIB : TS_ZSTD_MAX_KEPT_LEN);
	}
	ck_assert_uint_eq(src->n_reads, N_FRAMES);
}
END_TEST

START_TEST(no_more_frames_are_kept_than_may_be)
{
	make(1000);
	for (unsigned i = 0; i < N_FRAMES; i++)
		ck_assert(read_in(i));
	ck_assert_uint_eq(ts_zstd_frames_kept(frames), TS_ZSTD_MAX_KEPT * frame_len);
}
END_TEST

/* There is room for @n frames. */
static void expect_oldest_goes(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ck_assert(read_in(i));
	ck_assert(read_in(0));
	ck_assert(read_in(n)); /* in the place of frame 1 */
	src->n_reads = 0;
	ck_assert(read_in(0));
	for (unsigned i = 2; i <= n; i++)
		ck_assert(read_in(i));
	ck_assert_uint_eq(src->n_reads, 0);
	ck_assert(read_in(1));
	ck_assert_uint_eq(src->n_reads, 1);
}

START_TEST(where_there_are_too_many_frames_the_one_not_used_for_longest_goes)
{
	make(1000);
	expect_oldest_goes(TS_ZSTD_MAX_KEPT);
}
END_TEST

START_TEST(where_there_are_too_many_bytes_the_frame_not_used_for_longest_goes)
{
	make(2 * MIB);
	expect_oldest_goes(TS_ZSTD_MAX_KEPT_LEN / (2 * MIB));
}
END_TEST

START_TEST(another_owner_finds_what_the_first_left)
{
	struct ts_zstd_frames *first;

	make(MIB);
	ck_assert(read_in(7));
	first = frames;
	frames = ts_zstd_frames_share(first);
	ts_zstd_frames_release(first);
	src->n_reads = 0;
	ck_assert(read_in(7));
	ck_assert_uint_eq(src->n_reads, 0);
}
END_TEST

START_TEST(a_frame_that_could_not_be_read_is_read_again)
{
	make(MIB);
	src->is_unreadable = true;
	ck_assert(!read_in(3));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_uint_eq(ts_zstd_frames_kept(frames), 0);
	ts_error_reset(&err);
	src->is_unreadable = false;
	ck_assert(read_in(3));
}
END_TEST

/* Reads the ends of two frames, which others may be dropping: so many that the copying takes time. */
static void *read_some(void *user)
{
	uint32_t x = (uint32_t)(uintptr_t)user;
	struct ts_error why = { 0 };
	uint8_t *bytes = malloc(2 * MIB), *wanted = malloc(2 * MIB);
	const char *failure = bytes && wanted ? NULL : "memory is exhausted";

	for (unsigned i = 0; i < 100 && !failure; i++) {
		unsigned frame;
		size_t n;

		x = x * 1664525u + 1013904223u;
		frame = (x >> 8) % (N_FRAMES - 1);
		memset(wanted, (int)frame, MIB);
		memset(wanted + MIB, (int)frame + 1, MIB);
		if (!ts_zstd_frames_read(frames, &src->base, frame * frame_len + MIB, bytes, 2 * MIB, &n,
					 &why))
			failure = "it cannot be read";
		else if (n != 2 * MIB || memcmp(bytes, wanted, 2 * MIB))
			failure = "other bytes";
	}
	free(bytes);
	free(wanted);
	return (void *)failure;
}

START_TEST(threads_that_read_at_once_see_the_same_bytes)
{
	pthread_t threads[N_THREADS];
	void *why;

	make(2 * MIB);
	for (unsigned i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_some, (void *)(uintptr_t)(i + 1)), 0);
	for (unsigned i = 0; i < N_THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &why), 0);
		ck_assert_msg(!why, "%s", (const char *)why);
	}
	ck_assert_uint_le(ts_zstd_frames_kept(frames), TS_ZSTD_MAX_KEPT_LEN);
}
END_TEST

UNIT_FIXTURE_SUITE("zstd_frames", setup, teardown, no_more_bytes_are_kept_than_may_be,
		   no_more_frames_are_kept_than_may_be,
		   where_there_are_too_many_frames_the_one_not_used_for_longest_goes,
		   where_there_are_too_many_bytes_the_frame_not_used_for_longest_goes,
		   another_owner_finds_what_the_first_left, a_frame_that_could_not_be_read_is_read_again,
		   threads_that_read_at_once_see_the_same_bytes)
