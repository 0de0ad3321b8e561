/* SPDX-License-Identifier: MIT */
/*
 * Finds runs while a recording is read, or loads them from an index file.
 *
 * Steps extend the open run.  When a run ends, it is looked up among the distinct runs, and its position is noted.  When
 * a segment is complete, its notes are packed, which sorts them and takes most of the time, and then sealed.
 */
#ifndef TS_RUNS_BUILDER_H
#define TS_RUNS_BUILDER_H

#include "runs.h"
#include "src/base/collections/hash_table.h"
#include "src/trace/step.h"

struct ts_index_blocks;
struct ts_index_file;
struct ts_index_arrays;

/* The run that is being collected. */
struct ts_open_run {
	uint64_t pos, pc, next_pc;
	uint32_t process, thread;
	uint32_t n;       /* instructions, 0 = no run is open */
	uint32_t len;     /* bytes */
	uint8_t last_len; /* of the last instruction; 0 (unknown) ends a run */
	uint8_t lens[TS_MAX_RUN];
};

/* The notes of a segment, sorted. */
struct ts_packed_runs {
	struct ts_postings postings;
	uint32_t *by_pc; /* owned; NULL: no run is new */
	uint32_t n_by_pc;
	bool is_there;
};

struct ts_runs_builder {
	struct ts_runs *runs;         /* borrowed; what is built */
	struct ts_open_run open;
	uint32_t cap;                 /* of runs, and of after */
	uint32_t *after;              /* owned; by run, which run followed it the last time */
	uint32_t last;                /* the run that was added last */
	struct ts_hash_table by_run;
	size_t cap_lens;
	size_t cap_segments;
	struct ts_pairs pairs;        /* of the segment that is being read: run, position from runs->end */
	bool has_copy;                /* the last segment is a copy of what was noted so far */
	struct ts_packed_runs packed; /* what is to become the next segment */
	uint32_t n_saved;             /* how many runs are in the index file */
	size_t n_saved_lens;
	/* borrowed from the index file, unread: by_pc of its last segment, n_saved items */
	const uint32_t *loaded_by_pc;
	struct ts_index_blocks *loaded_from;
};

/* Begin to build @runs, which is empty. */
void ts_runs_builder_init(struct ts_runs_builder *b, struct ts_runs *runs);
void ts_runs_builder_fini(struct ts_runs_builder *b);

/* End the open run.  Returns false if memory is exhausted. */
bool ts_runs_flush(struct ts_runs_builder *b);

/*
 * Add the step at @pos, in ascending order, which executed the instruction at @pc of @insn_len bytes (0: unknown).  A
 * step with TS_NO_PC belongs to no run, and no query by address finds it.
 *
 * Returns false if memory is exhausted.
 */
bool ts_runs_step(struct ts_runs_builder *b, uint64_t pos, uint32_t process, uint32_t thread, uint64_t pc,
		  uint16_t insn_len);

/*
 * Add those of the steps [s, end) that extend the open run, as nearly all do.  Returns the first step that does not, or @end: a
 * pointer into the caller's steps.
 */
const struct ts_step *ts_runs_extend(struct ts_runs_builder *b, const struct ts_step *s,
				     const struct ts_step *end);

/*
 * After ts_runs_flush(), sort the notes.  The next call of ts_runs_seal() then takes little time;
 * without this call it sorts them itself.  Another thread may do it while this one queries the runs and notes nothing.
 *
 * Returns false if memory is exhausted.
 */
bool ts_runs_pack(struct ts_runs_builder *b);

/*
 * Seal the steps before position @end, where the next segment begins; @is_copy: only make the notes visible to queries
 * until the segment is sealed or copied again.
 *
 * Returns false if memory is exhausted.
 */
bool ts_runs_seal(struct ts_runs_builder *b, uint64_t end, bool is_copy);

/*
 * ts_runs_save() saves the segment that was sealed last, and the runs that are new in it.  ts_runs_load() loads the next
 * segment, which ends at position @end, and the runs that are new in it; ts_runs_end_load() must follow the last one.
 * ts_runs_load_sealed() replaces the arrays in memory of the segment that was sealed last by those in the file.
 *
 * Loading returns false if memory is exhausted, or the arrays contradict each other.
 */
void ts_runs_save(struct ts_runs_builder *b, struct ts_index_file *f);
bool ts_runs_load(struct ts_runs_builder *b, struct ts_index_arrays *a, uint64_t end);
bool ts_runs_end_load(struct ts_runs_builder *b);
bool ts_runs_load_sealed(struct ts_runs_builder *b, struct ts_index_arrays *a);

#endif
