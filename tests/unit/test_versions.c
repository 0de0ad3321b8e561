/* SPDX-License-Identifier: MIT */
/*
 * Versions of lines against a plain table of what was noted: every form, more versions a line than a block
 * has, bytes that become unknown.
 */
#include "unit.h"

#include "src/timeline/space/versions.h"

#include <stdlib.h>
#include <string.h>

#define N_PAGES 3
#define N_CHUNKS 256
#define LINES_USED 5

/* Ordinals of the noter are not in the order of addresses. */
static const uint64_t page_addrs[N_PAGES] = { 0x70, 0x3, UINT64_MAX >> TS_PAGE_BITS };
static const uint8_t lines_used[LINES_USED] = { 0, 7, 63, 64, 255 };

/* What was noted. */
struct noted {
	bool is_there;
	struct ts_version v;
};
static struct noted table[N_PAGES][LINES_USED][N_CHUNKS];

static uint32_t rnd(uint32_t n)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x % n;
}

/* Go on from @v as a chunk might: some bytes change, or all, or all to one value; a few become unknown. */
static void change(struct ts_version *v)
{
	uint8_t fill = (uint8_t)rnd(256);
	unsigned kind = rnd(4);

	v->changed = kind == 0 ? UINT16_MAX : (uint16_t)(1 + rnd(UINT16_MAX));
	if (kind == 1)
		v->changed = (uint16_t)(1u << rnd(16));
	for (unsigned i = 0; i < TS_LINE_LEN; i++) {
		if (!(v->changed >> i & 1))
			continue;
		v->data[i] = kind == 0 && fill & 1 ? fill : (uint8_t)rnd(256);
		v->known = rnd(8) ? v->known | (uint16_t)(1u << i) : v->known & (uint16_t)~(1u << i);
	}
	if (kind == 0)
		v->known = UINT16_MAX;
}

/* Lines of page 0 and 1 change in half of the chunks, those of page 2 in a few. */
static void fill_table(struct ts_changes *c)
{
	struct ts_version now[N_PAGES][LINES_USED] = { 0 };

	memset(table, 0, sizeof(table));
	for (unsigned chunk = 0; chunk < N_CHUNKS; chunk++) {
		for (unsigned p = 0; p < N_PAGES; p++) {
			for (unsigned l = 0; l < LINES_USED; l++) {
				struct noted *n = &table[p][l][chunk];

				if (rnd(p == 2 ? 64 : 2))
					continue;
				change(&now[p][l]);
				n->is_there = true;
				n->v = now[p][l];
				ck_assert(ts_changes_add(c, p, lines_used[l], (uint16_t)chunk, &n->v, NULL));
			}
		}
	}
}

static uint64_t addr_of(unsigned page, unsigned line)
{
	return page_addrs[page] << TS_PAGE_BITS | (uint64_t)lines_used[line] << TS_LINE_BITS;
}

static void setup(struct ts_versions *set)
{
	struct ts_changes c = { 0 };

	fill_table(&c);
	ck_assert(ts_versions_seal(set, &c, page_addrs, N_PAGES));
	ts_changes_fini(&c);
}

/* The last version below @until, NULL if there is none. */
static const struct noted *newest(unsigned page, unsigned line, uint32_t until)
{
	while (until--) {
		if (table[page][line][until].is_there)
			return &table[page][line][until];
	}
	return NULL;
}

/* The bytes changed in chunks [from, until). */
static uint16_t changed_in(unsigned page, unsigned line, uint32_t from, uint32_t until)
{
	uint16_t bytes = 0;

	for (; from < until; from++)
		bytes |= table[page][line][from].is_there ? table[page][line][from].v.changed : 0;
	return bytes;
}

static void check_read(const struct ts_versions *set, unsigned page, unsigned line, uint32_t from,
		       uint32_t until)
{
	const struct noted *want = newest(page, line, until);
	uint16_t changed = changed_in(page, line, from, until);
	struct ts_version v;

	ck_assert_int_eq(ts_versions_read(set, addr_of(page, line), from, until, &v), want != NULL);
	if (!want)
		return;
	ck_assert_uint_eq(v.known & changed, want->v.known & changed);
	ck_assert_uint_eq(v.known & ~want->v.known, 0);
	for (unsigned i = 0; i < TS_LINE_LEN; i++) {
		if (v.known >> i & 1)
			ck_assert_uint_eq(v.data[i], want->v.data[i]);
	}
	if (!changed)
		ck_assert_uint_eq(v.known, 0);
}

START_TEST(a_line_reads_back_as_each_chunk_left_it)
{
	struct ts_versions set;

	setup(&set);
	for (unsigned p = 0; p < N_PAGES; p++) {
		for (unsigned l = 0; l < LINES_USED; l++) {
			for (uint32_t until = 0; until <= N_CHUNKS; until++)
				check_read(&set, p, l, 0, until);
		}
	}
	ts_versions_fini(&set);
}
END_TEST

START_TEST(what_lies_before_the_first_chunk_asked_for_does_not_show)
{
	struct ts_versions set;

	setup(&set);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t until = rnd(N_CHUNKS + 1);

		check_read(&set, rnd(N_PAGES), rnd(LINES_USED), rnd(until + 1), until);
	}
	ts_versions_fini(&set);
}
END_TEST

START_TEST(a_line_without_versions_is_not_there)
{
	struct ts_versions set;
	struct ts_version v;

	setup(&set);
	ck_assert(!ts_versions_read(&set, addr_of(0, 0) + TS_LINE_LEN, 0, N_CHUNKS, &v));
	ck_assert(!ts_versions_read(&set, addr_of(0, 0) - TS_LINE_LEN, 0, N_CHUNKS, &v));
	ts_versions_fini(&set);
	ck_assert(!ts_versions_read(&set, addr_of(0, 0), 0, N_CHUNKS, &v));
}
END_TEST

/* The chunk from @chunk on, in one direction, in which a byte of [addr, last] was changed. */
static uint32_t walk_to_change(uint64_t addr, uint64_t last, uint32_t chunk, int way)
{
	for (; chunk < N_CHUNKS; chunk += (uint32_t)way) {
		for (unsigned p = 0; p < N_PAGES; p++) {
			for (unsigned i = 0; i < LINES_USED * TS_LINE_LEN; i++) {
				const struct noted *n = &table[p][i / TS_LINE_LEN][chunk];
				uint64_t byte = addr_of(p, i / TS_LINE_LEN) + i % TS_LINE_LEN;

				if (byte >= addr && byte <= last && n->is_there &&
				    n->v.changed >> i % TS_LINE_LEN & 1)
					return chunk;
			}
		}
	}
	return UINT32_MAX;
}

START_TEST(next_and_previous_change_are_exact_to_the_byte)
{
	struct ts_versions set;

	setup(&set);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t addr = addr_of(rnd(N_PAGES), rnd(LINES_USED)) + rnd(TS_LINE_LEN),
			 last = addr + rnd(3);
		uint32_t chunk = rnd(N_CHUNKS);

		if (last < addr)
			last = UINT64_MAX;
		ck_assert_uint_eq(ts_lines_find_touch(&set.lines, set.changed, addr, last, chunk, TS_FORWARDS),
				  walk_to_change(addr, last, chunk, 1));
		ck_assert_uint_eq(ts_lines_find_touch(&set.lines, set.changed, addr, last, chunk, TS_BACKWARDS),
				  walk_to_change(addr, last, chunk, -1));
	}
	ts_versions_fini(&set);
}
END_TEST

/* What a reader sees of line 0 before chunk @until: '?' lost, '.' nothing known, else the byte. */
static const char *shown(const struct ts_versions *set, uint32_t from, uint32_t until)
{
	static char text[4];
	struct ts_version v;

	if (!ts_versions_read(set, page_addrs[0] << TS_PAGE_BITS, from, until, &v))
		return "none";
	for (unsigned i = 0; i < 3; i++)
		text[i] = v.lost >> i & 1 ? '?' : v.known >> i & 1 ? (char)v.data[i] : '.';
	return text;
}

START_TEST(lost_bytes_are_completed_back_to_the_chunk_that_lost_them)
{
	/* byte 1 is lost by chunks 1 and 3, byte 2 by chunk 0 */
	static const struct ts_version noted[] = {
		{ .known = 7, .lost = 4, .changed = 7, .data = "ab" },
		{ .known = 3, .lost = 6, .changed = 2, .data = "a" },
		{ .known = 1, .lost = 6, .changed = 1, .data = "c" },
		{ .known = 3, .lost = 6, .changed = 2, .data = "c" },
		{ .known = 1, .lost = 6, .changed = 1, .data = "d" },
	};
	uint8_t seen[TS_LINE_LEN] = "xyz";
	struct ts_changes c = { 0 };
	uint32_t chain = 0;
	struct ts_versions set;
	uint16_t mask = 2;

	for (uint16_t i = 0; i < 5; i++)
		ck_assert(ts_changes_add(&c, 0, 0, i, &noted[i], &chain));
	ts_changes_complete(&c, chain, seen, &mask);
	ck_assert_uint_eq(mask, 0);
	ck_assert(ts_versions_seal(&set, &c, page_addrs, 1));
	ts_changes_fini(&c);
	ck_assert_str_eq(shown(&set, 0, 1), "ab?");
	ck_assert_str_eq(shown(&set, 0, 2), "a??");
	ck_assert_str_eq(shown(&set, 0, 3), "c??");
	ck_assert_str_eq(shown(&set, 0, 4), "cy?");
	ck_assert_str_eq(shown(&set, 0, 5), "dy?");
	ck_assert_str_eq(shown(&set, 5, 5), "...");
	mask = 4;
	ts_versions_complete(&set, page_addrs[0] << TS_PAGE_BITS, seen, &mask);
	ck_assert_uint_eq(mask, 0);
	ck_assert_str_eq(shown(&set, 0, 1), "abz");
	ck_assert_str_eq(shown(&set, 0, 2), "a?z");
	ck_assert_str_eq(shown(&set, 0, 5), "dyz");
	ts_versions_fini(&set);
}
END_TEST

START_TEST(bytes_lost_before_the_set_leave_the_mask_as_it_is)
{
	struct ts_version v = { .lost = 1, .changed = 2, .known = 2 };
	uint8_t seen[TS_LINE_LEN] = "x";
	struct ts_changes c = { 0 };
	struct ts_versions set;
	uint32_t chain = 0;
	uint16_t mask = 1;

	ck_assert(ts_changes_add(&c, 0, 0, 9, &v, &chain));
	ck_assert(ts_versions_seal(&set, &c, page_addrs, 1));
	ts_changes_fini(&c);
	ts_versions_complete(&set, page_addrs[0] << TS_PAGE_BITS, seen, &mask);
	ck_assert_uint_eq(mask, 1);
	ck_assert_int_eq(shown(&set, 0, 10)[0], 'x');
	ts_versions_complete(&set, page_addrs[1] << TS_PAGE_BITS, seen, &mask);
	ck_assert_uint_eq(mask, 1);
	ts_versions_fini(&set);
}
END_TEST

/* Bytes that a line costs beyond the set's own when chunks change it to what @data says. */
static size_t cost(uint16_t changed, const uint8_t *data)
{
	struct ts_changes c = { 0 };
	struct ts_versions set;
	struct ts_version v = { .known = UINT16_MAX, .changed = changed };
	size_t len;

	memcpy(v.data, data, TS_LINE_LEN);
	for (unsigned i = 0; i < 64; i++)
		ck_assert(ts_changes_add(&c, 0, 0, (uint16_t)i, &v, NULL));
	ck_assert(ts_versions_seal(&set, &c, page_addrs, 1));
	len = ts_versions_mem(&set);
	ts_versions_fini(&set);
	ts_changes_fini(&c);
	return len;
}

START_TEST(a_version_costs_what_was_changed)
{
	static const uint8_t zeros[TS_LINE_LEN], text[] = "sixteen letters.";
	size_t one_byte = cost(1, text), half = cost(0xff, text), full = cost(UINT16_MAX, text);

	/* 60 of the 64 are no block's first */
	ck_assert_uint_eq(half - one_byte, 60 * 7);
	ck_assert_uint_eq(full - one_byte, 60 * (1 + 16 - 1));
	ck_assert_uint_eq(full - cost(UINT16_MAX, zeros), 64 * 15);
}
END_TEST

UNIT_SUITE("versions", lost_bytes_are_completed_back_to_the_chunk_that_lost_them,
	   bytes_lost_before_the_set_leave_the_mask_as_it_is, a_line_reads_back_as_each_chunk_left_it,
	   what_lies_before_the_first_chunk_asked_for_does_not_show, a_line_without_versions_is_not_there,
	   next_and_previous_change_are_exact_to_the_byte, a_version_costs_what_was_changed)
