/* SPDX-License-Identifier: MIT */
/*
 * The history of the recording beside registers and memory: turns of threads, mapped regions, modules,
 * events.
 */
#ifndef TS_WORLD_H
#define TS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_list.h"
#include "src/base/buf.h"
#include "src/trace/step.h"
#include "turns.h"

/* A region that was mapped at positions @from to @until - 1. */
struct ts_region {
	uint64_t from, until;
	uint64_t first, last; /* addresses, both inclusive */
	uint64_t file_off;    /* of first */
	uint32_t process;
	uint32_t prot;        /* enum ts_prot bits */
	uint32_t desc, file;  /* offsets in the world's texts, TS_NO_DATA for none */
};

/* A module that was loaded at positions @from to @until - 1. */
struct ts_module_span {
	uint64_t from, until;
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	uint32_t file; /* offset in the world's texts */
};

/* The number of regions that a search skips together. */
#define TS_REGION_GROUP 64u

/*
 * Built by struct ts_world_builder (world_builder.h), or loaded from an index file.  If it was loaded, the
 * arrays of turns, regions and modules are in the file, and any number in them may be wrong.  Otherwise the
 * arrays are owned.
 */
struct ts_world {
	struct ts_turns turns;
	struct ts_event_list events[TS_N_EVENT_KINDS];
	struct ts_region *regions; /* in the order in which they began */
	size_t n_regions;
	const uint64_t *latest; /* of each group of regions in a file, the greatest @until; NULL: in memory */
	uint32_t *with_file; /* the ordinals of the regions that have a file */
	size_t n_with_file;
	struct ts_module_span *modules; /* in the order in which they appeared */
	size_t n_modules;
	struct ts_buf texts;          /* each once */
	struct ts_index_blocks *file; /* borrowed; where the arrays lie; NULL: in memory */
	uint32_t n_processes;         /* likewise, at least 1 */
};

void ts_world_init(struct ts_world *w);
void ts_world_fini(struct ts_world *w);

/* Free the regions and modules that the world owns. */
void ts_world_drop_arrays(struct ts_world *w);

/* The thread of step @pos, or of the last step if there are fewer steps.  There must be a step. */
uint32_t ts_world_thread(const struct ts_world *w, uint64_t pos);

/* The first step >= @pos (last step <= @pos) of @thread; UINT64_MAX if it has no such step. */
uint64_t ts_world_next_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps);
uint64_t ts_world_prev_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps);

/* The number of the thread's steps among the first @n_steps. */
uint64_t ts_world_n_steps(const struct ts_world *w, uint32_t thread, uint64_t n_steps);

/* Where the turn of step @pos ends, UINT64_MAX if it is the last one. */
uint64_t ts_world_slice_end(const struct ts_world *w, uint64_t pos);

/*
 * Does the thread exist at @pos?  It exists if it has run, or runs now, and has not ended.  A thread that runs after its
 * recorded end has not ended.
 */
bool ts_world_is_alive(const struct ts_world *w, uint32_t thread, uint64_t pos);

/*
 * Returns the first event of a kind at a step >= @step (the last one at a step <= @step), borrowed until the world grows.
 * Returns NULL if no event lies in that direction.
 */
const struct ts_event_at *ts_world_find_event(const struct ts_world *w, enum ts_event_kind kind, uint64_t step,
					      bool is_reverse);

/*
 * Return region @i, module @i, borrowed until the world grows.  If the index file is damaged there, the range of
 * positions is empty.
 */
const struct ts_region *ts_world_region(const struct ts_world *w, size_t i);
const struct ts_module_span *ts_world_module(const struct ts_world *w, size_t i);

/*
 * The first region from ordinal @i on that may be mapped at @pos; the regions that are skipped are not.  Returns the
 * number of regions if no further region may be.
 */
size_t ts_world_pass_regions(const struct ts_world *w, size_t i, uint64_t pos);

/*
 * The next of the first @n regions that has a file, after the one before *at, which is 0 for the first call.
 *
 * Returns it (borrowed from the world).
 * Returns NULL after the last.
 */
const struct ts_region *ts_world_next_with_file(const struct ts_world *w, size_t n, size_t *at);

/* Returns the text at @off of a region or a module, borrowed from the world; NULL for TS_NO_DATA. */
const char *ts_world_text(const struct ts_world *w, uint32_t off);

/* Save the world without its events, as arrays of a section of an index file. */
void ts_world_save(const struct ts_world *w, struct ts_index_file *f);

/*
 * Replace the world by that of the arrays, which stay in the file, of a recording of up to @n_threads threads of
 * @n_processes processes.  The pieces of its turns were added before.  Items are checked when they are used.
 *
 * Returns false if the arrays contradict each other.
 * Returns false if memory is exhausted.
 */
bool ts_world_use_file(struct ts_world *w, struct ts_index_arrays *a, uint32_t n_threads, uint32_t n_processes);

#endif
