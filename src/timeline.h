/* SPDX-License-Identifier: MIT */
/*
 * The index over a recording: built in one pass over a reader, then constant.
 *
 * Positions 0..N, chunks of TS_CHUNK_STEPS steps, segments of TS_SEGMENT_CHUNKS chunks.  For each chunk a decode point; for
 * registers and memory the state at each chunk's start (space.h); for each line the chunks that touch it; for each address the
 * positions that execute it (runs.h); threads, regions and events over time (world.h); modes of the processor (mode.h).  The
 * trace itself stays the store of detail: whoever wants the inside of a chunk decodes it again (query.h).
 */
#ifndef TS_TIMELINE_H
#define TS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "image.h"
#include "lines.h"
#include "mode.h"
#include "reader.h"
#include "runs.h"
#include "space.h"
#include "world.h"

/* Each thread's registers have this many addresses of the register space. */
#define TS_REGS_STRIDE UINT64_C(65536)

struct ts_timeline {
	struct ts_recording *rec;      /* borrowed */
	struct ts_image *image;        /* borrowed; regions with files are added while building; may be NULL */
	uint64_t n_steps;              /* N */
	struct ts_space *regs;         /* owned; thread t's 'g' layout lies at t * TS_REGS_STRIDE */
	struct ts_space **memory;      /* owned; one a process */
	uint32_t n_memory;
	struct ts_runs *runs;          /* owned */
	struct ts_world world;
	struct ts_modes modes;         /* none unless the recording is that of a machine */
	uint64_t *points;              /* owned; where each chunk's decode point begins in point_data, and one more */
	uint64_t n_chunks, cap_points;
	struct ts_buf point_data;
	uint64_t end_pc;               /* pc at position N */
	bool has_exit;                 /* the recording shows the program's end */
	bool is_fault;                 /* its last instruction did not complete */
	struct ts_error damage;        /* why the recording ends where it does; TS_OK when it ends as it should */

	struct ts_builder *builder;    /* owned; NULL when the whole recording has been read */
};

enum ts_grow {
	TS_GROW_MORE,
	TS_GROW_DONE,
	TS_GROW_FAILED,
};

/*
 * A timeline over @rec, nothing read yet.  @rec and @image (may be NULL) must outlive it.
 *
 * Returns NULL on failure: the recording cannot be read, or memory is exhausted.
 */
struct ts_timeline *ts_timeline_new(struct ts_recording *rec, struct ts_image *image, struct ts_error *err);
void ts_timeline_free(struct ts_timeline *tl);

/*
 * Read about @n_steps more steps (whole chunks).
 *
 * Returns TS_GROW_MORE when there may be more, TS_GROW_DONE when the recording has been read to its end or to its damage
 * (then tl->damage says what and where; all before it is served).
 * Returns TS_GROW_FAILED and fills @err if nothing can be served: not one step is good, or memory is exhausted (TS_ENOMEM).
 */
enum ts_grow ts_timeline_grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err);

/* The decode point of a chunk; *len gets its length. */
static inline const uint8_t *ts_timeline_point(const struct ts_timeline *tl, uint64_t chunk, size_t *len)
{
	*len = (size_t)(tl->points[chunk + 1] - tl->points[chunk]);
	return tl->point_data.data + tl->points[chunk];
}

/* The process (ordinal of an address space) of a thread. */
static inline uint32_t ts_timeline_process(const struct ts_timeline *tl, uint32_t thread)
{
	return tl->rec->threads[thread].process;
}

/* What the index costs, for `info` and the benchmark. */
struct ts_timeline_stats {
	uint64_t points_len, regs_len, memory_len, reads_len, runs_len; /* bytes */
	uint64_t n_inferred, n_unexplained, n_pages, n_runs;
};

void ts_timeline_stats(const struct ts_timeline *tl, struct ts_timeline_stats *stats);

#endif
