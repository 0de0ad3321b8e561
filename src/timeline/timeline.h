/* SPDX-License-Identifier: MIT */
/*
 * The index over a recording: built in one pass over a reader, then constant.
 *
 * Positions 0..N, chunks of TS_CHUNK_STEPS steps, segments of TS_SEGMENT_CHUNKS chunks.  For each chunk a
 * decode point; for registers and memory the state at each chunk's start (space.h); for each line the chunks
 * that touch it; for each address the positions that execute it (runs.h); threads, regions and events over
 * time (world.h); modes of the processor (mode.h).  The trace itself remains the store of detail: the inside
 * of a chunk is decoded again when it is queried (query.h).
 */
#ifndef TS_TIMELINE_H
#define TS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "digests.h"
#include "src/timeline/space/lines.h"
#include "src/timeline/world/mode.h"
#include "points.h"
#include "src/timeline/runs/runs.h"
#include "src/timeline/file/section.h"
#include "src/timeline/space/space.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/index/index_file.h"
#include "src/object/image.h"
#include "src/trace/reader.h"
#include "src/timeline/world/world.h"

/* Each thread's registers have this many addresses of the register space. */
#define TS_REGS_STRIDE UINT64_C(65536)

struct ts_backfill;
struct ts_batch_store;
struct ts_calls;
struct ts_sketches;
struct ts_call_tracker;

struct ts_timeline {
	struct ts_recording *rec;      /* borrowed */
	/* borrowed; regions with files are added while building; may be NULL */
	struct ts_image *image;
	uint64_t n_steps, n_chunks;    /* N; while reading, the part that can be queried so far */
	uint32_t n_threads, n_processes; /* likewise: those of rec that have appeared so far */
	struct ts_space *regs;         /* owned; thread t's 'g' layout lies at t * TS_REGS_STRIDE */
	struct ts_space **memory;      /* owned; one for each process */
	uint32_t n_memory;
	struct ts_runs runs;
	struct ts_world world;
	struct ts_modes modes;         /* none unless the recording is that of a machine */
	struct ts_calls *calls;        /* owned; if it has ts_calls_section */
	struct ts_call_tracker *tracker; /* owned; finds the calls; NULL when everything has been read */
	struct ts_digests digests;     /* if it has ts_digests_section */
	struct ts_sketches *sketches;  /* owned; if it has ts_sketch_section */
	struct ts_points *points;      /* owned; by segment */
	size_t n_points, cap_points;
	uint64_t end_pc;               /* pc at position N */
	bool is_end_assumed;           /* end_pc is a guess: the last instruction may have led elsewhere */
	bool has_end;                  /* position N is valid; else only the one before it */
	bool has_exit;                 /* the recording shows the program's end */
	bool is_fault;                 /* its last instruction did not complete */
	/* why the recording ends early; TS_OK if it is complete */
	struct ts_error damage;

	struct ts_builder *builder;    /* owned; NULL when the whole recording has been read */
	struct ts_index_file *file;    /* owned; where sealed segments are; NULL: in memory */
	struct ts_error file_error;    /* why later segments are not in it; TS_OK if they are */
	const struct ts_section *const *sections; /* borrowed; ts_sections */
	uint32_t lacks;                /* bit i: the optional section sections[i] is missing */
	/* owned; files of one optional section each, by its ordinal in sections; NULL: none */
	struct ts_index_file *siblings[TS_MAX_SECTIONS];
	unsigned n_siblings;           /* from here on all are NULL */
	struct ts_backfill *backfill;  /* owned; of ts_timeline_fill() */
	bool is_unverified;            /* the file may be of another trace: nothing counts as complete */
	bool is_foreign;               /* it is: no question is answered */
	bool is_filling;               /* one is in it, and waits; another one cannot go on */
	bool has_no_reads;             /* memory reads are not noted */
	bool is_read_whole;            /* ts_timeline_read_whole() */
	/* limit on the memory of the index in bytes, without the file; set it before growing */
	uint64_t max_memory;
	unsigned n_jobs; /* how many threads may sort what was noted; set it before growing */
};

/*
 * Make a timeline of @rec, of which no step is read yet; the caller frees it.  @rec and @image (may be NULL) must outlive it.
 *
 * Returns NULL if the recording cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_timeline *ts_timeline_new(struct ts_recording *rec, struct ts_image *image, struct ts_error *err);
void ts_timeline_free(struct ts_timeline *tl);

/*
 * Do not note memory reads.  The index is then smaller, and cannot find reads.  Call it before the first
 * ts_timeline_grow().
 */
void ts_timeline_leave_reads_out(struct ts_timeline *tl);

/*
 * Declare that there will be no query before the whole recording is read.  The first segment is then sorted only once.
 * Call it before the first ts_timeline_grow().
 */
void ts_timeline_read_whole(struct ts_timeline *tl);

/*
 * Also make a digest of each chunk (digests.h), or load those of an index file.  Call it before ts_timeline_use_file()
 * and the first ts_timeline_grow().
 */
void ts_timeline_make_digests(struct ts_timeline *tl);

/*
 * Load @file, which the timeline then owns, on failure too; if it is incomplete, later segments are written
 * to it.  The timeline must be new.  If the file cannot be written later, tl->file_error has the reason, and
 * later segments stay in memory.
 *
 * Returns false if the file's contents contradict each other (TS_ECORRUPT), memory is exhausted (TS_ENOMEM),
 * or the trace cannot be read (TS_EIO): the timeline is then unusable.
 */
bool ts_timeline_use_file(struct ts_timeline *tl, struct ts_index_file *file, struct ts_error *err);

/*
 * Decode on another thread, from @twin, the recording opened again, which the timeline then owns, on failure too.  Also
 * use threads for long work of ts_timeline_grow().  Call it after ts_timeline_use_file() and before the first
 * ts_timeline_grow(); a part of the recording must be unread.
 *
 * Returns false if the twin cannot be read (TS_EIO, TS_ENOMEM, ...): the timeline then grows without a
 * thread.
 */
bool ts_timeline_read_ahead(struct ts_timeline *tl, struct ts_recording *twin, struct ts_error *err);

/*
 * Take batches from @store (borrowed) instead of decoding; the first batch is that of the first chunk that is not read
 * yet.  Call it in place of ts_timeline_read_ahead().
 */
void ts_timeline_take_from(struct ts_timeline *tl, const struct ts_batch_store *store);

/* The number of chunks that have been read, while a part of the recording is unread. */
uint64_t ts_timeline_n_chunks_read(const struct ts_timeline *tl);

/* The number of useful calls of ts_timeline_read_ahead(), each with another twin, for more decoding threads. */
unsigned ts_timeline_n_twins(const struct ts_timeline *tl);

/*
 * Does the timeline have the optional section?  Queries of a missing one need a backfill (backfill.h) first.
 */
bool ts_timeline_has(const struct ts_timeline *tl, const struct ts_section *s);

/*
 * Drop an optional section, which the timeline has, because it is invalid.  Its file is rewritten when the section is
 * built again.
 */
void ts_timeline_give_up(struct ts_timeline *tl, const struct ts_section *s);

/*
 * Was an index file found to contradict itself while it was used?  Then no answer since the last call is reliable, and
 * the file is removed from disk.
 */
bool ts_timeline_is_damaged(const struct ts_timeline *tl);

/*
 * Free unpacked parts of index files that were not used for long.  No function that reads the timeline may be running.
 */
void ts_timeline_give_back(const struct ts_timeline *tl);

/*
 * Build a missing optional section, about @n_steps steps in each call.  The timeline must be complete.  All callers
 * continue the same work.
 *
 * Returns TS_END when the section is built, TS_FAIL as ts_backfill_grow(); the next call then starts again.
 */
enum ts_next ts_timeline_fill(struct ts_timeline *tl, const struct ts_section *s, uint64_t n_steps,
			      struct ts_error *err);

/*
 * Read about @n_steps more steps (whole chunks); less, after some milliseconds, while a thread is at work.
 *
 * Returns TS_MORE if there may be more.
 * Returns TS_END if the recording has been read to its end or up to its damage (then tl->damage has the
 * reason and the place; all before it is served).
 * Returns TS_FAIL if nothing can be served: the first step cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM) before any position can be queried.  Later exhaustion
 * of memory is treated as damage.
 */
enum ts_next ts_timeline_grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err);

/* The part of the trace's bytes that has been read, in thousandths; 1000 only if all were read. */
unsigned ts_timeline_permille(const struct ts_timeline *tl);

/* Is it decoded by other threads, which take much longer than ts_timeline_grow() does for what they decode? */
bool ts_timeline_waits(const struct ts_timeline *tl);

/* The number of steps that have been read, including those that cannot be queried yet. */
uint64_t ts_timeline_n_read(const struct ts_timeline *tl);

/*
 * Returns the decode point of a chunk, of *len bytes, borrowed until the next call with @u.
 * Returns NULL if memory is exhausted, or the index file is damaged there, which is then noted.
 */
static inline const uint8_t *ts_timeline_point(const struct ts_timeline *tl, uint64_t chunk,
					       struct ts_points_unpacker *u, size_t *len)
{
	return ts_points_get(&tl->points[chunk / TS_SEGMENT_CHUNKS], (size_t)(chunk % TS_SEGMENT_CHUNKS), chunk, u,
			     len);
}

/* The process (ordinal of an address space) of a thread. */
static inline uint32_t ts_timeline_process(const struct ts_timeline *tl, uint32_t thread)
{
	return tl->rec->threads[thread].process;
}

/* The size of the index, for `info` and the benchmark. */
struct ts_timeline_stats {
	uint64_t points_len, regs_len, memory_len, reads_len, runs_len; /* bytes */
	uint64_t single_regs_len; /* of regs_len, for searches for single registers; counted while it is built */
	uint64_t n_inferred, n_unexplained, n_pages, n_runs, n_segments;
};

/* Set *stats, which the function computes from all segments. */
void ts_timeline_stats(const struct ts_timeline *tl, struct ts_timeline_stats *stats);

#endif
