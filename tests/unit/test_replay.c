/* SPDX-License-Identifier: MIT */
/*
 * What a step saw when it began was there at its position, whatever was known before: memory and registers,
 * in the middle of a chunk and at its start.
 */
#include "unit.h"

#include "script.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#include <string.h>

#define ADDR 0x1000u
#define REG  8u

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;

static void setup(void)
{
	static const uint32_t process_of[] = { 0 };

	s = script_new("x86_64", 1, process_of);
	ck_assert_ptr_nonnull(s);
	ts_error_reset(&err);
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

/* The same to memory and to registers. */
static void both(bool is_write, const char *value)
{
	uint32_t len = (uint32_t)strlen(value);

	ts_steps_value(&s->steps, is_write ? TS_FX_WRITE : TS_FX_READ, ADDR, value, len);
	ts_steps_value(&s->steps, is_write ? TS_FX_REG_WRITE : TS_FX_REG_READ, REG, value, len);
}

static void build(void)
{
	q = script_query(s, &tl, &err);
	ck_assert_msg(q, "%s", err.text);
}

/* @text at position @pos, '.' for an unknown byte. */
static void check(uint64_t pos, const char *text)
{
	uint8_t data[4096], known[4096];
	size_t len = strlen(text);
	const uint8_t *at[2] = { data, data + REG };

	for (unsigned is_reg = 0; is_reg < 2; is_reg++) {
		char got[16] = "";

		ck_assert(is_reg ? ts_query_regs(q, pos, 0, data, known, &err)
				 : ts_query_mem(q, pos, 0, ADDR, len, data, known, &err));
		for (size_t i = 0; i < len; i++)
			got[i] = known[(is_reg ? REG : 0) + i] ? (char)at[is_reg][i] : '.';
		ck_assert_msg(!strcmp(got, text), "%s at %u: %s, not %s", is_reg ? "registers" : "memory",
			      (unsigned)pos, got, text);
	}
}

START_TEST(a_contradiction_is_visible_at_the_step_that_saw_it)
{
	both(true, "abcd");
	script_steps(s, 3);
	both(false, "xy");
	script_steps(s, 2);
	build();
	check(0, "....");
	check(1, "abcd");
	check(2, "abcd");
	check(3, "xycd");
	check(4, "xycd");
	check(5, "xycd");
}
END_TEST

START_TEST(it_is_visible_at_the_start_of_a_chunk)
{
	both(true, "abcd");
	script_steps(s, TS_CHUNK_STEPS);
	both(false, "xy");
	script_steps(s, 2);
	build();
	check(TS_CHUNK_STEPS - 1, "abcd");
	check(TS_CHUNK_STEPS, "xycd");
	check(TS_CHUNK_STEPS + 1, "xycd");
}
END_TEST

START_TEST(what_the_step_itself_wrote_was_not_there_before)
{
	both(true, "abcd");
	script_step(s, 0);
	both(true, "xy");
	both(false, "xyz");
	script_step(s, 0);
	build();
	check(1, "abzd");
	check(2, "xyzd");
}
END_TEST

START_TEST(of_two_values_the_step_began_with_the_first)
{
	both(true, "abcd");
	script_step(s, 0);
	both(false, "x");
	both(false, "yz");
	script_step(s, 0);
	build();
	check(1, "xzcd");
	check(2, "yzcd");
}
END_TEST

START_TEST(the_first_step_sees_position_0)
{
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, ADDR, "abcd", 4);
	ts_steps_value(&s->rec.initial, TS_FX_REG_WRITE, REG, "abcd", 4);
	both(false, "x");
	script_step(s, 0);
	build();
	check(0, "xbcd");
	check(1, "xbcd");
}
END_TEST

/* Lost bytes are what the next one sees, down to where they were lost. */
START_TEST(a_lost_value_is_what_is_seen_next)
{
	both(true, "abcd");
	script_step(s, 0);
	ts_steps_effect(&s->steps, TS_FX_WRITE, ADDR, 2);
	ts_steps_effect(&s->steps, TS_FX_REG_WRITE, REG, 2);
	script_steps(s, 2);
	both(false, "x");
	script_steps(s, 2);
	build();
	check(1, "abcd");
	check(2, "x.cd");
	check(3, "x.cd");
}
END_TEST

UNIT_FIXTURE_SUITE("replay", setup, teardown, a_contradiction_is_visible_at_the_step_that_saw_it,
		   it_is_visible_at_the_start_of_a_chunk, what_the_step_itself_wrote_was_not_there_before,
		   of_two_values_the_step_began_with_the_first, the_first_step_sees_position_0,
		   a_lost_value_is_what_is_seen_next)
