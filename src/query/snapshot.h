/* SPDX-License-Identifier: MIT */
/*
 * The members of a query object: the timeline, and how much of it is published.  Only src/query includes this
 * file.
 */
#ifndef TS_SNAPSHOT_H
#define TS_SNAPSHOT_H

#include "src/query/search/chunk_lines.h"
#include "src/query/files/mapped.h"
#include "query.h"
#include "src/calls/calls.h"
#include "src/timeline/timeline.h"

#define N_CACHED_CHUNKS 16
#define N_CACHED_REGS 32

struct cached_chunk {
	uint64_t chunk; /* TS_NO_CHUNK: empty */
	uint64_t used;  /* the clock when it was last used */
	struct ts_steps steps; /* its first steps, as far as they were needed */
	uint64_t n_inferred;     /* of the timeline when they were decoded */
	struct ts_chunk_lines lines; /* of all its steps */
};

/* The registers of a thread at a position, from which those at later positions are computed. */
struct cached_regs {
	uint64_t pos; /* TS_NO_POS: empty */
	uint64_t used;
	uint32_t thread;
	uint8_t *data, *known; /* owned; one allocation, at data */
};

/* The published part of the timeline. */
struct ts_snapshot {
	uint64_t end;       /* the last position */
	uint64_t n_steps;   /* visible steps: end, or end + 1 while the recording is being read */
	uint64_t n_indexed; /* steps that can be decoded: end, or end + 1 if step `end` has the end's pc */
	uint64_t n_events[TS_N_EVENT_KINDS];
	size_t n_regions, n_modules;
	uint32_t n_threads, n_processes;
	bool is_complete;
	bool has_end_pc;    /* end_pc is the pc at the end; false: step `end` has it */
	uint64_t end_pc;
};

struct ts_query {
	struct ts_timeline *tl;       /* borrowed; only ts_timeline_fill() changes it */
	struct ts_snapshot snap;
	struct ts_mapped mapped;      /* modules, of a recording that lists none */
	size_t n_mapped;              /* the number of regions from which they were made */
	bool is_mapped_whole;         /* they were made when the recording was complete */
	struct ts_facts facts;
	struct ts_reader *reader;     /* owned */
	struct ts_points_unpacker points;
	struct cached_chunk *newest;  /* the last one that was used; NULL: none */
	struct cached_chunk *read;    /* the one after whose last step the reader is; NULL: none */
	uint64_t clock;
	uint64_t epoch;               /* the number of chunks that were replaced */
	struct cached_chunk chunks[N_CACHED_CHUNKS];
	struct cached_regs regs[N_CACHED_REGS];
	struct ts_call_window calls;  /* the block of calls of the last question */
	struct ts_insns *insns;       /* owned; NULL until it is needed */
	uint64_t n_decoded;           /* the number of instructions decoded so far */
	struct ts_write_runs *write_runs; /* owned; NULL until it is needed */
	struct ts_run_maps *run_maps; /* owned; NULL until it is needed */
	struct ts_read_chunks *read_chunks; /* owned; NULL until it is needed */
	struct ts_forks *forks;       /* owned; NULL until it is needed */
	void *kept;                     /* owned by free_kept(): see ts_query_keep() */
	void (*free_kept)(void *kept);
	struct cached_regs walk;      /* the registers of the last question, for callers that advance */
};

/* Set *snap to what the timeline has published (snapshot.c). */
void ts_snapshot_take(struct ts_snapshot *snap, const struct ts_timeline *tl);

/* Set *facts, which do not change afterwards (snapshot.c). */
void ts_facts_take(struct ts_facts *facts, const struct ts_timeline *tl);

/* Returns the process of a thread. */
static inline uint32_t ts_query_process_of(const struct ts_query *q, uint32_t thread)
{
	return q->tl->rec->threads[thread].process;
}

#endif
