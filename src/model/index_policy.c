/* SPDX-License-Identifier: MIT */
#include "index_policy.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/log.h"
#include "src/index/index_place.h"
#include "src/source/source.h"

/*
 * What decides how the trace is read, beside the trace: the sources that this program was made from, for a
 * later version may read it better; and what the loader made of options and of the files that they name.
 * Files that only lie beneath the recording (--image, --sysroot) are not part of the index.
 */
static bool make_key(const struct ts_recording *rec, const struct ts_source *src,
		     const struct ts_model_options *opt, struct ts_index_key *key, struct ts_error *err)
{
	struct ts_buf meaning;
	bool done;

	ts_buf_init(&meaning);
	ts_buf_printf(&meaning, "format %s\nreads %d\n", rec->format, !opt->index.has_no_reads);
	ts_buf_printf(&meaning, "start %016" PRIx64 "\n", ts_recording_hash_start(rec));
	done = (ts_buf_ok(&meaning) || ts_no_memory(err, "the key of the index")) &&
	       ts_index_key(src, ts_index_sources, ts_buf_text(&meaning), key, err);
	ts_buf_fini(&meaning);
	return done;
}

bool ts_index_policy_part_key(const struct ts_recording *rec, const struct ts_source *src, const struct ts_model_options *opt,
			      struct ts_index_key *key, struct ts_error *err)
{
	return make_key(rec, src, opt, key, err) && ts_index_signer(&key->signer, opt->trace, err);
}

/* The file to use, NULL for none. */
static struct ts_index_file *find_file(const struct ts_source *src, const struct ts_model_options *opt,
				       struct ts_index_key *key, struct ts_index_trace *trace)
{
	bool is_asked_for = opt->index.path || opt->index.is_wanted;
	bool is_wanted = is_asked_for || ts_source_len(src) >= TS_INDEX_MIN_TRACE;
	struct ts_index_file *f = NULL;
	struct ts_index_places places;
	struct ts_error err = { 0 };

	if (ts_source_is_fleeting(src) && !opt->index.path)
		return NULL; /* data from a pipe is read once */
	if (!ts_index_places_init(&places, opt->trace, opt->index.path))
		return NULL;
	if (!is_wanted && !ts_index_places_have_any(&places)) {
		ts_index_places_fini(&places);
		return NULL;
	}
	if (!ts_index_signer(&key->signer, opt->trace, &err)) {
		ts_log(is_asked_for ? TS_LOG_WARN : TS_LOG_INFO, "%s; the index is kept in memory", err.text);
		ts_index_places_fini(&places);
		return NULL;
	}
	ts_index_places_adopt(&places, src);
	f = ts_index_places_open(&places, key, trace);
	if (!f && is_wanted) {
		f = ts_index_places_create(&places, key, &err);
		if (!f)
			ts_log(is_asked_for ? TS_LOG_WARN : TS_LOG_INFO, "%s; the index is kept in memory",
			       err.text);
	}
	if (f && !ts_index_is_finished(f) && ts_index_n_records(f))
		ts_log(TS_LOG_INFO, "%s: continuing where another run was interrupted", ts_index_path(f));
	ts_index_places_fini(&places);
	return f;
}

static bool use_file(struct ts_timeline *tl, struct ts_index_file *f, bool *is_bad_file, struct ts_error *err)
{
	if (ts_timeline_use_file(tl, f, err))
		return true;
	if (err->code == TS_ENOMEM || err->code == TS_EIO)
		return ts_fail_prefix(err, "%s", ts_index_path(f)); /* the file may be good */
	ts_log(TS_LOG_WARN, "%s: %s; ignored; rebuilding the index", ts_index_path(f), err->text);
	ts_error_reset(err);
	ts_index_remove(f);
	*is_bad_file = true;
	return false;
}

/* A timeline that has read nothing. */
static struct ts_timeline *new_timeline(struct ts_recording *rec, struct ts_image *image,
					const struct ts_model_options *opt, struct ts_error *err)
{
	struct ts_timeline *tl = ts_timeline_new(rec, image, err);

	if (!tl)
		return NULL;
	tl->max_memory = opt->max_memory;
	tl->n_jobs = opt->n_jobs;
	if (opt->index.has_no_reads)
		ts_timeline_leave_reads_out(tl);
	if (opt->is_compared)
		ts_timeline_make_digests(tl);
	if (opt->is_whole)
		ts_timeline_read_whole(tl);
	return tl;
}

bool ts_index_policy_keeps(const struct ts_model_options *opt)
{
	return !opt->index.path || strcmp(opt->index.path, "none");
}

/* A longer trace is not compared before a server serves: hashing takes about 0.2 ms a MiB. */
#ifndef TS_MAX_HASHED_AT_ONCE
#define TS_MAX_HASHED_AT_ONCE (UINT64_C(64) << 20)
#endif

struct ts_timeline *ts_index_policy_timeline(struct ts_recording *rec, struct ts_image *image,
				     struct ts_source *src, const struct ts_model_options *opt,
				     struct ts_trace_check *check, bool *is_bad_file, struct ts_error *err)
{
	struct ts_index_trace trace = { .src = src, .max_len = opt->is_served ? TS_MAX_HASHED_AT_ONCE : UINT64_MAX };
	struct ts_timeline *tl = new_timeline(rec, image, opt, err);
	struct ts_index_file *f = NULL;
	struct ts_index_key key;

	*is_bad_file = false;
	if (!tl)
		return NULL;
	if (ts_index_policy_keeps(opt) && !rec->frames) { /* frames are in the trace and not in its index */
		if (!make_key(rec, src, opt, &key, err)) {
			ts_timeline_free(tl);
			return NULL;
		}
		f = find_file(src, opt, &key, &trace);
	}
	if (!f || use_file(tl, f, is_bad_file, err)) {
		ts_trace_check_init(check, tl, src, &trace);
		return tl;
	}
	ts_timeline_free(tl);
	return NULL;
}
