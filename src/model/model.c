/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <stdlib.h>

#include "index_policy.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "src/index/index_parts.h"
#include "src/index/keys/layout_cache.h"
#include "src/object/image.h"
#include "src/query/query.h"
#include "src/source/source.h"
#include "src/timeline/timeline.h"

struct ts_model {
	struct ts_model_options opt;
	struct ts_source *src; /* borrowed */
	struct ts_layout_cache keeper; /* of src */
	struct ts_image image;
	struct ts_recording *rec; /* owned */
	struct ts_timeline *tl;   /* owned */
	struct ts_trace_check check;
	struct ts_parts *parts;   /* owned; of which the index is built, NULL: it is not */
	struct ts_query *q;       /* owned; NULL until something is published */
	bool is_ended;            /* grow() has said so */
};

struct ts_model *ts_model_new(const struct ts_model_options *opt, struct ts_error *err)
{
	struct ts_model *m = calloc(1, sizeof(*m));

	if (!m)
		return ts_no_memory(err, "the recording");
	m->opt = *opt;
	ts_image_init(&m->image);
	m->image.sysroot = opt->sysroot;
	return m;
}

void ts_model_free(struct ts_model *m)
{
	if (!m)
		return;
	ts_query_free(m->q);
	ts_timeline_free(m->tl);
	ts_parts_free(m->parts);
	ts_recording_close(m->rec);
	ts_trace_check_fini(&m->check);
	ts_image_fini(&m->image);
	ts_layout_cache_fini(&m->keeper);
	free(m);
}

bool ts_model_add_file(struct ts_model *m, const char *path, const uint64_t *base, struct ts_error *err)
{
	return ts_image_add_file(&m->image, path, base, err);
}

/* ---------------------------------------------------------------------------------------------- opening */

/*
 * Shorter traces are read by one thread, unless the user names a number of jobs: the memory through which threads pass their
 * results on costs more than they save.
 */
#define MIN_SHARED (UINT64_C(64) << 20)

/*
 * With this number of jobs the thread that decodes a file reads it, too, unless the timeline waits for that one anyway.  A third
 * thread on two processors copies to memory that is in no cache of the decoder, and takes time from the other two.
 */
#define MAX_JOBS_READING 2u

/* Where there is a second processor it decodes while this one indexes; if others wait for a long trace, a thread does. */
static void read_ahead(const struct ts_model *m, struct ts_timeline *tl)
{
	struct ts_recording *twin;
	unsigned n_twins;
	struct ts_error err = { 0 };

	if (!tl->builder || tl->rec->frames ||
	    (m->opt.n_jobs < 2 && (!m->opt.is_served || ts_source_len(m->src) < MIN_SHARED)))
		return;
	n_twins = ts_timeline_n_twins(tl);
	for (unsigned i = 0; i < n_twins && err.code == TS_OK; i++) {
		twin = m->opt.load(m->opt.user, m->rec, &err);
		if (!twin || !ts_timeline_read_ahead(tl, twin, &err))
			ts_log(TS_LOG_INFO, "%s: read without %s: %s", m->opt.trace,
			       i ? "as many threads as it may be" : "a thread of its own", err.text);
	}
}

/* The batches of the parts, in place of what would be decoded.  Nothing if the index is complete. */
static bool merge(struct ts_model *m, struct ts_error *err)
{
	struct ts_index_places places;
	struct ts_index_key key;

	if (!m->tl->builder)
		return true;
	if (!ts_index_policy_part_key(m->rec, m->src, &m->opt, &key, err))
		return false;
	if (!ts_index_places_init(&places, m->opt.trace, m->opt.index.path))
		return ts_no_memory(err, "the segments");
	m->parts = ts_parts_open(&places, &key, ts_timeline_n_chunks_read(m->tl), err);
	ts_index_places_fini(&places);
	if (m->parts)
		ts_timeline_take_from(m->tl, ts_parts_store(m->parts));
	else if (m->tl->file && !ts_index_n_records(m->tl->file))
		ts_index_remove(m->tl->file); /* it was begun in vain */
	return m->parts != NULL;
}

bool ts_model_open(struct ts_model *m, struct ts_source *src, struct ts_error *err)
{
	bool is_bad_file = true;

	m->src = src;
	if (!m->opt.n_jobs)
		m->opt.n_jobs = ts_source_len(src) < MIN_SHARED ? 1 : ts_n_processors();
	if (ts_index_policy_keeps(&m->opt))
		ts_layout_cache_init(&m->keeper, src, m->opt.trace, m->opt.index.path);
	if (m->opt.n_jobs > (ts_source_is_file(src) ? MAX_JOBS_READING : 1))
		ts_source_allow_ahead(src);
	for (unsigned tries = 0; is_bad_file && tries < 1 + TS_INDEX_MAX_PLACES && !m->tl; tries++) {
		ts_recording_close(m->rec);
		m->rec = m->opt.load(m->opt.user, NULL, err);
		if (!m->rec)
			return false;
		m->rec->source = m->src;
		m->tl = ts_index_policy_timeline(m->rec, &m->image, src, &m->opt, &m->check, &is_bad_file, err);
	}
	if (!m->tl && err->code == TS_OK)
		ts_fail(err, TS_EIO, TS_NO_OFF, "its index file cannot be used, nor removed");
	if (!m->tl)
		return ts_fail_prefix(err, "%s", m->rec->format);
	if (!m->opt.index.is_merged)
		read_ahead(m, m->tl);
	else if (!merge(m, err))
		return false;
	ts_source_restart(m->src); /* loaders examine the end of some traces */
	return true;
}

/* ---------------------------------------------------------------------------------------------- reading */

/* Trace frames can be asked about when all of them are there. */
static bool is_ready(const struct ts_model *m)
{
	return m->tl->n_steps && (!m->rec->frames || !m->tl->builder);
}

static bool publish(struct ts_model *m, struct ts_error *err)
{
	if (m->q)
		ts_query_refresh(m->q);
	else if (is_ready(m))
		m->q = ts_query_new(m->tl, err);
	return m->q || err->code == TS_OK;
}

/* Bytes of the trace to hash beside reading @n_steps: few formats take more for a step. */
static uint64_t hash_len(uint64_t n_steps)
{
	return n_steps > UINT64_MAX / 512 ? UINT64_MAX : (UINT64_C(1) << 20) + n_steps * 512;
}

enum ts_next ts_model_grow(struct ts_model *m, uint64_t n_steps, struct ts_error *err)
{
	bool is_left;
	enum ts_next grow = ts_timeline_grow(m->tl, n_steps, err);

	if (m->opt.n_jobs == MAX_JOBS_READING && ts_timeline_waits(m->tl))
		ts_source_allow_ahead(m->src);
	if (grow == TS_FAIL) {
		ts_fail_prefix(err, "%s", m->rec->format);
		return TS_FAIL;
	}
	if (grow == TS_END && !m->is_ended && m->tl->damage.code != TS_OK)
		ts_fail_prefix(&m->tl->damage, "%s", m->rec->format);
	m->is_ended = grow == TS_END;
	if (m->is_ended && m->parts && ts_model_index(m).is_finished)
		ts_parts_remove(m->parts);
	is_left = ts_trace_check_grow(&m->check, m->tl, hash_len(n_steps));
	if (!publish(m, err))
		return TS_FAIL;
	return grow == TS_END && !is_left ? TS_END : TS_ITEM;
}

enum ts_next ts_model_grow_for(struct ts_model *m, int64_t ns)
{
	int64_t end = ts_now_ns() + ns;
	struct ts_error err = { 0 };
	enum ts_next next;

	do {
		next = ts_model_grow(m, TS_CHUNK_STEPS, &err);
	} while (next == TS_ITEM && ts_now_ns() < end);
	return next;
}

unsigned ts_model_permille(const struct ts_model *m)
{
	return ts_timeline_permille(m->tl);
}

uint64_t ts_model_n_read(const struct ts_model *m)
{
	return ts_timeline_n_read(m->tl);
}

struct ts_query *ts_model_query(struct ts_model *m)
{
	return m->q;
}

bool ts_model_has_frames(const struct ts_model *m)
{
	return m->rec->frames != NULL;
}

/* The path of the file that has the calls; NULL: the index has them, or the model has no index. */
static const char *calls_path(const struct ts_timeline *tl)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i] == &ts_calls_section && tl->siblings[i])
			return ts_index_path(tl->siblings[i]);
	}
	return NULL;
}

struct ts_index_facts ts_model_index(const struct ts_model *m)
{
	const struct ts_timeline *tl = m->tl;
	bool is_finished = tl->file && ts_index_is_finished(tl->file);

	if (!tl->file)
		return (struct ts_index_facts){ 0 };
	return (struct ts_index_facts){
		.path = ts_index_path(tl->file),
		.calls = calls_path(tl),
		.error = tl->file_error.code == TS_OK ? NULL : &tl->file_error,
		.len = ts_index_len(tl->file),
		.n_steps = is_finished ? tl->n_steps : ts_index_n_records(tl->file) * TS_SEGMENT_CHUNKS * TS_CHUNK_STEPS,
		.is_finished = is_finished,
	};
}
