/* SPDX-License-Identifier: MIT */
/*
 * The options of a model: its trace, its loader, and the use of index files.
 */
#ifndef TS_MODEL_OPTIONS_H
#define TS_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_recording;

/* Whether, and where, an index file is kept. */
struct ts_index_policy {
	/*
	 * the file or folder that the user names; "none": the index is kept in memory; NULL: where it belongs
	 */
	const char *path;
	bool is_merged;    /* of parts that were decoded before (src/index/index_parts.h): nothing is decoded */
	bool is_wanted;    /* though the trace is short */
	bool has_no_reads; /* memory reads are left out */
};

/* All pointers are borrowed, and must outlive the model. */
struct ts_model_options {
	const char *trace;           /* the trace as the user named it: by its name the index file is found */
	/*
	 * Opens a recording over the trace; it may be called several times.  @like: one that it returned before, NULL:
	 * none.  Returns NULL on failure.
	 */
	struct ts_recording *(*load)(void *user, const struct ts_recording *like, struct ts_error *err);
	void *user;
	const char *sysroot;         /* the folders that are searched for files named by the trace; NULL: none */
	struct ts_index_policy index;
	uint64_t max_memory;         /* bytes that the index may need, beside those in its file; UINT64_MAX: any */
	unsigned n_jobs;             /* processors that building an index may use; 0: one for a short trace, else all that the process may use */
	bool is_served;              /* others wait while it is read: no call may take long */
	bool is_whole;               /* nothing is asked before all has been read */
	bool is_compared;            /* with another one: the index gets what makes that faster */
};

#endif
