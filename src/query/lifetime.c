/* SPDX-License-Identifier: MIT */
/*
 * A query object is made, takes a newer snapshot, and is freed.
 */
#include <stdlib.h>

#include "forks.h"
#include "src/query/code/insns.h"
#include "src/query/search/read_chunks.h"
#include "src/query/search/run_chunks.h"
#include "snapshot.h"
#include "src/query/search/write_runs.h"

static bool alloc_regs(struct ts_query *q)
{
	size_t len = q->tl->rec->regs.g_len;

	for (unsigned i = 0; i <= N_CACHED_REGS; i++) {
		struct cached_regs *c = i < N_CACHED_REGS ? &q->regs[i] : &q->walk;

		c->data = malloc(2 * len + 1);
		if (!c->data)
			return false;
		c->known = c->data + len;
	}
	return true;
}

/*
 * What a question is on while it reads the timeline.  Returns false if the recording cannot be read (TS_EIO) or memory
 * is exhausted (TS_ENOMEM): it needs its fini all the same.
 */
static bool caches_init(struct ts_query *q, struct ts_error *err)
{
	for (unsigned i = 0; i < N_CACHED_CHUNKS; i++) {
		q->chunks[i].chunk = TS_NO_CHUNK;
		ts_steps_init(&q->chunks[i].steps);
	}
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		q->regs[i].pos = TS_NO_POS;
	q->walk.pos = TS_NO_POS;
	if (!alloc_regs(q))
		return ts_no_memory(err, "queries");
	q->reader = q->tl->rec->ops->reader(q->tl->rec, err);
	return q->reader;
}

static void caches_fini(struct ts_query *q)
{
	ts_query_keep(q, NULL, NULL);
	ts_insns_free(q->insns);
	ts_forks_free(q->forks);
	ts_write_runs_free(q->write_runs);
	ts_read_chunks_free(q->read_chunks);
	ts_run_maps_free(q->run_maps);
	for (unsigned i = 0; i < N_CACHED_CHUNKS; i++) {
		ts_steps_fini(&q->chunks[i].steps);
		ts_chunk_lines_fini(&q->chunks[i].lines);
	}
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		free(q->regs[i].data);
	free(q->walk.data);
	ts_points_unpacker_fini(&q->points);
	ts_reader_close(q->reader);
}

/* If memory is exhausted the list stays as it was, and is rebuilt with the next snapshot. */
static bool take_mapped(struct ts_query *q)
{
	if (!q->tl->rec->maps_are_modules ||
	    (q->snap.n_regions == q->n_mapped && q->snap.is_complete == q->is_mapped_whole))
		return true;
	if (!ts_mapped_build(&q->mapped, &q->tl->world, q->snap.n_regions))
		return false;
	q->n_mapped = q->snap.n_regions;
	q->is_mapped_whole = q->snap.is_complete;
	return true;
}

void ts_query_keep(struct ts_query *q, void *data, void (*free_data)(void *data))
{
	if (q->kept)
		q->free_kept(q->kept);
	q->kept = data;
	q->free_kept = free_data;
}

void *ts_query_kept(const struct ts_query *q)
{
	return q->kept;
}

struct ts_query *ts_query_new(struct ts_timeline *tl, struct ts_error *err)
{
	struct ts_query *q = calloc(1, sizeof(*q));

	if (!q)
		return ts_no_memory(err, "queries");
	q->tl = tl;
	ts_facts_take(&q->facts, tl);
	ts_query_refresh(q);
	if (!take_mapped(q)) {
		ts_no_memory(err, "the list of modules");
		free(q);
		return NULL;
	}
	if (caches_init(q, err))
		return q;
	ts_query_free(q);
	return NULL;
}

void ts_query_free(struct ts_query *q)
{
	if (!q)
		return;
	caches_fini(q);
	ts_mapped_fini(&q->mapped);
	free(q);
}

bool ts_query_refresh(struct ts_query *q)
{
	struct ts_snapshot before = q->snap;

	ts_snapshot_take(&q->snap, q->tl);
	take_mapped(q);
	if (q->snap.end == before.end && q->snap.is_complete == before.is_complete)
		return false;
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		q->regs[i].pos = TS_NO_POS; /* what was unknown may be known */
	q->walk.pos = TS_NO_POS;
	ts_query_keep(q, NULL, NULL);
	ts_insns_free(q->insns);
	q->insns = NULL;
	ts_read_chunks_free(q->read_chunks);
	q->read_chunks = NULL;
	ts_run_maps_free(q->run_maps);
	q->run_maps = NULL;
	ts_write_runs_refresh(q);
	return true;
}
