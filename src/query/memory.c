/* SPDX-License-Identifier: MIT */
/*
 * Memory at a position: from the index, and from the effects of the steps since the beginning of the chunk.
 */
#include <string.h>

#include "chunks.h"
#include "src/query/code/byte_rule.h"
#include "replay.h"

/* So few steps are replayed in no time. */
#define FEW_STEPS (TS_CHUNK_STEPS / 32)

/* The number of questions that replay more of a chunk after which the rest of it is decoded, so that its lines can be listed. */
#define MANY_QUESTIONS 8u

/* Carry the window from the chunk's start through its first @n steps. */
static void replay(struct ts_query *q, struct ts_replay *v, uint64_t chunk, const struct ts_steps *b, uint32_t n)
{
	struct cached_chunk *c = ts_query_cached_chunk(q, chunk);

	if (n > FEW_STEPS && b->n_steps == ts_query_chunk_len(q, chunk) && ts_chunk_lines_know(&c->lines, b, v)) {
		ts_chunk_lines_take(&c->lines, b, n, v);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		ts_replay_step(v, b, &b->steps[i]);
}

/* The chunk's first @n steps, or all if there are many questions about it. */
static const struct ts_steps *decoded(struct ts_query *q, uint64_t chunk, uint32_t n, struct ts_error *err)
{
	const struct ts_steps *b = ts_query_chunk(q, chunk, n, err);

	if (!b || n <= FEW_STEPS || b->n_steps == ts_query_chunk_len(q, chunk) ||
	    ++ts_query_cached_chunk(q, chunk)->lines.n_partly <= MANY_QUESTIONS)
		return b;
	return ts_query_chunk(q, chunk, TS_CHUNK_STEPS, err);
}

static bool read_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		     uint8_t *data, uint8_t *known, struct ts_error *err)
{
	struct ts_replay v = {
		.tl = q->tl, .process = process, .addr = addr, .len = len, .data = data, .known = known
	};
	uint64_t chunk = pos / TS_CHUNK_STEPS, n = pos % TS_CHUNK_STEPS;
	bool has_step = pos < q->snap.n_indexed;
	const struct ts_steps *b;
	uint32_t thread;

	if (!len)
		return true;
	if (process >= q->tl->n_memory || len - 1 > UINT64_MAX - addr) {
		memset(data, 0, len);
		memset(known, 0, len);
	}
	if (process >= q->tl->n_memory)
		return true;
	if (len - 1 > UINT64_MAX - addr)
		v.len = (size_t)(UINT64_MAX - addr) + 1;
	ts_replay_start(&v, chunk);
	if (!n && !has_step)
		return true;
	b = decoded(q, chunk, (uint32_t)n + has_step, err);
	if (!b)
		return false;
	replay(q, &v, chunk, b, (uint32_t)n);
	if (has_step)
		ts_replay_see(&v, b, &b->steps[n], &thread);
	if (!memchr(v.known, TS_LOST, v.len))
		return true;
	b = ts_query_chunk(q, chunk, TS_CHUNK_STEPS, err);
	if (!b)
		return false;
	ts_replay_settle(&v, b, pos);
	return true;
}

bool ts_query_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		  uint8_t *data, uint8_t *known, struct ts_error *err)
{
	return read_mem(q, pos, process, addr, len, data, known, err) && ts_query_finish_question(q, err);
}
