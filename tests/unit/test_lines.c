/* SPDX-License-Identifier: MIT */
/*
 * In which chunks lines were touched, against a plain table of lines and chunks.
 */
#include "unit.h"

#include "script.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "src/timeline/space/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The noter's pages: not in order, at both ends, neighbours and strangers. */
static const uint64_t pages[] = { UINT64_MAX >> TS_PAGE_BITS, 7, 0, 8, 0x7ffff, 1 };
#define N_PAGES 6
#define N_CHUNKS 60

static uint16_t touched[N_PAGES][TS_PAGE_LINES][N_CHUNKS]; /* bytes of each line */
static struct ts_touches touches;
static struct ts_lines set;

static void setup(void)
{
	memset(touched, 0, sizeof(touched));
	touches = (struct ts_touches){ 0 };
	set = (struct ts_lines){ 0 };
}

static void teardown(void)
{
	ts_touches_fini(&touches);
	ts_lines_fini(&set);
}

static void touch(uint32_t page, unsigned line, unsigned chunk, uint16_t bytes)
{
	touched[page][line][chunk] = bytes;
	if (!ts_touches_add(&touches, page, (uint8_t)line, (uint16_t)chunk, bytes))
		ck_abort_msg("no memory");
}

/* Touches of few lines, at most one a line and chunk, as a space notes them. */
static void touch_at_random(struct script_random *r)
{
	for (unsigned chunk = 0; chunk < N_CHUNKS; chunk++) {
		for (unsigned n = (unsigned)script_below(r, 20); n; n--) {
			uint32_t page = (uint32_t)script_below(r, N_PAGES);
			unsigned line = (unsigned)script_below(r, 4) * 63 + (unsigned)script_below(r, 3);

			if (!touched[page][line][chunk])
				touch(page, line, chunk, (uint16_t)(1 + script_below(r, UINT16_MAX)));
		}
	}
}

static uint64_t line_addr(uint32_t page, unsigned line)
{
	return pages[page] << TS_PAGE_BITS | line << TS_LINE_BITS;
}

/* Was a quarter of a line that overlaps the range touched in the chunk? */
static bool is_any_touched(uint64_t addr, uint64_t last, unsigned chunk)
{
	for (uint32_t page = 0; page < N_PAGES; page++) {
		for (unsigned i = 0; i < TS_PAGE_LINES * 4; i++) {
			uint64_t quarter = line_addr(page, i / 4) + i % 4 * 4;

			if (touched[page][i / 4][chunk] >> i % 4 * 4 & 0xf && quarter <= last &&
			    quarter + 3 >= addr)
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
	ck_assert_uint_eq(ts_lines_find_touch(&set, NULL, addr, last, chunk, TS_FORWARDS), next < N_CHUNKS ? next : UINT32_MAX);
	ck_assert_uint_eq(ts_lines_find_touch(&set, NULL, addr, last, chunk, TS_BACKWARDS), prev ? prev - 1 : UINT32_MAX);
}

START_TEST(next_and_previous_chunk_of_any_range_are_those_of_the_table)
{
	struct script_random r = { 3 };

	touch_at_random(&r);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t addr = line_addr((uint32_t)script_below(&r, N_PAGES),
					  (unsigned)script_below(&r, TS_PAGE_LINES));
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
	uint32_t *slots, line;
	size_t n;

	touch_at_random(&r);
	n = touches.n;
	ck_assert_uint_le(n, 2000);
	memcpy(noted, touches.items, n * sizeof(*noted));
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, &slots));
	ck_assert_uint_eq(touches.n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert(ts_lines_find(&set, line_addr(noted[i].page, noted[i].line), &line));
		ck_assert(slots[i] >= set.first[line] && slots[i] < set.first[line + 1]);
		ck_assert_uint_eq(ts_lines_chunk(&set, slots[i]), noted[i].chunk);
		for (uint32_t item = set.first[line] + 1; item < set.first[line + 1]; item++)
			ck_assert_uint_lt(ts_lines_chunk(&set, item - 1), ts_lines_chunk(&set, item));
	}
	free(slots);
}
END_TEST

START_TEST(a_line_that_was_not_touched_is_not_found)
{
	uint32_t line;

	touch(1, 9, 0, 1);
	touch(1, 255, 1, 1);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	ck_assert(ts_lines_find(&set, line_addr(1, 9) + 15, &line));
	ck_assert(!ts_lines_find(&set, line_addr(1, 8), &line));
	ck_assert(!ts_lines_find(&set, line_addr(1, 10), &line));
	ck_assert(!ts_lines_find(&set, line_addr(3, 9), &line));
	ck_assert(!ts_lines_find(&set, line_addr(2, 9), &line));
}
END_TEST

START_TEST(the_item_before_a_chunk_is_the_newest_one_below_it)
{
	uint32_t line, first, end;

	touch(2, 0, 3, 1);
	touch(2, 0, 5, 1);
	touch(2, 0, 9, UINT16_MAX);
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	ck_assert(ts_lines_find(&set, 0, &line));
	first = set.first[line];
	end = set.first[line + 1];
	ck_assert_uint_eq(ts_lines_before(&set, first, end, 3), end);
	ck_assert_uint_eq(ts_lines_chunk(&set, ts_lines_before(&set, first, end, 4)), 3);
	ck_assert_uint_eq(ts_lines_chunk(&set, ts_lines_before(&set, first, end, 9)), 5);
	ck_assert_uint_eq(ts_lines_chunk(&set, ts_lines_before(&set, first, end, UINT32_MAX)), 9);
}
END_TEST

START_TEST(a_set_without_touches_holds_nothing)
{
	uint32_t line;

	ck_assert(ts_lines_seal(&set, &touches, pages, 0, NULL));
	ck_assert(!ts_lines_find(&set, 0, &line));
	ck_assert_uint_eq(ts_lines_find_touch(&set, NULL, 0, UINT64_MAX, 0, TS_FORWARDS), UINT32_MAX);
	ck_assert_uint_eq(ts_lines_find_touch(&set, NULL, 0, UINT64_MAX, 4095, TS_BACKWARDS), UINT32_MAX);
}
END_TEST

/* The set, from an index file of one record. */
static struct ts_index_file *save_and_load(struct ts_lines *loaded, struct ts_index_pool **pool)
{
	static const struct ts_index_key key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };
	struct ts_error err = { 0 };
	struct ts_index_file *f = ts_index_create("lines.tsindex", &key, &err);
	struct ts_index_arrays a;

	ck_assert_msg(f, "%s", err.text);
	ts_index_begin(f, 1);
	ts_index_section(f, 1, 0);
	ts_lines_save(&set, f);
	ck_assert(ts_index_commit(f, N_CHUNKS, true, &err));
	a = ts_index_find(f, 0, 1, 0);
	ck_assert(ts_lines_load(loaded, &a, N_CHUNKS));
	*pool = a.blocks->pool;
	return f;
}

START_TEST(a_line_of_which_other_bytes_were_touched_is_passed_without_unpacking)
{
	uint64_t addr = line_addr(1, 100);
	struct ts_lines loaded;
	struct ts_index_pool *pool;
	struct ts_index_file *f;

	for (unsigned chunk = 0; chunk < N_CHUNKS; chunk++) {
		for (unsigned line = 0; line < TS_PAGE_LINES; line++)
			touch(1, line, chunk, 0x000f);
	}
	ck_assert(ts_lines_seal(&set, &touches, pages, N_PAGES, NULL));
	f = save_and_load(&loaded, &pool);
	ck_assert_uint_eq(ts_lines_find_touch(&loaded, NULL, addr + 8, addr + 15, N_CHUNKS - 1, TS_BACKWARDS), UINT32_MAX);
	ck_assert_uint_eq(ts_lines_find_touch(&loaded, NULL, addr + 4, addr + 15, 0, TS_FORWARDS), UINT32_MAX);
	ck_assert_uint_eq(pool->n_unpacked, 0);
	ck_assert_uint_eq(ts_lines_find_touch(&loaded, NULL, addr, addr, N_CHUNKS - 1, TS_BACKWARDS), N_CHUNKS - 1);
	ck_assert_uint_gt(pool->n_unpacked, 0);
	ts_lines_fini(&loaded);
	ts_index_close(f);
	remove("lines.tsindex.part");
}
END_TEST

/*
 * Only a file that lies has such pages: the second is the first one again, with a line before those asked for.
 * All its blocks are as they were written.
 */
START_TEST(pages_that_do_not_ascend_are_damage)
{
	static struct {
		struct ts_line_page pages[2];
		uint32_t first[3];
		uint16_t bytes[2], items[2];
	} in_file = { .pages = { { .page = 7, .has = { 1 << 4 } }, { .page = 7, .has = { 1 }, .first = 1 } },
		      .first = { 0, 1, 2 },
		      .bytes = { UINT16_MAX, UINT16_MAX },
		      .items = { 0xf << TS_ITEM_CHUNK_BITS | 2, 0xf << TS_ITEM_CHUNK_BITS | 1 } };
	static struct ts_index_pool pool;
	_Atomic uint8_t states[] = { TS_INDEX_BLOCK_IS_READY };
	struct ts_index_blocks blocks = { .pool = &pool, .start = (const uint8_t *)&in_file, .states = states };
	const struct ts_lines lies = { .file = &blocks,
				       .n_chunks = 3,
				       .pages = in_file.pages,
				       .n_pages = 2,
				       .first = in_file.first,
				       .n_lines = 2,
				       .touched = in_file.bytes,
				       .items = in_file.items,
				       .n_items = 2 };
	uint64_t addr = (7 << TS_PAGE_BITS) + 2 * TS_LINE_LEN;

	ck_assert_uint_eq(ts_lines_find_touch(&lies, NULL, addr, addr + TS_LINE_LEN, 0, TS_FORWARDS), UINT32_MAX);
	ck_assert(!pool.is_damaged);
	ck_assert_uint_eq(ts_lines_find_touch(&lies, NULL, addr, addr + 8 * TS_LINE_LEN, 0, TS_FORWARDS), 2);
	ck_assert(pool.is_damaged);
}
END_TEST

UNIT_FIXTURE_SUITE("lines", setup, teardown, next_and_previous_chunk_of_any_range_are_those_of_the_table,
		   a_line_holds_its_chunks_in_order_and_each_touch_knows_its_slot,
		   a_line_that_was_not_touched_is_not_found,
		   the_item_before_a_chunk_is_the_newest_one_below_it, a_set_without_touches_holds_nothing,
		   a_line_of_which_other_bytes_were_touched_is_passed_without_unpacking,
		   pages_that_do_not_ascend_are_damage)
