/* SPDX-License-Identifier: MIT */
/*
 * The model of one trace: opened, read bit by bit, and asked through a query object.
 *
 * A model owns what belongs to a recording: the recording itself and its twin on another thread, the files
 * beneath it, its timeline, and its index file, which is found, used, continued or begun by the policy of its
 * options.  How bytes become a recording is its user's to say (the loaders are not the model's).  It writes
 * nothing to stdout or stderr but by the log.
 */
#ifndef TS_MODEL_H
#define TS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "src/base/error.h"
#include "src/base/next.h"

struct ts_model;
struct ts_query;
struct ts_source;

/*
 * A model without a recording; the caller frees it.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_model *ts_model_new(const struct ts_model_options *opt, struct ts_error *err);
void ts_model_free(struct ts_model *m);

/*
 * Add the file @path, whose bytes are the contents of memory that the trace leaves unknown at position 0.  @base is the address
 * of its lowest page; NULL: the one in its headers (ts_image_add_file()).  Before ts_model_open().
 *
 * Returns false if the file cannot be read (TS_EIO) or is not a regular file (TS_EUSAGE).
 * Returns false if it is neither an ELF nor a PE file and @base is NULL (TS_EUSAGE).
 * Returns false if it is a damaged one of these (TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_model_add_file(struct ts_model *m, const char *path, const uint64_t *base, struct ts_error *err);

/*
 * Open the recording of the trace @src (borrowed; must outlive the model), and use the segments that an index file has
 * of it.  Faults of index files are logged, and a damaged one is built again.
 *
 * Returns false if no loader accepts the trace, or it cannot be read: the error of the model's load().
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_model_open(struct ts_model *m, struct ts_source *src, struct ts_error *err);

/*
 * Read about @n_steps more steps.
 *
 * Returns TS_ITEM if there is more to read.
 * Returns TS_END if the recording is complete.
 * Returns TS_FAIL if nothing can be served.
 * The query has the newest snapshot afterwards.
 */
enum ts_next ts_model_grow(struct ts_model *m, uint64_t n_steps, struct ts_error *err);

/*
 * As ts_model_grow(), for about @ns nanoseconds.  Returns TS_ITEM or TS_END: it cannot fail, because a part has been published
 * before.
 */
enum ts_next ts_model_grow_for(struct ts_model *m, int64_t ns);

/* How much of the trace has been read, in thousandths; how many instructions. */
unsigned ts_model_permille(const struct ts_model *m);
uint64_t ts_model_n_read(const struct ts_model *m);

/*
 * Questions to the recording; the model's own, for one thread.  NULL until something has been published,
 * which for a recording of trace frames is all of it.
 */
struct ts_query *ts_model_query(struct ts_model *m);

/* The index file of a model. */
struct ts_index_facts {
	const char *path;              /* borrowed; NULL: the index is in memory */
	const struct ts_error *error;  /* borrowed; why what was read since is not there; NULL: it is */
	const char *calls;             /* borrowed; the file of the calls, if the index lacks them; NULL: no such file */
	uint64_t len;                  /* bytes */
	uint64_t n_steps;              /* instructions that it holds; the rest is read again by the next run */
	bool is_finished;              /* it holds the whole recording */
};

/* Is the recording one of trace frames, which has no index?  After ts_model_open(). */
bool ts_model_has_frames(const struct ts_model *m);

/* Returns facts of the index file, whose texts are borrowed from the model; all zero: the index is in memory. */
struct ts_index_facts ts_model_index(const struct ts_model *m);

#endif
