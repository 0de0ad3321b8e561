/* SPDX-License-Identifier: MIT */
#include "rebase.h"

#include <stdlib.h>
#include <string.h>
#include "src/base/bisect.h"
#include "src/base/suffix.h"
#include "src/base/vec.h"
#include "src/object/object.h"
#include "src/query/locate.h"
#include "src/source/source.h"

/*
 * Without a list of modules: the program lies this near to its first pc, its stack this near to its first sp.
 */
#define PROGRAM_REACH (UINT64_C(1) << 31)
#define STACK_REACH   (UINT64_C(8) << 20)

/* Numbers below are not addresses. */
#define LOWEST UINT64_C(0x10000)

#define PAGE_BITS 12

static bool no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to compare addresses");
}

bool ts_rebase_add(struct ts_rebase *r, uint64_t first, uint64_t last, uint64_t delta, struct ts_error *err)
{
	return TS_PUSH(r->shifts, r->n, r->cap, (struct ts_shift){ first, last, delta }) || no_memory(err);
}

/* ------------------------------------------------------------------------------- modules and regions */

/* A range that has a name: a module, or a region of memory. */
struct named {
	const char *name;  /* of its file, without folders; or its description */
	uint64_t file_off; /* of a region */
	uint64_t len;      /* of what has no name; else 0 */
	uint32_t process;
	size_t order;
	uint64_t first, last;
};

struct names {
	struct named *items; /* owned */
	size_t n, cap;
};

static bool add_named(struct names *list, const char *file, const char *desc, uint64_t file_off,
		      uint32_t process, uint64_t first, uint64_t last, struct ts_error *err)
{
	const char *name = file && *file ? ts_last_name(file) : desc ? desc : "";

	return TS_PUSH(list->items, list->n, list->cap,
		       (struct named){ name, file_off, *name ? 0 : last - first, process, list->n, first, last }) ||
	       no_memory(err);
}

/* Order of what belongs together. */
static int compare_name(const struct named *a, const struct named *b)
{
	return strcmp(a->name, b->name) ?: TS_ORDER(a->process, b->process) ?: TS_ORDER(a->file_off, b->file_off) ?:
	       TS_ORDER(a->len, b->len);
}

static int compare_named(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return compare_name(a, b) ?: TS_ORDER(a->order, b->order);
}

/* The i-th of a name in one recording is the i-th of that name in the other. */
static bool pair(struct ts_rebase *r, struct names *a, struct names *b, struct ts_error *err)
{
	bool done = true;

	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), compare_named);
	if (b->n)
		qsort(b->items, b->n, sizeof(*b->items), compare_named);
	for (size_t i = 0, k = 0; done && i < a->n && k < b->n;) {
		int order = compare_name(&a->items[i], &b->items[k]);

		if (!order)
			done = ts_rebase_add(r, b->items[k].first, b->items[k].last,
				   a->items[i].first - b->items[k].first, err);
		i += order <= 0;
		k += order >= 0;
	}
	return done;
}

static bool list_modules(struct names *list, const struct ts_query *q, struct ts_error *err)
{
	struct ts_module_info m;
	bool done = true;

	for (size_t i = 0; done && ts_query_module(q, i, &m); i++)
		done = add_named(list, m.file, NULL, 0, m.process, m.first, m.last, err);
	return done;
}

static bool list_regions(struct names *list, const struct ts_query *q, struct ts_error *err)
{
	struct ts_region_info m;
	bool done = true;

	for (size_t i = 0; done && ts_query_region(q, i, &m); i++)
		done = add_named(list, m.file, m.desc, m.file_off, m.process, m.first, m.last, err);
	return done;
}

static bool add_lists(struct ts_rebase *r, const struct ts_query *a, const struct ts_query *b,
		      bool (*list)(struct names *list, const struct ts_query *q, struct ts_error *err),
		      struct ts_error *err)
{
	struct names of_a = { 0 }, of_b = { 0 };
	bool done = list(&of_a, a, err) && list(&of_b, b, err) && pair(r, &of_a, &of_b, err);

	free(of_a.items);
	free(of_b.items);
	return done;
}

/* ------------------------------------------------------------------------------------------ the program */

/* By how much it is moved in @q; *is_found is false if it is not found. */
static bool find_program(struct ts_query *q, const struct ts_source *src, const struct ts_object *o, const uint64_t *base,
			 uint64_t *moved, bool *is_found, struct ts_error *err)
{
	struct ts_located at;

	if (!ts_locate(q, src, o, ts_query_process(q, ts_query_thread(q, 0)), base, &at, err))
		return false;
	*moved = at.moved;
	*is_found &= at.by != TS_LOCATED_NOT;
	return true;
}

/* The address after the last one, as linked. */
static uint64_t end_of(const struct ts_object *o)
{
	uint64_t end = o->first;

	for (size_t i = 0; i < o->n_loads; i++) {
		if (o->loads[i].addr + o->loads[i].mem_len > end)
			end = o->loads[i].addr + o->loads[i].mem_len;
	}
	return end;
}

bool ts_rebase_add_program(struct ts_rebase *r, struct ts_query *a, struct ts_query *b, const char *path, const uint64_t *base,
			   struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	uint64_t moved_a, moved_b;
	bool is_found = true, done;
	struct ts_object o;

	if (!src || !ts_object_init(&o, src, err)) {
		ts_source_close(src);
		return false;
	}
	done = find_program(a, src, &o, base, &moved_a, &is_found, err) && find_program(b, src, &o, NULL, &moved_b, &is_found, err);
	if (done && is_found && end_of(&o) > o.first) {
		r->has_names = true;
		done = ts_rebase_add(r, o.first + moved_b, end_of(&o) - 1 + moved_b, moved_a - moved_b, err);
	}
	ts_object_fini(&o);
	ts_source_close(src);
	return done;
}

/* -------------------------------------------------------------------------------------- the first state */

/* The pc and the sp before the first step, where they are known. */
struct start {
	uint64_t pc, sp;
	bool has_pc, has_sp;
};

static bool find_start(struct start *at, struct ts_query *q, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_reg *sp = set->sp < 0 ? NULL : &set->regs[set->sp];
	uint8_t *g = malloc(2 * (size_t)set->g_len + 1);
	bool done;

	if (!g)
		return no_memory(err);
	done = ts_query_pc(q, 0, ts_query_thread(q, 0), &at->pc, &at->has_pc, err) &&
	       ts_query_regs(q, 0, ts_query_thread(q, 0), g, g + set->g_len, err);
	at->has_sp = done && sp && sp->len <= 8 && !memchr(g + set->g_len + sp->off, 0, sp->len);
	at->sp = at->has_sp ? ts_arch_get(set->arch, g + sp->off, sp->len) : 0;
	free(g);
	return done;
}

static bool add_around(struct ts_rebase *r, uint64_t a, uint64_t b, uint64_t reach, struct ts_error *err)
{
	uint64_t first = b < LOWEST + reach ? LOWEST : b - reach, last = b + reach < b ? UINT64_MAX : b + reach;

	return ts_rebase_add(r, first, last, a - b, err);
}

bool ts_rebase_init(struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err)
{
	struct start at_a = { 0 }, at_b = { 0 };

	size_t n = r->n;

	if (!add_lists(r, a, b, list_modules, err) || !add_lists(r, a, b, list_regions, err) ||
	    !find_start(&at_a, a, err) || !find_start(&at_b, b, err))
		return false;
	r->has_names |= r->n > n;
	return (!at_a.has_sp || !at_b.has_sp || add_around(r, at_a.sp, at_b.sp, STACK_REACH, err)) &&
	       (!at_a.has_pc || !at_b.has_pc || add_around(r, at_a.pc, at_b.pc, PROGRAM_REACH, err));
}

bool ts_rebase_is_any(const struct ts_rebase *r)
{
	bool is_any = false;

	for (size_t i = 0; i < r->n; i++)
		is_any |= r->shifts[i].delta != 0;
	return is_any;
}

void ts_rebase_fini(struct ts_rebase *r)
{
	free(r->shifts);
	r->shifts = NULL;
}

/* ------------------------------------------------------------------------------------------- addresses */

/* The delta of the first range that covers @addr; @is_of_a: the ranges are where they lie in A. */
static uint64_t find_delta(const struct ts_rebase *r, bool is_of_a, struct ts_shifted_page *slot,
			   uint64_t addr)
{
	uint64_t page = addr >> PAGE_BITS, begin = page << PAGE_BITS, end = begin | ((1u << PAGE_BITS) - 1);
	bool is_whole = true;

	if (slot->page == page + 1)
		return slot->delta;
	for (size_t i = 0; i < r->n; i++) {
		const struct ts_shift *s = &r->shifts[i];
		uint64_t move = is_of_a ? s->delta : 0, first = s->first + move, last = s->last + move;

		if (first > last || begin > last || end < first)
			continue;
		is_whole &= first <= begin && end <= last;
		if (addr < first || addr > last)
			continue;
		if (is_whole)
			*slot = (struct ts_shifted_page){ page + 1, s->delta };
		return s->delta;
	}
	return 0;
}

uint64_t ts_rebase_to_a(struct ts_rebase *r, uint64_t addr)
{
	return addr + find_delta(r, false, &r->of_b[(addr >> PAGE_BITS) % TS_REBASE_SLOTS], addr);
}

uint64_t ts_rebase_to_b(struct ts_rebase *r, uint64_t addr)
{
	return addr - find_delta(r, true, &r->of_a[(addr >> PAGE_BITS) % TS_REBASE_SLOTS], addr);
}
