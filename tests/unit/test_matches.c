/* SPDX-License-Identifier: MIT */
/*
 * Matches beside a plain list of intervals: they are told once, in order of begin and address, and none that a
 * later one could come before.
 */
#include "unit.h"

#include <stdlib.h>

#include "script.h"
#include "src/ask/find/matches.h"
#include "src/trace/step.h"

#define LEN     3u
#define N_ADDRS 40u
#define BASE    UINT64_C(0xffffffffffff0000) /* blocks at the end of the address space are counted, too */
#define N_POS   300u
#define MAX     4000u

struct twin {
	struct ts_match all[MAX]; /* in order of begin */
	size_t n;
	int64_t open[N_ADDRS]; /* the match that stands at an address, -1: none */
};

static uint64_t addr_at(unsigned i)
{
	return BASE + i * 37u;
}

static void toggle(struct ts_matches *m, struct twin *t, unsigned i, uint64_t pos)
{
	if (t->open[i] >= 0) {
		ts_matches_end(m, addr_at(i), pos);
		t->all[t->open[i]].end = pos;
		t->open[i] = -1;
		return;
	}
	t->all[t->n] = (struct ts_match){
		.addr = addr_at(i),
		.begin = pos,
		.end = TS_NO_POS,
		.pc = pos * 5 + i,
		.thread = i % 3,
		.kind = pos ? TS_MATCH_WRITE : TS_MATCH_START,
	};
	ck_assert(ts_matches_begin(m, &t->all[t->n]));
	t->open[i] = (int64_t)t->n++;
}

static int compare(const void *a, const void *b)
{
	const struct ts_match *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Those of the list that stood at a position, and began at [from, to), in order. */
static size_t wanted(const struct twin *t, uint64_t from, uint64_t to, struct ts_match *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->all[i].begin >= from && t->all[i].begin < to && t->all[i].begin != t->all[i].end)
			out[n++] = t->all[i];
	}
	qsort(out, n, sizeof(*out), compare);
	return n;
}

/* Take what is settled; each has to begin before @settled. */
static size_t tell(struct ts_matches *m, uint64_t from, uint64_t settled, struct ts_match *told, size_t n)
{
	const struct ts_match *match;

	for (;;) {
		ck_assert(ts_matches_next(m, from, settled, &match));
		if (!match)
			return n;
		ck_assert(!match->begin || match->begin < settled);
		told[n++] = *match;
		ts_matches_pass(m);
	}
}

static void check_overlaps(const struct ts_matches *m, const struct twin *t, struct script_random *rnd)
{
	uint64_t first = BASE + script_below(rnd, 37 * N_ADDRS), last = first + script_below(rnd, 300);
	bool is_there = false;

	for (unsigned i = 0; i < N_ADDRS; i++) {
		uint64_t addr = addr_at(i);

		ck_assert_int_eq(ts_matches_stands(m, addr), t->open[i] >= 0);
		ck_assert(t->open[i] < 0 || ts_matches_has_block(m, addr));
		is_there |= t->open[i] >= 0 && addr <= last && addr + (LEN - 1) >= first;
	}
	ck_assert(!is_there || ts_matches_may_overlap(m, first, last));
}

/* What stands at position 0 is found in order of address, and only once. */
static void begin_at_0(struct ts_matches *m, struct twin *t, struct script_random *rnd)
{
	for (unsigned i = 0; i < N_ADDRS; i++) {
		t->open[i] = -1;
		if (script_chance(rnd, 30))
			toggle(m, t, i, 0);
	}
}

START_TEST(they_are_told_in_order_as_soon_as_they_are_settled)
{
	struct script_random rnd = { (uint64_t)_i };
	uint64_t from = _i % 3 ? 0 : script_below(&rnd, N_POS);
	static struct ts_match told[MAX], want[MAX];
	struct ts_matches m = { .len = LEN };
	static struct twin t;
	size_t n, n_want;

	t.n = 0;
	begin_at_0(&m, &t, &rnd);
	n = tell(&m, from, 0, told, 0);
	ck_assert_uint_eq(n, from ? 0 : t.n);
	for (uint64_t pos = 1; pos < N_POS; pos++) {
		for (unsigned k = (unsigned)script_below(&rnd, 8); k && t.n < MAX; k--)
			toggle(&m, &t, (unsigned)script_below(&rnd, N_ADDRS), pos);
		check_overlaps(&m, &t, &rnd);
		if (script_chance(&rnd, 70))
			continue;
		n = tell(&m, from, pos, told, n);
		ck_assert_uint_eq(n, wanted(&t, from, pos, want));
	}
	n = tell(&m, from, N_POS, told, n);
	n_want = wanted(&t, from, N_POS, want);
	ck_assert_uint_eq(n, n_want);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(told[i].addr, want[i].addr);
		ck_assert_uint_eq(told[i].begin, want[i].begin);
		ck_assert_uint_eq(told[i].pc, want[i].pc);
		ck_assert_uint_eq(told[i].thread, want[i].thread);
		ck_assert_int_eq(told[i].kind, want[i].kind);
	}
	ts_matches_fini(&m);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("matches");
	TCase *tc = tcase_create("matches");

	tcase_add_loop_test(tc, they_are_told_in_order_as_soon_as_they_are_settled, 0, 30);
	suite_add_tcase(s, tc);
	return s;
}
