/* SPDX-License-Identifier: MIT */
/*
 * The search for the value in ranges of memory: in all memory at the start, and in a range that a step maps or unmaps.
 */
#include "find_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/query/search/scan.h"
#include "src/ask/grammar/question.h"

/* The maximum number of pages that are searched together. */
#define MAX_ADJOINING 16u

#define PAGE_LEN (UINT64_C(1) << TS_SCAN_PAGE_BITS)

/* The number of addresses that share an answer of is_busy(). */
#define LINE 16u

/* The kind of the change that the step made to the bytes at @addr. */
static enum ts_match_kind kind_of(const struct ts_find *f, const struct ts_steps *batch,
				  const struct ts_step *s, uint64_t addr)
{
	enum ts_match_kind kind = TS_MATCH_UNEXPLAINED;
	struct ts_step_effects all = ts_step_effects(batch, s);
	enum ts_writer_kind writer;
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (!ts_effect_touches(e, addr, addr + (f->rows.qn->value.len - 1)) || !ts_effect_writes_memory(e, &writer) ||
		    writer == TS_WRITER_UNEXPLAINED || ts_query_process(f->rows.ask->q, all.thread) != f->process)
			continue;
		if (writer != TS_WRITER_MAP)
			return TS_MATCH_WRITE;
		kind = TS_MATCH_MAP;
	}
	return kind;
}

/* Set kind, thread and pc of the match from the step before it. */
static bool set_step(struct ts_find *f, struct ts_match *m, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_query_step_whole(f->rows.ask->q, m->begin - 1, &batch, err);

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
	if (pos && pos >= f->rows.qn->from && !set_step(f, &m, err))
		return false;
	f->n_looks += n % 32 == 0;
	return (ts_matches_begin(&f->matches, &m) &&
		(!f->probe || ts_find_add_wait(f, 0, (uint32_t)n))) ||
	       ts_no_memory(err, "all places of a value");
}

/* ------------------------------------------------------------------------------------------- looking */

/* Is the value at @addr at @pos? */
static bool stands_at(struct ts_find *f, uint64_t addr, uint64_t pos, bool *stands, struct ts_error *err)
{
	const struct ts_value *v = &f->rows.qn->value;
	uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];

	f->n_looks++;
	if (!ts_query_mem(f->rows.ask->q, pos, f->process, addr, v->len, data, known, err))
		return false;
	*stands = ts_value_is(v, data, known);
	return true;
}

/*
 * The value was found at @addr at @pos: add the match, unless it began earlier and is no row.  A match may have been there
 * before without being known: if the question does not cover the start of the scan, or if it was not kept.
 */
static bool note_match(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	bool stood = f->rows.qn->from || f->n_rests;

	if (stood && pos > f->start && !stands_at(f, addr, pos - 1, &stood, err))
		return false;
	return (stood && !f->rows.qn->from) || begin_match(f, addr, stood ? f->start : pos, err);
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

/* The first offset >= @i at which the value may begin in the @n bytes of @data; @n if none is found. */
static size_t skip_to(const struct ts_find *f, const uint8_t *data, size_t i, size_t n)
{
	const struct ts_value *v = &f->rows.qn->value;
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

/* As note_match(), for the address @first + @i of a range that begins at @first. */
static bool note_in_range(struct ts_find *f, struct before *b, uint64_t first, size_t i, uint64_t pos,
			  struct ts_error *err)
{
	bool stood = f->rows.qn->from || (f->n_rests && pos > f->start);

	if (stood && pos > f->start && !b->data) {
		b->data = malloc(2 * b->len);
		if (!b->data)
			return ts_no_memory(err, "a search");
		if (!ts_query_mem(f->rows.ask->q, pos - 1, f->process, first, b->len, b->data, b->data + b->len,
				  err))
			return false;
	}
	if (b->data)
		stood = ts_value_is(&f->rows.qn->value, b->data + i, b->data + b->len + i);
	return (stood && !f->rows.qn->from) || begin_match(f, first + i, stood ? f->start : pos, err);
}

/* Do several chunks from @pos on change the bytes of a match at @addr, or near it? */
static bool is_busy(struct ts_find *f, uint64_t addr, uint64_t pos)
{
	uint64_t line = addr / LINE * LINE, last = line + (LINE - 1) + (f->rows.qn->value.len - 1), chunk;

	if (f->busy_pos == pos && f->busy_line == line)
		return f->is_busy;
	f->n_looks += line / LINE % TS_QUESTIONS_A_LOOK == 0;
	f->busy_pos = pos;
	f->busy_line = line;
	chunk = ts_query_find_access(f->rows.ask->q, TS_ACCESS_CHANGE, f->process, line,
				     last > line ? last : UINT64_MAX, pos / TS_CHUNK_STEPS, TS_FORWARDS);
	f->is_busy = chunk != TS_NO_CHUNK &&
		     ts_query_find_access(f->rows.ask->q, TS_ACCESS_CHANGE, f->process, line,
					  last > line ? last : UINT64_MAX, chunk + 1, TS_FORWARDS) != TS_NO_CHUNK;
	return f->is_busy;
}

/* Should a match that was found at @addr at @pos in a range of memory be kept? */
static bool is_kept(struct ts_find *f, uint64_t addr, uint64_t pos)
{
	size_t n = f->matches.standing.n;

	if (n < TS_FIND_KEPT && !ts_find_has_left(f, pos))
		return true;
	return n < TS_FIND_MAX_KEPT && is_busy(f, addr, pos);
}

/* Note that a match at @addr from @pos on, the highest position so far, is not kept: it is searched again. */
static bool leave(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_find_rest *r = f->n_rests ? &f->rests[f->n_rests - 1] : NULL;

	if (pos < f->rows.qn->from || pos >= f->rows.qn->to)
		return true;
	if (r && r->pos == pos) {
		r->first = addr < r->first ? addr : r->first;
		r->last = addr > r->last ? addr : r->last;
		return true;
	}
	return TS_PUSH(f->rests, f->n_rests, f->cap_rests, (struct ts_find_rest){ .pos = pos, .first = addr, .last = addr }) ||
	       ts_no_memory(err, "a search");
}

/* Search [first, last] at @pos for matches that begin there. */
static bool look_through(struct ts_find *f, uint64_t first, uint64_t last, uint64_t pos, struct ts_error *err)
{
	const struct ts_value *v = &f->rows.qn->value;
	uint64_t room = f->last - last;
	size_t n = (size_t)(last - first) + 1, len = n + (room < v->len - 1 ? (size_t)room : v->len - 1);
	uint8_t *data = malloc(2 * len);
	struct before before = { NULL, len };
	bool done;

	if (!data)
		return ts_no_memory(err, "a search");
	f->n_looks += len / 512;
	done = ts_query_mem(f->rows.ask->q, pos, f->process, first, len, data, data + len, err);
	for (size_t i = 0; done && (i = skip_to(f, data, i, len)) < n && i + v->len <= len; i++) {
		if (!ts_value_is(v, data + i, data + len + i) || ts_matches_stands(&f->matches, first + i))
			continue;
		done = is_kept(f, first + i, pos) ? note_in_range(f, &before, first, i, pos, err)
						  : leave(f, first + i, pos, err);
	}
	free(before.data);
	free(data);
	return done;
}

/* End the matches that begin in [first, last], a part of a page, and are no longer there at @pos. */
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
	const struct ts_value *v = &f->rows.qn->value;
	bool is_nonzero = v->mask[f->rare] && v->bytes[f->rare];

	if (!f->has_pages &&
	    !ts_query_pages(f->rows.ask->q, is_nonzero, f->process, f->first, f->last, &f->pages, &f->n_pages))
		return ts_no_memory(err, "a question");
	f->has_pages = true;
	return true;
}

/* The index in f->pages, which must be filled, of the first page that ends at @addr or later. */
static size_t page_at(const struct ts_find *f, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, f->n_pages, i, f->pages[i] < addr >> TS_SCAN_PAGE_BITS);
	return at;
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
	uint64_t before = f->rows.qn->value.len - 1;

	if (bare->last - bare->first < before)
		return look_through(f, first, last, pos, err);
	if (first < bare->first &&
	    !look_through(f, first, last < bare->first ? last : bare->first - 1, pos, err))
		return false;
	if (last <= bare->last - before)
		return true;
	if (first <= bare->last - before)
		first = bare->last - before + 1;
	return look_through(f, first, last, pos, err);
}

bool ts_find_add_range(struct ts_find *f, uint64_t first, uint64_t last, bool is_bare, struct ts_error *err)
{
	uint64_t before = f->rows.qn->value.len - 1;

	return TS_PUSH(f->ranges, f->n_ranges, f->cap_ranges,
		       (struct ts_find_range){ first, last, is_bare, first - f->first < before ? f->first : first - before }) ||
	       ts_no_memory(err, "a search");
}

/* Look through the pages of the range that come next.  *has_more: there are others. */
static bool look_at_some(struct ts_find *f, struct ts_find_range *r, bool *has_more, struct ts_error *err)
{
	const struct range bare = { r->first, r->last };
	uint64_t before = f->rows.qn->value.len - 1, first, last;
	size_t i = page_at(f, r->at);

	*has_more = false;
	if (i == f->n_pages)
		return true;
	first = f->pages[i] << TS_SCAN_PAGE_BITS;
	last = f->pages[i + n_adjoining(f, i) - 1] << TS_SCAN_PAGE_BITS | (PAGE_LEN - 1);

	/* a value may begin before the page of which something is known */
	first = first < before ? 0 : first - before;
	if (first > r->last)
		return true;
	first = first > r->at ? first : r->at;
	last = last < r->last ? last : r->last;
	*has_more = last < r->last;
	r->at = last + 1;
	return look_at_matches(f, first, last, f->pos, err) &&
	       (r->is_bare ? look_around(f, first, last, &bare, f->pos, err)
			   : look_through(f, first, last, f->pos, err));
}

bool ts_find_look_at_ranges(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	if (!list_pages(f, err))
		return false;
	while (f->at_range < f->n_ranges && ts_find_has_budget(f, budget)) {
		bool has_more;

		if (!look_at_some(f, &f->ranges[f->at_range], &has_more, err))
			return false;
		f->at_range += !has_more;
	}
	if (f->at_range == f->n_ranges)
		f->n_ranges = f->at_range = 0;
	return true;
}

/* --------------------------------------------------------------------------- matches that are not kept */

/* Matches whose step is examined at the cost of a read of memory. */
#define STEPS_A_LOOK 32u

static bool add(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_match *m;

	if (!ts_vec_reserve(&f->again, f->n_again, &f->cap_again, 1, sizeof(*f->again)))
		return ts_no_memory(err, "a search");
	m = &f->again[f->n_again];
	*m = (struct ts_match){ .addr = addr, .begin = pos, .end = TS_NO_POS };
	f->n_looks += f->n_again++ % STEPS_A_LOOK == 0;
	return !pos || set_step(f, m, err);
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
		return ts_no_memory(err, "a search");
	f->n_looks += 2 * len / 512;
	done = ts_query_mem(f->rows.ask->q, pos, f->process, first, len, now, now + len, err) &&
	       (!pos || ts_query_mem(f->rows.ask->q, pos - 1, f->process, first, len, before, before + len, err));
	for (size_t i = 0; done && (i = skip_to(f, now, i, len)) < n && i + v->len <= len; i++) {
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
	size_t i = page_at(f, r->first);

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

enum ts_next ts_find_some_again(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_find_rest *r = ts_find_rest(f);

	while (f->at_again == f->n_again) {
		if (r->is_over) {
			f->at_rest++;
			return TS_END;
		}
		if (!ts_find_has_budget(f, budget))
			return TS_MORE;
		if (!find_some(f, r, err))
			return TS_FAIL;
	}
	return TS_ITEM;
}

