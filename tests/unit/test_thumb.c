/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "script.h"
#include "src/query/code/insns.h"
#include "src/query/code/thumb.h"
#include "src/timeline/timeline.h"

/* Bytes of code: an ARM instruction, and one of either kind, by its first halfword. */
#define ARM_CODE  "\x04\x00\xa0\xe1"
#define EITHER    "\x00\xf0\xa0\xe1"

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;

static void setup(void)
{
	s = script_new("arm", 1, NULL);
	ck_assert_ptr_nonnull(s);
	ts_error_reset(&err);
	tl = NULL;
	q = NULL;
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

static void step(uint64_t pc, uint16_t len, const char *code)
{
	if (code)
		ts_steps_value(&s->rec.initial, TS_FX_WRITE, pc, code, len);
	ts_steps_close(&s->steps, pc, len, 0);
}

static bool is_thumb_at(uint64_t pos)
{
	bool is_thumb;

	if (!q) {
		q = script_query(s, &tl, &err);
		ck_assert_msg(q, "%s", err.text);
	}
	ck_assert(ts_thumb_at(q, pos, 0, &is_thumb, &err));
	return is_thumb;
}

START_TEST(two_bytes_are_thumb)
{
	step(0x1000, 2, NULL);
	step(0x2000, 4, ARM_CODE);
	ck_assert(is_thumb_at(0));
	ck_assert(!is_thumb_at(1));
}
END_TEST

START_TEST(an_address_that_is_no_multiple_of_four_is_thumb)
{
	step(0x1002, 4, EITHER);
	ck_assert(is_thumb_at(0));
}
END_TEST

START_TEST(four_bytes_that_may_be_either_are_as_their_neighbours_behind)
{
	step(0x1000, 4, EITHER);
	step(0x1004, 4, EITHER);
	step(0x1008, 2, NULL);
	step(0x2000, 4, EITHER);
	step(0x2004, 4, ARM_CODE);
	ck_assert(is_thumb_at(0));
	ck_assert(is_thumb_at(1));
	ck_assert(!is_thumb_at(3));
}
END_TEST

START_TEST(or_as_those_before_them_but_never_across_a_branch)
{
	step(0x1000, 2, NULL);
	step(0x1002, 2, NULL);
	step(0x1004, 4, EITHER);
	step(0x2000, 4, EITHER);
	step(0x3000, 2, NULL);
	ck_assert(is_thumb_at(2));
	ck_assert(!is_thumb_at(3));
	ck_assert(is_thumb_at(4));
}
END_TEST

START_TEST(the_end_is_as_the_last_instruction)
{
	step(0x1000, 4, ARM_CODE);
	step(0x2000, 2, NULL);
	ck_assert(is_thumb_at(2));
}
END_TEST

START_TEST(unknown_code_tells_nothing)
{
	step(0x1000, 4, NULL);
	ck_assert(!is_thumb_at(0));
}
END_TEST

static const char *text_at(uint64_t pos)
{
	struct ts_decoded *d;

	is_thumb_at(pos);
	d = ts_query_insn(q, pos, &err);
	ck_assert_ptr_nonnull(d);
	return ts_decoded_text(q, d);
}

#define IT_EQ "\x08\xbf"
#define MOV   "\x03\x46" /* mov r3, r0 */

START_TEST(a_condition_is_that_of_an_it_instruction_that_ran)
{
	step(0x1000, 2, IT_EQ);
	step(0x1002, 2, MOV);
	step(0x1004, 2, MOV);
	ck_assert_str_eq(text_at(1), "moveq r3, r0");
	ck_assert_str_eq(text_at(2), "mov r3, r0");
}
END_TEST

START_TEST(data_or_half_of_an_instruction_before_a_function_gives_none)
{
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x1ffe, IT_EQ, 2);
	step(0x1000, 2, "\x00\xbf");
	step(0x2000, 2, MOV);
	ck_assert_str_eq(text_at(1), "mov r3, r0");
}
END_TEST

UNIT_FIXTURE_SUITE("thumb", setup, teardown, two_bytes_are_thumb,
		   an_address_that_is_no_multiple_of_four_is_thumb,
		   four_bytes_that_may_be_either_are_as_their_neighbours_behind,
		   or_as_those_before_them_but_never_across_a_branch, the_end_is_as_the_last_instruction,
		   unknown_code_tells_nothing, a_condition_is_that_of_an_it_instruction_that_ran,
		   data_or_half_of_an_instruction_before_a_function_gives_none)
