/* SPDX-License-Identifier: MIT */
/*
 * Matches that are not kept: a step that maps zeros makes as many as the map has bytes.  Those that begin at
 * one position are found again when they are told, in order of address: where the value stands then, and did
 * not at the position before.
 */
#include "find_parts.h"
#include "src/ask/grammar/question.h"

#include <stdlib.h>

#include "src/base/vec.h"
#include "src/query/scan.h"

/* Matches whose step is looked at at the cost of a look at memory. */
#define STEPS_A_LOOK 32u

bool ts_find_leave(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_find_rest *r = f->n_rests ? &f->rests[f->n_rests - 1] : NULL;

	if (pos < f->rows.qn->from || pos >= f->rows.qn->to)
		return true;
	if (r && r->pos == pos) {
		r->first = addr < r->first ? addr : r->first;
		r->last = addr > r->last ? addr : r->last;
		return true;
	}
	if (!ts_vec_reserve(&f->rests, f->n_rests, &f->cap_rests, 1, sizeof(*f->rests)))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	f->rests[f->n_rests++] = (struct ts_find_rest){ .pos = pos, .first = addr, .last = addr };
	return true;
}

static bool add(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_match *m;

	if (!ts_vec_reserve(&f->again, f->n_again, &f->cap_again, 1, sizeof(*f->again)))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	m = &f->again[f->n_again];
	*m = (struct ts_match){ .addr = addr, .begin = pos, .end = TS_NO_POS };
	f->n_looks += f->n_again++ % STEPS_A_LOOK == 0;
	return !pos || ts_find_set_step(f, m, err);
}

/* Find those that begin in [first, last]. */
static bool find_in(struct ts_find *f, uint64_t first, uint64_t last, uint64_t pos, struct ts_error *err)
{
	const struct ts_value *v = &f->rows.qn->value;
	uint64_t room = f->last - last;
	size_t n = (size_t)(last - first) + 1, len = n + (room < v->len - 1 ? (size_t)room : v->len - 1);
	uint8_t *now = malloc(4 * len), *before = now ? now + 2 * len : NULL;
	bool done;

	if (!now)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	f->n_looks += 2 * len / 512;
	done = ts_query_mem(f->rows.ask->q, pos, f->process, first, len, now, now + len, err) &&
	       (!pos || ts_query_mem(f->rows.ask->q, pos - 1, f->process, first, len, before, before + len, err));
	for (size_t i = 0; done && (i = ts_find_skip_to(f, now, i, len)) < n && i + v->len <= len; i++) {
		if (ts_value_is(v, now + i, now + len + i) &&
		    !(pos && ts_value_is(v, before + i, before + len + i)))
			done = add(f, first + i, pos, err);
	}
	free(now);
	return done;
}

/* Find those of the next page. */
static bool find_some(struct ts_find *f, struct ts_find_rest *r, struct ts_error *err)
{
	uint64_t before = f->rows.qn->value.len - 1, first, last;
	size_t i = ts_find_page_at(f, r->first);

	f->n_again = f->at_again = 0;
	r->is_over = i == f->n_pages;
	if (r->is_over)
		return true;
	first = f->pages[i] << TS_SCAN_PAGE_BITS;
	last = first | ((UINT64_C(1) << TS_SCAN_PAGE_BITS) - 1);
	first = first < before ? 0 : first - before;
	first = first > r->first ? first : r->first;
	last = last < r->last ? last : r->last;
	r->is_over = last == r->last;
	r->first = last + 1;
	return first > last || find_in(f, first, last, r->pos, err);
}

enum ts_got ts_find_some_again(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_find_rest *r = ts_find_rest(f);

	while (f->at_again == f->n_again) {
		if (r->is_over) {
			f->at_rest++;
			return TS_GOT_END;
		}
		if (!ts_find_has_budget(f, budget))
			return TS_GOT_PENDING;
		if (!find_some(f, r, err))
			return TS_GOT_FAIL;
	}
	return TS_GOT_ROW;
}
