/* SPDX-License-Identifier: MIT */
/* Usercorn traces with one bit changed: nothing crashes, hangs, or takes memory beyond reason. */
#include "unit.h"

#include "loaders/kit/snappy.h"
#include "ucir_text.h"
#include "usercorn_whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct ucir_trace t;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
}

static void teardown(void)
{
	ucir_close(&t);
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* With sanitizers freed memory is kept for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MAX_GROWTH_KIB (1L << 20)
#else
#define MAX_GROWTH_KIB 32768
#endif

/*
 * Read what is in @file with one bit changed, to its end, then once more from a decode point in the middle.
 */
static void read_flipped(const struct ts_buf *file, size_t bit)
{
	struct ts_buf point;
	enum ts_next next = TS_ITEM;
	unsigned n = 0;

	ts_buf_init(&t.bytes);
	ts_buf_put(&t.bytes, file->data, file->len);
	t.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	ts_buf_init(&point);
	if (ucir_open(&t, NULL)) {
		for (; next == TS_ITEM; n++) {
			if (n == 3)
				ts_reader_save(t.reader, &point);
			ts_steps_reset(&t.steps);
			next = t.reader->ops->next(t.reader, &t.steps, &t.err);
			if (n > file->len)
				ck_abort_msg("more steps than bytes");
		}
		ts_error_reset(&t.err);
		if (point.len) {
			ck_assert(ts_reader_resume(t.reader, point.data, point.len, &t.err));
			ts_steps_reset(&t.steps);
			t.reader->ops->next(t.reader, &t.steps, &t.err);
		}
	}
	ts_buf_fini(&point);
	ucir_close(&t);
}

static void flip_every_bit(const struct ts_buf *file, size_t from, size_t to)
{
	long before = peak_kib();

	for (size_t bit = from * 8; bit < to * 8; bit++)
		read_flipped(file, bit);
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
}

START_TEST(every_flipped_bit_of_a_plain_trace_is_survived)
{
	struct ts_buf file;

	ts_buf_init(&file);
	ucir_encode(&file, &ucir_v0, WHOLE);
	flip_every_bit(&file, 0, file.len);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(every_flipped_bit_of_a_recording_is_survived)
{
	struct ts_buf file;
	size_t len;
	uint8_t *bytes = unit_data("usercorn/x64_crash.ucir", &len);

	ts_buf_init(&file);
	ts_buf_put(&file, bytes, len);
	flip_every_bit(&file, 0, len);
	ts_buf_fini(&file);
	free(bytes);
}
END_TEST

/*
 * Flips under a right checksum: the stream of a recording in stored chunks, which are made anew for each
 * flip.
 */
static void flip_stream(const uint8_t *ops, size_t len, size_t from, size_t to)
{
	struct ucir_form form = { .version = 1, .is_framed = true, .is_stored = true };
	uint8_t *copy = malloc(len);
	long before = peak_kib();

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, ops, len);
	for (size_t bit = from * 8; bit < to * 8; bit++) {
		struct ts_buf file;

		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_buf_init(&file);
		ucir_encode_stream(&file, &form, copy, len);
		/*
		 * the changed bit is in the file already: change the unused upper half of the header's name
		 * instead
		 */
		read_flipped(&file, 71 * 8);
		ts_buf_fini(&file);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
	free(copy);
}

START_TEST(flipped_bits_under_a_right_checksum_are_survived)
{
	struct ts_error err = { 0 };
	struct snappy_frames frames;
	size_t len;
	uint8_t *bytes = unit_data("usercorn/x64_crash.ucir", &len);
	uint8_t *ops = malloc(SNAPPY_MAX_DECODED), *scratch = malloc(SNAPPY_MAX_BODY);
	struct ts_source *src = ts_source_from_memory(bytes, len, "test", &err);
	uint32_t ops_len;

	ck_assert(ops && scratch && src);
	ck_assert(snappy_frames_scan(&frames, src, HEADER_LEN, &err));
	ck_assert_uint_eq(frames.n, 1);
	ck_assert(snappy_frames_decode(&frames, 0, ops, scratch, &err));
	ops_len = snappy_frames_decoded_len(&frames, 0);
	flip_stream(ops, ops_len, 0, 0x60);                 /* keyframe, a register, the first region */
	flip_stream(ops, ops_len, 0x741, 0x78b);            /* the stack */
	flip_stream(ops, ops_len, 0x1188, 0x1188 + 0x80);   /* the first steps */
	flip_stream(ops, ops_len, ops_len - 0x60, ops_len); /* the last ones */
	snappy_frames_fini(&frames);
	ts_source_close(src);
	free(ops);
	free(scratch);
	free(bytes);
}
END_TEST
UNIT_FIXTURE_SUITE("usercorn_flips", setup, teardown, every_flipped_bit_of_a_plain_trace_is_survived,
		   every_flipped_bit_of_a_recording_is_survived, flipped_bits_under_a_right_checksum_are_survived)
