/* SPDX-License-Identifier: MIT */
/*
 * Where the value stands in ranges of memory: at the start, and where a step maps or unmaps.
 */
#include "find_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/scan.h"
#include "state.h"

/* Pages that are looked through at once. */
#define MAX_ADJOINING 16u

/* What the step did to the bytes at @addr. */
static enum ts_match_kind kind_of(const struct ts_find *f, const struct ts_steps *batch,
				  const struct ts_step *s, uint64_t addr)
{
	enum ts_match_kind kind = TS_MATCH_UNEXPLAINED;
	uint32_t thread = s->thread;

	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &batch->effects[s->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind < TS_FX_WRITE || e->kind > TS_FX_UNMAP || !e->len ||
		    e->addr > addr + (f->qn->value.len - 1) || e->addr + (e->len - 1) < addr ||
		    ts_query_process(f->ask->q, thread) != f->process)
			continue;
		if (e->kind == TS_FX_WRITE)
			return TS_MATCH_WRITE;
		if (e->kind != TS_FX_READ)
			kind = TS_MATCH_MAP;
	}
	return kind;
}

/* The step that made it stand: its chunk is at hand. */
static bool note_step(struct ts_find *f, struct ts_match *m, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_ask_step(f->ask, m->begin - 1, &batch, err);

	if (!s)
		return false;
	m->kind = kind_of(f, batch, s, m->addr);
	m->thread = s->thread;
	m->pc = s->pc;
	return true;
}

static bool begin_match(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_match m = { .addr = addr, .begin = pos, .end = TS_NO_POS };
	size_t n = f->matches.n;

	/* a match that begins before the range of the question is not a row */
	if (pos && pos >= f->qn->from && !note_step(f, &m, err))
		return false;
	f->n_looks += n % 32 == 0;
	return (ts_matches_begin(&f->matches, &m) &&
		(!f->probe || ts_waits_add(&f->waits, 0, (uint32_t)n))) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for all places of a value");
}

/* ------------------------------------------------------------------------------------------- looking */

/* Does the value stand at @addr at @pos? */
static bool stands_at(struct ts_find *f, uint64_t addr, uint64_t pos, bool *stands, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];

	f->n_looks++;
	if (!ts_query_mem(f->ask->q, pos, f->process, addr, v->len, data, known, err))
		return false;
	*stands = ts_value_is(v, data, known);
	return true;
}

/*
 * The value stands at @addr at @pos, which was not known before: since when?  What stood when looking began
 * is not searched for if it is not asked for, and then it turns up here.
 */
static bool note_match(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	bool stood = f->qn->from;

	if (stood && pos > f->start && !stands_at(f, addr, pos - 1, &stood, err))
		return false;
	return begin_match(f, addr, stood ? f->start : pos, err);
}

bool ts_find_note(struct ts_find *f, uint64_t addr, uint64_t pos, bool stands, struct ts_error *err)
{
	bool stood = ts_matches_stands(&f->matches, addr);

	if (stands && !stood)
		return note_match(f, addr, pos, err);
	if (!stands && stood)
		ts_matches_end(&f->matches, addr, pos);
	return true;
}

static bool look(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	bool stands;

	return stands_at(f, addr, pos, &stands, err) && ts_find_note(f, addr, pos, stands, err);
}

uint32_t ts_find_rare(const struct ts_value *v)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < v->len; i++) {
		if (v->mask[i] && (!v->mask[best] || !v->bytes[best]))
			best = i;
	}
	return best;
}

/*
 * Returns the first offset from @i on at which the value may begin in @n bytes of data; @n if it begins
 * nowhere.
 */
static size_t skip_to(const struct ts_find *f, const uint8_t *data, size_t i, size_t n)
{
	const struct ts_value *v = &f->qn->value;
	const uint8_t *p;

	if (i >= n || !v->mask[f->rare] || n - i <= f->rare)
		return i;
	p = memchr(data + i + f->rare, v->bytes[f->rare], n - i - f->rare);
	return p ? (size_t)(p - data) - f->rare : n;
}

/* A range of memory as it was at the position before, read when it is needed. */
struct before {
	uint8_t *data; /* owned; NULL: it has not been read; then known flags */
	size_t len;
};

/* As note_match(), of ordinal @i of a range that begins at @first. */
static bool note_in_range(struct ts_find *f, struct before *b, uint64_t first, size_t i, uint64_t pos,
			  struct ts_error *err)
{
	bool stood = f->qn->from;

	if (stood && pos > f->start && !b->data) {
		b->data = malloc(2 * b->len);
		if (!b->data)
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
		if (!ts_query_mem(f->ask->q, pos - 1, f->process, first, b->len, b->data, b->data + b->len,
				  err))
			return false;
	}
	if (b->data)
		stood = ts_value_is(&f->qn->value, b->data + i, b->data + b->len + i);
	return begin_match(f, first + i, stood ? f->start : pos, err);
}

/* Look through [first, last] of memory at @pos for what begins there; it is known to be within one block. */
static bool look_through(struct ts_find *f, uint64_t first, uint64_t last, uint64_t pos, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	uint64_t room = f->last - last;
	size_t n = (size_t)(last - first) + 1, len = n + (room < v->len - 1 ? (size_t)room : v->len - 1);
	uint8_t *data = malloc(2 * len);
	struct before before = { NULL, len };
	bool done;

	if (!data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	f->n_looks += len / 512;
	done = ts_query_mem(f->ask->q, pos, f->process, first, len, data, data + len, err);
	for (size_t i = 0; done && (i = skip_to(f, data, i, len)) < n && i + v->len <= len; i++) {
		if (ts_value_is(v, data + i, data + len + i) && !ts_matches_stands(&f->matches, first + i))
			done = note_in_range(f, &before, first, i, pos, err);
	}
	free(before.data);
	free(data);
	return done;
}

/* The matches that begin in [first, last], a part of a page: do they still stand at @pos? */
static bool look_at_matches(struct ts_find *f, uint64_t first, uint64_t last, uint64_t pos,
			    struct ts_error *err)
{
	for (uint64_t i = 0; i <= last - first && f->matches.standing.n; i++) {
		uint64_t addr = first + i;

		if (!ts_matches_has_block(&f->matches, addr))
			i += TS_MATCH_BLOCK - 1 - addr % TS_MATCH_BLOCK;
		else if (ts_matches_stands(&f->matches, addr) && !look(f, addr, pos, err))
			return false;
	}
	return true;
}

static bool list_pages(struct ts_find *f, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	bool is_nonzero = v->mask[f->rare] && v->bytes[f->rare];

	if (!f->has_pages &&
	    !ts_query_pages(f->ask->q, is_nonzero, f->process, f->first, f->last, &f->pages, &f->n_pages))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
	f->has_pages = true;
	return true;
}

/* The first page that ends at @addr or later. */
static size_t page_at(const struct ts_find *f, uint64_t addr)
{
	size_t lo = 0, n = f->n_pages;

	while (n) {
		bool is_before = f->pages[lo + n / 2] < addr >> TS_SCAN_PAGE_BITS;

		lo += is_before ? n / 2 + 1 : 0;
		n = is_before ? n - n / 2 - 1 : n / 2;
	}
	return lo;
}

struct range {
	uint64_t first, last;
};

/* How many pages from the i-th on follow each other, up to a bound: they are looked through together. */
static size_t n_adjoining(const struct ts_find *f, size_t i)
{
	size_t n = 1;

	while (n < MAX_ADJOINING && i + n < f->n_pages && f->pages[i + n] == f->pages[i] + n)
		n++;
	return n;
}

/* The same, but for values that lie in @bare. */
static bool look_around(struct ts_find *f, uint64_t first, uint64_t last, const struct range *bare,
			uint64_t pos, struct ts_error *err)
{
	uint64_t before = f->qn->value.len - 1;

	if (bare->last - bare->first < before)
		return look_through(f, first, last, pos, err);
	if (first < bare->first &&
	    !look_through(f, first, last < bare->first ? last : bare->first - 1, pos, err))
		return false;
	if (first <= bare->last - before)
		first = bare->last - before + 1;
	return first > last || look_through(f, first, last, pos, err);
}

bool ts_find_look_at_range(struct ts_find *f, uint64_t first, uint64_t last, bool is_bare, uint64_t pos,
			   struct ts_error *err)
{
	const struct range bare = { first, last };
	uint64_t before = f->qn->value.len - 1;

	if (!list_pages(f, err))
		return false;
	first = first - f->first < before ? f->first : first - before;
	for (size_t i = page_at(f, first), n; i < f->n_pages; i += n) {
		uint64_t page_first = f->pages[i] << TS_SCAN_PAGE_BITS, page_last;

		n = n_adjoining(f, i);
		page_last =
			f->pages[i + n - 1] << TS_SCAN_PAGE_BITS | ((UINT64_C(1) << TS_SCAN_PAGE_BITS) - 1);

		/* a value may begin before the page of which something is known */
		page_first = page_first < before ? 0 : page_first - before;
		if (page_first > last)
			break;
		page_first = page_first > first ? page_first : first;
		page_last = page_last < last ? page_last : last;
		if (!look_at_matches(f, page_first, page_last, pos, err) ||
		    !(is_bare ? look_around(f, page_first, page_last, &bare, pos, err)
			      : look_through(f, page_first, page_last, pos, err)))
			return false;
	}
	return true;
}

bool ts_find_look_at_start(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t before = f->qn->value.len - 1;

	if (f->is_started)
		return true;
	if (!list_pages(f, err))
		return false;
	for (size_t n; f->at_page < f->n_pages && ts_find_has_budget(f, budget); f->at_page += n) {
		uint64_t first = f->pages[f->at_page] << TS_SCAN_PAGE_BITS, last;

		n = n_adjoining(f, f->at_page);
		last = f->pages[f->at_page + n - 1] << TS_SCAN_PAGE_BITS |
		       ((UINT64_C(1) << TS_SCAN_PAGE_BITS) - 1);

		first = first < before ? 0 : first - before;
		first = first > f->first ? first : f->first;
		last = last < f->last ? last : f->last;
		if (first <= last && !look_through(f, first, last, f->start, err))
			return false;
	}
	f->is_started = f->at_page == f->n_pages;
	return true;
}
