/* SPDX-License-Identifier: MIT */
/*
 * Watchpoints at virtual addresses and filters, on random machines: two processes share four frames of
 * memory, their tables change all the time, and every search is compared with a walk over all steps.  Chunks
 * are tiny.
 */
#include "unit.h"

#include "machine.h"
#include "src/query/paging.h"
#include "src/query/search/search.h"
#include "src/timeline/timeline.h"

#include <string.h>

#define N_STEPS 200u
#define N_SEARCHES 30u
#define MEM_LEN 0x50000u
#define FRAMES 0x40000u
#define N_FRAMES 4u
#define N_PAGES 4u
#define PCS 0x7000u

/*
 * Each process has a table of each level, one behind the other from its root on; pages lie at virtual
 * addresses 0 to 0x3fff.
 */
static const uint64_t roots[2] = { 0x10000, 0x20000 };

struct state {
	uint8_t mem[MEM_LEN];
	uint64_t cr3;
	bool is_user;
};

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;
static struct script_random rnd;
static struct state first, now;

static struct ts_watch watches[2];
static struct ts_break breaks[1];
static struct ts_filter filter;
static struct ts_stops stops;

/* What the walk over all steps finds out of each. */
static unsigned triggers[N_STEPS];  /* the watchpoints that it triggers, as a mask */
static bool admitted[N_STEPS + 1];  /* positions */
static uint64_t pcs[N_STEPS + 1];
static uint64_t pages[N_STEPS]
		     [N_PAGES + 2]; /* where the pages lie, and those behind them, before each step */
static uint64_t hit_step;           /* of the watchpoint that was found last */

static uint64_t below(uint64_t n)
{
	return script_below(&rnd, n);
}

/* -------------------------------------------------------------------------------------------- the machine */

static uint64_t get64(const struct state *st, uint64_t addr)
{
	uint64_t v = 0;

	for (unsigned i = 8; i-- > 0;)
		v = v << 8 | st->mem[addr + i];
	return v;
}

/* The processor's walk; UINT64_MAX: not mapped. */
static uint64_t physical(const struct state *st, uint64_t va)
{
	uint64_t e = st->cr3;

	for (unsigned shift = 39; shift >= 12; shift -= 9) {
		e = get64(st, (e & UINT64_C(0xffffff000)) + 8 * (va >> shift & 511));
		if (!(e & 1))
			return UINT64_MAX;
	}
	return (e & UINT64_C(0xffffff000)) + (va & 0xfff);
}

static void put(struct ts_steps *to, struct state *st, uint64_t addr, uint64_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		st->mem[addr + i] = (uint8_t)(value >> 8 * i);
	machine_put(to, addr, value, len);
}

static uint64_t random_entry(void)
{
	return below(5) ? (FRAMES + 0x1000 * below(N_FRAMES)) | 1 : 0;
}

static void make_initial(void)
{
	struct ts_steps *to = &s->rec.initial;

	machine_long_mode(s, roots[0]);
	first = (struct state){ .cr3 = roots[0], .is_user = true };
	ts_steps_value(to, TS_FX_WRITE, 0, first.mem, MEM_LEN);
	for (unsigned p = 0; p < 2; p++) {
		for (unsigned level = 0; level < 3; level++)
			put(to, &first, roots[p] + 0x1000 * level, (roots[p] + 0x1000 * (level + 1)) | 1, 8);
		for (unsigned page = 0; page < N_PAGES; page++)
			put(to, &first, roots[p] + 0x3000 + 8 * page, random_entry(), 8);
	}
}

/* A write, or a read if the machine has them, near the ends of frames, where watchpoints are. */
static void make_access(struct ts_steps *to)
{
	uint64_t addr = FRAMES + 0x1000 * below(N_FRAMES) + 0xff0 + below(16);
	unsigned len = 1 + (unsigned)below(8);

	if (addr + len > FRAMES + 0x1000 * N_FRAMES)
		len = 1;
	if (below(4))
		machine_put(to, addr, below(3) * UINT64_C(0x0101010101010101), len);
	else
		ts_steps_effect(to, TS_FX_READ, addr, len);
}

static void make_step(void)
{
	struct ts_steps *to = &s->steps;
	uint64_t root = roots[below(2)];
	uint64_t what = below(100);

	if (what < 50)
		make_access(to);
	else if (what < 60)
		machine_put(to, root + 0x3000 + 8 * below(N_PAGES), random_entry(), 8);
	else if (what < 64)
		machine_put(to, root + 0x1000 * below(3), 0, 1); /* a whole table is gone */
	else if (what < 70)
		machine_put(to, root + 0x1000 * below(3), 0x67, 1);
	else if (what < 78)
		machine_reg(to, s, "cr3", root);
	else if (what < 88)
		machine_reg(to, s, "cs", below(2) ? USER_CS : KERNEL_CS);
	if (what >= 60)
		make_access(to);
	machine_step(s, PCS + 16 * below(8));
}

static void open_questions(void)
{
	q = script_query(s, &tl, &err);
	ck_assert_msg(q, "%s", err.text);
}

static void build(uint64_t seed)
{
	rnd.state = seed;
	s = machine_new(40);
	s->rec.has_reads = true;
	make_initial();
	for (unsigned i = 0; i < N_STEPS; i++)
		make_step();
	open_questions();
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
	q = NULL;
	tl = NULL;
	s = NULL;
}

/* -------------------------------------------------------------------------------- the walk over all steps */

static bool is_hit(const struct ts_watch *w, const struct ts_effect *e, const uint8_t *value,
		   const struct state *before, const uint64_t *places)
{
	for (uint64_t va = w->addr; va < w->addr + w->len; va++) {
		uint64_t phys = places[va / 0x1000] + va % 0x1000;

		if (places[va / 0x1000] == UINT64_MAX || phys < e->addr || phys - e->addr >= e->len)
			continue;
		if (e->kind == TS_FX_READ ? w->kind != TS_WATCH_WRITE : w->kind == TS_WATCH_ACCESS)
			return true;
		if (e->kind == TS_FX_WRITE && w->kind == TS_WATCH_WRITE &&
		    before->mem[phys] != value[phys - e->addr])
			return true;
	}
	return false;
}

static void take_effect(const struct ts_effect *e, const uint8_t *value)
{
	const struct ts_reg *cr3 = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, "cr3")];

	if (e->kind == TS_FX_WRITE)
		memcpy(now.mem + e->addr, value, e->len);
	else if (e->kind == TS_FX_REG_WRITE && e->addr == cr3->off)
		now.cr3 = value[2] == 1 ? roots[0] : roots[1];
	else if (e->kind == TS_FX_REG_WRITE)
		now.is_user = (value[0] & 3) == 3;
}

static bool is_admitted(void)
{
	return (!stops.filter || !filter.has_user || now.is_user) &&
	       (!stops.filter || !filter.has_root || now.cr3 == filter.root);
}

static void walk(void)
{
	now = first;
	for (uint64_t i = 0; i < N_STEPS; i++) {
		const struct ts_step *st = &s->steps.steps[i];

		for (unsigned page = 0; page < N_PAGES + 2; page++)
			pages[i][page] = physical(&now, 0x1000 * page);
		triggers[i] = 0;
		admitted[i] = is_admitted();
		pcs[i] = st->pc;
		for (uint32_t j = 0; j < st->n_effects; j++) {
			const struct ts_effect *e = &s->steps.effects[st->first + j];

			for (unsigned k = 0; k < stops.n_watches; k++)
				triggers[i] |= (unsigned)is_hit(&watches[k], e, ts_effect_data(&s->steps, e),
								&now, pages[i])
					       << k;
			take_effect(e, ts_effect_data(&s->steps, e));
		}
	}
	admitted[N_STEPS] = is_admitted();
	pcs[N_STEPS] = tl->end_pc;
}

/* The stop that is nearest to @pos on the way to @limit. */
static struct ts_found nearest(uint64_t pos, uint64_t limit)
{
	bool is_reverse = limit < pos;

	while (pos != limit) {
		uint64_t step = is_reverse ? pos - 1 : pos;
		bool is_watch = admitted[step] && triggers[step];

		pos = is_reverse ? pos - 1 : pos + 1;
		while (is_watch && !is_reverse && pos < limit && !admitted[pos])
			pos++; /* what lies between does not count */
		hit_step = step;
		if (is_watch)
			return (struct ts_found){ .pos = pos, .kind = TS_STOP_WATCH };
		if (stops.n_breaks && admitted[pos] && pcs[pos] == breaks[0].addr)
			return (struct ts_found){ .pos = pos, .kind = TS_STOP_BREAK };
	}
	return (struct ts_found){ .pos = pos, .kind = TS_STOP_END };
}

/* ---------------------------------------------------------------------------------------------- comparing */

static void choose_stops(void)
{
	stops = (struct ts_stops){ .breaks = breaks, .watches = watches, .is_virtual = true };
	stops.n_watches = below(4) ? 1 + below(2) : 0;
	stops.n_breaks = below(2);
	for (size_t i = 0; i < stops.n_watches; i++) {
		watches[i].addr = 0x1000 * below(N_PAGES) + 0xff0 + below(16);
		watches[i].len = 1 + below(below(4) ? 8 : 0x1100);
		watches[i].kind = (enum ts_watch_kind)below(3);
	}
	breaks[0].addr = PCS + 16 * below(8);
	filter = (struct ts_filter){ .has_root = below(2), .root = roots[below(2)], .has_user = below(2) };
	stops.filter = below(2) ? &filter : NULL;
}

static struct ts_found search(uint64_t pos, uint64_t limit)
{
	struct ts_found found;
	struct ts_search se;
	enum ts_next next;

	ck_assert(ts_search_init(&se, q, &stops, pos, limit, &err));
	do {
		uint64_t reached = ts_search_reached(&se);

		ck_assert(limit < pos ? reached <= pos : reached >= pos);
		next = ts_search_run(&se, 1 + (unsigned)below(3), &found, &err);
	} while (next == TS_MORE);
	ck_assert_int_eq(next, TS_ITEM);
	ts_search_fini(&se);
	return found;
}

/* Does the step access the byte at that physical address? */
static bool is_touched(uint64_t step, uint64_t phys)
{
	const struct ts_step *st = &s->steps.steps[step];

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &s->steps.effects[st->first + i];

		if ((e->kind == TS_FX_WRITE || e->kind == TS_FX_READ) && phys >= e->addr &&
		    phys - e->addr < e->len)
			return true;
	}
	return false;
}

static void compare(uint64_t pos, uint64_t limit)
{
	struct ts_found want = nearest(pos, limit), got = search(pos, limit);

	ck_assert_msg(got.pos == want.pos && got.kind == want.kind,
		      "from %u to %u: stop %d at %u, but it is %d at %u", (unsigned)pos, (unsigned)limit,
		      got.kind, (unsigned)got.pos, want.kind, (unsigned)want.pos);
	if (got.kind != TS_STOP_WATCH)
		return;
	ck_assert_uint_lt(got.watch, stops.n_watches);
	ck_assert(got.addr >= watches[got.watch].addr &&
		  got.addr - watches[got.watch].addr < watches[got.watch].len);
	ck_assert(triggers[hit_step] >> got.watch & 1);
	ck_assert(is_touched(hit_step, pages[hit_step][got.addr / 0x1000] + got.addr % 0x1000));
}

START_TEST(a_search_finds_what_a_walk_over_all_steps_finds)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		build(seed);
		for (unsigned i = 0; i < N_SEARCHES; i++) {
			choose_stops();
			walk();
			compare(below(N_STEPS), N_STEPS);
			compare(1 + below(N_STEPS), 0);
			compare(below(N_STEPS + 1), below(N_STEPS + 1));
		}
		teardown();
	}
}
END_TEST

START_TEST(virtual_memory_is_what_the_processor_sees)
{
	build(100);
	choose_stops();
	now = first;
	for (uint64_t i = 0; i < N_STEPS; i++) {
		const struct ts_step *st = &s->steps.steps[i];

		for (uint64_t va = 0xffe; va < 0x1000 * N_PAGES; va += va % 4 == 1 ? 0xffd : 1) {
			uint64_t phys = physical(&now, va);
			uint8_t byte, known;

			ck_assert(ts_virtual_mem(q, i, 0, va, 1, &byte, &known, &err));
			ck_assert_uint_eq(known, phys != UINT64_MAX);
			ck_assert_uint_eq(byte, known ? now.mem[phys] : 0);
		}
		for (uint32_t j = 0; j < st->n_effects; j++) {
			const struct ts_effect *e = &s->steps.effects[st->first + j];

			take_effect(e, ts_effect_data(&s->steps, e));
		}
	}
}
END_TEST

START_TEST(physical_neighbours_with_a_hole_between_them_keep_their_addresses)
{
	s = machine_new(40);
	make_initial();
	machine_put(&s->rec.initial, roots[0] + 0x3008, FRAMES | PTE_P, 8);
	machine_put(&s->rec.initial, roots[0] + 0x3010, 0, 8);
	machine_put(&s->rec.initial, roots[0] + 0x3018, (FRAMES + 0x1000) | PTE_P, 8);
	machine_step(s, PCS);
	machine_put(&s->steps, FRAMES + 0x1002, 7, 1);
	machine_step(s, PCS);
	open_questions();
	watches[0] = (struct ts_watch){ 0, 0x1ff8, 0x1010, TS_WATCH_WRITE };
	stops = (struct ts_stops){ .watches = watches, .n_watches = 1, .is_virtual = true };
	ck_assert_uint_eq(search(0, 2).pos, 2);
	ck_assert_uint_eq(search(0, 2).addr, 0x3002);
}
END_TEST

START_TEST(a_breakpoint_that_does_not_count_is_passed_over_in_slices)
{
	struct ts_found found;
	struct ts_search se;
	unsigned n = 1;

	s = machine_new(40);
	machine_long_mode(s, roots[0]);
	for (unsigned i = 0; i < 500; i++) {
		machine_reg(&s->steps, s, "cs", KERNEL_CS);
		machine_step(s, PCS);
		machine_reg(&s->steps, s, "cs", USER_CS);
		machine_step(s, PCS + 16); /* the kernel's */
	}
	open_questions();
	filter = (struct ts_filter){ .has_user = true };
	breaks[0] = (struct ts_break){ 0, PCS + 16 };
	stops = (struct ts_stops){ .breaks = breaks, .n_breaks = 1, .filter = &filter };
	ck_assert(ts_search_init(&se, q, &stops, 0, 1000, &err));
	for (; ts_search_run(&se, 1, &found, &err) == TS_MORE; n++)
		ck_assert_uint_eq(ts_search_reached(&se), 0);
	ts_search_fini(&se);
	ck_assert_uint_gt(n, 3);
	ck_assert_int_eq(found.kind, TS_STOP_END);
	ck_assert_uint_eq(found.pos, 1000);
	breaks[0].addr = PCS;
	ck_assert_uint_eq(search(0, 1000).pos, 2);
	ck_assert_uint_eq(search(999, 0).pos, 998);
}
END_TEST

UNIT_FIXTURE_SUITE("places", NULL, teardown,
		   physical_neighbours_with_a_hole_between_them_keep_their_addresses,
		   a_breakpoint_that_does_not_count_is_passed_over_in_slices,
		   a_search_finds_what_a_walk_over_all_steps_finds,
		   virtual_memory_is_what_the_processor_sees)
