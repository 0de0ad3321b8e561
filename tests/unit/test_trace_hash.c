/* SPDX-License-Identifier: MIT */
/*
 * The hash of a whole trace: every byte is in it, and what was never written costs no reads.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "src/index/keys/trace_hash.h"

#define BLOCK 65536u
#define SMALL (5 * BLOCK + 1234)
#define LARGE (UINT64_C(1) << 30)
#define N_AREAS 3

/* A sparse file: zeros, but for some areas.  It counts what is read. */
struct sparse {
	struct ts_source base;
	const uint64_t *areas; /* where each begins; borrowed */
	bool is_told;	       /* where the holes are */
	uint64_t *n_read;      /* borrowed */
};

#define AREA_LEN 100u

static const struct ts_signer signer = { .id = 7 };
static struct ts_error err;

/* The byte at @off, by a rule: some areas have one of the other. */
static uint8_t byte_at(const struct sparse *s, uint64_t off)
{
	for (unsigned i = 0; i < N_AREAS; i++) {
		if (off >= s->areas[i] && off < s->areas[i] + AREA_LEN)
			return (uint8_t)(1 + off % 250);
	}
	return 0;
}

static bool read_sparse(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			struct ts_error *e)
{
	const struct sparse *s = (const struct sparse *)src;

	(void)e;
	for (size_t i = 0; i < len; i++)
		data[i] = byte_at(s, off + i);
	*s->n_read += len;
	*got = len;
	return true;
}

static bool next_area(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end)
{
	const struct sparse *s = (const struct sparse *)src;

	for (unsigned i = 0; s->is_told && i < N_AREAS; i++) {
		if (off < s->areas[i] + AREA_LEN) {
			*first = off > s->areas[i] ? off : s->areas[i];
			*end = s->areas[i] + AREA_LEN;
			return true;
		}
	}
	return !s->is_told;
}

static void close_sparse(struct ts_source *src)
{
	(void)src;
}

static struct ts_source *open_sparse(const uint64_t areas[N_AREAS], uint64_t len, bool is_told, uint64_t *n_read);

static struct ts_source *dup_sparse(const struct ts_source *src, struct ts_error *e)
{
	const struct sparse *s = (const struct sparse *)src;

	(void)e;
	return open_sparse(s->areas, src->len, s->is_told, s->n_read);
}

static struct ts_source *open_sparse(const uint64_t areas[N_AREAS], uint64_t len, bool is_told, uint64_t *n_read)
{
	static const struct ts_source_ops ops = { .read = read_sparse, .dup = dup_sparse, .close = close_sparse,
						  .next_data = next_area };
	struct sparse *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	ck_assert(ts_source_init(&s->base, &ops, len, "sparse", &err));
	s->areas = areas;
	s->is_told = is_told;
	s->n_read = n_read;
	return &s->base;
}

/* The hash of @src, which is closed, grown by @step bytes at a time. */
static void hash_of(struct ts_source *src, uint64_t step, uint8_t value[TS_TRACE_HASH_LEN])
{
	struct ts_trace_hash *h = ts_trace_hash_new(src, &signer, &err);
	enum ts_next next;

	ck_assert_ptr_nonnull(h);
	while ((next = ts_trace_hash_grow(h, UINT64_MAX, step, &err)) == TS_ITEM)
		;
	ck_assert_int_eq(next, TS_END);
	ts_trace_hash_value(h, value);
	ts_trace_hash_free(h);
	ts_source_close(src);
}

static bool has_hash(struct ts_source *src, uint64_t step, const uint8_t wanted[TS_TRACE_HASH_LEN])
{
	uint8_t value[TS_TRACE_HASH_LEN];

	hash_of(src, step, value);
	return !memcmp(value, wanted, sizeof(value));
}

START_TEST(a_hole_of_a_gigabyte_is_not_read)
{
	static const uint64_t areas[N_AREAS] = { 0, LARGE / 2 + BLOCK - 50, LARGE - AREA_LEN };
	uint8_t value[TS_TRACE_HASH_LEN];
	uint64_t n_read = 0;

	hash_of(open_sparse(areas, LARGE, true, &n_read), UINT64_MAX, value);
	ck_assert_uint_ge(n_read, N_AREAS * AREA_LEN);
	ck_assert_uint_le(n_read, (N_AREAS + 1) * BLOCK); /* the second one lies in two blocks */
}
END_TEST

/* Ends of what may be read lie in holes, too: what is skipped up to there is not read afterwards. */
START_TEST(nor_is_one_before_whose_end_reading_stops)
{
	static const uint64_t areas[N_AREAS] = { 0, LARGE / 2, LARGE - AREA_LEN };
	uint64_t n_read = 0;
	struct ts_source *src = open_sparse(areas, LARGE, true, &n_read);
	struct ts_trace_hash *h = ts_trace_hash_new(src, &signer, &err);

	for (uint64_t end = 0; end < LARGE; end += LARGE / 64 + 777)
		ck_assert_int_eq(ts_trace_hash_grow(h, end, UINT64_MAX, &err), TS_ITEM);
	ck_assert_int_eq(ts_trace_hash_grow(h, UINT64_MAX, UINT64_MAX, &err), TS_END);
	ck_assert_uint_le(n_read, (N_AREAS + 64) * BLOCK);
	ts_trace_hash_free(h);
	ts_source_close(src);
}
END_TEST

START_TEST(written_zeros_and_a_hole_are_the_same_whatever_the_pieces)
{
	static const uint64_t areas[N_AREAS] = { 30, 2 * BLOCK + 1000, 5 * BLOCK - 50 };
	static const uint64_t steps[] = { UINT64_MAX, 1, 77, BLOCK - 1, BLOCK, BLOCK + 1 };
	uint8_t value[TS_TRACE_HASH_LEN];
	uint64_t n_read = 0;

	hash_of(open_sparse(areas, SMALL, true, &n_read), UINT64_MAX, value);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		ck_assert(has_hash(open_sparse(areas, SMALL, true, &n_read), steps[i], value));
		ck_assert(has_hash(open_sparse(areas, SMALL, false, &n_read), steps[i], value));
	}
}
END_TEST

/* @len bytes from @off on are taken, by rule. */
static void take(struct ts_trace_hash *h, const uint64_t areas[N_AREAS], uint64_t off, size_t len)
{
	const struct sparse rule = { .areas = areas };
	uint8_t *data = malloc(len);

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < len; i++)
		data[i] = byte_at(&rule, off + i);
	ts_trace_hash_take(h, off, data, len);
	free(data);
}

START_TEST(bytes_that_are_given_are_not_read)
{
	static const uint64_t areas[N_AREAS] = { 30, 2 * BLOCK + 1000, 5 * BLOCK - 50 };
	uint8_t wanted[TS_TRACE_HASH_LEN], value[TS_TRACE_HASH_LEN];
	uint64_t n_read = 0;
	struct ts_source *src = open_sparse(areas, SMALL, false, &n_read);
	struct ts_trace_hash *h = ts_trace_hash_new(src, &signer, &err);

	take(h, areas, 2 * BLOCK, BLOCK); /* too far */
	ck_assert_uint_eq(ts_trace_hash_off(h), 0);
	take(h, areas, 10, 1000); /* a little is missing */
	ck_assert_uint_eq(ts_trace_hash_off(h), 1010);
	take(h, areas, 0, 1010); /* known */
	take(h, areas, 500, 3 * BLOCK);
	ck_assert_uint_eq(ts_trace_hash_off(h), 500 + 3 * BLOCK);
	ck_assert_uint_eq(n_read, 10);
	ck_assert_int_eq(ts_trace_hash_grow(h, 4 * BLOCK, UINT64_MAX, &err), TS_ITEM);
	take(h, areas, 4 * BLOCK, SMALL - 4 * BLOCK);
	ck_assert_uint_eq(n_read, 10 + BLOCK - 500);
	ck_assert_int_eq(ts_trace_hash_grow(h, UINT64_MAX, 0, &err), TS_END);
	ts_trace_hash_value(h, value);
	ts_trace_hash_free(h);
	hash_of(src, UINT64_MAX, wanted);
	ck_assert_mem_eq(value, wanted, sizeof(value));
}
END_TEST

/* The memory of a whole machine, and far behind it the first piece that is read. */
START_TEST(what_is_given_after_a_hole_is_taken)
{
	static const uint64_t areas[N_AREAS] = { LARGE / 2, LARGE / 2 + AREA_LEN, LARGE - AREA_LEN };
	uint64_t n_read = 0;
	struct ts_source *src = open_sparse(areas, LARGE, true, &n_read);
	struct ts_trace_hash *h = ts_trace_hash_new(src, &signer, &err);

	take(h, areas, LARGE / 2, 100);
	ck_assert_uint_eq(ts_trace_hash_off(h), LARGE / 2 + 100);
	ck_assert_uint_eq(n_read, 0);
	ts_trace_hash_free(h);
	ts_source_close(src);
}
END_TEST

START_TEST(a_byte_that_is_another_one_anywhere_is_another_hash)
{
	static uint8_t bytes[SMALL];
	static const size_t places[] = { 0,	    29,		   BLOCK - 1,	  BLOCK,     2 * BLOCK,
					 2 * BLOCK + 5, 4 * BLOCK - 1, 5 * BLOCK, SMALL - 1 };
	uint8_t value[TS_TRACE_HASH_LEN];

	memset(bytes + 10, 'x', BLOCK - 10);
	memset(bytes + 3 * BLOCK, 'y', BLOCK);
	hash_of(ts_source_from_memory(bytes, SMALL, "trace", &err), UINT64_MAX, value);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		bytes[places[i]] ^= 1;
		ck_assert_msg(!has_hash(ts_source_from_memory(bytes, SMALL, "trace", &err), UINT64_MAX, value), "%zu",
			      places[i]);
		bytes[places[i]] ^= 1;
	}
	ck_assert(has_hash(ts_source_from_memory(bytes, SMALL, "trace", &err), UINT64_MAX, value));
}
END_TEST

/* What is left out, because it is zeros, has a place and a length all the same. */
START_TEST(other_places_and_lengths_are_another_hash)
{
	static const uint64_t areas[N_AREAS] = { 0, BLOCK, 3 * BLOCK }, moved[N_AREAS] = { 0, 2 * BLOCK, 3 * BLOCK };
	uint64_t n_read = 0;
	uint8_t value[TS_TRACE_HASH_LEN];

	/* after 125 blocks the rule gives the same bytes */
	static const uint64_t far[N_AREAS] = { 0, 126 * BLOCK, 128 * BLOCK };

	hash_of(open_sparse(areas, 300 * BLOCK, true, &n_read), UINT64_MAX, value);
	ck_assert(has_hash(open_sparse(areas, 300 * BLOCK, true, &n_read), BLOCK, value));
	ck_assert(!has_hash(open_sparse(moved, 300 * BLOCK, true, &n_read), UINT64_MAX, value));
	ck_assert(!has_hash(open_sparse(far, 300 * BLOCK, true, &n_read), UINT64_MAX, value));
	ck_assert(!has_hash(open_sparse(areas, 300 * BLOCK + 1, true, &n_read), UINT64_MAX, value));
	ck_assert(!has_hash(open_sparse(areas, 301 * BLOCK, true, &n_read), UINT64_MAX, value));
}
END_TEST

UNIT_SUITE("trace_hash", a_hole_of_a_gigabyte_is_not_read, nor_is_one_before_whose_end_reading_stops,
	   written_zeros_and_a_hole_are_the_same_whatever_the_pieces, bytes_that_are_given_are_not_read,
	   what_is_given_after_a_hole_is_taken, a_byte_that_is_another_one_anywhere_is_another_hash, other_places_and_lengths_are_another_hash)
