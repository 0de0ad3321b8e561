/* SPDX-License-Identifier: MIT */
/*
 * A recording under examination: read in memory or with an index file, at once or by turns, beside its
 * naive twin.
 */
#ifndef TESTS_TIMELINE_CASE_H
#define TESTS_TIMELINE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "naive.h"
#include "script.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

/* One recording under examination. */
struct exam {
	uint64_t seed;
	struct script_random rnd;
	struct script *s;
	struct naive *nv;
	bool has_image, has_file; /* of the user, beneath the sysroot */
	struct ts_image image;
	struct script *again; /* the same recording, as another process opens it; NULL for none */
	struct ts_timeline *tl;
	struct ts_query *q;
	uint64_t n_steps, n_asked;
};

/* Where the index is: what a build leaves behind is what the next one finds. */
enum place {
	IN_MEMORY,
	IN_FILE,
	REOPENED,    /* a build left it, another process opens it */
	INTERRUPTED, /* a build left a part of it, another process goes on */
	N_PLACES,
};

/* The test fails with this text, and says which recording it is. */
__attribute__((noreturn, format(printf, 2, 3))) void wrong(const struct exam *x, const char *fmt, ...);

/* It fails with the text of @err unless that is done. */
void must(const struct exam *x, bool is_done, const struct ts_error *err);

/* The file that random recordings map, beneath the sysroot. */
void write_mapped_file(void);

/* Read the recording to its end.  What is known of it on the way is right, if there is a twin. */
void read_all(struct exam *x, enum place place);

/* A random recording of @n_steps with this ending, of which all is read, and its twin. */
void exam_init(struct exam *x, uint64_t seed, uint64_t n_steps, enum ts_next ending);
void exam_fini(struct exam *x);

#endif
