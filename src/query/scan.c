/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include <stdlib.h>

#include "snapshot.h"
#include "src/timeline/probe.h"

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

void ts_query_each_executed(const struct ts_query *q, uint64_t from, uint64_t to,
			    void (*use)(void *user, const struct ts_executed *x), void *user)
{
	struct executed e = { use, user };

	if (to > q->snap.end)
		to = q->snap.end;
	if (from < to)
		ts_runs_each(&q->tl->runs, from, to, use_count, &e);
}

_Static_assert(TS_MAX_RUN_LEN == TS_MAX_RUN && TS_TOUCHED_LEN == TS_LINE_LEN, "what the index has");

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

void ts_query_each_touch(const struct ts_query *q, bool is_read, uint32_t process, uint64_t from, uint64_t to,
			 void (*use)(void *user, uint64_t addr, uint64_t chunk), void *user)
{
	if (to > q->snap.end)
		to = q->snap.end;
	if (from < to && process < q->tl->n_memory)
		ts_space_each_touch(q->tl->memory[process], is_read, from / TS_CHUNK_STEPS,
				    (to - 1) / TS_CHUNK_STEPS + 1, use, user);
}

/* ------------------------------------------------------------------------------------------------- values */

/* More addresses that have to be looked at are not worth it. */
#define MAX_RANGES 64u

struct ts_value_probe {
	struct ts_probe *probe; /* owned */
	struct ts_probe_range ranges[MAX_RANGES];
	uint64_t next[MAX_RANGES]; /* the next chunk that changes each, if it is not before the one that is asked from */
	size_t n;
};

/* Bytes of files may take part in a value, and traits do not know of them. */
static bool add_image(const struct ts_query *q, struct ts_value_probe *p, uint32_t len)
{
	const struct ts_image *img = q->tl->image;

	for (size_t i = 0; img && i < img->n_ranges; i++) {
		uint64_t first = img->ranges[i].first, last = img->ranges[i].last;

		if (p->n == MAX_RANGES)
			return false;
		first = first < len ? 0 : first - len;
		last = last > UINT64_MAX - len ? UINT64_MAX : last + len;
		p->ranges[p->n++] = (struct ts_probe_range){ first, last };
	}
	return true;
}

static bool add_late(const struct ts_query *q, struct ts_value_probe *p, uint32_t process)
{
	for (size_t i = 0; i < q->tl->n_sketches; i++) {
		if (!ts_probe_late(p->probe, &q->tl->sketches[i], process, p->ranges, &p->n, MAX_RANGES))
			return false;
	}
	return true;
}

struct ts_value_probe *ts_query_probe_new(const struct ts_query *q, uint32_t process, const uint8_t *bytes,
					  const uint8_t *mask, uint32_t len)
{
	struct ts_value_probe *p = q->snap.is_complete ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->probe = ts_probe_new(bytes, mask, len);
	if (p->probe && add_image(q, p, len) && add_late(q, p, process))
		return p;
	ts_query_probe_free(p);
	return NULL;
}

void ts_query_probe_free(struct ts_value_probe *p)
{
	if (p)
		ts_probe_free(p->probe);
	free(p);
}

/* The first chunk of [@chunk, @end), of one segment, that may note what the value needs. */
static uint64_t next_of_segment(const struct ts_query *q, struct ts_value_probe *p, uint64_t chunk, uint64_t end)
{
	uint64_t segment = chunk / TS_SEGMENT_CHUNKS, start = segment * TS_SEGMENT_CHUNKS, groups, rest;
	unsigned group = (unsigned)((chunk - start) / TS_SKETCH_GROUP);

	if (segment >= q->tl->n_sketches)
		return chunk;
	groups = ts_probe_groups(p->probe, &q->tl->sketches[segment], segment);
	rest = groups >> group << group;
	if (!rest)
		return end;
	start += (uint64_t)__builtin_ctzll(rest) * TS_SKETCH_GROUP;
	start = start > chunk ? start : chunk;
	return start < end ? start : end;
}

/* The first chunk >= @chunk that changes an address which has to be looked at. */
static uint64_t next_change(struct ts_query *q, struct ts_value_probe *p, uint32_t process, uint64_t chunk)
{
	uint64_t next = TS_NO_CHUNK;

	for (size_t i = 0; i < p->n; i++) {
		if (p->next[i] <= chunk)
			p->next[i] = ts_query_next_access(q, TS_ACCESS_CHANGE, process, p->ranges[i].first,
							  p->ranges[i].last, chunk);
		next = p->next[i] < next ? p->next[i] : next;
	}
	return next;
}

uint64_t ts_query_next_begin(struct ts_query *q, struct ts_value_probe *p, uint32_t process, uint64_t chunk, uint64_t end)
{
	uint64_t change = next_change(q, p, process, chunk);

	end = change < end ? change : end;
	while (chunk < end) {
		uint64_t limit = (chunk / TS_SEGMENT_CHUNKS + 1) * TS_SEGMENT_CHUNKS;
		uint64_t next = next_of_segment(q, p, chunk, limit < end ? limit : end);

		if (next < limit)
			return next;
		chunk = limit;
	}
	return end;
}

bool ts_query_is_blank(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos)
{
	return process < q->tl->n_memory && ts_space_is_blank(q->tl->memory[process], pos, first, last);
}

struct pages {
	uint64_t *items; /* owned */
	size_t n, cap;
	bool is_failed;
};

static void add_page(void *user, uint64_t page)
{
	struct pages *p = user;

	if (p->is_failed || (p->n && p->items[p->n - 1] == page))
		return;
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 1024;
		uint64_t *items = realloc(p->items, cap * sizeof(*items));

		p->is_failed = !items;
		if (!items)
			return;
		p->items = items;
		p->cap = cap;
	}
	p->items[p->n++] = page;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool ts_query_pages(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t **pages,
		    size_t *n)
{
	struct pages p = { 0 };
	size_t k = 0;

	if (process < q->tl->n_memory)
		ts_space_each_page(q->tl->memory[process], first, last, add_page, &p);
	if (p.n)
		qsort(p.items, p.n, sizeof(*p.items), compare);
	for (size_t i = 0; i < p.n; i++) {
		if (!k || p.items[k - 1] != p.items[i])
			p.items[k++] = p.items[i];
	}
	*pages = p.items;
	*n = k;
	return !p.is_failed;
}
