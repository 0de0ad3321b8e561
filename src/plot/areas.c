/* SPDX-License-Identifier: MIT */
#include "areas.h"

#include <stdlib.h>

#include "labels.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* Spans that are nearer than that are one. */
#define NEAR 4096u

/*
 * The largest gap within an area, if both sides are one owner's; without an owner they are less likely to belong together.
 */
#define OWNED_GAP   (UINT64_C(16) << 20)
#define UNOWNED_GAP (UINT64_C(64) << 10)

/* A row shows at least that many bytes. */
#define MIN_STEP 4u

void ts_areas_fini(struct ts_areas *a)
{
	free(a->items);
	*a = (struct ts_areas){ 0 };
}

/* Is [first, last] near the area, or in it? */
static bool is_near(const struct ts_area *x, uint32_t process, uint64_t first, uint64_t last)
{
	return x->process == process && (first <= x->last || first - x->last <= NEAR) &&
	       (last >= x->first || x->first - last <= NEAR);
}

static void extend(struct ts_area *x, uint64_t first, uint64_t last)
{
	x->first = first < x->first ? first : x->first;
	x->last = last > x->last ? last : x->last;
}

static void append(struct ts_areas *a, const struct ts_area *x)
{
	a->is_failed |= !TS_PUSH(a->items, a->n, a->cap, *x);
}

void ts_areas_add(struct ts_areas *a, uint32_t process, uint64_t first, uint64_t last)
{
	/* accesses come in clusters: the newest few areas are examined */
	for (size_t i = a->n; i > 0 && i + 4 > a->n; i--) {
		if (is_near(&a->items[i - 1], process, first, last)) {
			extend(&a->items[i - 1], first, last);
			return;
		}
	}
	append(a,
	       &(struct ts_area){ .process = process, .first = first, .last = last, .label = TS_NO_LABEL });
}

static int compare(const void *a, const void *b)
{
	const struct ts_area *x = a, *y = b;

	return TS_ORDER(x->process, y->process) ?: TS_ORDER(x->first, y->first);
}

/* The gap between neighbours; UINT64_MAX if nothing may join them. */
static uint64_t gap(const struct ts_area *x, const struct ts_area *y)
{
	if (x->process != y->process)
		return UINT64_MAX;
	return y->first > x->last ? y->first - x->last - 1 : 0;
}

static bool is_near_area(const struct ts_area *x, const struct ts_area *y, uint64_t limit)
{
	(void)limit;
	return gap(x, y) <= NEAR;
}

static bool is_one_owners(const struct ts_area *x, const struct ts_area *y, uint64_t limit)
{
	(void)limit;
	return x->label == y->label && gap(x, y) <= (x->label == TS_NO_LABEL ? UNOWNED_GAP : OWNED_GAP);
}

static bool is_below(const struct ts_area *x, const struct ts_area *y, uint64_t limit)
{
	return gap(x, y) < limit;
}

/* Join neighbours that @belong together. */
static void join(struct ts_areas *a,
		 bool (*belong)(const struct ts_area *x, const struct ts_area *y, uint64_t limit),
		 uint64_t limit)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct ts_area *last = n ? &a->items[n - 1] : NULL, *x = &a->items[i];

		if (!last || !belong(last, x, limit)) {
			a->items[n++] = *x;
			continue;
		}
		extend(last, x->first, x->last);
		last->label = last->label == x->label ? last->label : TS_NO_LABEL;
	}
	a->n = n;
}

static int compare_gaps(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Keep the @max - 1 largest gaps.  Returns false if memory is exhausted. */
static bool bound(struct ts_areas *a, size_t max)
{
	uint64_t *gaps = a->n > max ? malloc(a->n * sizeof(*gaps)) : NULL;

	if (a->n <= max)
		return true;
	if (!gaps)
		return false;
	for (size_t i = 1; i < a->n; i++)
		gaps[i - 1] = gap(&a->items[i - 1], &a->items[i]);
	qsort(gaps, a->n - 1, sizeof(*gaps), compare_gaps);
	join(a, is_below, gaps[max - 1] < UINT64_MAX ? gaps[max - 1] + 1 : UINT64_MAX);
	free(gaps);
	a->is_partial = a->n > max;
	a->n = a->n > max ? max : a->n;
	return true;
}

static unsigned weight(const struct ts_area *x)
{
	return x->last > x->first ? 64u - (unsigned)__builtin_clzll(x->last - x->first) : 1;
}

static void give_rows(struct ts_areas *a, uint32_t max_rows)
{
	uint64_t sum = 0, spare = max_rows - a->n;

	for (size_t i = 0; i < a->n; i++)
		sum += weight(&a->items[i]);
	for (size_t i = 0; i < a->n; i++) {
		struct ts_area *x = &a->items[i];
		uint64_t n = 1 + spare * weight(x) / sum, max = (x->last - x->first) / MIN_STEP + 1;

		n = n < max ? n : max;
		x->step = (x->last - x->first) / n;
		x->step += x->step < UINT64_MAX; /* all of the address space in one row */
		x->row = a->n_rows;
		x->n_rows = (uint32_t)((x->last - x->first) / x->step) + 1;
		a->n_rows += x->n_rows;
	}
}

/* Divide the areas where an owner's memory ends. */
static void divide(struct ts_areas *a, ts_area_owner *owner, void *user)
{
	for (size_t i = 0, n = a->n; i < n && !a->is_failed; i++) {
		struct ts_area x = a->items[i];
		uint64_t until, end = x.last;

		x.label = owner(user, x.process, x.first, &until);
		x.last = until < end ? until : end;
		a->items[i] = x;
		while (x.last < end && !a->is_failed) {
			x.first = x.last + 1;
			x.label = owner(user, x.process, x.first, &until);
			x.last = until < end ? until : end;
			append(a, &x);
		}
	}
	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), compare);
}

bool ts_areas_arrange(struct ts_areas *a, size_t max_areas, uint32_t max_rows, ts_area_owner *owner,
		      void *user)
{
	if (a->is_failed)
		return false;
	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), compare);
	join(a, is_near_area, 0);
	divide(a, owner, user);
	join(a, is_one_owners, 0);
	if (a->is_failed || !bound(a, max_areas))
		return false;
	give_rows(a, max_rows);
	return true;
}

uint32_t ts_areas_row(const struct ts_areas *a, uint32_t process, uint64_t addr)
{
	const struct ts_area *x;
	size_t at = 0;

	TS_BISECT(at, a->n, i,
		  a->items[i].process < process || (a->items[i].process == process && a->items[i].first <= addr));
	if (!at)
		return TS_NO_ROW;
	x = &a->items[at - 1];
	return x->process == process && addr <= x->last ? x->row + (uint32_t)((addr - x->first) / x->step) : TS_NO_ROW;
}
