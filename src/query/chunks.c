/* SPDX-License-Identifier: MIT */
#include "chunks.h"

#include <assert.h>
#include <inttypes.h>

uint32_t ts_query_chunk_len(const struct ts_query *q, uint64_t chunk)
{
	uint64_t left = q->snap.n_indexed - chunk * TS_CHUNK_STEPS;

	return left < TS_CHUNK_STEPS ? (uint32_t)left : TS_CHUNK_STEPS;
}

static bool start_chunk(struct ts_query *q, struct cached_chunk *c, struct ts_error *err)
{
	size_t len;
	const uint8_t *point = ts_timeline_point(q->tl, c->chunk, &q->points, &len);

	if (!point)
		return ts_query_finish_question(q, err) && ts_no_memory(err, "a decode point");
	ts_steps_reset(&c->steps);
	if (!ts_reader_resume(q->reader, point, len, err))
		return ts_fail_prefix(err, "step %" PRIu64, c->chunk * TS_CHUNK_STEPS);
	q->read = c;
	return true;
}

/* ------------------------------------------------------------------------------------------------- inferred ranges */

static uint64_t count_inferred(const struct ts_query *q)
{
	uint64_t n = 0;

	if (q->tl->n_memory == 1)
		return ts_space_n_inferred(q->tl->memory[0]);

	for (uint32_t i = 0; i < q->tl->n_memory; i++)
		n += ts_space_n_inferred(q->tl->memory[i]);
	return n;
}

static bool has_inferred(const struct ts_query *q, uint64_t chunk)
{
	for (uint32_t i = 0; i < q->tl->n_memory; i++) {
		if (ts_space_has_inferred(q->tl->memory[i], chunk * TS_CHUNK_STEPS + 1,
					(chunk + 1) * TS_CHUNK_STEPS))
			return true;
	}
	return false;
}

/* The process whose effects would follow in the last step. */
static uint32_t last_process(const struct ts_query *q, const struct ts_steps *b)
{
	const struct ts_step *s = &b->steps[b->n_steps - 1];

	for (uint32_t i = b->n_effects; i-- > s->first;) {
		if (b->effects[i].kind == TS_FX_THREAD)
			return ts_timeline_process(q->tl, b->effects[i].item);
	}
	return ts_timeline_process(q->tl, s->thread);
}

/* The effects that follow are of a thread of @process. */
static void turn_to(const struct ts_query *q, struct ts_steps *b, uint32_t process)
{
	uint32_t thread = 0;
	struct ts_effect *e;

	while (ts_timeline_process(q->tl, thread) != process)
		thread++;
	e = ts_steps_effect(b, TS_FX_THREAD, 0, 0);
	if (e)
		e->item = thread;
}

/*
 * What is known of memory only since position @pos shows as hidden writes of the last step of @b, which leads
 * there.  Does nothing if memory is exhausted: then the batch may have no steps.
 */
static void add_inferred(const struct ts_query *q, struct ts_steps *b, uint64_t pos)
{
	for (uint32_t i = 0; i < q->tl->n_memory && !b->is_failed; i++) {
		if (!ts_space_has_inferred(q->tl->memory[i], pos, pos))
			continue;
		if (last_process(q, b) != i)
			turn_to(q, b, i);
		ts_space_append_inferred(q->tl->memory[i], pos, b);
	}
	if (!b->is_failed && b->n_effects > b->n_closed)
		ts_steps_extend_last(b);
}

/* ------------------------------------------------------------------------------------------------- chunks */

/* Decode on until the chunk's first @n steps are there. */
static bool decode(struct ts_query *q, struct cached_chunk *c, uint32_t n, struct ts_error *err)
{
	struct ts_steps *b = &c->steps;
	bool has_ranges = has_inferred(q, c->chunk), is_single = has_ranges || !q->reader->ops->next_plain;
	struct ts_reader *r = q->reader;

	while (b->n_steps < n && !b->is_failed) {
		enum ts_next next = is_single ? ts_reader_next(r, b, err) : ts_reader_next_steps(r, n - b->n_steps, b, err);

		if (next == TS_ITEM) {
			if (has_ranges)
				add_inferred(q, b, c->chunk * TS_CHUNK_STEPS + b->n_steps);
			continue;
		}
		if (next == TS_END)
			ts_fail(err, TS_ETRUNC, TS_NO_OFF,
				"the trace has become shorter since it was opened");
		return ts_fail_prefix(err, "step %" PRIu64, c->chunk * TS_CHUNK_STEPS + b->n_steps);
	}
	if (b->is_failed)
		return ts_no_memory(err, "the steps of a chunk");
	return true;
}

struct cached_chunk *ts_query_cached_chunk(struct ts_query *q, uint64_t chunk)
{
	struct cached_chunk *c = q->chunks;
	uint64_t n_inferred = count_inferred(q); /* reading on may find some of a chunk that was decoded */

	if (q->newest && q->newest->chunk == chunk && q->newest->n_inferred == n_inferred)
		return q->newest;
	for (unsigned i = 0; i < N_CACHED_CHUNKS && c->chunk != chunk; i++) {
		if (q->chunks[i].chunk == chunk || q->chunks[i].used < c->used)
			c = &q->chunks[i];
	}
	c->used = ++q->clock;
	q->newest = c;
	if (c->chunk == chunk && c->n_inferred == n_inferred)
		return c;
	if (q->read == c)
		q->read = NULL;
	c->chunk = chunk;
	c->n_inferred = n_inferred;
	q->epoch++;
	ts_steps_reset(&c->steps);
	ts_chunk_lines_reset(&c->lines);
	return c;
}

uint64_t ts_query_epoch(const struct ts_query *q)
{
	return q->epoch;
}

const struct ts_steps *ts_query_chunk(struct ts_query *q, uint64_t chunk, uint32_t n_steps,
				      struct ts_error *err)
{
	uint32_t len = ts_query_chunk_len(q, chunk);
	struct cached_chunk *c = ts_query_cached_chunk(q, chunk);

	assert(chunk * TS_CHUNK_STEPS < q->snap.n_indexed);
	if (n_steps > len)
		n_steps = len;
	if (c->steps.n_steps >= n_steps)
		return &c->steps; /* nothing was read */
	if (q->read != c && c->steps.n_steps)
		n_steps = len; /* chunks are read in turns: decode the rest at once, without a restart */
	if ((q->read == c || start_chunk(q, c, err)) && ts_query_finish_question(q, err) &&
	    decode(q, c, n_steps, err))
		return &c->steps;
	c->chunk = TS_NO_CHUNK;
	c->used = 0;
	q->read = NULL;
	return NULL;
}

const struct ts_step *ts_query_step(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
				    struct ts_error *err)
{
	const struct ts_steps *b;

	assert(pos < q->snap.n_indexed);
	b = ts_query_chunk(q, pos / TS_CHUNK_STEPS, pos % TS_CHUNK_STEPS + 1, err);
	if (!b)
		return NULL;
	*batch = b;
	return &b->steps[pos % TS_CHUNK_STEPS];
}

const struct ts_step *ts_query_step_whole(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
					  struct ts_error *err)
{
	uint64_t last = pos | (TS_CHUNK_STEPS - 1), n_steps = ts_query_n_steps(q);

	if (!ts_query_step(q, last < n_steps ? last : n_steps - 1, batch, err))
		return NULL;
	return &(*batch)->steps[pos % TS_CHUNK_STEPS];
}
