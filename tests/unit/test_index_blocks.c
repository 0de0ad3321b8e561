/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a record: verified when they are used, and their pages given back.
 *
 * Built with tiny blocks and pieces.
 */
#include "unit.h"

#include "src/index/index_blocks.h"

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
	ts_index_pool_init(&r->pool, &r->signer);
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

struct mender {
	struct record *r;
	bool can;
	unsigned n_calls;
};

static bool mend(void *user)
{
	struct mender *x = user;

	x->n_calls++;
	if (x->can) {
		x->r->file[LEN / 2] ^= 4;
		ts_index_blocks_renew(x->r->blocks);
	}
	return x->can;
}

/* A record with a damaged block, which @x may replace. */
static void open_damaged(struct record *r, struct mender *x)
{
	open_record(r);
	x->r = r;
	r->pool.mend = mend;
	r->pool.user = x;
	r->file[LEN / 2] ^= 4;
}

START_TEST(who_uses_a_damaged_block_waits_for_whoever_replaces_it)
{
	struct mender x = { .can = true };
	struct record r;

	open_damaged(&r, &x);
	ck_assert(ts_index_blocks_use(r.blocks, r.map + FIRST, LEN - FIRST));
	ck_assert(!r.pool.is_damaged && !r.blocks->is_damaged);
	ck_assert_uint_eq(x.n_calls, 1);
	close_record(&r);
}
END_TEST

START_TEST(what_cannot_be_replaced_is_damaged_and_not_tried_again)
{
	struct mender x = { 0 };
	struct record r;

	open_damaged(&r, &x);
	for (unsigned i = 0; i < 2; i++)
		ck_assert(!ts_index_blocks_use(r.blocks, r.map + LEN / 2, 1));
	ck_assert(r.pool.is_damaged && r.blocks->is_damaged);
	ck_assert_uint_eq(x.n_calls, 1);
	close_record(&r);
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

UNIT_SUITE("index_blocks", a_changed_byte_is_found_by_those_who_use_its_block_and_by_nobody_else,
	   who_uses_a_damaged_block_waits_for_whoever_replaces_it,
	   what_cannot_be_replaced_is_damaged_and_not_tried_again, threads_use_blocks_at_the_same_time,
	   what_is_in_no_block_is_not_signed,
	   pages_are_given_back_and_come_again_without_a_second_verification)
