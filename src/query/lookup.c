/* SPDX-License-Identifier: MIT */
/*
 * The questions that the index answers without decoding a chunk.
 */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

/* ------------------------------------------------------------------------------------------ executions */

/* The first position >= @pos (last position <= @pos) that the runs of one process or of all have. */
static uint64_t find_run(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos,
			 bool is_reverse)
{
	uint64_t best = TS_NO_POS;

	if (process != TS_ANY_PROCESS)
		return ts_runs_find(&q->tl->runs, process, first, last, pos, is_reverse);
	for (uint32_t i = 0; i < q->snap.n_processes; i++)
		best = ts_nearer(best, find_run(q, i, first, last, pos, is_reverse), is_reverse);
	return best;
}

uint64_t ts_query_find_execution(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos,
				 bool is_reverse)
{
	uint64_t n = q->snap.n_steps;

	if (!n || (pos >= n && !is_reverse))
		return TS_NO_POS;
	pos = find_run(q, process, first, last, pos < n ? pos : n - 1, is_reverse);
	return pos < n ? pos : TS_NO_POS;
}

/* Is the pc of a thread of @process at the end in [@first, @last]?  No step has that instruction. */
static bool is_at_end(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last)
{
	uint64_t end = q->snap.end;

	return q->snap.has_end_pc && q->snap.end_pc != TS_NO_PC && q->snap.end_pc >= first &&
	       q->snap.end_pc <= last &&
	       (process == TS_ANY_PROCESS || ts_query_process(q, ts_query_thread(q, end)) == process);
}

uint64_t ts_query_find_arrival(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos,
			       bool is_reverse)
{
	uint64_t end = q->snap.end, found;

	if (is_reverse ? pos >= end && is_at_end(q, process, first, last) : pos > end)
		return is_reverse ? end : TS_NO_POS;
	found = find_run(q, process, first, last, pos < end ? pos : end, is_reverse);
	if (is_reverse || found <= end)
		return found;
	return is_at_end(q, process, first, last) ? end : TS_NO_POS;
}

/* -------------------------------------------------------------------------------------------- accesses */

static uint64_t find_in(const struct ts_query *q, const struct ts_space *sp, unsigned accesses, uint64_t first, uint64_t last,
			uint64_t chunk, bool is_reverse)
{
	uint64_t n = (q->snap.n_steps + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS, best = TS_NO_CHUNK;

	if (!n || chunk == TS_NO_CHUNK || (chunk >= n && !is_reverse))
		return TS_NO_CHUNK;
	chunk = chunk < n ? chunk : n - 1;
	for (unsigned deed = TS_SPACE_CHANGED; deed <= TS_SPACE_FILLED; deed++) {
		if (accesses >> deed & 1)
			best = ts_nearer(best, ts_space_find(sp, deed, chunk, first, last, is_reverse), is_reverse);
	}
	return best < n ? best : TS_NO_CHUNK;
}

uint64_t ts_query_find_access(const struct ts_query *q, unsigned accesses, uint32_t process, uint64_t first, uint64_t last,
			      uint64_t chunk, bool is_reverse)
{
	if (process >= q->tl->n_memory)
		return TS_NO_CHUNK;
	return find_in(q, q->tl->memory[process], accesses, first, last, chunk, is_reverse);
}

uint64_t ts_query_find_register(const struct ts_query *q, unsigned accesses, uint32_t thread, uint32_t first, uint32_t last,
				uint64_t chunk, bool is_reverse)
{
	uint64_t base = thread * TS_REGS_STRIDE;

	return find_in(q, q->tl->regs, accesses, base + first, base + last, chunk, is_reverse);
}

/* ---------------------------------------------------------------------------------------------- events */

const struct ts_event_at *ts_query_find_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t step,
					      bool is_reverse)
{
	uint64_t n = q->snap.n_steps;
	const struct ts_event_at *h = ts_world_find_event(&q->tl->world, kind, is_reverse && step >= n ? n - 1 : step, is_reverse);

	return h && h->step < n ? h : NULL;
}

const struct ts_event_at *ts_query_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t i)
{
	return i < q->snap.n_events[kind] ? ts_event_list_at(&q->tl->world.events[kind], i) : NULL;
}

uint64_t ts_query_n_events_below(const struct ts_query *q, enum ts_event_kind kind, uint64_t step)
{
	return step < q->snap.n_steps ? ts_event_list_below(&q->tl->world.events[kind], step)
				      : q->snap.n_events[kind];
}

uint64_t ts_query_n_events(const struct ts_query *q, enum ts_event_kind kind)
{
	return q->snap.n_events[kind];
}

/* --------------------------------------------------------------------------------------------- threads */

uint32_t ts_query_n_threads(const struct ts_query *q)
{
	return q->snap.n_threads;
}

uint32_t ts_query_n_processes(const struct ts_query *q)
{
	return q->snap.n_processes;
}

const struct ts_thread *ts_query_thread_facts(const struct ts_query *q, uint32_t thread)
{
	return &q->tl->rec->threads[thread];
}

uint32_t ts_query_process(const struct ts_query *q, uint32_t thread)
{
	return ts_query_process_of(q, thread);
}

uint32_t ts_query_thread(const struct ts_query *q, uint64_t pos)
{
	return ts_world_thread(&q->tl->world, pos < q->snap.n_indexed ? pos : q->snap.n_indexed - 1);
}

/* Does step @step end the thread alone? */
static bool is_own_end(const struct ts_query *q, uint32_t thread, uint64_t step)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_THREAD_END, step);
	const struct ts_event_at *h;

	for (; (h = ts_query_event(q, TS_EV_THREAD_END, i)) && h->step == step; i++) {
		if (h->thread == thread)
			return true;
	}
	return false;
}

/* The last step ended the process of the thread: all that were there then are there at the end. */
static bool is_there_at_end(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint64_t i;
	const struct ts_event_at *h;

	if (!pos || pos != q->snap.n_steps || !ts_world_is_alive(&q->tl->world, thread, pos - 1) ||
	    is_own_end(q, thread, pos - 1))
		return false;
	i = ts_query_n_events_below(q, TS_EV_EXIT, pos - 1);
	h = ts_query_event(q, TS_EV_EXIT, i);
	return h && ts_query_process(q, h->thread) == ts_query_process(q, thread);
}

bool ts_query_is_alive(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	return ts_world_is_alive(&q->tl->world, thread, pos) || is_there_at_end(q, thread, pos);
}

uint64_t ts_query_next_step(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	return ts_world_next_step(&q->tl->world, thread, pos, q->snap.n_steps);
}

uint64_t ts_query_prev_step(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	return ts_world_prev_step(&q->tl->world, thread, pos, q->snap.n_steps);
}

uint64_t ts_query_n_steps_of(const struct ts_query *q, uint32_t thread, uint64_t pos)
{
	return ts_world_n_steps(&q->tl->world, thread, pos < q->snap.n_steps ? pos : q->snap.n_steps);
}

uint64_t ts_query_slice_end(const struct ts_query *q, uint64_t pos)
{
	uint64_t end = ts_world_slice_end(&q->tl->world, pos);

	return end < q->snap.end ? end : q->snap.end;
}

/* ---------------------------------------------------------------------------------- regions and modules */

/* The position at which something ends, if that is published. */
static uint64_t until(const struct ts_query *q, uint64_t pos)
{
	return pos <= q->snap.end ? pos : TS_NO_POS;
}

static void fill_region(const struct ts_query *q, const struct ts_region *r, struct ts_region_info *out)
{
	const struct ts_world *w = &q->tl->world;

	*out = (struct ts_region_info){
		.from = r->from,
		.until = until(q, r->until),
		.first = r->first,
		.last = r->last,
		.file_off = r->file_off,
		.process = r->process,
		.prot = r->prot,
		.desc = ts_world_text(w, r->desc),
		.file = ts_world_text(w, r->file),
	};
}

static int compare_regions(const void *a, const void *b)
{
	const struct ts_region_info *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

size_t ts_query_regions(const struct ts_query *q, uint32_t process, uint64_t pos, struct ts_region_info *out,
			size_t max)
{
	const struct ts_world *w = &q->tl->world;
	size_t n = 0;

	for (size_t i = 0; (i = ts_world_pass_regions(w, i, pos)) < q->snap.n_regions; i++) {
		const struct ts_region *r = ts_world_region(w, i);

		if (r->from > pos)
			break;
		if (r->process != process || pos >= r->until)
			continue;
		if (n < max)
			fill_region(q, r, &out[n]);
		n++;
	}
	if (max)
		qsort(out, n < max ? n : max, sizeof(*out), compare_regions);
	return n;
}

bool ts_query_region(const struct ts_query *q, size_t i, struct ts_region_info *r)
{
	if (i >= q->snap.n_regions)
		return false;
	fill_region(q, ts_world_region(&q->tl->world, i), r);
	return true;
}

bool ts_query_module(const struct ts_query *q, size_t i, struct ts_module_info *m)
{
	bool is_mapped = q->tl->rec->maps_are_modules;
	const struct ts_module_span *l;

	if (i >= (is_mapped ? q->mapped.n : q->snap.n_modules))
		return false;
	l = is_mapped ? &q->mapped.items[i] : ts_world_module(&q->tl->world, i);
	*m = (struct ts_module_info){
		.from = l->from,
		.until = until(q, l->until),
		.first = l->first,
		.last = l->last,
		.process = l->process,
		.file = ts_world_text(&q->tl->world, l->file),
	};
	return true;
}

bool ts_query_next_module(const struct ts_query *q, uint32_t process, uint64_t pos, size_t *at,
			  struct ts_module_info *m)
{
	while (ts_query_module(q, (*at)++, m)) {
		if (m->process == process && m->from <= pos && pos < m->until)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------- the mode of a machine */

const struct ts_mode *ts_query_mode(const struct ts_query *q, uint64_t pos)
{
	return q->tl->modes.n_changes ? ts_modes_at(&q->tl->modes, pos) : NULL;
}

uint64_t ts_query_next_mode(const struct ts_query *q, uint64_t pos)
{
	const struct ts_modes *m = &q->tl->modes;
	size_t next = m->n_changes ? ts_modes_change_at(m, pos) + 1 : 0;

	return next < m->n_changes && m->changes[next].pos <= q->snap.end ? m->changes[next].pos : TS_NO_POS;
}

uint64_t ts_query_find_admitted(const struct ts_query *q, const struct ts_filter *f, uint64_t pos, bool is_reverse)
{
	uint64_t end = q->snap.end;

	if (pos > end && !is_reverse)
		return TS_NO_POS;
	pos = pos < end ? pos : end;
	if (f)
		pos = (is_reverse ? ts_filter_prev : ts_filter_next)(f, &q->tl->modes, pos);
	return pos <= end ? pos : TS_NO_POS;
}
