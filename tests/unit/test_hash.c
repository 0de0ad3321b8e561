/* SPDX-License-Identifier: MIT */
/*
 * Keys spread over a table, whatever they have in common, and nobody can know beforehand which of them meet.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/collections/hash.h"

#define N_SLOTS 4096u

/* The inverse of a multiplier that many tables use, this program's earlier ones too. */
#define GOLDEN         UINT64_C(0x9e3779b97f4a7c15)
#define GOLDEN_INVERSE UINT64_C(0xf1de83e19937733d)

static uint8_t slots[N_SLOTS];

static void put(uint64_t a, uint64_t b)
{
	slots[ts_hash(a, b) % N_SLOTS] = 1;
}

/* As many keys as slots: random ones would fill 1 - 1/e of these, 2589. */
static void expect_spread(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N_SLOTS; i++)
		n += slots[i];
	ck_assert_uint_ge(n, 2300);
	memset(slots, 0, sizeof(slots));
}

START_TEST(numbers_that_differ_in_a_few_bits_spread)
{
	for (unsigned shift = 0; shift <= 52; shift += 4) {
		for (uint64_t i = 0; i < N_SLOTS; i++)
			put(i << shift, 0);
		expect_spread();
		for (uint64_t i = 0; i < N_SLOTS; i++)
			put(0x400000, i << shift);
		expect_spread();
		for (uint64_t i = 0; i < N_SLOTS; i++)
			put(i / 64 << shift, i % 64);
		expect_spread();
	}
}
END_TEST

START_TEST(numbers_that_meet_where_they_are_multiplied_spread)
{
	ck_assert_uint_eq(GOLDEN * GOLDEN_INVERSE, 1);
	for (uint64_t i = 0; i < N_SLOTS; i++)
		put((i << 40) * GOLDEN_INVERSE, 0); /* the product's lower 40 bits are 0 */
	expect_spread();
	for (uint64_t i = 0; i < N_SLOTS; i++)
		put(i * GOLDEN_INVERSE, 0); /* its upper 52 are */
	expect_spread();
}
END_TEST

START_TEST(bytes_have_a_hash)
{
	const char one[] = "/usr/include/stdio.h", other[] = "/usr/include/stdie.h";

	ck_assert_uint_eq(ts_hash_bytes(one, strlen(one)), ts_hash_bytes(one, strlen(one)));
	ck_assert_uint_ne(ts_hash_bytes(one, strlen(one)), ts_hash_bytes(other, strlen(other)));
	ck_assert_uint_ne(ts_hash_bytes(one, strlen(one)), ts_hash_bytes(one, strlen(one) - 1));
}
END_TEST

/* This program, started again, leaves its key in a file. */
START_TEST(each_process_has_its_own_key)
{
	const char *to = getenv("TEST_HASH_KEY");
	uint64_t key[2];
	char command[64];
	FILE *f = to ? fopen(to, "wb") : NULL;

	if (to) {
		ck_assert(f && fwrite(ts_hash_key, sizeof(ts_hash_key), 1, f) == 1 && !fclose(f));
		return;
	}
	snprintf(command, sizeof(command), "TEST_HASH_KEY=key /proc/%d/exe >out", (int)getpid());
	ck_assert_int_eq(system(command), 0);
	f = fopen("key", "rb");
	ck_assert(f && fread(key, sizeof(key), 1, f) == 1 && !fclose(f));
	ck_assert_uint_ne(key[0], ts_hash_key[0]);
	ck_assert_uint_ne(key[1], ts_hash_key[1]);
}
END_TEST

UNIT_SUITE("hash", numbers_that_differ_in_a_few_bits_spread, numbers_that_meet_where_they_are_multiplied_spread,
	   bytes_have_a_hash, each_process_has_its_own_key)
