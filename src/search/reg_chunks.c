/* SPDX-License-Identifier: MIT */
#include "reg_chunks.h"

#include "src/query/search/run_chunks.h"

/*
 * The number of chunks that are examined one by one before the registers that runs write are computed, and
 * afterwards.
 */
#define N_UNASKED 4u
#define N_KNOWN	  0u

/* Forwards, more and more groups of chunks are examined together: a register that is written everywhere is found in the first one. */
#define MAX_GROUPS 64u

bool ts_reg_chunks_want_runs(const struct ts_reg_chunks *c, const struct ts_query *q)
{
	unsigned n = ts_query_knows_write_runs(q) ? N_KNOWN : N_UNASKED;

	return !c->is_ready && c->n_asked >= n && ts_query_has_write_runs(q);
}

/* Discard the results from when the recording was shorter. */
static void begin(struct ts_reg_chunks *c, const struct ts_query *q, const struct ts_location *loc)
{
	c->does = ts_does_of_location(q, loc->kind == TS_IN_REGS, loc->base, loc->mask);
	c->n_steps = ts_query_n_steps(q);
	c->n_groups = 1;
	c->last = c->below = TS_NO_CHUNK;
}

/*
 * c->last becomes the last chunk <= @chunk in which one of the runs has a step before the limit.  Returns false if memory is
 * exhausted.
 */
static bool find_last(struct ts_reg_chunks *c, const struct ts_query *q, uint64_t chunk)
{
	uint64_t pos = chunk * TS_CHUNK_STEPS + (TS_CHUNK_STEPS - 1), first, end;
	struct ts_error ignored = { 0 };
	struct ts_run_search s; /* its own: it forgets the runs that began later only */
	bool done = ts_run_search_init(&s, q, &c->does, &ignored), is_exact = false;

	if (c->limit && c->limit - 1 < pos)
		pos = c->limit - 1;
	/* a run of the chunk itself is sufficient */
	while (done && !is_exact && (s.best == TS_NO_POS || s.best / TS_CHUNK_STEPS != chunk))
		is_exact = ts_run_search_prev(&s, q, pos, 1, &first, &end);
	c->below = chunk;
	c->last = s.best == TS_NO_POS ? TS_NO_CHUNK : !is_exact ? chunk : (end - 1 < pos ? end - 1 : pos) / TS_CHUNK_STEPS;
	c->last_start = is_exact ? s.best : TS_NO_POS;
	ts_run_search_fini(&s);
	return done;
}

/* The parts of the chunk that begin before the limit. */
static uint16_t parts_below(const struct ts_reg_chunks *c, uint64_t chunk)
{
	uint64_t start = chunk * TS_CHUNK_STEPS, n = TS_RUN_PARTS;

	if (c->limit && c->limit < start + TS_CHUNK_STEPS)
		n = c->limit > start ? (c->limit - start - 1) / TS_PART_STEPS + 1 : 0;
	return (uint16_t)((UINT32_C(1) << n) - 1);
}

/*
 * The chunk, or one before it: the group of chunks to which it belongs is examined, and the others are searched for the last run.
 * For one hit, the group is examined when there was a question about it before: that takes longer than the search for one run.
 * Returns false if memory is exhausted.
 */
static bool find_back(struct ts_reg_chunks *c, struct ts_query *q, struct ts_run_chunks *m, uint64_t *chunk)
{
	bool is_new = !ts_run_chunks_ask(m, *chunk) && c->is_for_one;
	uint16_t parts;

	if (!is_new && !ts_run_chunks_at(m, *chunk, &parts) && !ts_run_chunks_fill(m, q, *chunk, 1))
		return false;
	for (; ts_run_chunks_at(m, *chunk, &parts); --*chunk) {
		parts &= parts_below(c, *chunk);
		c->found_start = *chunk * TS_CHUNK_STEPS;
		if (parts) {
			c->found_start += (31u - (unsigned)__builtin_clz(parts)) * (uint64_t)TS_PART_STEPS;
			return true;
		}
		if (!*chunk) {
			*chunk = TS_NO_CHUNK;
			return true;
		}
	}
	if ((c->below == TS_NO_CHUNK || *chunk > c->below || (c->last != TS_NO_CHUNK && *chunk < c->last)) &&
	    !find_last(c, q, *chunk))
		return false;
	*chunk = c->last;
	c->found_start = c->last_start;
	return true;
}

static bool find_ahead(struct ts_reg_chunks *c, struct ts_query *q, struct ts_run_chunks *m, uint64_t *chunk)
{
	for (; *chunk * TS_CHUNK_STEPS < c->n_steps; ++*chunk) {
		uint16_t parts;

		if (!ts_run_chunks_at(m, *chunk, &parts)) {
			if (!ts_run_chunks_fill(m, q, *chunk, c->n_groups))
				return false;
			c->n_groups = c->n_groups * 8 < MAX_GROUPS ? c->n_groups * 8 : MAX_GROUPS;
		}
		if (ts_run_chunks_at(m, *chunk, &parts) && parts)
			return true;
	}
	*chunk = TS_NO_CHUNK;
	return true;
}

uint64_t ts_reg_chunks_find(struct ts_reg_chunks *c, struct ts_query *q, const struct ts_location *loc,
			    uint64_t chunk, bool is_reverse)
{
	uint64_t n = ts_query_n_steps(q), found;
	struct ts_run_chunks *m;
	uint16_t parts;

	c->found = TS_NO_CHUNK;
	if (!n || chunk == TS_NO_CHUNK || (!is_reverse && chunk * TS_CHUNK_STEPS >= n))
		return TS_NO_CHUNK;
	if (is_reverse && chunk > (n - 1) / TS_CHUNK_STEPS)
		chunk = (n - 1) / TS_CHUNK_STEPS;
	if (!c->is_ready) {
		c->n_asked++;
		return chunk;
	}
	if (c->n_steps != n)
		begin(c, q, loc);
	m = ts_query_run_chunks(q, &c->does);
	if (c->is_enough && m && !ts_run_chunks_at(m, chunk, &parts))
		return chunk;
	found = chunk;
	if (!m || !(is_reverse ? find_back : find_ahead)(c, q, m, &found))
		return chunk; /* memory is exhausted: each may have one */
	c->found = is_reverse ? found : TS_NO_CHUNK;
	return found;
}

uint16_t ts_reg_chunks_parts(const struct ts_reg_chunks *c, struct ts_query *q, uint64_t chunk)
{
	bool is_known = c->is_ready && c->n_steps && c->n_steps == ts_query_n_steps(q);
	const struct ts_run_chunks *m = is_known ? ts_query_run_chunks(q, &c->does) : NULL;
	uint16_t parts;

	return m && ts_run_chunks_at(m, chunk, &parts) ? parts : UINT16_MAX;
}
