/* SPDX-License-Identifier: MIT */
#include "backfill.h"

#include <stdlib.h>

#include "builder.h"
#include "src/base/log.h"
#include "src/index/index_write.h"
#include "src/trace/chunk.h"
#include "src/trace/feed.h"

struct ts_backfill {
	struct ts_timeline *tl;     /* borrowed */
	const struct ts_section *s; /* borrowed */
	unsigned ordinal;           /* of the section */
	struct ts_feed *feed;       /* owned */
	struct ts_index_file *file; /* borrowed from the timeline; NULL: nothing is written any more */
	uint64_t n_steps, n_chunks; /* taken in */
};

/* The file of its own, if there is an index file and it can be written. */
static void create_file(struct ts_backfill *b)
{
	const struct ts_timeline *tl = b->tl;
	struct ts_error err = { 0 };

	if (!tl->file || !ts_index_is_finished(tl->file) || tl->siblings[b->ordinal])
		return;
	b->file = ts_index_create_sibling(tl->file, b->s->name, &err);
	if (!b->file)
		ts_log(TS_LOG_INFO, "%s.%s: %s; kept in memory", ts_index_path(tl->file), b->s->name,
		       err.text);
	ts_timeline_set_sibling(b->tl, b->ordinal, b->file);
}

struct ts_backfill *ts_backfill_new(struct ts_timeline *tl, const struct ts_section *s, struct ts_error *err)
{
	struct ts_backfill *b = calloc(1, sizeof(*b));

	if (!b) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to build %s", s->name);
		return NULL;
	}
	b->tl = tl;
	b->s = s;
	while (tl->sections[b->ordinal] != s)
		b->ordinal++;
	b->feed = ts_feed_new(tl->rec, err);
	if (!b->feed) {
		free(b);
		return NULL;
	}
	create_file(b);
	return b;
}

void ts_backfill_free(struct ts_backfill *b)
{
	if (!b)
		return;
	ts_feed_free(b->feed);
	if (b->file && !ts_index_is_finished(b->file))
		ts_index_remove(b->file); /* not all of it is there */
	free(b);
}

uint64_t ts_backfill_n_read(const struct ts_backfill *b)
{
	return b->n_steps;
}

/* Take the arrays of the record that was written last in place of those in memory. */
static bool map(struct ts_backfill *b, uint64_t segment, struct ts_error *err)
{
	const struct ts_section_at at = { b->tl, segment, 0, true };
	struct ts_index_arrays a;

	return b->s->stays_in_memory ||
	       (ts_builder_find_section(b->file, ts_index_n_records(b->file) - 1, b->s, 0, &a) &&
		b->s->load(&at, &a)) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to map it");
}

/* In its refuge on a full disk. */
static bool publish(struct ts_index_file *f, struct ts_error *err)
{
	return ts_index_publish(f, err) || (ts_index_use_fallback(f) && ts_index_publish(f, err));
}

/* To its file; if that cannot be written what follows stays in memory. */
static void save(struct ts_backfill *b, uint64_t segment, bool is_last)
{
	struct ts_error err = { 0 };

	ts_index_begin(b->file, 1);
	ts_builder_save_section(b->tl, b->s, segment, 0, b->file);
	if (ts_index_commit(b->file, b->n_steps, is_last, &err) && map(b, segment, &err) &&
	    (!is_last || publish(b->file, &err)))
		return;
	ts_log(TS_LOG_WARN, "%s: %s; kept in memory", ts_index_path(b->file), err.text);
	ts_index_remove(b->file);
	b->file = NULL;
}

static bool end_segment(struct ts_backfill *b, bool is_last)
{
	uint64_t segment = (b->n_chunks - 1) / TS_SEGMENT_CHUNKS;

	if (b->s->seal && !b->s->seal(b->tl, segment, false))
		return false;
	if (b->file)
		save(b, segment, is_last);
	return true;
}

static enum ts_next fail_no_memory(const struct ts_backfill *b, struct ts_error *err)
{
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to build %s", b->s->name);
	return TS_FAIL;
}

/* All that the timeline has was read. */
static enum ts_next end(struct ts_backfill *b, struct ts_error *err)
{
	if (!end_segment(b, true))
		return fail_no_memory(b, err);
	b->tl->lacks &= ~(UINT32_C(1) << b->ordinal);
	return TS_END;
}

/* Take in what was decoded: as many steps as the timeline has. */
static enum ts_next take_in(struct ts_backfill *b, struct ts_batch *batch, struct ts_error *err)
{
	uint64_t left = b->tl->n_steps - b->n_steps;

	if (batch->steps.n_steps > left || (batch->next != TS_ITEM && batch->steps.n_steps < left)) {
		if (batch->next == TS_FAIL)
			*err = batch->err;
		else
			ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "the trace has changed");
		return TS_FAIL;
	}
	if (batch->steps.n_steps) {
		if (!b->s->take(b->tl, b->n_steps, &batch->steps))
			return fail_no_memory(b, err);
		b->n_steps += batch->steps.n_steps;
		b->n_chunks++;
	}
	if (b->n_steps == b->tl->n_steps)
		return end(b, err);
	if (b->n_chunks % TS_SEGMENT_CHUNKS == 0 && !end_segment(b, false))
		return fail_no_memory(b, err);
	return TS_MORE;
}

enum ts_next ts_backfill_grow(struct ts_backfill *b, uint64_t n_steps, struct ts_error *err)
{
	uint64_t start = b->n_steps;
	enum ts_next grown = TS_MORE;

	while (grown == TS_MORE && b->n_steps - start < n_steps)
		grown = take_in(b, ts_feed_next(b->feed), err);
	return grown;
}

enum ts_next ts_timeline_fill(struct ts_timeline *tl, const struct ts_section *s, uint64_t n_steps,
			      struct ts_error *err)
{
	enum ts_next grown;

	if (ts_timeline_has(tl, s))
		return TS_END;
	if (tl->is_filling)
		return TS_MORE;
	tl->is_filling = true;
	if (!tl->backfill) /* else one that others began, of this section or another one */
		tl->backfill = ts_backfill_new(tl, s, err);
	grown = tl->backfill ? ts_backfill_grow(tl->backfill, n_steps, err) : TS_FAIL;
	tl->is_filling = false;
	if (grown == TS_MORE)
		return TS_MORE;
	ts_backfill_free(tl->backfill);
	tl->backfill = NULL;
	return grown == TS_END && !ts_timeline_has(tl, s) ? TS_MORE : grown;
}
