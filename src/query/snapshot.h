/* SPDX-License-Identifier: MIT */
/*
 * What a query object is made of, for the files of this room: the timeline and how much of it is published.
 *
 * No other room includes this.
 */
#ifndef TS_SNAPSHOT_H
#define TS_SNAPSHOT_H

#include "chunk_lines.h"
#include "mapped.h"
#include "query.h"
#include "src/calls/calls.h"
#include "src/timeline/timeline.h"

#define N_CACHED_CHUNKS 16
#define N_CACHED_REGS 32

struct cached_chunk {
	uint64_t chunk; /* TS_NO_CHUNK: empty */
	uint64_t used;  /* when */
	struct ts_steps steps; /* the first of its steps */
	uint64_t n_sights;     /* of the timeline when they were decoded */
	struct ts_chunk_lines lines; /* of all of them */
};

/* Registers of a thread; going forward from there is cheap. */
struct cached_regs {
	uint64_t pos; /* TS_NO_POS: empty */
	uint64_t used;
	uint32_t thread;
	uint8_t *data, *known; /* owned; one allocation, at data */
};

/* What of the timeline is published. */
struct ts_snapshot {
	uint64_t end;       /* the last position */
	uint64_t n_steps;   /* that are visible: end, or end + 1 while the recording is being read */
	uint64_t n_indexed; /* that can be decoded: end, or end + 1 if step `end` tells the pc there */
	uint64_t n_events[TS_N_EVENT_KINDS];
	size_t n_regions, n_modules;
	uint32_t n_threads, n_processes;
	bool is_complete;
	bool has_end_pc;    /* end_pc is the pc at the end; else step `end` tells */
	uint64_t end_pc;
};

struct ts_query {
	struct ts_timeline *tl;       /* borrowed; changed by nobody but ts_timeline_fill() */
	struct ts_snapshot snap;
	struct ts_mapped mapped;      /* modules, of a recording that lists none */
	size_t n_mapped;              /* regions from which they were taken */
	bool is_mapped_whole;         /* of a complete recording */
	struct ts_facts facts;
	struct ts_reader *reader;     /* owned */
	struct ts_points_unpacker points;
	struct cached_chunk *newest;  /* was asked for last; NULL: none */
	struct cached_chunk *read;    /* the reader stands after its last step; NULL: elsewhere */
	uint64_t clock;
	uint64_t epoch;               /* how often a chunk made room for another one */
	struct cached_chunk chunks[N_CACHED_CHUNKS];
	struct cached_regs regs[N_CACHED_REGS];
	struct ts_call_window calls;  /* where the last question about calls looked */
	struct ts_insns *insns;       /* owned; NULL: none was asked for */
	uint64_t n_decoded;           /* instructions, so far */
	struct ts_write_runs *write_runs; /* the same */
	struct ts_forks *forks;       /* the same */
	void *kept;                     /* owned by free_kept(): see ts_query_keep() */
	void (*free_kept)(void *kept);
	struct cached_regs walk;      /* those of the last question: who asks in order goes on from there */
};

/* Take the snapshot (snapshot.c). */
void ts_snapshot_take(struct ts_snapshot *snap, const struct ts_timeline *tl);

/* What does not change (snapshot.c). */
void ts_facts_take(struct ts_facts *facts, const struct ts_timeline *tl);

static inline uint32_t ts_query_process_of(const struct ts_query *q, uint32_t thread)
{
	return q->tl->rec->threads[thread].process;
}

#endif
