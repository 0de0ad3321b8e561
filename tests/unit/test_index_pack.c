/* SPDX-License-Identifier: MIT */
/*
 * Packed arrays: what is packed comes back, block by block in any order, and whatever a file says is packed
 * is refused or harmless.
 *
 * Built with tiny blocks.
 */
#include "unit.h"

#include "script.h"
#include "src/index/index_pack.h"

#include <endian.h>
#include <string.h>

#define MAX_LEN (9 * TS_INDEX_BLOCK_LEN + 77)

static uint8_t items[MAX_LEN];
static struct ts_buf packed;
static struct ts_index_packer *packer;
static struct ZSTD_DCtx_s *unpacker;

static void set_up(void)
{
	ts_buf_init(&packed);
	packer = ts_index_packer_new(1);
	unpacker = ts_index_unpacker_new();
	ck_assert(packer && unpacker);
}

static void tear_down(void)
{
	ts_buf_fini(&packed);
	ts_index_packer_free(packer);
	ts_index_unpacker_free(unpacker);
}

static uint32_t entry(size_t i)
{
	const uint8_t *p = packed.data + 4 * i;

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Unpack block @i of an array of @len bytes; what is beyond it stays as it is. */
static bool unpack(size_t i, size_t len, uint32_t item_len, uint8_t *out)
{
	size_t left = len - i * TS_INDEX_BLOCK_LEN, n = left < TS_INDEX_BLOCK_LEN ? left : TS_INDEX_BLOCK_LEN;

	memset(out, 0xee, TS_INDEX_BLOCK_LEN + 1);
	return ts_index_unpack(unpacker, packed.data + entry(i), entry(i + 1) - entry(i), item_len, out, n);
}

static void check_all(size_t len, uint32_t item_len)
{
	size_t n = (len + TS_INDEX_BLOCK_LEN - 1) / TS_INDEX_BLOCK_LEN;
	uint8_t out[TS_INDEX_BLOCK_LEN + 1];

	ck_assert(ts_index_pack(packer, items, len, item_len, &packed));
	ck_assert_uint_eq(entry(0), 4 * (n + 1));
	ck_assert_uint_eq(entry(n), packed.len);
	for (size_t i = n; i-- > 0;) {
		size_t left = len - i * TS_INDEX_BLOCK_LEN,
		       here = left < TS_INDEX_BLOCK_LEN ? left : TS_INDEX_BLOCK_LEN;

		ck_assert(unpack(i, len, item_len, out));
		ck_assert_mem_eq(out, items + i * TS_INDEX_BLOCK_LEN, here);
		ck_assert_uint_eq(out[here], 0xee);
	}
}

START_TEST(what_is_packed_comes_back_whatever_the_length_of_its_items)
{
	static const uint32_t lens[] = { 1, 2, 3, 4, 8, 22, 48, 255, TS_INDEX_MAX_ITEM };
	struct script_random r = { 1 };

	for (unsigned kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < MAX_LEN; i++)
			items[i] = kind == 0 ? (uint8_t)script_random(&r) : kind == 1 ? (uint8_t)(i / 40) : 7;
		for (size_t k = 0; k < sizeof(lens) / sizeof(lens[0]); k++) {
			for (size_t n = 1; n * lens[k] <= MAX_LEN; n = n * 3 / 2 + 1)
				check_all(n * lens[k], lens[k]);
		}
	}
}
END_TEST

START_TEST(any_number_of_threads_packs_to_the_same_bytes)
{
	static const unsigned n_threads[] = { 2, 3, 7 };
	struct script_random r = { 4 };
	struct ts_buf got;

	ts_buf_init(&got);
	for (size_t i = 0; i < MAX_LEN; i++)
		items[i] = i / 700 % 2 ? (uint8_t)script_random(&r) : (uint8_t)(i / 40);
	for (size_t k = 0; k < sizeof(n_threads) / sizeof(n_threads[0]); k++) {
		struct ts_index_packer *other = ts_index_packer_new(n_threads[k]);

		ck_assert(other);
		for (size_t len = 0; len <= MAX_LEN; len += 77) {
			ck_assert(ts_index_pack(packer, items, len, 4, &packed));
			ck_assert(ts_index_pack(other, items, len, 4, &got));
			ck_assert_uint_eq(got.len, packed.len);
			ck_assert_mem_eq(got.data, packed.data, packed.len);
		}
		ts_index_packer_free(other);
	}
	ts_buf_fini(&got);
}
END_TEST

START_TEST(numbers_that_ascend_become_small)
{
	uint32_t numbers[2048];

	for (uint32_t i = 0; i < 2048; i++)
		numbers[i] = htole32(1000 * 1000 + i * 37);
	memcpy(items, numbers, sizeof(items) < sizeof(numbers) ? sizeof(items) : sizeof(numbers));
	ck_assert(ts_index_pack(packer, items, 8 * TS_INDEX_BLOCK_LEN, 4, &packed));
	ck_assert_uint_lt(packed.len, 8 * TS_INDEX_BLOCK_LEN / 4);
}
END_TEST

START_TEST(what_cannot_be_made_smaller_stays_as_it_is)
{
	struct script_random r = { 2 };

	for (size_t i = 0; i < MAX_LEN; i++)
		items[i] = (uint8_t)script_random(&r);
	ck_assert(ts_index_pack(packer, items, MAX_LEN, 8, &packed));
	ck_assert_mem_eq(packed.data + entry(0), items, MAX_LEN);
	ck_assert_uint_eq(packed.len, entry(0) + MAX_LEN);
}
END_TEST

START_TEST(items_that_are_too_large_are_not_packed)
{
	ck_assert(!ts_index_pack(packer, items, MAX_LEN, TS_INDEX_MAX_ITEM + 1, &packed));
	ck_assert(!ts_index_pack(packer, items, MAX_LEN, 0, &packed));
	ck_assert(!ts_index_pack(packer, items, (size_t)UINT32_MAX / 2 + 1, 1, &packed)); /* they are not looked at */
	ck_assert(ts_buf_ok(&packed));
}
END_TEST

START_TEST(a_block_of_another_length_is_refused)
{
	uint8_t out[TS_INDEX_BLOCK_LEN + 1];
	size_t len = TS_INDEX_BLOCK_LEN;

	memset(items, 3, MAX_LEN);
	ck_assert(ts_index_pack(packer, items, MAX_LEN, 2, &packed));
	for (size_t n = 0; n < len; n++) {
		if (n != entry(1) - entry(0)) /* such a block is not packed */
			ck_assert(!ts_index_unpack(unpacker, packed.data + entry(0), entry(1) - entry(0), 2,
						   out, n));
	}
	ck_assert(ts_index_unpack(unpacker, packed.data + entry(0), entry(1) - entry(0), 2, out, len));
	for (size_t n = 0; n < entry(1) - entry(0); n++)
		ck_assert(!ts_index_unpack(unpacker, packed.data + entry(0), n, 2, out, len));
	ck_assert(!ts_index_unpack(unpacker, packed.data + entry(0), entry(1) - entry(0), 0, out, len));
	ck_assert(!ts_index_unpack(unpacker, packed.data + entry(0), entry(1) - entry(0), 2, out, len + 1));
}
END_TEST

START_TEST(damaged_blocks_are_refused_or_unpacked_within_their_length)
{
	struct script_random r = { 3 };
	uint8_t out[TS_INDEX_BLOCK_LEN + 1];
	unsigned n_refused = 0;

	for (size_t i = 0; i < MAX_LEN; i++)
		items[i] = (uint8_t)(i * i / 100);
	ck_assert(ts_index_pack(packer, items, MAX_LEN, 2, &packed));
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = entry(0) + script_random(&r) % (entry(1) - entry(0));
		uint8_t byte = packed.data[at];

		packed.data[at] ^= (uint8_t)(1 + script_random(&r) % 255);
		n_refused += !unpack(0, MAX_LEN, 2, out);
		ck_assert_uint_eq(out[TS_INDEX_BLOCK_LEN], 0xee);
		packed.data[at] = byte;
	}
	ck_assert_uint_gt(n_refused, 1000);
}
END_TEST

UNIT_FIXTURE_SUITE("index_pack", set_up, tear_down,
		   what_is_packed_comes_back_whatever_the_length_of_its_items,
		   any_number_of_threads_packs_to_the_same_bytes, numbers_that_ascend_become_small, what_cannot_be_made_smaller_stays_as_it_is,
		   items_that_are_too_large_are_not_packed, a_block_of_another_length_is_refused,
		   damaged_blocks_are_refused_or_unpacked_within_their_length)
