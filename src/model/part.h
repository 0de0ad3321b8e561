/* SPDX-License-Identifier: MIT */
/*
 * One part of several that machines decode apart (src/index/index_parts.h).
 *
 * The recording is passed over to count its steps, then up to where the part begins, without decoding them where its reader can
 * do that; only the part is decoded.
 */
#ifndef TS_PART_H
#define TS_PART_H

#include "options.h"
#include "src/base/next.h"
#include "src/index/index_parts.h"

struct ts_part;

/*
 * Part @number of the trace @src (borrowed), which is opened as a model would be.
 *
 * Returns NULL on failure: the recording cannot be entered in the middle (TS_EUNSUPPORTED), the errors of opt->load, of a key
 * or of a file.
 */
struct ts_part *ts_part_new(const struct ts_model_options *opt, struct ts_source *src, const struct ts_part_number *number,
			    struct ts_error *err);
void ts_part_free(struct ts_part *p);

/*
 * Pass over or decode a stretch.
 *
 * Returns TS_ITEM if there is more to do.
 * Returns TS_END when the file of the part is complete.
 * Returns TS_FAIL if it cannot be written.
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_part_run(struct ts_part *p, struct ts_error *err);

struct ts_part_facts {
	uint64_t n_steps, len; /* decoded; bytes of the file */
	const char *path;      /* borrowed; NULL: it is not complete */
	bool is_passing;       /* steps are passed over */
	uint64_t n_passed;
};

/* Returns the facts of the part so far; the path is borrowed from it. */
struct ts_part_facts ts_part_facts(const struct ts_part *p);

#endif
