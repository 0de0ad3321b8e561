/* SPDX-License-Identifier: MIT */
#include "diff_parts.h"

#include <stdlib.h>

#include "src/query/scan.h"

#define PAGE_LEN (1u << TS_SCAN_PAGE_BITS)

/* Is the byte written at any time, or not at the end what it was at first? */
static bool find_change(struct ts_diff *d, struct ts_query *q, uint64_t addr, uint8_t first, bool *is_changed,
			struct ts_error *err)
{
	uint8_t last, known;

	if (!ts_query_mem(q, ts_query_end(q), d->start.process, addr, 1, &last, &known, err))
		return false;
	*is_changed |= (known && last != first) || ts_query_find_access(q, TS_ACCESS_WRITE, d->start.process,
									addr, addr, 0, TS_FORWARDS) != TS_NO_CHUNK;
	return true;
}

/*
 * A format that does not show what system calls write takes the first value read for the initial one.  Bytes
 * that either recording shows changing are not sure to be different: @known, that of one of them, forgets
 * them.
 */
static bool forget_unsure(struct ts_diff *d, const struct ts_diff_values *v, uint8_t *known,
			  uint64_t addr_b, struct ts_error *err)
{
	for (size_t at = 0; !d->is_initial_sure && (at = ts_diff_next_difference(d, v, at)) < v->len; at++) {
		bool changed = false;

		if (!find_change(d, d->a, v->addr + at, v->a[at], &changed, err) ||
		    !find_change(d, d->b, addr_b + at, v->b[at], &changed, err))
			return false;
		if (changed)
			known[at] = 0;
	}
	return true;
}

/* Words that are addresses of what moved. */
static bool count_moved(struct ts_diff *d, const struct ts_diff_values *v, struct ts_error *err)
{
	static const struct ts_diff_item at_start = { 0 };
	for (size_t at = 0; d->hides_moved && (at = ts_diff_next_unequal(v, at)) < v->len;) {
		size_t end = ts_diff_moved_end(d, v, at);

		if (end && !ts_diff_count_moved(d, &at_start, err))
			return false;
		at = end ? end : at + 1;
	}
	return true;
}

/* Memory of one of the recordings may lie in pieces that were moved apart. */
static bool compare_start(struct ts_diff *d, uint64_t addr, size_t len, struct ts_error *err)
{
	uint8_t bytes[4][PAGE_LEN];
	const struct ts_diff_values v = { addr, len, bytes[0], bytes[1], bytes[2], bytes[3] };
	uint64_t addr_b = ts_diff_to_b(d, addr);
	bool done = true;

	if (len > MAX_REG_LEN && ts_diff_to_b(d, addr + len - 1) - addr_b != len - 1) {
		for (size_t at = 0; at < len && done; at += MAX_REG_LEN)
			done = compare_start(d, addr + at, MAX_REG_LEN, err);
		return done;
	}
	if (!ts_query_mem(d->a, 0, d->start.process, addr, len, bytes[0], bytes[1], err) ||
	    !ts_query_mem(d->b, 0, d->start.process, addr_b, len, bytes[2], bytes[3], err))
		return false;
	if (!forget_unsure(d, &v, bytes[1], addr_b, err))
		return false;
	if (d->has_moves && !count_moved(d, &v, err))
		return false;
	for (size_t at = ts_diff_next_difference(d, &v, 0), end; at < len;
	     at = ts_diff_next_difference(d, &v, end)) {
		end = at + 1;
		while (end < len && end - at < MAX_REG_LEN && ts_diff_next_difference(d, &v, end) == end)
			end++;
		ts_diff_put_item(d, 0, 0, 0, &v, at, end, NULL);
	}
	return true;
}

/*
 * How many of the @len bytes at @addr of A lie together in B, or all have no place there: of what the system put on the
 * stack only what both have has one.
 */
static size_t piece_at(const struct ts_diff *d, uint64_t addr, size_t len, bool *is_there)
{
	const struct ts_stack_moves *m = &d->stack;
	uint64_t next = m->last + 1;

	*is_there = m->first > m->last || addr > m->last || addr < m->first;
	if (m->first <= m->last && addr < m->first)
		return m->first - addr < len ? (size_t)(m->first - addr) : len;
	for (size_t i = 0; i < m->n && !*is_there; i++) {
		uint64_t first = d->rebase.shifts[i].first + d->rebase.shifts[i].delta;
		uint64_t last = d->rebase.shifts[i].last + d->rebase.shifts[i].delta;

		*is_there = first <= addr && addr <= last;
		if (*is_there)
			next = last + 1;
		else if (first > addr && first < next)
			next = first;
	}
	return next > addr && next - addr < len ? (size_t)(next - addr) : len;
}

static bool compare_page(struct ts_diff *d, uint64_t addr, struct ts_error *err)
{
	bool done = true, is_there;

	for (size_t at = 0, n; at < PAGE_LEN && done; at += n) {
		n = piece_at(d, addr + at, PAGE_LEN - at, &is_there);
		done = !is_there || compare_start(d, addr + at, n, err);
	}
	return done;
}

enum ts_next ts_diff_run_start(struct ts_diff *d, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_diff_start *s = &d->start;

	for (; s->process < ts_query_n_processes(d->a) && s->process < ts_query_n_processes(d->b);
	     s->process++) {
		if (!s->has_pages && !ts_query_pages(d->a, false, s->process, 0, UINT64_MAX, &s->pages, &s->n)) {
			ts_diff_no_memory(err);
			return TS_FAIL;
		}
		s->has_pages = true;
		for (; s->at < s->n && !d->n; s->at++) {
			if (!ts_budget_take(budget))
				return TS_MORE;
			if (!compare_page(d, s->pages[s->at] << TS_SCAN_PAGE_BITS, err) ||
			    !ts_diff_sift(d, NULL, err))
				return TS_FAIL;
		}
		if (d->n)
			return TS_ITEM;
		free(s->pages);
		s->pages = NULL;
		s->has_pages = false;
		s->at = 0;
	}
	return TS_END;
}
