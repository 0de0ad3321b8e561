/* SPDX-License-Identifier: MIT */
/*
 * Each instruction of agent expressions gives a result that was worked out by hand, and expressions that gdb
 * 13 sent give what gdb wants to know.
 */
#include "unit.h"

#include <string.h>

#include "ax_case.h"

#define M1 "25ffffffffffffffff" /* const64 -1 */
#define MIN "258000000000000000" /* const64 -2^63 */

START_TEST(constants_are_zero_extended)
{
	expect("220027", 0);
	expect("22ff27", 0xff);
	expect("23fffe27", 0xfffe);
	expect("24fffefdfc27", 0xfffefdfc);
	expect("25fffefdfcfbfaf9f827", 0xfffefdfcfbfaf9f8);
}
END_TEST

START_TEST(sums_differences_and_products_wrap)
{
	expect("22052203" "0227", 8);
	expect(M1 "2202" "0227", 1);
	expect("22052203" "0327", 2);
	expect("22032205" "0327", (uint64_t)-2);
	expect("22072206" "0427", 42);
	expect(M1 M1 "0427", 1);
	expect(MIN "2202" "0427", 0);
}
END_TEST

START_TEST(division_is_signed_or_not)
{
	expect("22072202" "0527", 3);
	expect("22002207" "03" "2202" "0527", (uint64_t)-3); /* -7 / 2 */
	expect("22072200" "2202" "03" "0527", (uint64_t)-3); /* 7 / -2 */
	expect("22002207" "03" "2202" "0727", (uint64_t)-1); /* -7 % 2 */
	expect("22072200" "2202" "03" "0727", 1);            /* 7 % -2 */
	expect(M1 "2202" "0627", INT64_MAX);
	expect(M1 "2202" "0827", 1);
	expect("2264" M1 "0627", 0);
	expect("2264" M1 "0827", 100);
}
END_TEST

START_TEST(the_one_quotient_that_overflows_wraps)
{
	expect(MIN M1 "0527", (uint64_t)1 << 63);
	expect(MIN M1 "0727", 0);
	expect("2205" M1 "0527", (uint64_t)-5);
}
END_TEST

START_TEST(division_by_zero_is_an_error)
{
	expect_error("22012200" "0527", TS_AX_DIVIDE);
	expect_error("22012200" "0627", TS_AX_DIVIDE);
	expect_error("22012200" "0727", TS_AX_DIVIDE);
	expect_error("22012200" "0827", TS_AX_DIVIDE);
	ck_assert(!ts_ax_is_unknown(TS_AX_DIVIDE));
}
END_TEST

START_TEST(shifts_of_any_width_are_defined)
{
	expect("22012204" "0927", 16);
	expect("2201223f" "0927", (uint64_t)1 << 63);
	expect("22012240" "0927", 0);
	expect("2201" M1 "0927", 0);
	expect(MIN "223f" "0a27", UINT64_MAX);
	expect(MIN "2201" "0a27", 0xc000000000000000);
	expect(MIN "2240" "0a27", UINT64_MAX);
	expect("2240" "22ff" "0a27", 0);
	expect(MIN "223f" "0b27", 1);
	expect(MIN "2240" "0b27", 0);
}
END_TEST

START_TEST(logic_works_on_bits_and_truth)
{
	expect("220c" "220a" "0f27", 8);
	expect("220c" "220a" "1027", 14);
	expect("220c" "220a" "1127", 6);
	expect("2200" "1227", UINT64_MAX);
	expect("2200" "0e27", 1);
	expect("2205" "0e27", 0);
	expect(MIN "0e27", 0);
}
END_TEST

START_TEST(comparisons_give_one_or_zero)
{
	expect("22052205" "1327", 1);
	expect("22052206" "1327", 0);
	expect(M1 "2201" "1427", 1); /* -1 < 1 */
	expect("2201" M1 "1427", 0);
	expect("22012201" "1427", 0);
	expect(M1 "2201" "1527", 0); /* 2^64 - 1 < 1 */
	expect("2201" M1 "1527", 1);
}
END_TEST

START_TEST(extension_takes_any_number_of_bits)
{
	expect("22ff" "1608" "27", UINT64_MAX);
	expect("227f" "1608" "27", 0x7f);
	expect("2205" "1603" "27", (uint64_t)-3);
	expect("2480000000" "1620" "27", 0xffffffff80000000);
	expect(M1 "1601" "27", UINT64_MAX);
	expect("2202" "1601" "27", 0);
	expect(M1 "1640" "27", UINT64_MAX);
	expect("2205" "16ff" "27", 5);
	expect("2205" "1600" "27", 0);
	expect(M1 "2a20" "27", 0xffffffff);
	expect(M1 "2a01" "27", 1);
	expect(M1 "2a00" "27", 0);
	expect(M1 "2a40" "27", UINT64_MAX);
	expect(M1 "2aff" "27", UINT64_MAX);
}
END_TEST

START_TEST(the_stack_is_turned_as_the_manual_says)
{
	expect("22012202" "28" "02" "03" "27", (uint64_t)-3); /* dup: 1 - (2 + 2) */
	expect("22012202" "29" "27", 1);
	expect("22012205" "2b" "03" "27", 4);               /* swap: 5 - 1 */
	expect("220122022203" "3200" "27", 3);
	expect("220122022203" "3202" "27", 1);
	/* rot: a b c -> c a b.  With 1 2 4: b on top, then a, then c */
	expect("220122022204" "33" "27", 2);
	expect("220122022204" "33" "29" "27", 1);
	expect("220122022204" "33" "2929" "27", 4);
}
END_TEST

START_TEST(jumps_are_taken_on_anything_but_zero)
{
	/* 0 const8 C, 2 if_goto 8, 5 const8 7, 7 end, 8 const8 9, 10 end */
	expect("2200" "200008" "220727" "220927", 7);
	expect("2201" "200008" "220727" "220927", 9);
	expect("258000000000000000" "20000f" "220727" "220927", 9); /* only the highest bit */
	/* 0 goto 6, 3 const8 1, 5 end, 6 const8 2, 8 goto 5 */
	expect("210006" "220127" "2202" "210005", 2);
}
END_TEST

START_TEST(a_loop_runs_until_its_condition_fails)
{
	/*
	 * The sum of 10 to 1:
	 *  0 const8 0      sum
	 *  2 const8 10     sum n
	 *  4 swap          n sum
	 *  5 pick 1        n sum n
	 *  7 add           n sum'
	 *  8 swap          sum' n
	 *  9 const8 1
	 * 11 sub           sum' n'
	 * 12 dup
	 * 13 if_goto 4
	 * 16 pop
	 * 17 end
	 */
	expect("2200" "220a" "2b" "3201" "02" "2b" "2201" "03" "28" "200004" "29" "27", 55);
}
END_TEST

START_TEST(registers_are_read_by_their_number)
{
	expect("26123427", 0xfedcba9876543210);
	expect("26000627", RBP);
	expect_error("26000727", TS_AX_UNKNOWN_REG);
	expect_error("26ffff27", TS_AX_UNKNOWN_REG);
	ck_assert(ts_ax_is_unknown(TS_AX_UNKNOWN_REG));
}
END_TEST

START_TEST(memory_is_read_in_the_targets_order)
{
	memcpy(world.data, "\x81\x82\x83\x84\x85\x86\x87\x88", 8);
	expect("2400402000" "17" "27", 0x81);
	expect("2400402000" "18" "27", 0x8281);
	expect("2400402000" "19" "27", 0x84838281);
	expect("2400402000" "1a" "27", 0x8887868584838281);
	env.is_big_endian = true;
	expect("2400402000" "17" "27", 0x81);
	expect("2400402000" "18" "27", 0x8182);
	expect("2400402000" "19" "27", 0x81828384);
	expect("2400402000" "1a" "27", 0x8182838485868788);
}
END_TEST

START_TEST(memory_that_is_unknown_in_part_is_unknown)
{
	expect("240040203f" "17" "27", 0);
	expect_error("240040203f" "18" "27", TS_AX_UNKNOWN_MEM);
	expect_error("240040203d" "19" "27", TS_AX_UNKNOWN_MEM);
	expect_error("2400402039" "1a" "27", TS_AX_UNKNOWN_MEM);
	expect_error("2400402040" "17" "27", TS_AX_UNKNOWN_MEM);
	expect_error("2200" "17" "27", TS_AX_UNKNOWN_MEM);
	ck_assert(ts_ax_is_unknown(TS_AX_UNKNOWN_MEM));
}
END_TEST

START_TEST(addresses_have_the_targets_width)
{
	world.data[4] = 42;
	env.addr_mask = UINT32_MAX;
	expect("25ffffffff00402004" "17" "27", 42);
	expect("25ffffffffffffffff" "2400402005" "02" "17" "27", 42); /* 0x402005 - 1, with a carry */
	expect("2400402000" "22fc" "1608" "03" "17" "27", 42);        /* 0x402000 - (-4) */
	expect("25ffffffff00402004" "0d01" "2201" "27", 1);
	ck_assert_str_eq(world.log, "M402004,1 ");
}
END_TEST

START_TEST(variables_are_read_and_set)
{
	expect("2c000127", 77);
	expect("2c000227", 3);
	expect("2209" "2d0002" "27", 9); /* the value stays */
	ck_assert_uint_eq(world.vars[2], 9);
	expect_error("2c000027", TS_AX_UNKNOWN_VAR);
	expect_error("2209" "2d0001" "27", TS_AX_NOT_SET);
	ck_assert(ts_ax_is_unknown(TS_AX_UNKNOWN_VAR));
}
END_TEST

START_TEST(collections_name_address_and_length)
{
	ck_assert_int_eq(eval("2400402000" "2210" "0c" "27", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M402000,10 ");
	world.log[0] = '\0';
	expect("2400402000" "0d08" "27", 0x402000);
	expect("2400402000" "300123" "27", 0x402000);
	ck_assert_int_eq(eval("2e00022e000127", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M402000,8 M402000,123 V2 V1 ");
	expect_error("230bad" "2201" "0c" "2201" "27", TS_AX_NOT_TRACED);
	expect_error("230bad" "0d01" "27", TS_AX_NOT_TRACED);
	expect_error("230bad" "300001" "27", TS_AX_NOT_TRACED);
	expect_error("2e0003" "2201" "27", TS_AX_VAR_NOT_TRACED);
}
END_TEST

START_TEST(a_string_is_collected_with_its_end)
{
	memset(world.data, 'a', sizeof world.data);
	world.data[5] = '\0';
	ck_assert_int_eq(eval("2400402000" "2300c8" "2f" "27", NULL), TS_AX_OK);
	ck_assert_int_eq(eval("2400402000" "2204" "2f" "27", NULL), TS_AX_OK);
	ck_assert_int_eq(eval("2400402005" "2204" "2f" "27", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M402000,6 M402000,4 M402005,1 ");
}
END_TEST

START_TEST(a_string_without_an_end_is_collected_as_far_as_it_is_known)
{
	memset(world.data, 'a', sizeof world.data);
	ck_assert_int_eq(eval("2400402006" M1 "2f" "27", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M402006,3a ");
	world.log[0] = '\0';
	ck_assert_int_eq(eval("2400500000" M1 "2f" "27", NULL), TS_AX_OK);
	ck_assert_int_eq(eval("2400402006" "2200" "2f" "27", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "");
}
END_TEST

static size_t get_mem_everywhere(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	(void)user;
	memset(bytes, 'a' + (int)(addr % 3), len);
	return len;
}

START_TEST(a_string_without_any_end_is_not_searched_forever)
{
	struct ts_ax_env endless = env;
	enum ts_ax_error error;
	struct ts_ax *ax = make("2200" M1 "2f" "27", &error);

	ck_assert_ptr_nonnull(ax);
	endless.mem = get_mem_everywhere;
	ck_assert_int_eq(ts_ax_eval(ax, &endless, NULL), TS_AX_ENDLESS);
	ts_ax_free(ax);
}
END_TEST

START_TEST(without_callbacks_a_condition_collects_and_prints_nothing)
{
	struct ts_ax_env bare = { .user = &world, .addr_mask = UINT64_MAX, .reg = get_reg, .mem = get_mem };
	enum ts_ax_error error;
	uint64_t result = 0;
	/* trace, trace_quick, trace16, tracenz, tracev, printf "a"; const8 7 */
	struct ts_ax *ax = make("22012201" "0c" "22010d0829" "220130000829" "220122012f" "2e0001"
				 "22002200" "340000026100" "2207" "27",
				 &error);

	ck_assert_ptr_nonnull(ax);
	ck_assert_int_eq(ts_ax_eval(ax, &bare, &result), TS_AX_OK);
	ck_assert_uint_eq(result, 7);
	ts_ax_free(ax);
	ax = make("2c000127", &error);
	ck_assert_int_eq(ts_ax_eval(ax, &bare, &result), TS_AX_UNKNOWN_VAR);
	ts_ax_free(ax);
	ax = make("22012d000127", &error);
	ck_assert_int_eq(ts_ax_eval(ax, &bare, &result), TS_AX_NOT_SET);
	ts_ax_free(ax);
	ck_assert_str_eq(world.log, "");
}
END_TEST

START_TEST(a_printf_takes_its_first_argument_next_to_the_channel)
{
	/* third, second, first argument, channel, function; then a value that must still be there */
	expect("2263" "2203" "2202" "2201" "22092208" "34030009" "256420256420256400" "27", 0x63);
	ck_assert_str_eq(world.log, "<1 2 3>");
}
END_TEST

START_TEST(a_value_is_wanted_only_by_conditions)
{
	ck_assert_int_eq(eval("27", NULL), TS_AX_OK);
	expect_error("27", TS_AX_NO_VALUE);
	expect_error("22012927", TS_AX_NO_VALUE);
}
END_TEST

/* The expressions from here on are gdb 13.1's own. */

/*
 * a == 5, a an int at rbp - 20:
 *  0 reg 6   3 const8 16   5 add   6 const8 220   8 ext 8   10 add   11 ref32   12 ext 32
 * 14 const8 5   16 equal   17 end
 */
START_TEST(gdbs_condition_on_a_local_variable)
{
	static const char code[] = "26000622100222dc16080219162022051327";

	world.stack[28] = 5;
	expect(code, 1);
	world.stack[31] = 1;
	expect(code, 0);
	memset(world.stack + 28, 0xff, 4);
	expect(code, 0);
}
END_TEST

/* k > 4, k at rbp - 28: ... ref32, ext 32, const8 4, swap, less_signed, end */
START_TEST(gdbs_condition_with_its_sides_swapped)
{
	static const char code[] = "26000622100222d416080219162022042b1427";

	world.stack[20] = 5;
	expect(code, 1);
	world.stack[20] = 4;
	expect(code, 0);
	memset(world.stack + 20, 0xff, 4); /* -1 */
	expect(code, 0);
}
END_TEST

/*
 * a && b, ints at rbp - 4 and rbp - 8 ("maint agent-eval"):
 *  0 reg 6   3 const8 16   5 add   6 const8 236   8 ext 8   10 add   11 ref32   12 ext 32
 * 14 if_goto 20   17 goto 43
 * 20 reg 6  23 const8 16  25 add  26 const8 232  28 ext 8   30 add   31 ref32   32 if_goto 38   35 goto 43
 * 38 const8 1   40 goto 45   43 const8 0   45 end
 */
START_TEST(gdbs_logical_and)
{
	static const char code[] = "260006" "2210" "02" "22ec" "1608" "02" "19" "1620" "200014" "21002b"
				   "260006" "2210" "02" "22e8" "1608" "02" "19" "200026" "21002b"
				   "2201" "21002d" "2200" "27";

	expect(code, 0);
	world.stack[44] = 1;
	expect(code, 0);
	world.stack[40] = 2;
	expect(code, 1);
	world.stack[44] = 0;
	expect(code, 0);
}
END_TEST

/* teval $hits = $hits + 1: getv 2, const8 1, add, ext 64, setv 2, end */
START_TEST(gdbs_count_in_a_state_variable)
{
	ck_assert_int_eq(eval("2c000222010216402d000227", NULL), TS_AX_OK);
	ck_assert_int_eq(eval("2c000222010216402d000227", NULL), TS_AX_OK);
	ck_assert_uint_eq(world.vars[2], 5);
}
END_TEST

START_TEST(gdbs_collections)
{
	/* reg 6, const8 16, add, const8 220, ext 8, add, const8 4, trace, end */
	ck_assert_int_eq(eval("26000622100222dc16080222040c27", NULL), TS_AX_OK);
	/* const32 0x402000, const8 16, trace, end */
	ck_assert_int_eq(eval("240040200022100c27", NULL), TS_AX_OK);
	/* getv 2, tracev 2, pop, end */
	ck_assert_int_eq(eval("2c00022e00022927", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M7fffffffe67c,4 M402000,10 V2 ");
}
END_TEST

/*
 * collect/s p: reg 6, const8 16, add, const8 216, ext 8, add, trace_quick 8, ref64, const16 200, tracenz, end
 */
START_TEST(gdbs_collection_of_a_string)
{
	memcpy(world.stack + 24, "\x10\x20\x40\0\0\0\0\0", 8); /* p = 0x402010 */
	memcpy(world.data + 16, "hello", 6);
	ck_assert_int_eq(eval("26000622100222d81608020d081a2300c82f27", NULL), TS_AX_OK);
	ck_assert_str_eq(world.log, "M7fffffffe678,8 M402010,6 ");
}
END_TEST

/* dprintf "k=%d\n", k: ... ref32, ext 32, const8 0, const8 0, printf 1 argument, 7 bytes, end */
START_TEST(gdbs_dynamic_printf)
{
	world.stack[20] = 42;
	ck_assert_int_eq(eval("26000622100222d4160802191620" "22002200" "340100076b3d25645c6e00" "27", NULL),
			 TS_AX_OK);
	ck_assert_str_eq(world.log, "<k=42\n>");
}
END_TEST

START_TEST(an_endless_loop_ends_with_the_budget)
{
	expect_error("210000", TS_AX_ENDLESS);
	expect_error("2201" "200000" "2201" "27", TS_AX_ENDLESS);
}
END_TEST

START_TEST(the_budget_counts_instructions)
{
	uint32_t n_run = 0;

	env.n_run = &n_run;
	env.budget = 3;
	expect("2201" "0e" "27", 0);
	ck_assert_uint_eq(n_run, 3);
	env.budget = 2;
	expect_error("2201" "0e" "27", TS_AX_ENDLESS);
	ck_assert_uint_eq(n_run, 2);
	env.n_run = NULL;
}
END_TEST

UNIT_FIXTURE_SUITE("ax", setup, NULL, constants_are_zero_extended, sums_differences_and_products_wrap,
		   division_is_signed_or_not, the_one_quotient_that_overflows_wraps,
		   division_by_zero_is_an_error, shifts_of_any_width_are_defined,
		   logic_works_on_bits_and_truth, comparisons_give_one_or_zero,
		   extension_takes_any_number_of_bits, the_stack_is_turned_as_the_manual_says,
		   jumps_are_taken_on_anything_but_zero, a_loop_runs_until_its_condition_fails,
		   registers_are_read_by_their_number, memory_is_read_in_the_targets_order,
		   memory_that_is_unknown_in_part_is_unknown, addresses_have_the_targets_width,
		   variables_are_read_and_set, collections_name_address_and_length,
		   a_string_is_collected_with_its_end,
		   a_string_without_an_end_is_collected_as_far_as_it_is_known,
		   a_string_without_any_end_is_not_searched_forever,
		   without_callbacks_a_condition_collects_and_prints_nothing,
		   a_printf_takes_its_first_argument_next_to_the_channel,
		   a_value_is_wanted_only_by_conditions, gdbs_condition_on_a_local_variable,
		   gdbs_condition_with_its_sides_swapped, gdbs_logical_and, gdbs_count_in_a_state_variable,
		   gdbs_collections, gdbs_collection_of_a_string, gdbs_dynamic_printf,
		   an_endless_loop_ends_with_the_budget, the_budget_counts_instructions)
