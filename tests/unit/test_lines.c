/* SPDX-License-Identifier: MIT */
/*
 * In which chunks lines were touched, against a plain table of lines and chunks.
 */
#include "unit.h"

#include "script.h"
#include "src/lines.h"

#include <stdlib.h>
#include <string.h>

/* The noter's pages: not in order, at both ends, neighbours and strangers. */
static const uint64_t pages[] = { UINT64_MAX >> TS_PAGE_BITS, 7, 0, 8, 0x7ffff, 1 };
#define N_PAGES 6
#define N_CHUNKS 60

static bool is_touched[N_PAGES][TS_PAGE_LINES][N_CHUNKS];
static struct ts_touches touches;
static struct ts_lines set;

static void setup(void)
{
	memset(is_touched, 0, sizeof(is_touched));
	touches = (struct ts_touches){ 0 };
	set = (struct ts_lines){ 0 };
}

static void teardown(void)
{
	ts_touches_fini(&touches);
	ts_lines_fini(&set);
}

static void touch(uint32_t page, unsigned line, unsigned chunk)
{
	is_touched[page][line][chunk] = true;
	if (!ts_touches_add(&touches, page, (uint8_t)line, (uint16_t)chunk))
		ck_abort_msg("no memory");
}

/* Touches of few lines, at most one a line and chunk, as a space notes them. */
static void touch_at_random(struct script_random *r)
{
	for (unsigned chunk = 0; chunk < N_CHUNKS; chunk++) {
		for (unsigned n = (unsigned)script_below(r, 20); n; n--) {
			uint32_t page = (uint32_t)script_below(r, N_PAGES);
			unsigned line = (unsigned)script_below(r, 4) * 63 + (unsigned)script_below(r, 3);

			if (!is_touched[page][line][chunk])
				touch(page, line, chunk);
		}
	}
}

static uint64_t line_addr(uint32_t page, unsigned line)
{
	return pages[page] << TS_PAGE_BITS | line << TS_LINE_BITS;
}

/* Was a line that overlaps the range touched in the chunk? */
static bool is_any_touched(uint64_t addr, uint64_t last, unsigned chunk)
{
	for (uint32_t page = 0; page < N_PAGES; page++) {
		for (unsigned line = 0; line < TS_PAGE_LINES; line++) {
			if (is_touched[page][line][chunk] && line_addr(page, line) <= last &&
			    line_addr(page, line) + (TS_LINE_LEN - 1) >= addr)
				return true;
		}
	}
	return false;
}

static void check(uint64_t addr, uint64_t last, unsigned chunk)
{
	uint32_t next = chunk, prev = chunk + 1;

	while (next < N_CHUNKS && !is_any_touched(addr, last, next))
		next++;
	while (prev > 0 && !is_any_touched(addr, last, prev - 1))
		prev--;
	ck_assert_uint_eq(ts_lines_next(&set, addr, last, chunk), next < N_CHUNKS ? next : UINT32_MAX);
	ck_assert_uint_eq(ts_lines_prev(&set, addr, last, chunk), prev ? prev - 1 : UINT32_MAX);
}

START_TEST(next_and_previous_chunk_of_any_range_are_those_of_the_table)
{
	struct script_random r = { 3 };

	touch_at_random(&r);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t addr = line_addr((uint32_t)script_below(&r, N_PAGES), (unsigned)script_below(&r, TS_PAGE_LINES));
		uint64_t last;

		addr += script_below(&r, TS_LINE_LEN);
		last = addr + script_below(&r, script_chance(&r, 50) ? 20 : 9000);
		if (last < addr || script_chance(&r, 5))
			last = UINT64_MAX;
		check(addr, last, (unsigned)script_below(&r, N_CHUNKS));
	}
}
END_TEST

START_TEST(a_line_holds_its_chunks_in_order_and_each_touch_knows_its_slot)
{
	struct script_random r = { 4 };
	struct ts_touch noted[2000];
	uint32_t *slots, first, end;
	size_t n;

	touch_at_random(&r);
	n = touches.n;
	ck_assert_uint_le(n, 2000);
	memcpy(noted, touches.items, n * sizeof(*noted));
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, &slots));
	ck_assert_uint_eq(touches.n, 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert(ts_lines_find(&set, line_addr(noted[i].page, noted[i].line), &first, &end));
		ck_assert(slots[i] >= first && slots[i] < end);
		ck_assert_uint_eq(set.chunks[slots[i]], noted[i].chunk);
		for (uint32_t item = first + 1; item < end; item++)
			ck_assert_uint_lt(set.chunks[item - 1], set.chunks[item]);
	}
	free(slots);
}
END_TEST

START_TEST(a_line_that_was_not_touched_is_not_found)
{
	uint32_t first, end;

	touch(1, 9, 0);
	touch(1, 255, 1);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	ck_assert(ts_lines_find(&set, line_addr(1, 9) + 15, &first, &end));
	ck_assert(!ts_lines_find(&set, line_addr(1, 8), &first, &end));
	ck_assert(!ts_lines_find(&set, line_addr(1, 10), &first, &end));
	ck_assert(!ts_lines_find(&set, line_addr(3, 9), &first, &end));
	ck_assert(!ts_lines_find(&set, line_addr(2, 9), &first, &end));
}
END_TEST

START_TEST(the_item_before_a_chunk_is_the_newest_one_below_it)
{
	uint32_t first, end;

	touch(2, 0, 3);
	touch(2, 0, 5);
	touch(2, 0, 9);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	ck_assert(ts_lines_find(&set, 0, &first, &end));
	ck_assert_uint_eq(ts_lines_before(&set, first, end, 3), end);
	ck_assert_uint_eq(set.chunks[ts_lines_before(&set, first, end, 4)], 3);
	ck_assert_uint_eq(set.chunks[ts_lines_before(&set, first, end, 9)], 5);
	ck_assert_uint_eq(set.chunks[ts_lines_before(&set, first, end, UINT32_MAX)], 9);
}
END_TEST

START_TEST(a_set_without_touches_holds_nothing)
{
	uint32_t first, end;

	ck_assert(ts_lines_seal(&set, &touches, pages, 0, NULL));
	ck_assert(!ts_lines_find(&set, 0, &first, &end));
	ck_assert_uint_eq(ts_lines_next(&set, 0, UINT64_MAX, 0), UINT32_MAX);
	ck_assert_uint_eq(ts_lines_prev(&set, 0, UINT64_MAX, 4095), UINT32_MAX);
}
END_TEST

UNIT_FIXTURE_SUITE("lines", setup, teardown, next_and_previous_chunk_of_any_range_are_those_of_the_table,
		   a_line_holds_its_chunks_in_order_and_each_touch_knows_its_slot,
		   a_line_that_was_not_touched_is_not_found, the_item_before_a_chunk_is_the_newest_one_below_it,
		   a_set_without_touches_holds_nothing)
