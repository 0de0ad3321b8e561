/* SPDX-License-Identifier: MIT */
#include "run_chunks.h"

#include <stdlib.h>

#include "scan.h"
#include "src/query/snapshot.h"
#include "write_runs.h"

#define N_CHUNKS 64u /* of a group */

/* How many are kept: sets of registers and flags; groups of all of them, in 8 MiB. */
#define N_MAPS	   32u
#define MAX_GROUPS (UINT64_C(1) << 16)

struct group {
	uint16_t parts[N_CHUNKS];
};

struct ts_run_chunks {
	struct ts_does does;
	uint64_t used;         /* the clock when it was last used; 0: empty */
	uint64_t n;            /* groups, as many as the recording has */
	struct group **groups; /* owned; NULL: nothing is known of its chunks */
	bool *asked;           /* in the same allocation: was a question about one of its chunks? */
};

struct ts_run_maps {
	uint64_t clock, n_groups;
	struct ts_run_chunks maps[N_MAPS];
};

static void drop(struct ts_run_maps *maps, struct ts_run_chunks *m)
{
	for (uint64_t i = 0; i < m->n; i++) {
		maps->n_groups -= m->groups[i] != NULL;
		free(m->groups[i]);
	}
	free(m->groups);
	*m = (struct ts_run_chunks){ 0 };
}

void ts_run_maps_free(struct ts_run_maps *maps)
{
	for (unsigned i = 0; maps && i < N_MAPS; i++)
		drop(maps, &maps->maps[i]);
	free(maps);
}

/* The entry of the set of registers and flags, else the one to replace. */
static struct ts_run_chunks *find_map(struct ts_run_maps *maps, const struct ts_does *does)
{
	struct ts_run_chunks *oldest = maps->maps;

	for (struct ts_run_chunks *m = maps->maps; m < maps->maps + N_MAPS; m++) {
		if (m->used && m->does.regs == does->regs && m->does.flags == does->flags && m->does.is_branch == does->is_branch)
			return m;
		if (m->used < oldest->used)
			oldest = m;
	}
	drop(maps, oldest);
	return oldest;
}

struct ts_run_chunks *ts_query_run_chunks(struct ts_query *q, const struct ts_does *does)
{
	struct ts_run_maps *maps = q->run_maps;
	struct ts_run_chunks *m;

	if (!maps)
		maps = q->run_maps = calloc(1, sizeof(*maps));
	if (!maps)
		return NULL;
	m = find_map(maps, does);
	if (!m->used) {
		m->n = (ts_query_n_steps(q) + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS / N_CHUNKS + 1;
		m->groups = calloc(m->n, sizeof(struct group *) + sizeof(bool));
		m->asked = m->groups ? (bool *)(m->groups + m->n) : NULL;
		m->n = m->groups ? m->n : 0;
		m->does = *does;
	}
	m->used = ++maps->clock;
	return m->groups ? m : NULL;
}

static bool add_group(struct ts_run_maps *maps, struct ts_run_chunks *m, uint64_t i)
{
	if (m->groups[i])
		return true;
	m->groups[i] = calloc(1, sizeof(*m->groups[i]));
	maps->n_groups += m->groups[i] != NULL;
	return m->groups[i];
}

struct marking {
	struct ts_run_chunks *m;
	uint64_t first, end; /* chunks */
	uint32_t n;          /* instructions of the run */
};

static void mark(void *user, uint64_t pos)
{
	const struct marking *k = user;
	uint64_t part = pos / TS_PART_STEPS, last = (pos + k->n - 1) / TS_PART_STEPS;

	for (; part <= last; part++) {
		uint64_t chunk = part * TS_PART_STEPS / TS_CHUNK_STEPS;

		if (chunk >= k->first && chunk < k->end)
			k->m->groups[chunk / N_CHUNKS]->parts[chunk % N_CHUNKS] |=
				(uint16_t)(1u << part * TS_PART_STEPS % TS_CHUNK_STEPS / TS_PART_STEPS);
	}
}

bool ts_run_chunks_fill(struct ts_run_chunks *m, struct ts_query *q, uint64_t chunk, uint64_t n_groups)
{
	uint64_t first = chunk / N_CHUNKS, end = n_groups < m->n - first ? first + n_groups : m->n;
	struct marking k = { .m = m, .first = first * N_CHUNKS, .end = end * N_CHUNKS };
	struct ts_error ignored = { 0 };
	struct ts_run_search s;
	struct ts_run_facts run;
	bool done = true;

	for (unsigned i = 0; i < N_MAPS && q->run_maps->n_groups + (end - first) > MAX_GROUPS; i++) {
		if (&q->run_maps->maps[i] != m)
			drop(q->run_maps, &q->run_maps->maps[i]);
	}
	done = ts_run_search_init(&s, q, &m->does, &ignored);
	for (uint64_t i = first; done && i < end; i++)
		done = add_group(q->run_maps, m, i);
	for (size_t i = 0; done && i < s.n; i++) {
		if (!ts_query_run(q, s.runs[i].run, &run))
			continue;
		k.n = run.n;
		ts_query_each_start(q, s.runs[i].run, k.first * TS_CHUNK_STEPS, k.end * TS_CHUNK_STEPS, mark, &k);
	}
	ts_run_search_fini(&s);
	return done;
}

bool ts_run_chunks_ask(struct ts_run_chunks *m, uint64_t chunk)
{
	bool *asked = &m->asked[chunk / N_CHUNKS], before = *asked;

	*asked = true;
	return before;
}

bool ts_run_chunks_at(const struct ts_run_chunks *m, uint64_t chunk, uint16_t *parts)
{
	const struct group *g = chunk / N_CHUNKS < m->n ? m->groups[chunk / N_CHUNKS] : NULL;

	*parts = g ? g->parts[chunk % N_CHUNKS] : 0;
	return g;
}
