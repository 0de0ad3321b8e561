/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include "src/source/source.h"

/* ------------------------------------------------------------------------------------------ taking it */

/* Regions and modules are in the order in which they began: the unpublished ones come last. */
static size_t count_regions(const struct ts_world *w, uint64_t end)
{
	size_t n = w->n_regions;

	while (n && ts_world_region(w, n - 1)->from > end)
		n--;
	return n;
}

static size_t count_modules(const struct ts_world *w, uint64_t end)
{
	size_t n = w->n_modules;

	while (n && ts_world_module(w, n - 1)->from > end)
		n--;
	return n;
}

void ts_snapshot_take(struct ts_snapshot *snap, const struct ts_timeline *tl)
{
	const struct ts_world *w = &tl->world;
	bool is_complete = !tl->builder && !tl->is_unverified;

	*snap = (struct ts_snapshot){
		.end = tl->n_steps,
		.n_steps = tl->n_steps,
		.n_indexed = tl->n_steps,
		.n_threads = is_complete ? tl->rec->n_threads : tl->n_threads,
		.n_processes = is_complete ? tl->rec->n_processes : tl->n_processes,
		.is_complete = is_complete,
		.has_end_pc = is_complete && tl->has_end,
	};
	if (snap->has_end_pc) {
		snap->end_pc = tl->end_pc;
	} else if (snap->end) {
		snap->end--;
		snap->n_steps -= is_complete; /* what follows was not read: the recording ends there */
	}
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		snap->n_events[i] = ts_event_list_below(&w->events[i], snap->n_steps);
	snap->n_regions = count_regions(w, snap->end);
	snap->n_modules = count_modules(w, snap->end);
}

void ts_facts_take(struct ts_facts *facts, const struct ts_timeline *tl)
{
	const struct ts_recording *rec = tl->rec;

	*facts = (struct ts_facts){
		.format = rec->format,
		.variant = rec->variant,
		.os = rec->os,
		.osabi = rec->osabi,
		.regs = &rec->regs,
		.is_physical = rec->is_physical,
		.phys_bits = rec->phys_bits,
		.has_reads = rec->has_reads,
		.misses_reads = rec->misses_reads,
		.has_syscalls = rec->has_syscalls,
		.absent_events = rec->absent_events,
		.is_before = rec->is_before,
		.guesses_lengths = rec->guesses_lengths,
		.has_long_steps = rec->has_long_steps,
		.auxv = rec->auxv,
		.auxv_len = rec->auxv_len,
		.exec_path = rec->exec_path,
		.folder = rec->folder,
		.cmdline = &rec->cmdline,
		.notes = &rec->notes,
		.tracing = rec->tracing,
		.frames = rec->frames,
	};
}

/* --------------------------------------------------------------------------------------- examining it */

bool ts_query_finish_question(const struct ts_query *q, struct ts_error *err)
{
	if (!ts_image_check(&q->tl->rec->memory, err) || !ts_image_check(q->tl->image, err))
		return false;
	if (__builtin_expect(!ts_timeline_is_damaged(q->tl), 1)) {
		ts_timeline_give_back(q->tl);
		return true;
	}
	if (q->tl->is_foreign)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF,
			       "the trace has changed since its index was made: the index was removed, and will be "
			       "rebuilt when the recording is opened again");
	return ts_fail(err, TS_ECORRUPT, TS_NO_OFF,
		       "the index file is damaged: it was removed, and will be rebuilt when the recording is opened "
		       "again");
}

uint64_t ts_query_end(const struct ts_query *q)
{
	return q->snap.end;
}

uint64_t ts_query_n_steps(const struct ts_query *q)
{
	return q->snap.n_steps;
}

bool ts_query_is_complete(const struct ts_query *q)
{
	return q->snap.is_complete;
}

bool ts_query_is_end_assumed(const struct ts_query *q)
{
	return q->snap.has_end_pc && q->tl->is_end_assumed;
}

unsigned ts_query_permille(const struct ts_query *q)
{
	return q->snap.is_complete ? 1000 : ts_timeline_permille(q->tl);
}

bool ts_query_ending(const struct ts_query *q, struct ts_ending *ending)
{
	const struct ts_timeline *tl = q->tl;

	if (q->snap.is_complete)
		*ending = (struct ts_ending){ tl->damage, tl->has_exit, tl->is_fault };
	return q->snap.is_complete;
}

bool ts_query_is_abandoned(const struct ts_query *q, struct ts_error *why)
{
	struct ts_ending ending;

	if (!ts_query_ending(q, &ending) || (ending.damage.code != TS_EIO && ending.damage.code != TS_ENOMEM))
		return false;
	*why = ending.damage;
	return true;
}

const struct ts_facts *ts_query_facts(const struct ts_query *q)
{
	return &q->facts;
}

const struct ts_regset *ts_query_regset(const struct ts_query *q)
{
	return q->facts.regs;
}

const struct ts_source *ts_query_file(const struct ts_query *q, const char *path)
{
	return q->tl->image && path ? ts_image_find(q->tl->image, path) : NULL;
}

const char *ts_query_warning(const struct ts_query *q, unsigned i, uint64_t *count)
{
	const struct ts_recording *rec = q->tl->rec;

	if (i >= rec->n_warnings)
		return NULL;
	*count = rec->warnings[i].count;
	return rec->warnings[i].text;
}

void ts_query_stats(const struct ts_query *q, struct ts_index_stats *stats)
{
	struct ts_timeline_stats t;

	ts_timeline_stats(q->tl, &t);
	*stats = (struct ts_index_stats){
		.points_len = t.points_len,
		.regs_len = t.regs_len,
		.memory_len = t.memory_len,
		.reads_len = t.reads_len,
		.runs_len = t.runs_len,
		.n_inferred = t.n_inferred,
		.n_unexplained = t.n_unexplained,
		.n_pages = t.n_pages,
		.n_runs = t.n_runs,
		.n_segments = t.n_segments,
	};
}
