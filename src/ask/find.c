/* SPDX-License-Identifier: MIT */
/*
 * One pass over the steps, from the first position that matters.  Where the value stands at position 0 is
 * found in all memory that may be known; from then on only what a step touches can begin or end a match.  Of
 * most values the index tells in which chunks none can begin; they are passed over unless they change a match
 * that stands.  In the others a sieve passes over most accesses.  What is left is compared with the part of
 * the value that it overlaps; what agrees, or ends a match, is then looked at in the sieve's mirror of memory,
 * or as the state has it where the mirror could not follow.
 *
 * A row is told when no other can come before it and its end is known, which is looked for ahead of the pass.
 */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "ends.h"
#include "matches.h"
#include "sieve.h"
#include "src/query/scan.h"
#include "src/query/values.h"
#include "state.h"
#include "waits.h"

/* So many looks at the state take as long as a chunk that is decoded. */
#define LOOKS_A_CHUNK 16u

/*
 * So many chunks are passed over at the cost of one that is decoded, and so are so many looks for a match's
 * change.
 */
#define PASSED_A_CHUNK 2048u
#define WAITS_A_LOOK   8u

/* Addresses around an access that are looked at together. */
#define WINDOW 128u

/*
 * Before the sketches are made so many steps are looked at without them, for what comes early (64 chunks), if there
 * are more; then, while they are being made, with one part in so many of the work.
 */
#define PLAIN_STEPS (TS_CHUNK_STEPS * TS_CHUNK_STEPS / 16)
#define PLAIN_SHARE 4u

/* Pages that are looked through at once. */
#define MAX_ADJOINING 16u

struct find {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	uint64_t first, last;  /* addresses */
	struct ts_matches matches;
	uint64_t *pages;       /* owned; those that may hold the rare byte */
	size_t n_pages;
	bool has_pages;        /* they have been listed: a machine has millions */
	struct ts_sieve sieve;
	uint32_t rare;         /* ordinal of a byte of the value that memory is searched for */
	struct ts_probe *probe; /* owned; NULL: no chunk is passed over */
	bool is_sketched;      /* there is all that the probe needs, or there never will be */
	unsigned n_turns;      /* in which sketches were made */
	struct ts_waits waits;  /* matches that stand: for the chunk that changes their bytes; 0: not looked for yet */
	bool is_started;       /* where the value stands at the start has been looked for, or is not asked for */
	size_t at_page;        /* the first page that has not been looked through there */
	uint64_t start;        /* the position at which looking begins */
	uint64_t pos;          /* the next step */
	uint64_t n_looks;
	bool is_plain; /* the last step that passed: the mirror followed all that it did to memory */
	bool is_over;  /* all steps have been looked at */
	bool is_failed;
	struct ts_ends ends; /* of the match that is the next row, ahead of the scan */
};

/* What the step did to the bytes at @addr. */
static enum ts_match_kind kind_of(const struct find *f, const struct ts_steps *batch, const struct ts_step *s,
				  uint64_t addr)
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
static bool note_step(struct find *f, struct ts_match *m, struct ts_error *err)
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

static bool begin_match(struct find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	struct ts_match m = { .addr = addr, .begin = pos, .end = TS_NO_POS };
	size_t n = f->matches.n;

	/* a match that begins before the range of the question is not a row */
	if (pos && pos >= f->qn->from && !note_step(f, &m, err))
		return false;
	f->n_looks += n % 32 == 0;
	return (ts_matches_begin(&f->matches, &m) && (!f->probe || ts_waits_add(&f->waits, 0, (uint32_t)n))) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for all places of a value");
}

/* ------------------------------------------------------------------------------------------- looking */

/* Does the value stand at @addr at @pos? */
static bool stands_at(struct find *f, uint64_t addr, uint64_t pos, bool *stands, struct ts_error *err)
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
static bool note_match(struct find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	bool stood = f->qn->from;

	if (stood && pos > f->start && !stands_at(f, addr, pos - 1, &stood, err))
		return false;
	return begin_match(f, addr, stood ? f->start : pos, err);
}

/* Does the value stand at @addr at @pos?  If that has changed it is noted. */
static bool note(struct find *f, uint64_t addr, uint64_t pos, bool stands, struct ts_error *err)
{
	bool stood = ts_matches_stands(&f->matches, addr);

	if (stands && !stood)
		return note_match(f, addr, pos, err);
	if (!stands && stood)
		ts_matches_end(&f->matches, addr, pos);
	return true;
}

static bool look(struct find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	bool stands;

	return stands_at(f, addr, pos, &stands, err) && note(f, addr, pos, stands, err);
}

/*
 * A byte of the value to search memory for: one that counts, and is rare: not 0 if there is another.  Its
 * ordinal.
 */
static uint32_t choose_rare(const struct ts_value *v)
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
static size_t skip_to(const struct find *f, const uint8_t *data, size_t i, size_t n)
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
static bool note_in_range(struct find *f, struct before *b, uint64_t first, size_t i, uint64_t pos,
			  struct ts_error *err)
{
	bool stood = f->qn->from;

	if (stood && pos > f->start && !b->data) {
		b->data = malloc(2 * b->len);
		if (!b->data)
			return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
		if (!ts_query_mem(f->ask->q, pos - 1, f->process, first, b->len, b->data, b->data + b->len, err))
			return false;
	}
	if (b->data)
		stood = ts_value_is(&f->qn->value, b->data + i, b->data + b->len + i);
	return begin_match(f, first + i, stood ? f->start : pos, err);
}

/* Look through [first, last] of memory at @pos for what begins there; it is known to be within one block. */
static bool look_through(struct find *f, uint64_t first, uint64_t last, uint64_t pos,
			 struct ts_error *err)
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
static bool look_at_matches(struct find *f, uint64_t first, uint64_t last, uint64_t pos, struct ts_error *err)
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

static bool list_pages(struct find *f, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	bool is_nonzero = v->mask[f->rare] && v->bytes[f->rare];

	if (!f->has_pages && !ts_query_pages(f->ask->q, is_nonzero, f->process, f->first, f->last, &f->pages,
					     &f->n_pages))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
	f->has_pages = true;
	return true;
}

/* The first page that ends at @addr or later. */
static size_t page_at(const struct find *f, uint64_t addr)
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
static size_t n_adjoining(const struct find *f, size_t i)
{
	size_t n = 1;

	while (n < MAX_ADJOINING && i + n < f->n_pages && f->pages[i + n] == f->pages[i] + n)
		n++;
	return n;
}

/* The same, but for values that lie in @bare. */
static bool look_around(struct find *f, uint64_t first, uint64_t last, const struct range *bare, uint64_t pos,
			struct ts_error *err)
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

/*
 * Matches that begin in [first, last] or reach into it, new ones and old ones: at @pos, after that started
 * afresh. @is_bare: it holds nothing that the value could be.
 */
static bool look_at_range(struct find *f, uint64_t first, uint64_t last, bool is_bare, uint64_t pos,
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
		page_last = f->pages[i + n - 1] << TS_SCAN_PAGE_BITS |
			    ((UINT64_C(1) << TS_SCAN_PAGE_BITS) - 1);

		/* a value may begin before the page of which something is known */
		page_first = page_first < before ? 0 : page_first - before;
		if (page_first > last)
			break;
		page_first = page_first > first ? page_first : first;
		page_last = page_last < last ? page_last : last;
		if (!look_at_matches(f, page_first, page_last, pos, err) ||
		    !(is_bare ? look_around(f, page_first, page_last, &bare, pos, err) :
				look_through(f, page_first, page_last, pos, err)))
			return false;
	}
	return true;
}

/* --------------------------------------------------------------------------------------------- one step */

/* A part of WHAT an effect touched, and its value. */
struct touch {
	uint64_t first, last;
	const uint8_t *value; /* NULL: unknown */
};

/* Memory at @pos at a few addresses. */
struct window {
	uint64_t addr;
	size_t len; /* 0: it has not been read */
	uint8_t data[WINDOW + TS_MAX_VALUE], known[WINDOW + TS_MAX_VALUE];
};

/* Read it as the mirror has it.  Returns false if that cannot be told; *w is as it was then. */
static bool copy_window(struct find *f, struct window *w, uint64_t addr, size_t len, uint64_t pos, bool *done,
			struct ts_error *err)
{
	const struct ts_steps *batch;

	*done = false;
	if (!ts_ask_step(f->ask, pos - 1, &batch, err))
		return false;
	for (size_t i = 0, n; i < len; i += n) {
		struct ts_mirror_line *line = ts_mirror_find(&f->sieve.mirror, addr + i);
		size_t at = (addr + i) % TS_MIRROR_LINE;

		if (!line && !ts_sieve_line(&f->sieve, batch, pos - 1, addr + i, &line, err))
			return false;
		if (!line)
			return true;
		n = TS_MIRROR_LINE - at < len - i ? TS_MIRROR_LINE - at : len - i;
		memcpy(w->data + i, line->data + at, n);
		memcpy(w->known + i, line->known + at, n);
	}
	*done = true;
	return true;
}

/*
 * Read from @addr to @last or a window's length, for values that begin there.  After a plain step that the
 * sieve took last the mirror has it.
 */
static bool read_window(struct find *f, struct window *w, uint64_t addr, uint64_t last, uint64_t pos,
			struct ts_error *err)
{
	size_t len = last - addr < WINDOW ? (size_t)(last - addr) + 1 : WINDOW;
	bool done = false;

	len += f->qn->value.len - 1;
	if (f->is_plain && !copy_window(f, w, addr, len, pos, &done, err))
		return false;
	f->n_looks += !done;
	w->addr = addr;
	w->len = len;
	return done || ts_query_mem(f->ask->q, pos, f->process, addr, len, w->data, w->known, err);
}

/* The addresses at which the value may begin to stand at @pos, or stand no longer. */
static bool look_at_touch(struct find *f, const struct touch *t, uint64_t pos, struct ts_error *err)
{
	uint64_t before = f->qn->value.len - 1;
	uint64_t first = t->first - f->first < before ? f->first : t->first - before;
	uint64_t last = f->last - t->last < before ? f->last - before : t->last;
	struct window w;

	w.len = 0;
	if (f->last - f->first < before || first > last)
		return true;
	for (uint64_t a = first;; a++) {
		bool is_new = t->value && ts_value_agrees(&f->qn->value, a, t->value, t->first, t->last),
		     stands = ts_matches_stands(&f->matches, a);

		if (!t->value || is_new != stands) {
			if ((!w.len || a - w.addr > w.len - f->qn->value.len) &&
			    !read_window(f, &w, a, last, pos, err))
				return false;
			stands = ts_value_is(&f->qn->value, w.data + (a - w.addr), w.known + (a - w.addr));
			if (!note(f, a, pos, stands, err))
				return false;
		}
		if (a == last)
			return true;
	}
}

/* What the effect of the step that begins or ends at @pos shows there. */
static bool look_at_effect(struct find *f, const struct ts_steps *batch, const struct ts_effect *e,
			   uint64_t pos, struct ts_error *err)
{
	uint64_t e_last = e->addr + (e->len - 1);
	const uint8_t *value = ts_effect_data(batch, e);
	struct touch t;
	bool is_bare;

	if (e->kind < TS_FX_WRITE || e->kind > TS_FX_FORGET || e->kind == TS_FX_PROTECT || !e->len ||
	    (e->kind == TS_FX_READ && !value))
		return true;
	t.first = e->addr > f->first ? e->addr : f->first;
	t.last = e_last < f->last ? e_last : f->last;
	if (t.first > t.last)
		return true;
	t.value = value ? value + (t.first - e->addr) : NULL;
	if (e->kind == TS_FX_READ || e->kind == TS_FX_WRITE)
		return look_at_touch(f, &t, pos, err);
	if (!f->qn->value.mask[f->rare])
		is_bare = false;
	else if (e->kind == TS_FX_MAP && batch->maps[e->item].fill == TS_FILL_ZERO)
		is_bare = f->qn->value.bytes[f->rare];
	else
		is_bare = ts_query_is_blank(f->ask->q, f->process, t.first, t.last, pos);
	return look_at_range(f, t.first, t.last, is_bare, pos, err);
}

/*
 * Reads show what stood there before the step; then what all effects made of it.  Of a plain step only writes
 * matter.
 */
static bool look_at_step(struct find *f, uint64_t pos, struct ts_error *err)
{
	for (unsigned pass = f->is_plain; pass < 2; pass++) {
		const struct ts_steps *batch;
		const struct ts_step *s = ts_ask_step(f->ask, pos, &batch, err);
		uint32_t thread;

		if (!s)
			return false;
		thread = s->thread;
		for (uint32_t i = 0; i < s->n_effects; i++) {
			const struct ts_effect *e = &batch->effects[s->first + i];
			bool is_mine = ts_query_process(f->ask->q, thread) == f->process;

			if (e->kind == TS_FX_THREAD)
				thread = e->item;
			else if (is_mine &&
				 (f->is_plain ? e->kind == TS_FX_WRITE : pass || e->kind == TS_FX_READ) &&
				 !look_at_effect(f, batch, e, pos + pass, err))
				return false;
		}
	}
	return true;
}

/* The mirror may not have followed what the effect did. */
static void forget(struct find *f, const struct ts_effect *e)
{
	ts_mirror_forget(&f->sieve.mirror, e->addr, e->addr + (e->len - 1));
	f->is_plain = false;
}

/* May the access end a match that it seems to overlap?  A read of what was there anyway does not. */
static bool may_end(struct find *f, const struct ts_steps *batch, uint64_t pos, uint32_t i, bool *may,
		    struct ts_error *err)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];
	bool is_same = false;

	if (e->kind == TS_FX_READ && !ts_sieve_is_same(&f->sieve, batch, pos, i, &is_same, err))
		return false;
	if (e->kind == TS_FX_READ && !is_same)
		forget(f, e);
	*may |= !is_same;
	return true;
}

/* May the access begin or end a match? */
static bool may_matter(struct find *f, const struct ts_steps *batch, uint64_t pos, uint32_t i, bool *may,
		       struct ts_error *err)
{
	const struct ts_effect *e = &batch->effects[batch->steps[pos % TS_CHUNK_STEPS].first + i];
	uint64_t last = e->addr + (e->len - 1);
	enum ts_sieved sieved;

	if (last < f->first || e->addr > f->last || (e->kind == TS_FX_READ && e->data == TS_NO_DATA))
		return true;
	if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || e->data == TS_NO_DATA) {
		forget(f, e);
		*may = true;
		return true;
	}
	if (!ts_sieve_take(&f->sieve, batch, pos, i, &sieved, err))
		return false;
	if (sieved == TS_SIEVED_OTHER && ts_matches_may_overlap(&f->matches, e->addr, last))
		return may_end(f, batch, pos, i, may, err);
	if (sieved == TS_SIEVED_MAY_BEGIN && e->kind == TS_FX_READ)
		forget(f, e);
	*may |= sieved == TS_SIEVED_MAY_BEGIN;
	return true;
}

/* May a step of the chunk begin or end a match? */
static bool pass_step(struct find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		      struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[pos % TS_CHUNK_STEPS];
	bool is_mine = ts_query_process(f->ask->q, s->thread) == f->process;

	*may = false;
	f->is_plain = true;
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &batch->effects[s->first + i];

		if (e->kind == TS_FX_THREAD)
			is_mine = ts_query_process(f->ask->q, e->item) == f->process;
		else if (is_mine && e->len && e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET &&
			 e->kind != TS_FX_PROTECT && !may_matter(f, batch, pos, i, may, err))
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- the cursor */

/* The budget that the looks since the last call used up. */
static bool has_budget(struct find *f, struct ts_budget *budget)
{
	f->n_looks += f->sieve.mirror.n_loads;
	f->sieve.mirror.n_loads = 0;
	while (f->n_looks >= LOOKS_A_CHUNK && ts_budget_take(budget))
		f->n_looks -= LOOKS_A_CHUNK;
	return f->n_looks < LOOKS_A_CHUNK;
}

/* Where the value stands at the start: a page after the other. */
static bool look_at_start(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t before = f->qn->value.len - 1;

	if (f->is_started)
		return true;
	if (!list_pages(f, err))
		return false;
	for (size_t n; f->at_page < f->n_pages && has_budget(f, budget); f->at_page += n) {
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

/* Look at the steps up to the end of their chunk.  Returns TS_GOT_END if there are more. */
static enum ts_got scan_chunk(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_steps *batch;
	uint64_t end = (f->pos / TS_CHUNK_STEPS + 1) * TS_CHUNK_STEPS;

	if (!ts_ask_step(f->ask, f->pos, &batch, err))
		return TS_GOT_FAIL;
	end = end < f->ask->n_steps ? end : f->ask->n_steps;
	for (; f->pos < end; f->pos++) {
		bool may;

		if (!has_budget(f, budget))
			return TS_GOT_PENDING;
		if (!pass_step(f, batch, f->pos, &may, err) || (may && !look_at_step(f, f->pos, err)))
			return TS_GOT_FAIL;
	}
	return TS_GOT_END;
}

/*
 * The first chunk >= @chunk that changes a match; no matter which one while the budget is used up.
 */
static uint64_t next_end(struct find *f, uint64_t chunk)
{
	while (f->waits.n && f->waits.items[0].chunk <= chunk && f->n_looks < LOOKS_A_CHUNK) {
		struct ts_wait w = ts_waits_take(&f->waits);
		const struct ts_match *m = &f->matches.items[w.item];
		uint64_t next;

		if (m->end != TS_NO_POS)
			continue;
		next = ts_query_next_access(f->ask->q, TS_ACCESS_CHANGE, f->process, m->addr,
					    m->addr + (f->qn->value.len - 1), chunk);
		f->n_looks += w.item % WAITS_A_LOOK == 0;
		if (next == chunk) {
			f->is_failed |= !ts_waits_add(&f->waits, 0, w.item);
			return chunk;
		}
		if (next != TS_NO_CHUNK)
			f->is_failed |= !ts_waits_add(&f->waits, next, w.item);
	}
	return f->waits.n ? f->waits.items[0].chunk : TS_NO_CHUNK;
}

/* Pass over chunks in which no match begins or ends.  Returns false if there are still more. */
static bool pass_over(struct find *f)
{
	uint64_t chunk = f->pos / TS_CHUNK_STEPS, end = (f->ask->n_steps - 1) / TS_CHUNK_STEPS + 1;
	uint64_t next = next_end(f, chunk);

	if (f->pos % TS_CHUNK_STEPS || next <= chunk)
		return true;
	end = end - chunk < PASSED_A_CHUNK ? end : chunk + PASSED_A_CHUNK;
	next = ts_query_next_begin(f->ask->q, f->probe, chunk, next < end ? next : end);
	if (next == chunk)
		return true;
	ts_mirror_forget(&f->sieve.mirror, 0, UINT64_MAX);
	f->pos = next * TS_CHUNK_STEPS < f->ask->n_steps ? next * TS_CHUNK_STEPS : f->ask->n_steps;
	return false;
}

/* Is so much of the recording to be looked at that sketches of all of it are worth a pass? */
static bool is_worth_a_pass(const struct find *f)
{
	uint64_t end = f->qn->to < f->ask->n_steps ? f->qn->to : f->ask->n_steps;

	return end > f->start && end - f->start >= f->ask->n_steps / 2;
}

/*
 * The first question that looks at all of a recording makes the sketches, for all later ones.  Until they are
 * there a part of the budget is left for the scan, which finds what comes early.  Returns false if the trace
 * cannot be read.
 */
static bool need_sketches(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_query *q = f->ask->q;
	enum ts_need need = TS_NEED_DONE;
	uint32_t share = 0;

	if (f->is_sketched || (f->pos - f->start < PLAIN_STEPS && f->ask->n_steps > PLAIN_STEPS &&
			       !ts_query_has_values(q)))
		return true;
	if (f->probe && (!ts_query_is_complete(q) || (!is_worth_a_pass(f) && !ts_query_has_values(q)))) {
		ts_query_probe_free(f->probe);
		f->probe = NULL;
	}
	if (f->probe && budget->left) {
		share = budget->left - (budget->left + f->n_turns++ % PLAIN_SHARE) / PLAIN_SHARE;
		need = ts_query_need_values(q, (uint64_t)share * TS_CHUNK_STEPS, err);
	}
	f->is_sketched = need == TS_NEED_DONE && (budget->left || !f->probe);
	f->rows.n_prepared = need == TS_NEED_MORE ? ts_query_n_values_read(q) : 0;
	budget->left -= need == TS_NEED_MORE ? share : 0;
	return need != TS_NEED_FAILED;
}

/* All steps have been looked at. */
static enum ts_got end_scan(struct find *f, struct ts_error *err)
{
	if (f->is_failed) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for all places of a value");
		return TS_GOT_FAIL;
	}
	f->is_over = true;
	return TS_GOT_END;
}

/* Go on: with a page, a chunk, or some that are passed over.  Returns TS_GOT_END if that is done. */
static enum ts_got scan(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got got = TS_GOT_END;

	if (!f->is_started) {
		if (!look_at_start(f, budget, err))
			return TS_GOT_FAIL;
		return f->is_started ? TS_GOT_END : TS_GOT_PENDING;
	}
	if (!need_sketches(f, budget, err))
		return TS_GOT_FAIL;
	if (f->pos >= f->ask->n_steps || (f->pos >= f->qn->to && !f->matches.standing.n))
		return end_scan(f, err);
	/* looks are paid for first: with a budget of one a chunk is never begun without room for a step */
	if (!has_budget(f, budget) || !ts_budget_take(budget))
		return TS_GOT_PENDING;
	f->ends.credit += LOOKS_A_CHUNK / 4;
	if (!f->probe || !f->is_sketched || pass_over(f))
		got = scan_chunk(f, budget, err);
	f->rows.at = f->pos;
	return got;
}

/* -------------------------------------------------------------------------------------------------- rows */

static void put_row(const struct find *f, const struct ts_match *m, uint64_t end, struct ts_row *row)
{
	static const char *const kinds[] = { [TS_MATCH_START] = "start",
					     [TS_MATCH_WRITE] = "write",
					     [TS_MATCH_MAP] = "map",
					     [TS_MATCH_UNEXPLAINED] = "unexplained" };

	ts_row_number(row, 0, m->begin);
	if (end != TS_NO_POS)
		ts_row_number(row, 1, end);
	ts_row_addr(row, 2, m->addr);
	ts_row_number(row, 3, f->qn->value.len);
	ts_row_text(row, 4, kinds[m->kind]);
	if (m->kind == TS_MATCH_START)
		return;
	ts_row_number(row, 5, m->begin - 1);
	ts_cell_thread(row, 6, f->ask, m->thread);
	ts_row_pc(row, 7, m->pc);
	ts_cell_function(row, 8, f->ask, m->pc);
}

/* The match that is the next row, if it is known yet that none comes before it; else NULL. */
static bool next_match(struct find *f, const struct ts_match **m)
{
	uint64_t settled = f->pos < f->qn->to && !f->is_over ? f->pos : f->qn->to;

	return ts_matches_next(&f->matches, f->qn->from, settled, m);
}

/* The row of the match, if it is known when it ends.  Returns TS_GOT_END if it is not. */
static enum ts_got take_match(struct find *f, const struct ts_match *m, struct ts_row *row,
			      struct ts_budget *budget, struct ts_error *err)
{
	bool is_found = m->end != TS_NO_POS || f->is_over;
	uint64_t end = m->end;

	while (!is_found && f->ends.credit > 0) {
		if (!has_budget(f, budget))
			return TS_GOT_PENDING;
		if (!ts_ends_look(&f->ends, m->addr, f->pos, &end, &is_found, err))
			return TS_GOT_FAIL;
		f->n_looks += f->ends.n_looks;
		f->ends.n_looks = 0;
	}
	if (!is_found)
		return TS_GOT_END;
	put_row(f, m, end, row);
	ts_matches_pass(&f->matches);
	return TS_GOT_ROW;
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct find *f = (struct find *)rows;

	for (;;) {
		const struct ts_match *m;
		enum ts_got got = TS_GOT_END;

		if (!next_match(f, &m)) {
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for all places of a value");
			return TS_GOT_FAIL;
		}
		rows->is_waiting = m;
		rows->waits_at = m ? m->begin : 0;
		if (m)
			got = take_match(f, m, row, budget, err);
		else if (f->is_over)
			return TS_GOT_END;
		if (got == TS_GOT_END)
			got = scan(f, budget, err);
		if (got != TS_GOT_END)
			return got;
	}
}

static void close_find(struct ts_rows *rows)
{
	struct find *f = (struct find *)rows;

	ts_matches_fini(&f->matches);
	free(f->pages);
	ts_sieve_fini(&f->sieve);
	ts_query_probe_free(f->probe);
	ts_waits_fini(&f->waits);
	free(f);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_find };

static struct ts_rows *open_find(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				 struct ts_error *err)
{
	struct find *f = calloc(1, sizeof(*f));

	if (!f) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	(void)is_reverse;
	f->rows = (struct ts_rows){ .ops = &ops, .go = TS_NO_POS };
	f->ask = ask;
	f->qn = qn;
	f->process = ts_ask_process(ask, qn);
	f->first = qn->has_memory ? qn->memory_first : 0;
	f->last = qn->has_memory ? qn->memory_last : ts_arch_addr_mask(ts_query_regset(ask->q)->arch);
	f->start = f->pos = qn->from ? qn->from - 1 : 0;
	f->rare = choose_rare(&qn->value);
	f->probe = ts_query_probe_new(qn->value.bytes, qn->value.mask, qn->value.len);
	if (ts_query_facts(ask->q)->is_physical)
		snprintf(f->rows.note, sizeof(f->rows.note), "addresses are physical");
	f->is_started = qn->from;
	f->matches.len = qn->value.len;
	ts_ends_init(&f->ends, ask, &qn->value, f->process);
	if (ts_sieve_init(&f->sieve, ask->q, &qn->value, f->process, err))
		return &f->rows;
	close_find(&f->rows);
	return NULL;
}

static const struct ts_column columns[] = {
	{ .name = "begin", .type = TS_COLUMN_NUMBER },	  { .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "address", .type = TS_COLUMN_ADDR },	  { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "kind", .type = TS_COLUMN_TEXT },	  { .name = "position", .type = TS_COLUMN_NUMBER },
	{ .name = "thread", .type = TS_COLUMN_NUMBER },	  { .name = "pc", .type = TS_COLUMN_ADDR },
	{ .name = "function", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_find_value = {
	.name = "find",
	.synopsis = "VALUE [in memory ADDR:END]",
	.help = "List where in memory a value stands, from when to when, and who put it there.",
	.example = "find \"text\" first 10",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.operand = TS_OPERAND_VALUE,
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_MEMORY | TS_TAKES_THREAD,
	.open = open_find,
};
