/* SPDX-License-Identifier: MIT */
/*
 * Agent expressions: each instruction with results worked out by hand, expressions as gdb 13 sent them, and
 * hostile ones.
 */
#include "unit.h"

#include "protocol/tracing/ax_packet.h"
#include "protocol/wire/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RBP 0x7fffffffe690

/* The little that is known: some registers, two stretches of memory, two variables. */
struct world {
	uint8_t stack[64]; /* at RBP - 48 */
	uint8_t data[64];  /* at 0x402000 */
	uint64_t vars[4];  /* 1 and 2 exist */
	char log[512];     /* what was collected and printed */
};

static struct world world;

static void note(const char *text)
{
	strncat(world.log, text, sizeof world.log - strlen(world.log) - 1);
}

static bool get_reg(void *user, unsigned regnum, uint64_t *value)
{
	ck_assert_ptr_eq(user, &world);
	switch (regnum) {
	case 6: *value = RBP; return true;
	case 0x1234: *value = 0xfedcba9876543210; return true;
	default: return false;
	}
}

static size_t copy_known(uint64_t base, const uint8_t *known, uint64_t addr, uint8_t *bytes, size_t len)
{
	uint64_t off = addr - base;

	if (off >= 64)
		return 0;
	if (len > 64 - off)
		len = (size_t)(64 - off);
	memcpy(bytes, known + off, len);
	return len;
}

static size_t get_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	size_t n = copy_known(RBP - 48, world.stack, addr, bytes, len);

	ck_assert_ptr_eq(user, &world);
	return n ? n : copy_known(0x402000, world.data, addr, bytes, len);
}

static bool get_var(void *user, unsigned var, uint64_t *value)
{
	ck_assert_ptr_eq(user, &world);
	*value = world.vars[var & 3];
	return var == 1 || var == 2;
}

static bool set_var(void *user, unsigned var, uint64_t value)
{
	ck_assert_ptr_eq(user, &world);
	if (var != 2) /* 1 is built in */
		return false;
	world.vars[var] = value;
	return true;
}

static bool trace(void *user, uint64_t addr, uint64_t len)
{
	char text[64];

	ck_assert_ptr_eq(user, &world);
	snprintf(text, sizeof text, "M%llx,%llx ", (unsigned long long)addr, (unsigned long long)len);
	note(text);
	return addr != 0xbad;
}

static bool trace_var(void *user, unsigned var)
{
	char text[32];

	ck_assert_ptr_eq(user, &world);
	snprintf(text, sizeof text, "V%u ", var);
	note(text);
	return var != 3;
}

static void print(void *user, const char *text, size_t len)
{
	char copy[128];

	ck_assert_ptr_eq(user, &world);
	snprintf(copy, sizeof copy, "<%.*s>", (int)len, text);
	note(copy);
}

static struct ts_ax_env env = {
	.user = &world,
	.addr_mask = UINT64_MAX,
	.reg = get_reg,
	.mem = get_mem,
	.get_var = get_var,
	.set_var = set_var,
	.trace = trace,
	.trace_var = trace_var,
	.print = print,
};

static void setup(void)
{
	memset(&world, 0, sizeof world);
	world.vars[1] = 77;
	world.vars[2] = 3;
	env.is_big_endian = false;
	env.addr_mask = UINT64_MAX;
	env.budget = 0;
}

static size_t decode(const char *hex, uint8_t *code, size_t max)
{
	struct rsp_args a = rsp_args(hex, strlen(hex));
	size_t len = rsp_args_hex(&a, code, max);

	ck_assert_msg(rsp_args_done(&a), "bad hex in the test: %s", hex);
	return len;
}

/* Copied into a block of its length, so that a sanitizer sees what is read beyond. */
static struct ts_ax *make(const char *hex, enum ts_ax_error *error)
{
	uint8_t code[1024];
	size_t len = decode(hex, code, sizeof code);
	uint8_t *block = malloc(len + !len);
	struct ts_ax *ax;

	memcpy(block, code, len);
	ax = ts_ax_new(block, len, error);
	free(block);
	return ax;
}

static enum ts_ax_error eval(const char *hex, uint64_t *result)
{
	enum ts_ax_error error;
	struct ts_ax *ax = make(hex, &error);

	ck_assert_msg(ax, "%s: %s", hex, ts_ax_error_text(error));
	error = ts_ax_eval(ax, &env, result);
	ts_ax_free(ax);
	return error;
}

static void expect(const char *hex, uint64_t value)
{
	uint64_t result = 0xbadbadbad;
	enum ts_ax_error error = eval(hex, &result);

	ck_assert_msg(!error, "%s: %s", hex, ts_ax_error_text(error));
	ck_assert_msg(result == value, "%s: 0x%llx instead of 0x%llx", hex, (unsigned long long)result,
		      (unsigned long long)value);
}

static void expect_error(const char *hex, enum ts_ax_error expected)
{
	uint64_t result = 0xbadbadbad;
	enum ts_ax_error error = eval(hex, &result);

	ck_assert_msg(error == expected, "%s: %s", hex, ts_ax_error_text(error));
	ck_assert_uint_eq(result, 0xbadbadbad);
}

static void expect_refused(const char *hex, enum ts_ax_error expected)
{
	enum ts_ax_error error = TS_AX_OK;

	ck_assert_msg(!make(hex, &error), "%s was taken", hex);
	ck_assert_msg(error == expected, "%s: %s", hex, ts_ax_error_text(error));
}

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

static const char *const from_gdb[] = {
	"26000622100222dc16080219162022051327",
	"26000622100222d416080219162022042b1427",
	"26000622100222d416080219162022002200340100076b3d25645c6e0027",
	"26000622100222dc16080222040c27",
	"2c000222010216402d000227",
	"26000622100222d81608020d081a2300c82f27",
	"2c00022e00022927",
	"26000622100222ec16080219162020001421002b26000622100222e81608021920002621002b220121002d220027",
};

/*
 * None of them has an end before its last byte, so each cut is one in an instruction, before the end, or
 * before a target.
 */
START_TEST(an_expression_cut_anywhere_is_refused)
{
	for (unsigned i = 0; i < sizeof from_gdb / sizeof from_gdb[0]; i++) {
		uint8_t code[128];
		size_t len = decode(from_gdb[i], code, sizeof code);

		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *block = malloc(cut + !cut);
			enum ts_ax_error error = TS_AX_OK;

			memcpy(block, code, cut);
			ck_assert_ptr_null(ts_ax_new(block, cut, &error));
			ck_assert_msg(error == TS_AX_EMPTY || error == TS_AX_TRUNCATED ||
					      error == TS_AX_NO_END || error == TS_AX_BAD_JUMP,
				      "%s cut to %zu: %s", from_gdb[i], cut, ts_ax_error_text(error));
			free(block);
		}
	}
}
END_TEST

START_TEST(no_code_is_refused)
{
	expect_refused("", TS_AX_EMPTY);
}
END_TEST

START_TEST(opcodes_that_are_none_are_refused)
{
	static const char *const floats[] = { "01", "1b", "1c", "1d", "1e", "1f" };
	char hex[32];

	expect_refused("0027", TS_AX_BAD_OPCODE);
	expect_refused("3127", TS_AX_BAD_OPCODE);
	for (unsigned op = 0x35; op < 256; op++) {
		snprintf(hex, sizeof hex, "%02x27", op);
		expect_refused(hex, TS_AX_BAD_OPCODE);
	}
	for (unsigned i = 0; i < 6; i++) {
		snprintf(hex, sizeof hex, "2201%s27", floats[i]);
		expect_refused(hex, TS_AX_FLOAT);
	}
	expect_refused("2731", TS_AX_BAD_OPCODE); /* even where nothing gets to it */
}
END_TEST

START_TEST(operands_must_lie_within)
{
	static const char *const cut[] = {
		"22", "23ff", "24ffffff", "25ffffffffffffff", "2600", "20", "2100", "2c00", "2d", "2e00",
		"22010d", "220116", "22012a", "22013000", "220132", "2200220034", "2200220034000002",
		"220022003400000261",
	};

	for (unsigned i = 0; i < sizeof cut / sizeof cut[0]; i++)
		expect_refused(cut[i], TS_AX_TRUNCATED);
}
END_TEST

START_TEST(jumps_must_lead_to_an_instruction)
{
	expect_refused("210004" "27", TS_AX_BAD_JUMP);          /* behind the end */
	expect_refused("21ffff" "27", TS_AX_BAD_JUMP);
	expect_refused("210001" "27", TS_AX_BAD_JUMP);          /* into itself */
	expect_refused("2201" "200006" "22" "2727", TS_AX_BAD_JUMP); /* an operand that reads as end */
	expect_refused("2201" "20ffff" "27", TS_AX_BAD_JUMP);
}
END_TEST

START_TEST(running_past_the_end_is_refused)
{
	expect_refused("2201", TS_AX_NO_END);
	expect_refused("2201" "200005", TS_AX_NO_END);
	expect_refused("2201" "200006" "27" "2201", TS_AX_NO_END);
}
END_TEST

/* Each instruction over a stack one too low for it. */
START_TEST(taking_more_than_there_is_is_refused)
{
	static const char *const one[] = {
		"17", "18", "19", "1a", "0e", "12", "1608", "2a08", "0d01", "300001", "28", "29", "2d0001",
		"3200", "200003",
	};
	static const char *const two[] = {
		"02", "03", "04", "05", "06", "07", "08", "09", "0a", "0b", "0c", "0f", "10", "11", "13",
		"14", "15", "2b", "2f", "3201", "3400000100",
	};
	static const char *const three[] = { "33", "3202", "340100032564" "00" };
	char hex[64];

	for (unsigned i = 0; i < sizeof one / sizeof one[0]; i++) {
		snprintf(hex, sizeof hex, "%s27", one[i]);
		expect_refused(hex, TS_AX_UNDERFLOW);
	}
	for (unsigned i = 0; i < sizeof two / sizeof two[0]; i++) {
		snprintf(hex, sizeof hex, "2201%s27", two[i]);
		expect_refused(hex, TS_AX_UNDERFLOW);
	}
	for (unsigned i = 0; i < sizeof three / sizeof three[0]; i++) {
		snprintf(hex, sizeof hex, "22012201%s27", three[i]);
		expect_refused(hex, TS_AX_UNDERFLOW);
	}
	expect_refused("22ff" "32ff" "27", TS_AX_UNDERFLOW);
	expect_refused("22002200" "34ff000100" "27", TS_AX_UNDERFLOW);
}
END_TEST

START_TEST(a_hundred_values_fit_and_one_more_does_not)
{
	char hex[512] = "";

	for (int i = 0; i < TS_AX_MAX_STACK; i++)
		strcat(hex, "2201");
	strcat(hex, "27");
	expect(hex, 1);
	strcpy(hex + 4 * TS_AX_MAX_STACK, "2827");
	expect_refused(hex, TS_AX_OVERFLOW);
	strcpy(hex + 4 * TS_AX_MAX_STACK, "220127");
	expect_refused(hex, TS_AX_OVERFLOW);
}
END_TEST

START_TEST(paths_that_meet_with_different_stacks_are_refused)
{
	/* 0 const8 1, 2 if_goto 7, 5 const8 2, 7 end */
	expect_refused("2201" "200007" "2202" "27", TS_AX_HEIGHT);
	/* a loop that grows the stack: 0 const8 1, 2 goto 0 */
	expect_refused("2201" "210000", TS_AX_HEIGHT);
	/*
	 * found by way of the branch that is followed later: 0 const8 1, 2 if_goto 6, 5 end, 6 const8 1, 8
	 * goto 5
	 */
	expect_refused("2201" "200006" "27" "2201" "210005", TS_AX_HEIGHT);
}
END_TEST

START_TEST(code_that_nothing_gets_to_needs_no_stack)
{
	/* 0 const8 1, 2 goto 6, 5 add, 6 end */
	expect("2201" "210006" "02" "27", 1);
}
END_TEST

START_TEST(formats_that_cannot_be_printed_are_refused)
{
	expect_refused("22002200" "34000000" "27", TS_AX_BAD_FORMAT);         /* not even a NUL */
	expect_refused("22002200" "3400000161" "27", TS_AX_BAD_FORMAT);       /* no NUL at the end */
	expect_refused("22002200" "340000020000" "27", TS_AX_BAD_FORMAT);     /* one too early */
	expect_refused("22002200" "34000003256400" "27", TS_AX_BAD_FORMAT);   /* %d of nothing */
	expect_refused("220022002200" "34010003256e00" "27", TS_AX_BAD_FORMAT); /* %n */
	expect_refused("220022002200" "34010003256600" "27", TS_AX_FLOAT_FORMAT); /* %f */
	expect_refused("220022002200" "340100062535244c6700" "27", TS_AX_BAD_FORMAT); /* %5$Lg */
	expect_refused("220022002200" "34010008256425352e4c6700" "27", TS_AX_FLOAT_FORMAT); /* %d%5.Lg */
	expect_refused("220022002200" "340100035c6700" "27", TS_AX_BAD_FORMAT); /* an escape, not %g */
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
	env.budget = 3;
	expect("2201" "0e" "27", 0);
	env.budget = 2;
	expect_error("2201" "0e" "27", TS_AX_ENDLESS);
}
END_TEST

START_TEST(a_packet_brings_length_and_code)
{
	static const char text[] = "X12,26000622100222dc16080219162022051327;cmds:0";
	struct rsp_args a = rsp_args(text, sizeof text - 1);
	enum ts_ax_error error;
	struct ts_ax *ax = rsp_ax_parse(&a, &error);
	const uint8_t *code;
	size_t len;

	ck_assert_ptr_nonnull(ax);
	ck_assert_int_eq(error, TS_AX_OK);
	ck_assert_int_eq(rsp_args_peek(&a), ';');
	code = ts_ax_code(ax, &len);
	ck_assert_uint_eq(len, 18);
	ck_assert_mem_eq(code, "\x26\0\6\x22\x10\2\x22\xdc\x16\x08\2\x19\x16\x20\x22\5\x13\x27", 18);
	ts_ax_free(ax);
	a = rsp_args("X00000002,222A", 14);
	ck_assert_ptr_null(rsp_ax_parse(&a, &error));
	ck_assert_int_eq(error, TS_AX_NO_END);
	ck_assert(rsp_args_done(&a));
}
END_TEST

START_TEST(a_packet_whose_length_lies_is_refused)
{
	static const char *const texts[] = {
		"", "X", "X2", "X2,", "X2,27", "X1,2727", "X1,272", "X0,27", "1,27", "X,27", "X1;27", "X1:27",
		"Xg,27", "x1,27", "X1,2g", "Xffffffffffffffff,27", "X10000000000000000,27", "X1,7",
	};

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct rsp_args a = rsp_args(texts[i], strlen(texts[i]));
		enum ts_ax_error error = TS_AX_OK;

		ck_assert_ptr_null(rsp_ax_parse(&a, &error));
		ck_assert_msg(error == TS_AX_SYNTAX, "%s: %s", texts[i], ts_ax_error_text(error));
		ck_assert(!rsp_args_ok(&a));
	}
}
END_TEST

static void try_code(const uint8_t *code, size_t len)
{
	uint8_t *block = malloc(len + !len);
	enum ts_ax_error error;
	struct ts_ax *ax;
	uint64_t result;

	memcpy(block, code, len);
	ax = ts_ax_new(block, len, &error);
	free(block);
	ck_assert(!ax == (error != TS_AX_OK));
	if (!ax)
		return;
	error = ts_ax_eval(ax, &env, &result);
	ck_assert(error == TS_AX_OK || error >= TS_AX_NO_VALUE);
	ts_ax_free(ax);
}

START_TEST(every_program_of_one_or_two_bytes_is_safe)
{
	env.budget = 1000;
	for (unsigned a = 0; a < 256; a++) {
		try_code((uint8_t[]){ (uint8_t)a }, 1);
		for (unsigned b = 0; b < 256; b++) {
			try_code((uint8_t[]){ (uint8_t)a, (uint8_t)b }, 2);
			/* and with something on the stack, and an end to come to */
			try_code((uint8_t[]){ 0x22, 1, 0x22, 2, 0x22, 3, (uint8_t)a, (uint8_t)b, 0x27 }, 9);
		}
	}
}
END_TEST

/*
 * The table of the manual again, for the walk below: operand bytes, values taken (255: no such instruction),
 * values left.
 */
static const struct {
	uint8_t operands, takes, leaves;
} manual[] = {
	{ 0, 255, 0 }, { 0, 255, 0 }, { 0, 2, 1 }, { 0, 2, 1 }, /* 00 */
	{ 0, 2, 1 }, { 0, 2, 1 }, { 0, 2, 1 }, { 0, 2, 1 }, /* 04 */
	{ 0, 2, 1 }, { 0, 2, 1 }, { 0, 2, 1 }, { 0, 2, 1 }, /* 08 */
	{ 0, 2, 0 }, { 1, 1, 1 }, { 0, 1, 1 }, { 0, 2, 1 }, /* 0c */
	{ 0, 2, 1 }, { 0, 2, 1 }, { 0, 1, 1 }, { 0, 2, 1 }, /* 10 */
	{ 0, 2, 1 }, { 0, 2, 1 }, { 1, 1, 1 }, { 0, 1, 1 }, /* 14 */
	{ 0, 1, 1 }, { 0, 1, 1 }, { 0, 1, 1 }, { 0, 255, 0 }, /* 18 */
	{ 0, 255, 0 }, { 0, 255, 0 }, { 0, 255, 0 }, { 0, 255, 0 }, /* 1c */
	{ 2, 1, 0 }, { 2, 0, 0 }, { 1, 0, 1 }, { 2, 0, 1 }, /* 20 */
	{ 4, 0, 1 }, { 8, 0, 1 }, { 2, 0, 1 }, { 0, 0, 0 }, /* 24 */
	{ 0, 1, 2 }, { 0, 1, 0 }, { 1, 1, 1 }, { 0, 2, 2 }, /* 28 */
	{ 2, 0, 1 }, { 2, 1, 1 }, { 2, 0, 0 }, { 0, 2, 0 }, /* 2c */
	{ 2, 1, 1 }, { 0, 255, 0 }, { 1, 0, 1 }, { 0, 3, 3 }, /* 30 */
};

static uint32_t seed;

static unsigned random_below(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % n;
}

/* A program of likely instructions; jumps lead anywhere near. */
static size_t random_code(uint8_t *code, size_t max)
{
	size_t len = 0;

	while (len + 10 < max) {
		unsigned op = random_below(3) ? 0x20 + random_below(10) : random_below(0x34);
		bool is_jump = op == 0x20 || op == 0x21;

		if (manual[op].takes == 255 || (op == 0x27 && random_below(4)))
			continue;
		code[len++] = (uint8_t)op;
		for (unsigned i = 0; i < manual[op].operands; i++)
			code[len++] = (uint8_t)(is_jump ? i * random_below((unsigned)max) : random_below(4));
	}
	code[len++] = 0x27;
	return len;
}

/* Walk a checked program, taking branches at random, with a stack that is watched.  Printf does not occur. */
static bool holds_on_a_walk(const uint8_t *code, size_t len)
{
	size_t pc = 0;
	unsigned height = 0;

	for (int steps = 0; steps < 200; steps++) {
		unsigned op = pc < len ? code[pc] : 0;

		if (op >= 0x34 || manual[op].takes == 255 || pc + 1 + manual[op].operands > len)
			return false;
		if (height < (op == 0x32 ? code[pc + 1] + 1u : manual[op].takes))
			return false;
		height = height - manual[op].takes + manual[op].leaves;
		if (height > TS_AX_MAX_STACK)
			return false;
		if (op == 0x27)
			return true;
		if (op == 0x21 || (op == 0x20 && random_below(2)))
			pc = (size_t)code[pc + 1] << 8 | code[pc + 2];
		else
			pc += 1u + manual[op].operands;
	}
	return true;
}

START_TEST(what_the_check_lets_through_holds_on_every_path)
{
	unsigned n_taken = 0;

	seed = 12345;
	env.budget = 200;
	for (int round = 0; round < 20000; round++) {
		uint8_t code[40];
		size_t len = random_code(code, 14 + random_below(26));
		enum ts_ax_error error;
		struct ts_ax *ax = ts_ax_new(code, len, &error);
		uint64_t result;

		world.log[0] = '\0';
		if (!ax)
			continue;
		n_taken++;
		for (int i = 0; i < 4; i++)
			ck_assert(holds_on_a_walk(code, len));
		ts_ax_eval(ax, &env, &result);
		ts_ax_free(ax);
	}
	ck_assert_uint_gt(n_taken, 500);
}
END_TEST

START_TEST(every_error_has_its_own_text)
{
	for (enum ts_ax_error i = TS_AX_OK; i <= TS_AX_ENDLESS; i++) {
		ck_assert_str_ne(ts_ax_error_text(i), "unknown error");
		for (enum ts_ax_error j = TS_AX_OK; j < i; j++)
			ck_assert_str_ne(ts_ax_error_text(i), ts_ax_error_text(j));
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		constants_are_zero_extended,
		sums_differences_and_products_wrap,
		division_is_signed_or_not,
		the_one_quotient_that_overflows_wraps,
		division_by_zero_is_an_error,
		shifts_of_any_width_are_defined,
		logic_works_on_bits_and_truth,
		comparisons_give_one_or_zero,
		extension_takes_any_number_of_bits,
		the_stack_is_turned_as_the_manual_says,
		jumps_are_taken_on_anything_but_zero,
		a_loop_runs_until_its_condition_fails,
		registers_are_read_by_their_number,
		memory_is_read_in_the_targets_order,
		memory_that_is_unknown_in_part_is_unknown,
		addresses_have_the_targets_width,
		variables_are_read_and_set,
		collections_name_address_and_length,
		a_string_is_collected_with_its_end,
		a_string_without_an_end_is_collected_as_far_as_it_is_known,
		a_string_without_any_end_is_not_searched_forever,
		without_callbacks_a_condition_collects_and_prints_nothing,
		a_printf_takes_its_first_argument_next_to_the_channel,
		a_value_is_wanted_only_by_conditions,
		gdbs_condition_on_a_local_variable,
		gdbs_condition_with_its_sides_swapped,
		gdbs_logical_and,
		gdbs_count_in_a_state_variable,
		gdbs_collections,
		gdbs_collection_of_a_string,
		gdbs_dynamic_printf,
		an_expression_cut_anywhere_is_refused,
		no_code_is_refused,
		opcodes_that_are_none_are_refused,
		operands_must_lie_within,
		jumps_must_lead_to_an_instruction,
		running_past_the_end_is_refused,
		taking_more_than_there_is_is_refused,
		a_hundred_values_fit_and_one_more_does_not,
		paths_that_meet_with_different_stacks_are_refused,
		code_that_nothing_gets_to_needs_no_stack,
		formats_that_cannot_be_printed_are_refused,
		an_endless_loop_ends_with_the_budget,
		the_budget_counts_instructions,
		a_packet_brings_length_and_code,
		a_packet_whose_length_lies_is_refused,
		every_program_of_one_or_two_bytes_is_safe,
		what_the_check_lets_through_holds_on_every_path,
		every_error_has_its_own_text,
	};
	Suite *suite = suite_create("ax");
	TCase *tcase = tcase_create("ax");

	tcase_add_checked_fixture(tcase, setup, NULL);
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
