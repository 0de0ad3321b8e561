/* SPDX-License-Identifier: MIT */
/*
 * Calls to packed blocks and back: any calls, and any bytes.
 */
#include "unit.h"

#include <stdlib.h>

#include "script.h"
#include "src/calls/bits.h"
#include "src/calls/call_block.h"

#define N_CALLS (5 * TS_CALL_BLOCK + 17)

static struct ts_call calls[N_CALLS];
static struct ts_call_edges edges;
static struct ts_call_pack pack;
static struct script_random rnd;

static void setup(void)
{
	edges = (struct ts_call_edges){ 0 };
	pack = (struct ts_call_pack){ 0 };
}

static void teardown(void)
{
	ts_call_pack_fini(&pack);
	ts_call_edges_fini(&edges);
}

/* A number of any length: short ones are likely. */
static uint64_t any(unsigned max_bits)
{
	uint64_t n = script_below(&rnd, UINT32_MAX) << 31 ^ script_below(&rnd, UINT32_MAX);

	return n & ((UINT64_C(1) << script_below(&rnd, max_bits + 1)) - 1);
}

/*
 * Seven calls deep and out again, each from one of three places; @wildness of 100 calls have any parent,
 * depth, edge and end instead, and ten any kind.
 */
static void make_calls(uint32_t first, unsigned wildness)
{
	uint64_t pos = any(40);

	for (uint32_t i = 0; i < N_CALLS; i++) {
		struct ts_call *x = &calls[i];
		bool is_wild = script_chance(&rnd, wildness);
		uint32_t depth = 1 + i % 7;

		*x = (struct ts_call){ .pos = pos, .thread = 2, .ordinal = first + i, .depth = depth };
		x->kind = wildness && script_chance(&rnd, 10) ? (enum ts_call_kind)script_below(&rnd, 4) : TS_CALL_RETURN;
		x->parent = depth == 1 ? TS_NO_CALL : x->ordinal - 1;
		x->pc = 0x1000 + 16 * script_below(&rnd, 3);
		x->target = 0x2000;
		x->end = pos + 50 * (8 - depth);
		pos += is_wild ? any(44) : depth == 7 ? 400 : 10;
		if (is_wild) {
			x->parent = x->ordinal && script_chance(&rnd, 80) ? (uint32_t)script_below(&rnd, x->ordinal)
									   : TS_NO_CALL;
			x->depth = 1 + (uint32_t)any(31);
			x->pc = any(63) * 3;
			x->target = any(63) * 5;
			x->end = x->pos + 1 + any(44);
		}
		if (x->kind == TS_CALL_SWITCH)
			x->pc = x->target = 0;
		if (x->kind >= TS_CALL_OPEN)
			x->end = TS_NO_END;
	}
}

static void pack_calls(void)
{
	struct ts_call_packer *p = ts_call_packer_new(&edges);

	ck_assert_ptr_nonnull(p);
	for (uint32_t i = 0; i < N_CALLS; i += TS_CALL_BLOCK)
		ts_call_packer_add(p, &calls[i], N_CALLS - i < TS_CALL_BLOCK ? N_CALLS - i : TS_CALL_BLOCK);
	ck_assert(ts_call_packer_finish(p, &pack));
	ts_call_packer_free(p);
}

static void check_call(const struct ts_call *got, const struct ts_call *want)
{
	ck_assert_uint_eq(got->pos, want->pos);
	ck_assert_uint_eq(got->end, want->end);
	ck_assert_int_eq(got->kind, want->kind);
	ck_assert_uint_eq(got->pc, want->pc);
	ck_assert_uint_eq(got->target, want->target);
	ck_assert_uint_eq(got->thread, want->thread);
	ck_assert_uint_eq(got->ordinal, want->ordinal);
	ck_assert_uint_eq(got->parent, want->parent);
	ck_assert_uint_eq(got->depth, want->depth);
}

START_TEST(any_calls_are_unpacked_as_they_were)
{
	struct ts_call got[TS_CALL_BLOCK];

	rnd.state = (uint64_t)_i;
	make_calls((uint32_t)any(31), (unsigned)_i % 5 * 25);
	pack_calls();
	ck_assert_uint_eq(pack.n_blocks, (N_CALLS + TS_CALL_BLOCK - 1) / TS_CALL_BLOCK);
	for (size_t b = 0; b < pack.n_blocks; b++) {
		unsigned n = ts_call_unpack(&pack, &edges, b, got);

		ck_assert_uint_eq(n, b + 1 < pack.n_blocks ? TS_CALL_BLOCK : N_CALLS % TS_CALL_BLOCK);
		for (unsigned i = 0; i < n; i++)
			check_call(&got[i], &calls[b * TS_CALL_BLOCK + i]);
	}
}
END_TEST

START_TEST(what_comes_again_and_again_needs_few_bits)
{
	rnd.state = 1;
	make_calls(0, 0);
	pack_calls();
	ck_assert_uint_lt(pack.n_bytes, N_CALLS);
}
END_TEST

START_TEST(any_bytes_are_unpacked_to_calls)
{
	struct ts_call got[TS_CALL_BLOCK];

	rnd.state = (uint64_t)_i;
	make_calls(0, 50);
	pack_calls();
	for (unsigned round = 0; round < 200; round++) {
		size_t at = script_below(&rnd, pack.n_bytes);

		pack.own_bytes.data[at] ^= (uint8_t)(1 + script_below(&rnd, 255));
		for (size_t b = 0; b < pack.n_blocks; b++) {
			unsigned n = ts_call_unpack(&pack, &edges, b, got);

			ck_assert_uint_eq(n, pack.blocks[b].n);
			for (unsigned i = 0; i < n; i++)
				ck_assert_uint_eq(got[i].ordinal, pack.blocks[b].ordinal + i);
		}
	}
}
END_TEST

START_TEST(numbers_of_all_lengths_are_read_again)
{
	uint8_t bytes[64 * 32] = { 0 };
	struct ts_bit_writer w = { .p = bytes };
	struct ts_bit_reader r = { .p = bytes };

	for (unsigned bits = 0; bits < 64; bits++) {
		uint64_t low = bits ? UINT64_C(1) << (bits - 1) : 0;

		ts_bits_put(&w, bits & 1, 1 + bits % 32);
		ts_bits_put_number(&w, low);
		ts_bits_put_number(&w, low | low / 3);
		ts_bits_put_number(&w, low + (low - (low != 0)));
	}
	ts_bits_flush(&w);
	r.len = (size_t)(w.p - bytes);
	ck_assert_uint_lt(r.len, sizeof(bytes) - 4);
	for (unsigned bits = 0; bits < 64; bits++) {
		uint64_t low = bits ? UINT64_C(1) << (bits - 1) : 0;

		ck_assert_uint_eq(ts_bits_take(&r, 1 + bits % 32), bits & 1);
		ck_assert_uint_eq(ts_bits_take_number(&r), low);
		ck_assert_uint_eq(ts_bits_take_number(&r), low | low / 3);
		ck_assert_uint_eq(ts_bits_take_number(&r), low + (low - (low != 0)));
	}
	ck_assert(!ts_bits_is_over(&r));
	ck_assert_uint_eq((r.at + 7) / 8, r.len);
	ts_bits_take(&r, 8);
	ck_assert(ts_bits_is_over(&r));
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("call_block");
	TCase *tc = tcase_create("call_block");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, any_calls_are_unpacked_as_they_were, 0, 40);
	tcase_add_test(tc, what_comes_again_and_again_needs_few_bits);
	tcase_add_loop_test(tc, any_bytes_are_unpacked_to_calls, 0, 4);
	tcase_add_test(tc, numbers_of_all_lengths_are_read_again);
	suite_add_tcase(s, tc);
	return s;
}
