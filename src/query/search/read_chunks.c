/* SPDX-License-Identifier: MIT */
#include "read_chunks.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/chunks.h"
#include "src/query/code/insn_reads.h"
#include "src/query/code/insns.h"
#include "src/query/snapshot.h"
#include "src/base/collections/hash.h"

#define LINE_BITS 4
#define N_BITS	  1024u /* of a chunk */

/* A range of more lines is in all bits, or asks for any. */
#define MAX_LINES_KEPT	64u
#define MAX_LINES_ASKED 16u

/* Bytes of a query object for all of them; no more than a share of --max-memory. */
#define MAX_KEPT	(UINT64_C(32) << 20)
#define SHARE_OF_MEMORY 16u

/* Chunks of a question that are not looked through as a whole, of a recording that has no reads. */
#define N_UNLEARNED 2u

enum {
	IS_KNOWN = 1,
	IS_OPEN = 2, /* a step may have read anything */
	HAS_READS = 4,
};

/* A bit for each line that was touched. */
struct touched {
	uint64_t bits[N_BITS / 64];
};

#define N_CHUNKS 256u
struct group {
	uint8_t states[N_CHUNKS];
	struct touched chunks[N_CHUNKS];
};

struct ts_read_chunks {
	uint64_t n; /* groups, as many as the recording has */
	uint64_t n_kept;
	struct group *groups[]; /* owned; NULL: no chunk of it is known */
};

void ts_read_chunks_free(struct ts_read_chunks *c)
{
	for (uint64_t i = 0; c && i < c->n; i++)
		free(c->groups[i]);
	free(c);
}

static unsigned bit_of(uint64_t line, uint32_t process)
{
	return (unsigned)(ts_hash(line, process) % N_BITS);
}

/* -------------------------------------------------------------------------------------------- finding out */

static struct group *find_group(const struct ts_query *q, uint64_t chunk)
{
	const struct ts_read_chunks *c = q->read_chunks;

	return c && chunk / N_CHUNKS < c->n ? c->groups[chunk / N_CHUNKS] : NULL;
}

/* The group of a chunk of the recording; NULL: memory is exhausted. */
static struct group *need_group(struct ts_query *q, uint64_t chunk)
{
	uint64_t n = (ts_query_n_steps(q) - 1) / TS_CHUNK_STEPS / N_CHUNKS + 1, max = q->tl->max_memory / SHARE_OF_MEMORY;
	struct ts_read_chunks *c = q->read_chunks;
	struct group **g;

	if (!c) {
		c = calloc(1, sizeof(*c) + n * sizeof(struct group *));
		if (!c)
			return NULL;
		c->n = n;
		q->read_chunks = c;
	}
	g = &c->groups[chunk / N_CHUNKS];
	if (*g || (c->n_kept + 1) * sizeof(**g) > (max < MAX_KEPT ? max : MAX_KEPT))
		return *g;
	*g = calloc(1, sizeof(**g));
	c->n_kept += *g != NULL;
	return *g;
}

static void take_reads(struct touched *t, uint8_t *state, const struct ts_insn_reads *r, uint32_t process)
{
	*state |= (r->is_open ? IS_OPEN : 0) | (r->n ? HAS_READS : 0);
	for (unsigned i = 0; i < r->n; i++) {
		uint64_t line = r->items[i].first >> LINE_BITS, n = (r->items[i].last >> LINE_BITS) - line + 1;

		if (n > MAX_LINES_KEPT)
			memset(t, 0xff, sizeof(*t));
		for (; n && n <= MAX_LINES_KEPT; n--, line++) {
			unsigned bit = bit_of(line, process);

			t->bits[bit / 64] |= UINT64_C(1) << bit % 64;
		}
	}
}

/* Set *state and @t to what the steps of @chunk read. */
static bool look_through(struct ts_query *q, uint64_t chunk, struct touched *t, uint8_t *state, struct ts_error *err)
{
	uint64_t start = chunk * TS_CHUNK_STEPS, left = ts_query_n_steps(q) - start;
	uint32_t n = left < TS_CHUNK_STEPS ? (uint32_t)left : TS_CHUNK_STEPS;
	const struct ts_steps *b = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct ts_insn_reads r;
		uint32_t thread;

		if (!b && !(b = ts_query_chunk(q, chunk, n, err)))
			return false;
		if (ts_query_reads_are_recorded(q, chunk, b, &b->steps[i]))
			continue;
		thread = b->steps[i].thread;
		if (!ts_query_unrecorded_reads(q, start + i, &r, err))
			return false;
		take_reads(t, state, &r, ts_query_process(q, thread));
		b = NULL; /* that question may have ended the loan */
	}
	return true;
}

bool ts_query_learn_reads(struct ts_query *q, uint64_t chunk, uint64_t n_before, struct ts_error *err)
{
	bool is_there = q->snap.is_complete && chunk < (ts_query_n_steps(q) + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS;
	struct group *g = is_there ? need_group(q, chunk) : NULL;
	struct touched t = { { 0 } };
	uint8_t state = IS_KNOWN;

	if (!g || g->states[chunk % N_CHUNKS] || (n_before < N_UNLEARNED && !ts_query_facts(q)->has_reads))
		return true;
	if (!look_through(q, chunk, &t, &state, err))
		return false;
	g->chunks[chunk % N_CHUNKS] = t;
	g->states[chunk % N_CHUNKS] = state;
	return true;
}

/* ----------------------------------------------------------------------------------------------- a search */

/* The bits of the lines that are asked for. */
struct asked {
	unsigned n; /* 0: too many lines */
	unsigned bits[MAX_LINES_ASKED];
	bool finds_open;
};

static struct asked asked_of(const struct ts_read_search *s)
{
	uint64_t line = s->first >> LINE_BITS, n = (s->last >> LINE_BITS) - line + 1;
	struct asked a = { .finds_open = s->finds_open };

	for (; n <= MAX_LINES_ASKED && a.n < n; a.n++)
		a.bits[a.n] = bit_of(line + a.n, s->process);
	return a;
}

static bool may_read(const struct ts_query *q, const struct asked *a, uint64_t chunk)
{
	const struct group *g = find_group(q, chunk);
	uint8_t state = g ? g->states[chunk % N_CHUNKS] : 0;

	if (!state || (state & IS_OPEN && a->finds_open))
		return true;
	if (!(state & HAS_READS))
		return false;
	for (unsigned i = 0; i < a->n; i++) {
		if (g->chunks[chunk % N_CHUNKS].bits[a->bits[i] / 64] >> a->bits[i] % 64 & 1)
			return true;
	}
	return !a->n;
}

bool ts_query_may_read(const struct ts_query *q, const struct ts_read_search *s, uint64_t chunk)
{
	struct asked a = asked_of(s);

	return may_read(q, &a, chunk);
}

uint64_t ts_query_find_read(const struct ts_query *q, const struct ts_read_search *s, uint64_t chunk, uint64_t until)
{
	uint64_t n = (ts_query_n_steps(q) + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS;
	struct asked a = asked_of(s);

	if (!n || chunk == TS_NO_CHUNK)
		return TS_NO_CHUNK;
	if (s->is_reverse && chunk >= n)
		chunk = n - 1;
	while (s->is_reverse ? until == TS_NO_CHUNK || chunk > until : chunk < n && chunk < until) {
		if (may_read(q, &a, chunk))
			return chunk;
		if (s->is_reverse && !chunk)
			return TS_NO_CHUNK;
		chunk += s->is_reverse ? UINT64_MAX : 1;
	}
	return TS_NO_CHUNK;
}
