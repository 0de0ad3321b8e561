/* SPDX-License-Identifier: MIT */
/*
 * Expressions that could do harm are refused with the reason, and what the check lets through is safe on
 * every path.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ax_case.h"
#include "protocol/tracing/ax_packet.h"
#include "protocol/wire/args.h"

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

UNIT_FIXTURE_SUITE("ax_check", setup, NULL, an_expression_cut_anywhere_is_refused, no_code_is_refused,
		   opcodes_that_are_none_are_refused, operands_must_lie_within,
		   jumps_must_lead_to_an_instruction, running_past_the_end_is_refused,
		   taking_more_than_there_is_is_refused, a_hundred_values_fit_and_one_more_does_not,
		   paths_that_meet_with_different_stacks_are_refused,
		   code_that_nothing_gets_to_needs_no_stack, formats_that_cannot_be_printed_are_refused,
		   a_packet_brings_length_and_code, a_packet_whose_length_lies_is_refused,
		   every_program_of_one_or_two_bytes_is_safe, what_the_check_lets_through_holds_on_every_path,
		   every_error_has_its_own_text)
