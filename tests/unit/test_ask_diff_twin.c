/* SPDX-License-Identifier: MIT */
/*
 * The differences between two random recordings are those that a naive twin of each finds.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_case.h"
#include "naive.h"
#include "script.h"
#include "src/ask/diff/diff.h"
#include "src/base/collections/vec.h"
#include "twins.h"

#define N_TWIN_STEPS 400
#define N_TWINS 120

/* One of two recordings, its twin, and which of its steps stand against one of the other. */
struct half {
	struct opened o;
	struct naive *nv;
	bool *is_alone; /* owned; by step */
	uint64_t n;
};

struct shown {
	uint64_t pos, end, pos2, end2;
	char kind[12], what[48];
};

static uint32_t thread_of(const struct half *h, uint64_t k)
{
	return h->o.s->steps.steps[k].thread;
}

/* Remove some steps, repeat some at other addresses, change some values. */
static void edit(struct script *s, struct script_random *rnd)
{
	struct ts_steps *b = &s->steps;
	unsigned n = (unsigned)script_below(rnd, 4);

	for (; n; n--) {
		uint32_t at = (uint32_t)script_below(rnd, b->n_steps - 30),
			 len = 1 + (uint32_t)script_below(rnd, 20);

		if (script_chance(rnd, 40)) {
			memmove(b->steps + at, b->steps + at + len,
				(b->n_steps - at - len) * sizeof(*b->steps));
			b->n_steps -= len;
		} else if (script_chance(rnd, 40)) {
			while (b->cap_steps < b->n_steps + len)
				ck_assert(ts_steps_grow_steps(b));
			memmove(b->steps + at + len, b->steps + at, (b->n_steps - at) * sizeof(*b->steps));
			b->n_steps += len;
			for (uint32_t i = 0; i < len; i++)
				b->steps[at + i].pc += 0x1000000;
		} else {
			b->data[script_below(rnd, b->n_data)] ^= 1;
		}
	}
}

static void half_init(struct half *h, uint64_t seed, struct script_random *edits, bool has_digests)
{
	h->o = (struct opened){ .has_digests = has_digests };
	h->o.s = script_random_new(seed, N_TWIN_STEPS);
	if (edits)
		edit(h->o.s, edits);
	h->n = h->o.s->steps.n_steps;
	h->nv = naive_new(h->o.s, false, false);
	h->is_alone = calloc(h->n + 1, 1);
	open_script(&h->o);
}

static void half_fini(struct half *h)
{
	naive_free(h->nv);
	free(h->is_alone);
	fini(&h->o);
}

static size_t list_rows(struct half *a, struct half *b, struct shown **out)
{
	struct ts_error err = { 0 };
	struct ts_rows *d = open_diff(a->o.q, b->o.q, false, &err);
	struct ts_row row;
	size_t n = 0, cap = 0;

	ck_assert_ptr_nonnull(d);
	*out = NULL;
	ts_row_init(&row);
	while (next_row(d, &row)) {
		struct shown *x;

		ck_assert(ts_vec_reserve(out, n, &cap, 1, sizeof(**out)));
		x = &(*out)[n++];
		*x = (struct shown){ row.cells[0].number,
				     row.cells[1].number,
				     row.cells[2].number,
				     row.cells[3].number,
				     "",
				     "" };
		snprintf(x->kind, sizeof(x->kind), "%s", ts_row_get(&row, 4));
		if (row.cells[8].kind == TS_CELL_TEXT)
			snprintf(x->what, sizeof(x->what), "%s", ts_row_get(&row, 8));
		ck_assert(n < 2 || (*out)[n - 2].pos <= x->pos);
		ts_row_reset(&row);
	}
	ts_row_fini(&row);
	ts_rows_close(d);
	return n;
}

static void mark_alone(struct half *h, uint32_t thread, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to && k < h->n; k++) {
		ck_assert_uint_eq(thread_of(h, k), thread);
		h->is_alone[k] = true;
	}
}

/* The step of the thread from @k on that stands against one of the other recording; n after the last. */
static uint64_t next_paired(const struct half *h, uint32_t thread, uint64_t k)
{
	while (k < h->n && (thread_of(h, k) != thread || h->is_alone[k]))
		k++;
	return k;
}

/* What a step did to a byte of memory. */
enum { WROTE = 1, WROTE_UNKNOWN = 2, WROTE_HIDDEN = 4 };

static unsigned wrote(const struct half *h, uint64_t k, uint64_t addr)
{
	const struct ts_steps *b = &h->o.s->steps;
	const struct ts_step *st = &b->steps[k];
	unsigned did = 0;
	uint32_t process = h->o.s->process_of[st->thread];
	uint32_t whose = st->thread;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if ((e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET) &&
		    addr - e->addr < e->len && did)
			did |= WROTE_UNKNOWN;
		if (e->kind != TS_FX_WRITE || addr - e->addr >= e->len)
			continue;
		if (whose == st->thread)
			did |= WROTE | (e->data == TS_NO_DATA ? WROTE_UNKNOWN : 0) | (e->is_hidden ? WROTE_HIDDEN : 0);
		else if (did && h->o.s->process_of[whose] == process) /* what it leaves is another thread's */
			did |= WROTE_UNKNOWN;
	}
	return did;
}

/*
 * Is the byte read by the step, or by the one after it?  What edits leave over may contradict what was
 * written: that is seen at the position of the step that shows it.
 */
static bool is_read(const struct half *h, uint64_t k, uint64_t addr)
{
	const struct ts_steps *b = &h->o.s->steps;
	bool found = false;

	for (uint64_t step = k; step < h->n && step <= k + 1; step++) {
		for (uint32_t i = 0; i < b->steps[step].n_effects; i++) {
			const struct ts_effect *e = &b->effects[b->steps[step].first + i];

			found |= e->kind == TS_FX_READ && addr - e->addr < e->len;
		}
	}
	return found;
}

/* Both say what they write, or only one writes. */
static bool is_promised(const struct half *a, uint64_t k, const struct half *b, uint64_t k2, uint64_t addr)
{
	unsigned x = wrote(a, k, addr), y = wrote(b, k2, addr);

	return (x | y) && !((x | y) & WROTE_UNKNOWN) && ((x && y) || !((x | y) & WROTE_HIDDEN)) &&
	       !is_read(a, k, addr) && !is_read(b, k2, addr);
}

static bool differs(const struct half *a, uint64_t k, const struct half *b, uint64_t k2, uint32_t thread,
		    uint64_t addr)
{
	uint32_t process = a->o.s->process_of[thread];
	uint8_t x, y;

	return naive_is_tracked(a->nv, addr) && naive_mem(a->nv, k, process, addr, &x) &&
	       naive_mem(b->nv, k2, process, addr, &y) && x != y;
}

/* Is there a row for the byte? */
static bool is_shown(const struct shown *rows, size_t n, uint64_t k, uint64_t k2, bool is_start,
		     uint64_t addr)
{
	for (size_t i = 0; i < n; i++) {
		unsigned long first, len;

		if (rows[i].pos == k && rows[i].pos2 == k2 && (rows[i].end == k) == is_start &&
		    sscanf(rows[i].what, "0x%lx,%lu", &first, &len) == 2 && addr - first < len)
			return true;
	}
	return false;
}

static uint64_t asked_seed; /* of the pair, for messages */

/* Every byte that the steps leave different, and of which that is promised, has its row. */
static void check_pair(const struct half *a, uint64_t k, const struct half *b, uint64_t k2,
		       const struct shown *rows, size_t n, unsigned *n_bytes)
{
	ck_assert_uint_eq(a->o.s->steps.steps[k].pc, b->o.s->steps.steps[k2].pc);
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		for (uint64_t addr = script_arenas[i].first;; addr++) {
			if (is_promised(a, k, b, k2, addr) &&
			    differs(a, k + 1, b, k2 + 1, thread_of(a, k), addr)) {
				ck_assert_msg(is_shown(rows, n, k, k2, false, addr), "seed %" PRIu64 ": %lu %lu 0x%lx",
					      asked_seed, (long)k, (long)k2, (long)addr);
				++*n_bytes;
			}
			if (addr == script_arenas[i].last)
				break;
		}
	}
}

/* A row about values names something that differs. */
static void check_row(const struct half *a, const struct half *b, const struct shown *x)
{
	const struct ts_regset *set = &a->o.s->rec.regs;
	uint32_t thread = thread_of(a, x->pos < a->n ? x->pos : a->n - 1);
	unsigned long first, len;
	bool is_found = false;

	if (sscanf(x->what, "0x%lx,%lu", &first, &len) == 2) {
		for (unsigned long i = 0; i < len; i++) {
			for (uint32_t t = thread; t < (x->end > x->pos ? thread + 1 : a->o.s->n_threads); t++)
				is_found |= differs(a, x->end, b, x->end2, t, first + i);
			for (uint32_t t = 0; t < a->o.s->n_threads && x->end == x->pos; t++)
				is_found |= differs(a, 0, b, 0, t, first + i);
			is_found |= !naive_is_tracked(a->nv, first + i);
		}
	} else {
		const struct ts_reg *r = &set->regs[ts_regset_find(set, x->what + 1)];
		uint8_t m, n;

		for (uint32_t i = 0; i < r->len; i++)
			is_found |= naive_reg(a->nv, x->end, thread, r->off + i, &m) &&
				    naive_reg(b->nv, x->end2, thread, r->off + i, &n) && m != n;
	}
	ck_assert_msg(is_found, "%lu %lu %s", (long)x->pos, (long)x->pos2, x->what);
}

/* Has the step an effect of this kind on the register, of its own thread? */
static bool touches_reg(const struct half *h, uint64_t k, enum ts_effect_kind kind, const struct ts_reg *r)
{
	const struct ts_steps *b = &h->o.s->steps;
	const struct ts_step *st = &b->steps[k];
	uint32_t thread = st->thread;
	bool touches = false;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		touches |= e->kind == kind && thread == st->thread && e->addr < r->off + r->len &&
			   r->off < e->addr + e->len;
	}
	return touches;
}

/* The same as is_read(). */
static bool is_reg_read(const struct half *h, uint64_t k, const struct ts_reg *r)
{
	return touches_reg(h, k, TS_FX_REG_READ, r) ||
	       (k + 1 < h->n && touches_reg(h, k + 1, TS_FX_REG_READ, r));
}

static bool has_reg_row(const struct shown *rows, size_t n, uint64_t k, uint64_t k2, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].pos == k && rows[i].pos2 == k2 && rows[i].end == k + 1 && *rows[i].what == '$' &&
		    !strcmp(rows[i].what + 1, name))
			return true;
	}
	return false;
}

/* Every register that the steps write, and leave different, has its row. */
static void check_regs(const struct half *a, uint64_t k, const struct half *b, uint64_t k2,
		       const struct shown *rows, size_t n)
{
	const struct ts_regset *set = &a->o.s->rec.regs;
	uint32_t thread = thread_of(a, k);

	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *r = &set->regs[i];
		bool is_different = false;
		uint8_t x, y;

		if ((int)i == set->pc || is_reg_read(a, k, r) || is_reg_read(b, k2, r) ||
		    (!touches_reg(a, k, TS_FX_REG_WRITE, r) && !touches_reg(b, k2, TS_FX_REG_WRITE, r)))
			continue;
		for (uint32_t m = r->off; m < r->off + r->len; m++)
			is_different |= naive_reg(a->nv, k + 1, thread, m, &x) &&
					naive_reg(b->nv, k2 + 1, thread, m, &y) && x != y;
		ck_assert_msg(!is_different || has_reg_row(rows, n, k, k2, r->name), "%s: %lu %lu $%s",
			      set->arch->name, (long)k, (long)k2, r->name);
	}
}

static bool is_same_row(const struct shown *x, const struct shown *y)
{
	return x->pos == y->pos && x->end == y->end && x->pos2 == y->pos2 && x->end2 == y->end2 &&
	       !strcmp(x->kind, y->kind) && !strcmp(x->what, y->what);
}

/*
 * Leave out rows of registers of which the recordings contradict themselves: whether those are seen depends
 * on when the state is asked for.  Returns how many rows are left.
 */
static size_t drop_contradicted(const struct half *a, const struct half *b, struct shown *rows, size_t n)
{
	const struct ts_regset *set = &a->o.s->rec.regs;
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ts_reg *r = *rows[i].what == '$' ? &set->regs[ts_regset_find(set, rows[i].what + 1)] : NULL;

		if (r && (is_reg_read(a, rows[i].pos, r) || is_reg_read(b, rows[i].pos2, r)))
			continue;
		rows[n_left++] = rows[i];
	}
	return n_left;
}

/* What is passed over by digests has no rows. */
static void check_digests(uint64_t seed, const struct shown *rows, size_t n)
{
	struct script_random edits = { seed };
	struct half a, b;
	struct shown *others;
	size_t n_others;

	half_init(&a, seed, NULL, true);
	half_init(&b, seed, &edits, true);
	n_others = list_rows(&a, &b, &others);
	n_others = drop_contradicted(&a, &b, others, n_others);
	ck_assert_uint_eq(n_others, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(is_same_row(&rows[i], &others[i]), "row %zu: %lu %s", i, (long)rows[i].pos,
			      rows[i].what);
	free(others);
	half_fini(&a);
	half_fini(&b);
}

/* Of all pairs. */
struct counts {
	unsigned n_paths, n_values; /* rows of these kinds */
	unsigned n_bytes; /* pairs whose steps write different bytes: few of the pairs have most of those bytes */
};

/* Mark what only one of them executed, check the other rows. */
static void take_rows(struct half *a, struct half *b, const struct shown *rows, size_t n,
		      struct counts *counts)
{
	for (size_t i = 0; i < n; i++) {
		const struct shown *x = &rows[i];
		uint32_t thread;

		if (strcmp(x->kind, "path")) {
			check_row(a, b, x);
			counts->n_values++;
			continue;
		}
		ck_assert(x->pos < x->end || x->pos2 < x->end2);
		thread = x->pos < x->end ? thread_of(a, x->pos) : thread_of(b, x->pos2);
		mark_alone(a, thread, x->pos, x->end);
		mark_alone(b, thread, x->pos2, x->end2);
		counts->n_paths++;
	}
}

static void check_twins(uint64_t seed, struct counts *counts)
{
	struct script_random edits = { seed };
	struct half a, b;
	struct shown *rows;
	unsigned n_bytes = 0;
	size_t n;

	asked_seed = seed;
	half_init(&a, seed, NULL, false);
	half_init(&b, seed, &edits, false);
	n = list_rows(&a, &b, &rows);
	take_rows(&a, &b, rows, n, counts);
	for (uint32_t t = 0; t < a.o.s->n_threads; t++) {
		uint64_t k = next_paired(&a, t, 0), k2 = next_paired(&b, t, 0);

		for (; k < a.n && k2 < b.n; k = next_paired(&a, t, k + 1), k2 = next_paired(&b, t, k2 + 1)) {
			check_pair(&a, k, &b, k2, rows, n, &n_bytes);
			check_regs(&a, k, &b, k2, rows, n);
		}
		ck_assert(k == a.n && k2 == b.n);
	}
	counts->n_bytes += n_bytes > 0;
	check_digests(seed, rows, drop_contradicted(&a, &b, rows, n));
	free(rows);
	half_fini(&a);
	half_fini(&b);
}

/* `make check-twins` compares a tenth as many pairs as it asks questions. */
START_TEST(the_naive_twin_agrees)
{
	uint64_t n = twins_n_questions() ? twins_n_questions() / 10 : N_TWINS;
	struct counts counts = { 0 };

	for (uint64_t i = 1; i <= n; i++)
		check_twins(twins_seed(i), &counts);
	ck_assert_msg(counts.n_bytes > n / 20 && counts.n_paths > n / 3 && counts.n_values > n / 3, "%u %u %u",
		      counts.n_bytes, counts.n_paths, counts.n_values);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("ask_diff_twin");
	TCase *tc = twins_case();

	tcase_add_test(tc, the_naive_twin_agrees);
	suite_add_tcase(s, tc);
	return s;
}
