/* SPDX-License-Identifier: MIT */
/*
 * One pass over the steps, from the first position that matters.  Where the value stands at position 0 is
 * found in all memory that may be known; from then on only what a step touches can begin or end a match.  Of
 * most values the index tells in which chunks none can begin; they are passed over unless they change a match
 * that stands.  In the others a sieve passes over most accesses.  What is left is compared with the part of
 * the value that it overlaps; what agrees, or ends a match, is then looked at as the state has it.
 */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
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

/* Pages that are looked through at once. */
#define MAX_ADJOINING 16u

#define NONE UINT32_MAX

/* The value stands at @addr at positions [begin, end). */
struct match {
	uint64_t addr;
	uint64_t begin, end; /* end: TS_NO_POS while it stands */
};

/* How many matches begin in blocks of so many bytes is counted, by a hash of the block. */
#define BLOCK_LEN 64u
#define N_BLOCKS  4096u

/* Matches that stand, by address: ordinals in a hash table. */
struct standing {
	uint32_t *slots; /* owned; ordinal + 1, 0: empty, NONE: was removed */
	size_t n_slots, n_used, n;
	uint32_t in_block[N_BLOCKS];
};

struct find {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	uint64_t first, last;  /* addresses */
	struct match *items;   /* owned */
	size_t n, cap;
	struct standing standing;
	uint64_t *pages;       /* owned; those of which something may be known */
	size_t n_pages;
	bool has_pages;        /* they have been listed: a machine has millions */
	struct ts_sieve sieve;
	uint32_t rare;         /* ordinal of a byte of the value that memory is searched for */
	struct ts_probe *probe; /* owned; NULL: no chunk is passed over */
	bool is_sketched;      /* there is all that the probe needs, or there never will be */
	struct ts_waits waits;  /* matches that stand: for the chunk that changes their bytes; 0: not looked for yet */
	bool is_started;       /* where the value stands at the start has been looked for, or is not asked for */
	size_t at_page;        /* the first page that has not been looked through there */
	uint64_t start;        /* the position at which looking begins */
	uint64_t pos;          /* the next step */
	uint64_t n_looks;
	bool is_over;          /* all steps have been looked at, and the matches are in order */
	bool is_failed;
	size_t at;
};

/* ------------------------------------------------------------------------------------- matches that stand */

static size_t slot_of(const struct standing *st, uint64_t addr)
{
	return (size_t)((addr * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (st->n_slots - 1);
}

static uint32_t *block_of(struct find *f, uint64_t addr)
{
	return &f->standing.in_block[addr / BLOCK_LEN % N_BLOCKS];
}

/* Does a match stand that has a byte in [first, last]?  Perhaps not if true. */
static bool may_overlap(struct find *f, uint64_t first, uint64_t last)
{
	uint64_t before = f->qn->value.len - 1;

	first = first < before ? 0 : first - before;
	if (!f->standing.n || (last - first) / BLOCK_LEN >= N_BLOCKS)
		return f->standing.n;
	for (uint64_t block = first / BLOCK_LEN; block <= last / BLOCK_LEN; block++) {
		if (f->standing.in_block[block % N_BLOCKS])
			return true;
	}
	return false;
}

static uint32_t *find_slot(const struct find *f, uint64_t addr)
{
	const struct standing *st = &f->standing;
	size_t i;

	if (!st->n)
		return NULL;
	for (i = slot_of(st, addr); st->slots[i]; i = (i + 1) & (st->n_slots - 1)) {
		if (st->slots[i] != NONE && f->items[st->slots[i] - 1].addr == addr)
			return &st->slots[i];
	}
	return NULL;
}

static void put_slot(struct find *f, uint32_t item)
{
	struct standing *st = &f->standing;
	size_t i = slot_of(st, f->items[item].addr);

	while (st->slots[i] && st->slots[i] != NONE)
		i = (i + 1) & (st->n_slots - 1);
	st->n_used += !st->slots[i];
	st->slots[i] = item + 1;
	st->n++;
}

static bool grow_standing(struct find *f)
{
	struct standing *st = &f->standing, old = *st;

	if (st->n_used * 2 < st->n_slots)
		return true;
	st->n_slots = 64;
	while (st->n_slots < 4 * (old.n + 1))
		st->n_slots *= 2;
	st->slots = calloc(st->n_slots, sizeof(*st->slots));
	st->n = st->n_used = 0;
	if (!st->slots) {
		*st = old;
		return false;
	}
	for (size_t i = 0; i < old.n_slots; i++) {
		if (old.slots[i] && old.slots[i] != NONE)
			put_slot(f, old.slots[i] - 1);
	}
	free(old.slots);
	return true;
}

static void begin_match(struct find *f, uint64_t addr, uint64_t pos)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 64;
		struct match *items = realloc(f->items, cap * sizeof(*items));

		if (!items) {
			f->is_failed = true;
			return;
		}
		f->items = items;
		f->cap = cap;
	}
	if (f->n >= NONE - 2 || !grow_standing(f) ||
	    (f->probe && !ts_waits_add(&f->waits, 0, (uint32_t)f->n))) {
		f->is_failed = true;
		return;
	}
	f->items[f->n] = (struct match){ .addr = addr, .begin = pos, .end = TS_NO_POS };
	put_slot(f, (uint32_t)f->n++);
	++*block_of(f, addr);
	f->n_looks += f->n % 32 == 0;
}

static void end_match(struct find *f, uint32_t *slot, uint64_t pos)
{
	f->items[*slot - 1].end = pos;
	--*block_of(f, f->items[*slot - 1].addr);
	*slot = NONE;
	f->standing.n--;
}

/* ------------------------------------------------------------------------------------------- looking */

static bool is_match(const struct ts_value *v, const uint8_t *data, const uint8_t *known)
{
	for (uint32_t i = 0; i < v->len; i++) {
		if (v->mask[i] && (!known[i] || data[i] != v->bytes[i]))
			return false;
	}
	return true;
}

/*
 * The value stands at @addr at @pos, which was not known before: since when?  What stood when looking began
 * is not searched for if it is not asked for, and then it turns up here.
 */
static bool note_match(struct find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];
	bool stood = f->qn->from;

	if (stood && pos > f->start) {
		f->n_looks++;
		if (!ts_query_mem(f->ask->q, pos - 1, f->process, addr, v->len, data, known, err))
			return false;
		stood = is_match(v, data, known);
	}
	begin_match(f, addr, stood ? f->start : pos);
	return true;
}

/* Does the value stand at @addr at @pos?  What has changed since then is noted. */
static bool look(struct find *f, uint64_t addr, uint64_t pos, struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];
	uint32_t *slot = find_slot(f, addr);
	bool stands;

	f->n_looks++;
	if (!ts_query_mem(f->ask->q, pos, f->process, addr, v->len, data, known, err))
		return false;
	stands = is_match(v, data, known);
	if (stands && !slot)
		return note_match(f, addr, pos, err);
	if (!stands && slot)
		end_match(f, slot, pos);
	return true;
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

/* Look through [first, last] of memory at @pos for what begins there; it is known to be within one block. */
static bool look_through(struct find *f, uint64_t first, uint64_t last, uint64_t pos,
			 struct ts_error *err)
{
	const struct ts_value *v = &f->qn->value;
	uint64_t room = f->last - last;
	size_t n = (size_t)(last - first) + 1, len = n + (room < v->len - 1 ? (size_t)room : v->len - 1);
	uint8_t *data = malloc(2 * len);
	bool done;

	if (!data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a search");
	f->n_looks += len / 512;
	done = ts_query_mem(f->ask->q, pos, f->process, first, len, data, data + len, err);
	for (size_t i = 0; done && (i = skip_to(f, data, i, len)) < n && i + v->len <= len; i++) {
		if (is_match(v, data + i, data + len + i) && !find_slot(f, first + i))
			done = note_match(f, first + i, pos, err);
	}
	free(data);
	return done;
}

/* The matches that begin in [first, last], a part of a page: do they still stand at @pos? */
static bool look_at_matches(struct find *f, uint64_t first, uint64_t last, uint64_t pos, struct ts_error *err)
{
	for (uint64_t i = 0; i <= last - first && f->standing.n; i++) {
		uint64_t addr = first + i;

		if (!*block_of(f, addr))
			i += BLOCK_LEN - 1 - addr % BLOCK_LEN;
		else if (find_slot(f, addr) && !look(f, addr, pos, err))
			return false;
	}
	return true;
}

static bool list_pages(struct find *f, struct ts_error *err)
{
	if (!f->has_pages &&
	    !ts_query_pages(f->ask->q, f->process, f->first, f->last, &f->pages, &f->n_pages))
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

/* Do the bytes of the value at @addr that the effect covers agree with it? */
static bool agrees(const struct find *f, const struct touch *t, uint64_t addr)
{
	const struct ts_value *v = &f->qn->value;
	uint64_t lo = t->first > addr ? t->first : addr, hi = addr + (v->len - 1);

	if (hi > t->last)
		hi = t->last;
	for (uint64_t a = lo;; a++) {
		if (v->mask[a - addr] && v->bytes[a - addr] != t->value[a - t->first])
			return false;
		if (a == hi)
			return true;
	}
}

/* The addresses at which the value may begin or end to stand at @pos. */
static bool look_at_touch(struct find *f, const struct touch *t, uint64_t pos, struct ts_error *err)
{
	uint64_t before = f->qn->value.len - 1;
	uint64_t first = t->first - f->first < before ? f->first : t->first - before;

	for (uint64_t a = first; f->last - a >= before; a++) {
		bool is_new = t->value && agrees(f, t, a), stands = find_slot(f, a) != NULL;

		if ((!t->value || is_new != stands) && !look(f, a, pos, err))
			return false;
		if (a == t->last)
			break;
	}
	return true;
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

/* Reads show what stood there before the step; then what all effects made of it. */
static bool look_at_step(struct find *f, uint64_t pos, struct ts_error *err)
{
	for (unsigned pass = 0; pass < 2; pass++) {
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
			else if (is_mine && (pass || e->kind == TS_FX_READ) &&
				 !look_at_effect(f, batch, e, pos + pass, err))
				return false;
		}
	}
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
		ts_mirror_forget(&f->sieve.mirror, e->addr, last);
		*may = true;
		return true;
	}
	if (!ts_sieve_take(&f->sieve, batch, pos, i, &sieved, err))
		return false;
	*may |= sieved == TS_SIEVED_MAY_BEGIN || (sieved == TS_SIEVED_OTHER && may_overlap(f, e->addr, last));
	return true;
}

/* May a step of the chunk begin or end a match? */
static bool pass_step(struct find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		      struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[pos % TS_CHUNK_STEPS];
	bool is_mine = ts_query_process(f->ask->q, s->thread) == f->process;

	*may = false;
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

static int compare(const void *a, const void *b)
{
	const struct match *x = a;
	const struct match *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool is_wanted(const struct find *f, const struct match *m)
{
	return m->begin >= f->qn->from && m->begin < f->qn->to;
}

static void put_in_order(struct find *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (is_wanted(f, &f->items[i]) && f->items[i].begin != f->items[i].end)
			f->items[n++] = f->items[i];
	}
	f->n = n;
	f->standing.n = 0;
	if (n)
		qsort(f->items, n, sizeof(*f->items), compare);
	f->is_over = true;
}

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
		const struct match *m = &f->items[w.item];
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
 * Before chunks are passed over: the first question that looks at all of a recording makes the sketches, for
 * all later ones.  Returns TS_GOT_END when that is done.
 */
static enum ts_got need_sketches(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_query *q = f->ask->q;
	enum ts_need need = TS_NEED_DONE;

	if (f->is_sketched)
		return TS_GOT_END;
	if (f->probe && (!ts_query_is_complete(q) || (!is_worth_a_pass(f) && !ts_query_has_values(q)))) {
		ts_query_probe_free(f->probe);
		f->probe = NULL;
	}
	if (f->probe)
		need = ts_query_need_values(q, (uint64_t)budget->left * TS_CHUNK_STEPS, err);
	f->is_sketched = need == TS_NEED_DONE;
	f->rows.n_prepared = need == TS_NEED_MORE ? ts_query_n_values_read(q) : 0;
	if (f->is_sketched)
		return TS_GOT_END;
	budget->left = 0;
	return need == TS_NEED_MORE ? TS_GOT_PENDING : TS_GOT_FAIL;
}

/* Go on.  Returns TS_GOT_END when all steps have been looked at. */
static enum ts_got scan(struct find *f, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got sketched = need_sketches(f, budget, err);

	if (sketched != TS_GOT_END)
		return sketched;
	if (!look_at_start(f, budget, err))
		return TS_GOT_FAIL;
	if (!f->is_started)
		return TS_GOT_PENDING;
	while (f->pos < f->ask->n_steps && (f->pos < f->qn->to || f->standing.n)) {
		/*
		 * looks are paid for first: with a budget of one a chunk is never begun without room for a
		 * step
		 */
		bool may_go_on = has_budget(f, budget) && ts_budget_take(budget);
		enum ts_got got = TS_GOT_END;

		if (!may_go_on)
			got = TS_GOT_PENDING;
		else if (!f->probe || pass_over(f))
			got = scan_chunk(f, budget, err);

		f->rows.at = f->pos;
		if (got != TS_GOT_END)
			return got;
	}
	if (f->is_failed) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for all places of a value");
		return TS_GOT_FAIL;
	}
	put_in_order(f);
	return TS_GOT_END;
}

/* What the step did to the bytes at @addr. */
static const char *kind_of(const struct find *f, const struct ts_steps *batch, const struct ts_step *s,
			   uint64_t addr)
{
	const char *kind = "unexplained";
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
			return "write";
		if (e->kind != TS_FX_READ)
			kind = "map";
	}
	return kind;
}

static bool put_row(const struct find *f, const struct match *m, struct ts_row *row, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s;

	ts_row_number(row, 0, m->begin);
	if (m->end != TS_NO_POS)
		ts_row_number(row, 1, m->end);
	ts_row_addr(row, 2, m->addr);
	ts_row_number(row, 3, f->qn->value.len);
	if (!m->begin) {
		ts_row_text(row, 4, "start");
		return true;
	}
	s = ts_query_step(f->ask->q, m->begin - 1, &batch, err);
	if (!s)
		return false;
	ts_row_text(row, 4, kind_of(f, batch, s, m->addr));
	ts_row_number(row, 5, m->begin - 1);
	ts_cell_thread(row, 6, f->ask, s->thread);
	ts_row_pc(row, 7, s->pc);
	ts_cell_function(row, 8, f->ask, s->pc);
	return true;
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct find *f = (struct find *)rows;
	enum ts_got got = f->is_over ? TS_GOT_END : scan(f, budget, err);
	const struct match *m;

	if (got != TS_GOT_END || f->at == f->n)
		return got;
	m = &f->items[rows->is_reverse ? f->n - 1 - f->at : f->at];
	f->at++;
	return put_row(f, m, row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
}

static void close_find(struct ts_rows *rows)
{
	struct find *f = (struct find *)rows;

	free(f->items);
	free(f->standing.slots);
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
	f->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS };
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
	.is_reversible = true,
	.open = open_find,
};
