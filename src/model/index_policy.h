/* SPDX-License-Identifier: MIT */
/*
 * A timeline with the index file that belongs to its trace: found and used, continued, or begun.
 */
#ifndef TS_INDEX_POLICY_H
#define TS_INDEX_POLICY_H

#include <stdbool.h>

#include "options.h"
#include "src/timeline/timeline.h"
#include "trace_check.h"

/* May files be kept beside the trace? */
bool ts_index_policy_keeps(const struct ts_model_options *opt);

/*
 * The key of the index of @rec, and of its parts (src/index/index_parts.h).  Returns false if the trace cannot be read, or there
 * is nobody to sign.
 */
bool ts_index_policy_part_key(const struct ts_recording *rec, const struct ts_source *src, const struct ts_model_options *opt,
			      struct ts_index_key *key, struct ts_error *err);

/*
 * A timeline over @rec, a recording of the trace @src.  What an index file already has need not be read;
 * what is missing goes to one, if the trace is large or @opt asks for it.  The log says what is wrong with
 * files.  @check gets what is to be done beside reading.
 *
 * Returns NULL on failure.  If *is_bad_file is set then a file was to blame, which has been removed: @rec is
 * to be closed, and all done once more.
 */
struct ts_timeline *ts_index_policy_timeline(struct ts_recording *rec, struct ts_image *image,
				     struct ts_source *src, const struct ts_model_options *opt,
				     struct ts_trace_check *check, bool *is_bad_file, struct ts_error *err);

#endif
