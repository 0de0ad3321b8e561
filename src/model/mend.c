/* SPDX-License-Identifier: MIT */
#include "mend.h"

#include <stdint.h>

#include "index_policy.h"
#include "src/base/log.h"
#include "src/index/index_patch.h"
#include "src/query/aside.h"
#include "src/timeline/timeline.h"

/* If so many questions wait, which stand on one stack, nobody is served until a segment is built. */
#define MAX_WAITING 8u

void ts_mender_init(struct ts_mender *x, const struct ts_model_options *opt, const struct ts_source *src,
		    struct ts_index_file *file)
{
	*x = (struct ts_mender){ .opt = opt, .src = src, .file = file, .max_segments = SIZE_MAX };
	x->is_compared = ts_index_has(file, 0, ts_digests_section.kind);
}

/* ---------------------------------------------------------------------------------------- on the thread */

static bool build_segment(struct ts_mender *x)
{
	enum ts_grow grow = TS_GROW_MORE;

	while (x->tl->file && x->tl->file_error.code == TS_OK) {
		if (ts_index_n_records(x->tl->file) > x->segment)
			return true;
		if (grow != TS_GROW_MORE)
			return ts_fail(&x->err, TS_ECORRUPT, TS_NO_OFF,
				       "what was built again is not the same");
		grow = ts_timeline_grow(x->tl, UINT64_C(1) << 16, &x->err);
	}
	return ts_fail(&x->err, TS_EIO, TS_NO_OFF, "%s",
		       x->tl->file ? x->tl->file_error.text : "no file can be written");
}

/* From what the index has of segments before it. */
static void build(void *user)
{
	struct ts_mender *x = user;
	struct ts_model_options opt = *x->opt;

	opt.is_compared = x->is_compared;
	x->rec = opt.load(opt.user, NULL, &x->err);
	if (!x->rec)
		return;
	x->rec->source = x->src;
	x->tl = ts_index_policy_again(x->rec, &opt, x->file, x->max_segments, &x->err);
	if (x->tl && build_segment(x))
		ts_index_write_back(x->file, x->tl->file);
}

/* ------------------------------------------------------------------------------------------- of who asks */

static void begin(struct ts_mender *x)
{
	x->is_at_work = true;
	x->segment = ts_index_next_damaged(x->file, 0);
	ts_error_reset(&x->err);
	ts_task_init(&x->task);
	if (x->opt->is_served)
		ts_task_start(&x->task, build, x);
	else
		build(x);
}

static bool is_built(struct ts_mender *x)
{
	return !x->opt->is_served || ts_task_wait(&x->task);
}

/*
 * What was built takes the place of what is damaged.  If it has other bytes than the file had, all segments
 * are built from the beginning on.
 */
static void end(struct ts_mender *x)
{
	if (x->err.code == TS_OK && !ts_index_mend(x->file, x->tl->file) &&
	    ts_index_next_damaged(x->file, x->segment) == x->segment)
		ts_fail(&x->err, TS_ECORRUPT, TS_NO_OFF, "what was built again is not the same");
	x->is_hopeless = x->err.code != TS_OK && (x->err.code != TS_ECORRUPT || !x->rec || !x->max_segments);
	x->max_segments = x->err.code == TS_OK ? SIZE_MAX : 0;
	if (x->is_hopeless)
		ts_log(TS_LOG_WARN, "%s: it cannot be built again: %s", ts_index_path(x->file), x->err.text);
	ts_task_fini(&x->task);
	ts_timeline_free(x->tl);
	ts_recording_close(x->rec);
	x->tl = NULL;
	x->rec = NULL;
	x->is_at_work = false;
}

static bool has_more(const struct ts_mender *x)
{
	return x->is_at_work ||
	       (!x->is_hopeless && ts_index_next_damaged(x->file, 0) < ts_index_n_records(x->file));
}

bool ts_mender_run(void *user)
{
	struct ts_mender *x = user;
	struct ts_aside *aside = x->q && x->n_waiting < MAX_WAITING ? ts_query_set_aside(x->q) : NULL;

	if (!x->n_waiting++)
		ts_log(TS_LOG_WARN, "%s: damaged; what a question needs of it is built again first",
		       ts_index_path(x->file));
	while (has_more(x)) {
		if (!x->is_at_work)
			begin(x);
		if (is_built(x))
			end(x);
		else if (aside)
			ts_query_serve_others(x->q);
	}
	x->n_waiting--;
	if (aside)
		ts_query_bring_back(x->q, aside);
	return !x->is_hopeless;
}
