/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a record: verified and unpacked when they are used, and their pages given back.
 *
 * Built with tiny blocks and pieces.
 */
#include "unit.h"

#include "src/index/index_blocks.h"
#include "src/index/index_pack.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST 80u
#define LEN   (4 * TS_INDEX_MAX_PIECES * TS_INDEX_PIECE_LEN - 100u)

/* A record in a file that is gone, mapped as an index file is. */
struct record {
	struct ts_signer signer;
	struct ts_index_pool pool;
	struct ts_index_blocks *blocks;
	uint8_t *file, *map, *signatures;
};

static void open_record(struct record *r)
{
	char path[] = "blocks.XXXXXX";
	int fd = mkstemp(path);

	*r = (struct record){ .signer = { .hash_key = { 1 }, .mac_key = { 2 } } };
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, LEN), 0);
	r->file = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	r->map = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(r->file != MAP_FAILED && r->map != MAP_FAILED);
	for (size_t i = 0; i < LEN; i++)
		r->file[i] = (uint8_t)(i * 7 + i / 256);
	r->signatures = malloc(ts_index_blocks_n(LEN) * TS_SIGNATURE_LEN);
	ts_index_blocks_sign(&r->signer, r->file, FIRST, LEN, r->signatures);
	ck_assert(ts_index_pool_init(&r->pool, &r->signer));
	r->blocks = ts_index_blocks_new(&r->pool, r->map, FIRST, LEN, r->signatures);
	ck_assert_ptr_nonnull(r->blocks);
	close(fd);
	unlink(path);
}

static void close_record(struct record *r)
{
	ts_index_blocks_free(r->blocks);
	ts_index_pool_fini(&r->pool);
	munmap(r->file, LEN);
	munmap(r->map, LEN);
	free(r->signatures);
}

START_TEST(a_changed_byte_is_found_by_those_who_use_its_block_and_by_nobody_else)
{
	static const size_t places[] = { FIRST, TS_INDEX_BLOCK_LEN - 1, TS_INDEX_BLOCK_LEN,
					 5 * TS_INDEX_BLOCK_LEN + 9, LEN - 1 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t block = places[i] / TS_INDEX_BLOCK_LEN;
		struct record r;

		open_record(&r);
		r.file[places[i]] ^= 4;
		for (size_t k = 0; k < ts_index_blocks_n(LEN); k++) {
			size_t at = k ? k * TS_INDEX_BLOCK_LEN : FIRST;

			if (k != block)
				ck_assert(ts_index_blocks_use(r.blocks, r.map + at, 1));
		}
		ck_assert(!r.pool.is_damaged);
		ck_assert(!ts_index_blocks_use(r.blocks, r.map + places[i], 1));
		ck_assert(r.pool.is_damaged);
		ck_assert(!ts_index_blocks_use(r.blocks, r.map + FIRST, LEN - FIRST)); /* whoever crosses it, too */
		close_record(&r);
	}
}
END_TEST

static void *use_all(void *user)
{
	struct record *r = user;
	size_t sum = 0;

	for (unsigned round = 0; round < 4; round++) {
		for (size_t at = FIRST; at < LEN; at += 100) {
			if (!ts_index_blocks_use(r->blocks, r->map + at, 1) ||
			    r->map[at] != (uint8_t)(at * 7 + at / 256))
				return NULL;
			sum += r->map[at];
		}
	}
	return sum ? r : NULL;
}

START_TEST(threads_use_blocks_at_the_same_time)
{
	pthread_t threads[4];
	struct record r;
	void *good;

	open_record(&r);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, use_all, &r), 0);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &good), 0);
		ck_assert_ptr_nonnull(good);
	}
	close_record(&r);
}
END_TEST

START_TEST(what_is_in_no_block_is_not_signed)
{
	struct record r;

	open_record(&r);
	r.file[FIRST - 1] ^= 1; /* the head has a signature of its own */
	ck_assert(ts_index_blocks_use(r.blocks, r.map + FIRST, LEN - FIRST));
	ck_assert(ts_index_blocks_use(NULL, &r, sizeof(r)));
	ck_assert(ts_index_blocks_use(r.blocks, r.map + FIRST, 0));
	close_record(&r);
}
END_TEST

START_TEST(pages_are_given_back_and_come_again_without_a_second_verification)
{
	unsigned n_states[3] = { 0 };
	struct record r;

	open_record(&r);
	ck_assert(ts_index_blocks_use(r.blocks, r.map + FIRST, LEN - FIRST));
	for (size_t i = 0; i < ts_index_blocks_n(LEN); i++)
		n_states[r.blocks->states[i]]++;
	ck_assert_uint_eq(n_states[0], 0);
	ck_assert_uint_eq(n_states[TS_INDEX_BLOCK_IS_READY],
			  TS_INDEX_MAX_PIECES * TS_INDEX_PIECE_LEN / TS_INDEX_BLOCK_LEN);
	memset(r.signatures, 0, TS_SIGNATURE_LEN); /* so that a second one would fail */
	ck_assert_uint_ne(r.blocks->states[0], TS_INDEX_BLOCK_IS_READY);
	ck_assert(ts_index_blocks_use(r.blocks, r.map + FIRST, 1));
	ck_assert_uint_eq(r.map[FIRST], (uint8_t)(FIRST * 7));
	ck_assert_uint_eq(r.blocks->states[0], TS_INDEX_BLOCK_IS_READY);
	close_record(&r);
}
END_TEST

/* ------------------------------------------------------------------------------------------ packed arrays */

#define N_ARRAYS  3
#define ARRAY_LEN (2 * TS_INDEX_MAX_PIECES * TS_INDEX_PIECE_LEN + 100u) /* of the first one */
#define FIRST_AT  (128 * TS_INDEX_PIECE_LEN)                            /* where it is unpacked */

/* A record with packed arrays, not in a file. */
struct packed_record {
	struct ts_signer signer;
	struct ts_index_pool pool;
	struct ts_index_blocks *blocks;
	struct ts_index_packed arrays[N_ARRAYS];
	uint8_t *map, *signatures;
	size_t end, len; /* of the record's bytes, of all memory */
};

static uint8_t byte_of(unsigned array, size_t i)
{
	return (uint8_t)(i / 700 * 3 + array + 1);
}

/* Append the packed bytes of array @i, which is unpacked at @at.  Returns where the next one may be. */
static size_t add_packed(struct packed_record *r, unsigned i, size_t at)
{
	size_t len = i == 0 ? ARRAY_LEN : TS_INDEX_PIECE_LEN / 2 + i;
	struct ts_index_packer *packer = ts_index_packer_new(1);
	uint8_t *items = malloc(len);
	struct ts_buf out;

	ck_assert(packer && items);
	for (size_t k = 0; k < len; k++)
		items[k] = byte_of(i, k);
	ts_buf_init(&out);
	ck_assert(ts_index_pack(packer, items, len, 1 + i, &out));
	memcpy(r->map + r->end, out.data, out.len);
	r->arrays[i] = (struct ts_index_packed){ r->end, out.len, at, len, 1 + i };
	r->end += out.len;
	ck_assert_uint_le(r->end, FIRST_AT);
	ts_buf_fini(&out);
	free(items);
	ts_index_packer_free(packer);
	return (at + len + TS_INDEX_PIECE_LEN - 1) / TS_INDEX_PIECE_LEN * TS_INDEX_PIECE_LEN;
}

/* Sign what is there, and make its blocks, of which none was used. */
static void sign(struct packed_record *r)
{
	ts_index_blocks_free(r->blocks);
	ts_index_blocks_sign(&r->signer, r->map, FIRST, r->end, r->signatures);
	r->blocks = ts_index_blocks_new(&r->pool, r->map, FIRST, r->end, r->signatures);
	ck_assert_ptr_nonnull(r->blocks);
	ck_assert(ts_index_blocks_set_packed(r->blocks, r->arrays, N_ARRAYS, r->len));
}

static void open_packed(struct packed_record *r)
{
	size_t at = FIRST_AT;

	*r = (struct packed_record){ .len = FIRST_AT + 4 * ARRAY_LEN, .end = FIRST };
	r->map = mmap(NULL, r->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(r->map != MAP_FAILED);
	for (unsigned i = 0; i < N_ARRAYS; i++)
		at = add_packed(r, i, at);
	r->signatures = malloc(ts_index_blocks_n(r->end) * TS_SIGNATURE_LEN);
	ck_assert(ts_index_pool_init(&r->pool, &r->signer));
	sign(r);
}

static void close_packed(struct packed_record *r)
{
	ts_index_blocks_free(r->blocks);
	ts_index_pool_fini(&r->pool);
	munmap(r->map, r->len);
	free(r->signatures);
}

static const uint8_t *items_of(const struct packed_record *r, unsigned i)
{
	return r->map + r->arrays[i].at;
}

static bool use_array(const struct packed_record *r, unsigned i)
{
	return ts_index_blocks_use(r->blocks, items_of(r, i), (size_t)r->arrays[i].unpacked_len);
}

/* Is all of the array there, as it was packed? */
static bool is_there(const struct packed_record *r, unsigned i)
{
	for (size_t at = 0; at < r->arrays[i].unpacked_len; at++) {
		if (items_of(r, i)[at] != byte_of(i, at))
			return false;
	}
	return true;
}

START_TEST(a_packed_array_is_there_where_it_is_used_and_nowhere_else)
{
	struct packed_record r;
	size_t at;

	open_packed(&r);
	for (unsigned i = 0; i < N_ARRAYS; i++) {
		at = (size_t)r.arrays[i].unpacked_len - 1;
		ck_assert(ts_index_blocks_use(r.blocks, items_of(&r, i) + at, 1));
		ck_assert_uint_eq(items_of(&r, i)[at], byte_of(i, at));
		ck_assert_uint_eq(items_of(&r, i)[0], 0);
	}
	for (unsigned i = N_ARRAYS; i-- > 0;) {
		ck_assert(use_array(&r, i) && is_there(&r, i));
	}
	ck_assert(!r.pool.is_damaged);
	close_packed(&r);
}
END_TEST

START_TEST(what_was_unpacked_stays_until_it_is_given_back_and_comes_again)
{
	struct packed_record r;

	open_packed(&r);
	for (unsigned round = 0; round < 3; round++) {
		ck_assert(use_array(&r, 0) && is_there(&r, 0));
		ck_assert_uint_gt(r.pool.n_unpacked, TS_INDEX_MAX_UNPACKED);
		ts_index_pool_give_back(&r.pool);
		ck_assert_uint_eq(r.pool.n_unpacked, TS_INDEX_MAX_UNPACKED);
		/* of the second round the end is the oldest: it was there, and not unpacked again */
		ck_assert_uint_eq(items_of(&r, 0)[9], TS_INDEX_POISON);
		ck_assert_int_eq(items_of(&r, 0)[ARRAY_LEN - 1] == TS_INDEX_POISON, round == 1);
		ts_index_pool_give_back(&r.pool);
		ck_assert_uint_eq(r.pool.n_unpacked, TS_INDEX_MAX_UNPACKED);
	}
	close_packed(&r);
}
END_TEST

/* Between arrays, each of which is unpacked to pieces of its own, there is nothing. */
START_TEST(what_lies_between_packed_arrays_is_not_read)
{
	struct packed_record r;
	const uint8_t *between;

	open_packed(&r);
	between = items_of(&r, 2) - TS_INDEX_BLOCK_LEN;
	ck_assert(between > items_of(&r, 1) + r.arrays[1].unpacked_len);
	memset(r.map + FIRST, 0xee, r.end - FIRST); /* nothing can be unpacked any more */
	ck_assert(ts_index_blocks_use(r.blocks, between, 1));
	ck_assert_uint_eq(r.pool.n_unpacked, 0);
	ck_assert(!r.pool.is_damaged);
	close_packed(&r);
}
END_TEST

START_TEST(blocks_that_are_freed_leave_nothing_to_be_given_back)
{
	struct packed_record r;

	open_packed(&r);
	ck_assert(use_array(&r, 0));
	ck_assert_uint_gt(r.pool.n_unpacked, TS_INDEX_MAX_UNPACKED);
	sign(&r); /* with new blocks */
	ts_index_pool_give_back(&r.pool);
	ck_assert_uint_eq(r.pool.n_unpacked, TS_INDEX_MAX_UNPACKED);
	ck_assert(is_there(&r, 0));
	close_packed(&r);
}
END_TEST

START_TEST(a_changed_byte_of_what_is_packed_is_found)
{
	for (unsigned i = 0; i < N_ARRAYS; i++) {
		struct packed_record r;

		open_packed(&r);
		r.map[r.arrays[i].off + r.arrays[i].len - 1] ^= 4;
		ck_assert(!use_array(&r, i));
		ck_assert(r.pool.is_damaged);
		close_packed(&r);
	}
}
END_TEST

/* Tables that lie, although they are signed: where a block begins, beyond its end or that of the array. */
START_TEST(a_block_that_does_not_lie_in_its_array_is_noted)
{
	static const uint32_t lies[] = { 0, 1, 1u << 20, UINT32_MAX };
	struct packed_record r;
	uint32_t n = 0;

	for (unsigned entry = 0; entry < 4; entry++) {
		for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			uint32_t lie = htole32(lies[i]);

			open_packed(&r);
			memcpy(r.map + r.arrays[1].off + entry * sizeof(lie), &lie, sizeof(lie));
			sign(&r);
			ck_assert(!use_array(&r, 1));
			ck_assert(r.pool.is_damaged);
			ck_assert(use_array(&r, 2));
			close_packed(&r);
			n++;
		}
	}
	ck_assert_uint_eq(n, 16);
}
END_TEST

UNIT_SUITE("index_blocks", a_changed_byte_is_found_by_those_who_use_its_block_and_by_nobody_else,
	   threads_use_blocks_at_the_same_time,
	   what_is_in_no_block_is_not_signed,
	   pages_are_given_back_and_come_again_without_a_second_verification,
	   a_packed_array_is_there_where_it_is_used_and_nowhere_else,
	   what_was_unpacked_stays_until_it_is_given_back_and_comes_again,
	   what_lies_between_packed_arrays_is_not_read,
	   blocks_that_are_freed_leave_nothing_to_be_given_back,
	   a_changed_byte_of_what_is_packed_is_found,
	   a_block_that_does_not_lie_in_its_array_is_noted)
