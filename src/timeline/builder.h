/* SPDX-License-Identifier: MIT */
/*
 * The construction of a timeline; private to the files that construct it: growing.c adds chunks, effects.c applies the
 * effects of their steps, growing.c seals segments, timeline_file.c saves segments in index files and loads them.
 */
#ifndef TS_BUILDER_H
#define TS_BUILDER_H

#include <stdatomic.h>

#include "src/timeline/world/mode_builder.h"
#include "src/timeline/runs/runs_builder.h"
#include "src/timeline/space/space_builder.h"
#include "src/base/thread.h"
#include "src/trace/feed.h"
#include "timeline.h"
#include "src/timeline/world/world_builder.h"

/* The destination of the effects of a step. */
struct ts_target {
	uint64_t pos;            /* the position that the step leads to; 0 for the initial state */
	uint64_t pc;             /* of the step */
	bool is_unseen;          /* TS_FX_UNSEEN: memory may have changed when the step ends */
	uint32_t thread;
	uint32_t process;
	struct ts_space_builder *memory; /* NULL: no thread yet */
	uint64_t regs;           /* start of the thread's registers */
};

/* The stage of the builder. */
enum ts_stage {
	TS_STAGE_READ,    /* adds chunks */
	TS_STAGE_COPY,    /* sorts the existing part of the first segment, so that it can be queried */
	TS_STAGE_SEGMENT, /* sorts a complete segment */
	TS_STAGE_LAST,    /* sorts the last segment */
	TS_STAGE_SYNC,    /* syncs the index file to disk */
};

/* A file that the step named, for the image; it goes to index files. */
struct ts_named_file {
	uint64_t map;            /* which maps it (ts_space_next_map()); 0: only its symbols are of use */
	uint64_t addr, len, off; /* what is mapped */
	uint32_t name;           /* in the world's texts */
	uint32_t zero;
};

/* State that only building needs. */
struct ts_builder {
	enum ts_stage stage;
	bool is_aside;              /* all stages except the first run on another thread */
	struct ts_task task;        /* there */
	atomic_bool is_done;        /* its result */
	struct ts_error error;      /* if the index file could not be synced */
	bool is_read;               /* the recording has been read to its end, or to its damage */
	struct ts_error damage;     /* why reading ended */
	bool is_at_limit;           /* that is the limit on memory, which the user chose */
	uint64_t settled_memory;    /* of the index, when all of it was examined: without what is examined in each chunk */
	struct ts_feed *feed;       /* owned */
	struct ts_buf here;         /* the decode point of the chunk that is next */
	struct ts_points_packer packer;
	struct ts_end end;          /* the recording's end as given by the reader */
	struct ts_modes_builder modes; /* of a machine */
	struct ts_world_builder world;
	struct ts_runs_builder runs;
	struct ts_space_builder regs;
	struct ts_space_builder **memory; /* owned; of the spaces in the timeline's memory */
	struct ts_target target;
	uint32_t last_thread;
	uint64_t fall_through;      /* address after the last instruction */
	uint64_t n_steps, n_chunks; /* added; those of the timeline can be queried */
	uint64_t n_sealed;          /* segments */
	bool is_begun;              /* the first chunk was read, which has this number: */
	uint64_t first_chunk;
	uint64_t n_given;           /* steps that the optional sections have (optional.c) */
	uint64_t next_copy;         /* number of chunks after which the existing part is published */
	uint64_t last_note;         /* position of the last note that came from an index file */
	struct ts_buf journal;      /* of the segment that is being read; empty without an index file */
	struct ts_buf files;        /* struct ts_named_file: those that steps named */
	bool has_world;     /* what journals lead to is in the file's last record: they are not read */
	uint32_t n_layered; /* spaces whose layers were taken from there */
};

/* The address space of a process, owned by the builder and made when it is first needed.  Returns NULL if memory is exhausted. */
struct ts_space_builder *ts_builder_memory(struct ts_timeline *tl, uint32_t process);

/* Set the thread whose effects follow.  Returns false if memory is exhausted. */
bool ts_builder_aim(struct ts_timeline *tl, struct ts_target *t, uint32_t thread);

/* Add a file to the image, if the timeline has an image.  Returns false if memory is exhausted. */
bool ts_builder_use_file(struct ts_timeline *tl, const struct ts_named_file *file, const char *name);

/* Apply an effect.  Returns false if memory is exhausted. */
bool ts_builder_apply(struct ts_timeline *tl, struct ts_target *t, const struct ts_steps *b,
		      const struct ts_effect *e);

/* Apply the recording's initial state, at position 0.  Returns false if memory is exhausted. */
bool ts_builder_apply_initial(struct ts_timeline *tl);

/* Apply the steps of a chunk, which begins at position @pos.  Returns false if memory is exhausted. */
bool ts_builder_apply_steps(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *b);

/* Note that @thread runs from position @pos. */
void ts_builder_run(struct ts_timeline *tl, uint64_t pos, uint32_t thread);

/* Make room for the points of one more segment.  Returns false if memory is exhausted. */
bool ts_builder_room_for_points(struct ts_timeline *tl, size_t segment);

/* Make the sealed part available to queries. */
void ts_builder_publish(struct ts_timeline *tl);

/* Was memory exhausted while an effect was applied? */
bool ts_builder_is_failed(const struct ts_timeline *tl);

/* Sets @err to TS_ENOMEM.  Returns TS_FAIL. */
enum ts_next ts_builder_no_memory(const struct ts_timeline *tl, struct ts_error *err);

/* Begin to give chunks to the optional sections.  The first chunk must be next. */
void ts_builder_begin_giving(struct ts_timeline *tl);

/*
 * Let decoding threads give the sections chunks of the segment that is being read.  The sections may not be queried
 * meanwhile.  Chunks of the next segment are not given before this one is sealed.
 */
void ts_builder_let_give(struct ts_timeline *tl);

/* Reading ends at the last added chunk although more follow.  Sections that were given later chunks become invalid. */
void ts_builder_stop_giving(struct ts_timeline *tl);

/* Call seal() of the optional sections.  Returns false if memory is exhausted. */
bool ts_builder_seal_optional(struct ts_timeline *tl, uint64_t segment, bool is_copy);

/* The sections that every index file has. */
extern const struct ts_section ts_points_section, ts_runs_section, ts_journal_section, ts_space_section,
	ts_mode_section, ts_groups_section;

void ts_sketches_free(struct ts_sketches *s);

/* Save a section of a segment.  An optional section gets its version. */
void ts_builder_save_section(struct ts_timeline *tl, const struct ts_section *s, uint64_t segment,
			     uint32_t owner, struct ts_index_file *f);

/* Find the section in a record.  Returns false if it is an optional one and missing or of another version. */
bool ts_builder_find_section(const struct ts_index_file *f, size_t record, const struct ts_section *s,
			     uint32_t owner, struct ts_index_arrays *a);

/* The number of times that sections[@ordinal] is in a record. */
uint32_t ts_builder_n_owners(const struct ts_timeline *tl, unsigned ordinal);

/* The spaces of a record: that of the registers, owner 0, and those of the processes, from owner 1 on. */
static inline uint32_t ts_builder_n_spaces(const struct ts_timeline *tl)
{
	return tl->n_memory + 1;
}

/* Returns the space of @owner, which is below ts_builder_n_spaces(). */
static inline struct ts_space_builder *ts_builder_space(const struct ts_timeline *tl, uint32_t owner)
{
	return owner ? tl->builder->memory[owner - 1] : &tl->builder->regs;
}

/*
 * Load all sections of a record that has a segment.  An optional section that is absent there, or of another version,
 * is absent from the timeline (ts_timeline_has()).
 *
 * Returns false if memory is exhausted (errno is ENOMEM).
 * Returns false if the arrays contradict each other or the timeline.
 */
bool ts_builder_load_sections(struct ts_timeline *tl, const struct ts_index_file *f, size_t record);

/* Replace the arrays of the record that was just saved by the file's.  Returns false as ts_builder_load_sections(). */
bool ts_builder_map_sections(struct ts_timeline *tl, size_t record);

/*
 * Look for the optional sections that the index file lacks, in their separate files.
 *
 * Returns false (TS_ECORRUPT) if one of them contradicts the index file: the timeline is invalid then.
 */
bool ts_builder_find_optional(struct ts_timeline *tl, struct ts_error *err);

/* @file (owned; NULL: none) has the optional section @ordinal alone. */
void ts_timeline_set_sibling(struct ts_timeline *tl, unsigned ordinal, struct ts_index_file *file);

/* Free the builder of @tl; its maps and calls must have been closed. */
void ts_builder_free(struct ts_timeline *tl);

/*
 * Save the segment that was sealed last in the index file, and map it from there.  @is_last: the recording is complete,
 * and the caller calls ts_index_publish() next.
 *
 * If it fails, the segment and later ones stay in memory.
 *
 * Returns false if the file cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_builder_save(struct ts_timeline *tl, bool is_last, struct ts_error *err);

#endif
