/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include <stdlib.h>

#include "src/query/snapshot.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

struct executed {
	void (*use)(void *user, const struct ts_executed *x);
	void *user;
};

static void use_count(void *user, const struct ts_run_count *c)
{
	const struct executed *e = user;
	const struct ts_executed x = { .process = c->process, .pc = c->pc, .len = c->len, .n = c->n };

	e->use(e->user, &x);
}

/* Executions of runs that are counted in about the time in which a chunk is decoded. */
#define COUNTED_AT_ONCE (8u * TS_CHUNK_STEPS)

bool ts_query_each_executed(const struct ts_query *q, uint64_t from, uint64_t to, struct ts_executed_at *at,
			    void (*use)(void *user, const struct ts_executed *x), void *user)
{
	struct ts_runs_at here = { at->segment, at->key };
	struct executed e = { use, user };
	bool has_more;

	if (to > q->snap.end)
		to = q->snap.end;
	has_more = from < to && ts_runs_each(&q->tl->runs, from, to, &here,
					     q->snap.is_complete ? COUNTED_AT_ONCE : UINT64_MAX, use_count, &e);
	*at = (struct ts_executed_at){ here.segment, here.key };
	return has_more;
}

_Static_assert(TS_MAX_RUN_LEN == TS_MAX_RUN && TS_TOUCHED_LEN == TS_LINE_LEN, "what the index has");

uint32_t ts_query_n_runs(const struct ts_query *q)
{
	return (uint32_t)q->tl->runs.n;
}

bool ts_query_run(const struct ts_query *q, uint32_t i, struct ts_run_facts *run)
{
	const struct ts_runs *r = &q->tl->runs;
	const struct ts_run *x = i < r->n ? &r->runs[i] : NULL;

	if (!x)
		return false;
	*run = (struct ts_run_facts){ .process = x->process, .n = x->n, .first = x->pc, .last = x->pc,
				      .lens = r->lens + x->lens };
	for (unsigned k = 0; k + 1 < x->n; k++)
		run->last += r->lens[x->lens + k];
	return true;
}

void ts_query_each_start(const struct ts_query *q, uint32_t i, uint64_t from, uint64_t to,
			 void (*use)(void *user, uint64_t pos), void *user)
{
	if (to > q->snap.end)
		to = q->snap.end;
	if (from < to)
		ts_runs_each_start(&q->tl->runs, i, from, to, use, user);
}

void ts_query_fill_starts(const struct ts_query *q, uint64_t from, uint64_t to, uint32_t *starts)
{
	if (to > q->snap.end)
		to = q->snap.end;
	if (from < to)
		ts_runs_fill(&q->tl->runs, from, to, starts);
}

uint64_t ts_query_prev_start(const struct ts_query *q, uint32_t i, uint64_t pos, uint64_t from)
{
	if (!q->snap.n_steps)
		return TS_NO_POS;
	return ts_runs_prev_start(&q->tl->runs, i, pos < q->snap.n_steps ? pos : q->snap.n_steps - 1, from);
}

void ts_query_each_touch(const struct ts_query *q, bool is_read, uint32_t process, uint64_t from, uint64_t to,
			 void (*use)(void *user, uint64_t addr, uint64_t chunk), void *user)
{
	if (to > q->snap.end)
		to = q->snap.end;
	if (from < to && process < q->tl->n_memory)
		ts_space_each_touch(q->tl->memory[process], is_read, from / TS_CHUNK_STEPS,
				    (to - 1) / TS_CHUNK_STEPS + 1, use, user);
}

bool ts_query_is_blank(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
		       uint64_t pos)
{
	return process < q->tl->n_memory && ts_space_is_blank(q->tl->memory[process], pos, first, last);
}

struct pages {
	uint64_t *items; /* owned */
	size_t n, cap;
	bool is_disordered, is_failed;
};

static void add_page(void *user, uint64_t page)
{
	struct pages *p = user;

	if (p->is_failed || (p->n && p->items[p->n - 1] == page))
		return;
	p->is_disordered |= p->n && p->items[p->n - 1] > page;
	p->is_failed = !TS_PUSH(p->items, p->n, p->cap, page);
}

bool ts_query_pages(const struct ts_query *q, bool is_nonzero, uint32_t process, uint64_t first, uint64_t last,
		    uint64_t **pages, size_t *n)
{
	struct pages p = { 0 };
	size_t k = 0;

	if (process < q->tl->n_memory)
		ts_space_each_page(q->tl->memory[process], is_nonzero, first, last, add_page, &p);
	if (p.is_disordered)
		qsort(p.items, p.n, sizeof(*p.items), ts_by_u64);
	for (size_t i = 0; i < p.n; i++) {
		if (!k || p.items[k - 1] != p.items[i])
			p.items[k++] = p.items[i];
	}
	*pages = p.items;
	*n = k;
	return !p.is_failed;
}

const uint64_t *ts_query_digests(const struct ts_query *q, uint64_t *n)
{
	struct ts_digests *d = &q->tl->digests;

	*n = (q->snap.end + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS;
	return q->snap.is_complete && ts_timeline_has(q->tl, &ts_digests_section) && d->n >= *n ? ts_digests_read(d) : NULL;
}

uint64_t ts_query_next_inferred(const struct ts_query *q, uint64_t chunk)
{
	uint64_t first = TS_NO_CHUNK;

	for (uint32_t i = 0; i < q->tl->n_memory; i++) {
		uint64_t inferred = ts_space_next_inferred(q->tl->memory[i], chunk);

		first = inferred < first ? inferred : first;
	}
	return first;
}
