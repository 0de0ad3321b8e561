/* SPDX-License-Identifier: MIT */
#include "reg_chunks.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/scan.h"

/* So many chunks are looked into one by one, before it is found out what runs write; and where that is known. */
#define N_UNASKED 4u
#define N_KNOWN	  0u

/* Windows grow: a register that is written everywhere is found in the first one. */
#define MAX_WIDTH 4096u

void ts_reg_chunks_fini(struct ts_reg_chunks *c)
{
	ts_run_search_fini(&c->writers);
	free(c->bits);
	*c = (struct ts_reg_chunks){ 0 };
}

bool ts_reg_chunks_want_runs(const struct ts_reg_chunks *c, const struct ts_query *q)
{
	unsigned n = ts_query_knows_write_runs(q) ? N_KNOWN : N_UNASKED;

	return !c->is_ready && c->n_asked >= n && ts_query_has_write_runs(q);
}

/* Runs that may write it. */
static bool find_writers(struct ts_run_search *s, const struct ts_query *q, const struct ts_location *loc)
{
	struct ts_does does = ts_does_of_location(ts_query_regset(q), loc->kind == TS_IN_REGS, loc->base, loc->mask);
	struct ts_error ignored = { 0 };

	return ts_run_search_init(s, q, &does, &ignored);
}

/* Forget what was found out while the recording was shorter. */
static bool begin(struct ts_reg_chunks *c, const struct ts_query *q)
{
	ts_run_search_fini(&c->writers);
	c->first = c->end = 0;
	if (!c->bits)
		c->bits = malloc(MAX_WIDTH / 8);
	c->n_steps = ts_query_n_steps(q);
	c->width = 1;
	c->last = c->below = TS_NO_CHUNK;
	return c->bits;
}

struct marking {
	struct ts_reg_chunks *c;
	uint32_t n; /* instructions of the run */
};

static void mark(void *user, uint64_t pos)
{
	const struct marking *m = user;
	struct ts_reg_chunks *c = m->c;

	for (uint64_t chunk = pos / TS_CHUNK_STEPS; chunk <= (pos + m->n - 1) / TS_CHUNK_STEPS; chunk++) {
		if (chunk >= c->first && chunk < c->end)
			c->bits[(chunk - c->first) / 64] |= UINT64_C(1) << (chunk - c->first) % 64;
	}
}

/* A window that has @chunk at its beginning, or at its end.  Returns false if memory is exhausted. */
static bool fill_window(struct ts_reg_chunks *c, const struct ts_query *q, const struct ts_location *loc, uint64_t chunk,
			bool is_reverse)
{
	struct ts_run_facts run;

	if (!c->writers.runs && !find_writers(&c->writers, q, loc))
		return false;
	c->first = !is_reverse ? chunk : chunk + 1 > c->width ? chunk + 1 - c->width : 0;
	c->end = is_reverse ? chunk + 1 : chunk + c->width;
	c->width = c->width * 8 < MAX_WIDTH ? c->width * 8 : MAX_WIDTH;
	memset(c->bits, 0, MAX_WIDTH / 8);
	for (size_t i = 0; i < c->writers.n; i++) {
		struct marking m = { .c = c };

		if (!ts_query_run(q, c->writers.runs[i].run, &run))
			continue;
		m.n = run.n;
		ts_query_each_start(q, c->writers.runs[i].run, c->first * TS_CHUNK_STEPS, c->end * TS_CHUNK_STEPS, mark, &m);
	}
	return true;
}

/* c->last becomes the last chunk <= @chunk in which one of the runs has a step.  Returns false if memory is exhausted. */
static bool find_last(struct ts_reg_chunks *c, const struct ts_query *q, const struct ts_location *loc, uint64_t chunk)
{
	uint64_t pos = chunk * TS_CHUNK_STEPS + (TS_CHUNK_STEPS - 1), first, end;
	struct ts_run_search s; /* its own: it forgets the runs that began later only */
	bool done = find_writers(&s, q, loc), is_exact = false;

	if (c->limit && pos >= c->limit)
		pos = c->limit - 1;
	/* a run of the chunk itself will do */
	while (done && !is_exact && (s.best == TS_NO_POS || s.best / TS_CHUNK_STEPS != chunk))
		is_exact = ts_run_search_prev(&s, q, pos, 1, &first, &end);
	c->below = chunk;
	c->last = s.best == TS_NO_POS ? TS_NO_CHUNK : !is_exact || end - 1 >= pos ? chunk : (end - 1) / TS_CHUNK_STEPS;
	c->last_start = is_exact ? s.best : TS_NO_POS;
	ts_run_search_fini(&s);
	return done;
}

static bool find_in_window(const struct ts_reg_chunks *c, uint64_t *chunk, bool is_reverse)
{
	while (*chunk >= c->first && *chunk < c->end) {
		uint64_t i = *chunk - c->first;

		if (c->bits[i / 64] >> i % 64 & 1)
			return true;
		if (is_reverse && !*chunk) {
			*chunk = TS_NO_CHUNK;
			return false;
		}
		*chunk += is_reverse ? UINT64_MAX : 1;
	}
	return false;
}

uint64_t ts_reg_chunks_find(struct ts_reg_chunks *c, struct ts_query *q, const struct ts_location *loc,
			    uint64_t chunk, bool is_reverse)
{
	uint64_t n = ts_query_n_steps(q);

	if (!n || chunk == TS_NO_CHUNK || (!is_reverse && chunk * TS_CHUNK_STEPS >= n))
		return TS_NO_CHUNK;
	if (is_reverse && chunk > (n - 1) / TS_CHUNK_STEPS)
		chunk = (n - 1) / TS_CHUNK_STEPS;
	if (!c->is_ready || c->is_failed) {
		c->n_asked++;
		return chunk;
	}
	if (c->n_steps != n)
		c->is_failed = !begin(c, q);
	if (!c->is_failed && is_reverse && c->below == TS_NO_CHUNK)
		c->is_failed = !find_last(c, q, loc, chunk);
	if (!c->is_failed && is_reverse && chunk <= c->below && (c->last == TS_NO_CHUNK || chunk >= c->last))
		return c->last;
	while (!c->is_failed && chunk != TS_NO_CHUNK && chunk * TS_CHUNK_STEPS < n) {
		if (find_in_window(c, &chunk, is_reverse))
			return chunk;
		if (chunk != TS_NO_CHUNK && chunk * TS_CHUNK_STEPS < n)
			c->is_failed = !fill_window(c, q, loc, chunk, is_reverse);
	}
	return c->is_failed ? chunk : TS_NO_CHUNK;
}
