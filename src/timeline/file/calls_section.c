/* SPDX-License-Identifier: MIT */
/*
 * The section CALL: callers and callees (src/calls).  A segment's arrays are its calls (calls.c) and the state of
 * the tracker after it (tracker.c).
 */
#include "src/timeline/builder.h"
#include "section.h"
#include "src/calls/calls.h"
#include "src/calls/tracker.h"

/* A list and a tracker that know nothing yet. */
static bool start(struct ts_timeline *tl)
{
	ts_calls_free(tl->calls);
	ts_call_tracker_free(tl->tracker);
	tl->calls = ts_calls_new();
	tl->tracker = tl->calls ? ts_call_tracker_new(tl->calls, &tl->rec->regs, tl->rec->is_physical,
							tl->rec->is_before) : NULL;
	return tl->tracker && ts_call_tracker_start(tl->tracker, &tl->rec->initial);
}

static bool take(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *chunk)
{
	if (!pos && !start(tl))
		return false;
	return ts_call_tracker_take(tl->tracker, pos, chunk);
}

/* Has the tracker seen all steps of the recording? */
static bool is_end(const struct ts_timeline *tl, uint64_t segment)
{
	if (tl->builder)
		return tl->builder->is_read;
	return (segment + 1) * TS_SEGMENT_CHUNKS >= tl->n_chunks;
}

static bool seal(struct ts_timeline *tl, uint64_t segment, bool is_copy)
{
	if (is_copy)
		return ts_calls_show(tl->calls);
	if (is_end(tl, segment) && !ts_call_tracker_end(tl->tracker, tl->end_pc))
		return false;
	return ts_calls_seal(tl->calls);
}

static void save(const struct ts_section_at *at, struct ts_index_file *f)
{
	ts_calls_save(at->tl->calls, f);
	ts_call_tracker_save(at->tl->tracker, f);
}

static bool load(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	struct ts_timeline *tl = at->tl;

	if (!at->is_in_memory && !at->segment && !start(tl))
		return false;
	return ts_calls_load(tl->calls, a, at->is_in_memory, tl->rec->n_threads) &&
	       (at->is_in_memory || ts_call_tracker_load(tl->tracker, a, tl->rec->n_threads));
}

const struct ts_section ts_calls_section = {
	.kind = TS_SECTION_KIND('C', 'A', 'L', 'L'),
	.name = "calls",
	.save = save,
	.load = load,
	.take = take,
	.seal = seal,
};
