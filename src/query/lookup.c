/* SPDX-License-Identifier: MIT */
/*
 * The questions that the index answers without decoding a chunk.
 */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

/* ------------------------------------------------------------------------------------------ executions */

/* The first position >= @pos (last position <= @pos) that the runs of one process or of all have. */
static uint64_t next_run(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos)
{
	uint64_t best = TS_NO_POS;

	if (process != TS_ANY_PROCESS)
		return ts_runs_next(&q->tl->runs, process, first, last, pos);
	for (uint32_t i = 0; i < q->snap.n_processes; i++) {
		uint64_t next = ts_runs_next(&q->tl->runs, i, first, last, pos);

		best = next < best ? next : best;
	}
	return best;
}

static uint64_t prev_run(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
			 uint64_t pos)
{
	uint64_t best = TS_NO_POS;

	if (process != TS_ANY_PROCESS)
		return ts_runs_prev(&q->tl->runs, process, first, last, pos);
	for (uint32_t i = 0; i < q->snap.n_processes; i++) {
		uint64_t prev = ts_runs_prev(&q->tl->runs, i, first, last, pos);

		if (prev != TS_NO_POS && (best == TS_NO_POS || prev > best))
			best = prev;
	}
	return best;
}

uint64_t ts_query_next_execution(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
				 uint64_t pos)
{
	uint64_t next = pos < q->snap.n_steps ? next_run(q, process, first, last, pos) : TS_NO_POS;

	return next < q->snap.n_steps ? next : TS_NO_POS;
}

uint64_t ts_query_prev_execution(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
				 uint64_t pos)
{
	if (!q->snap.n_steps)
		return TS_NO_POS;
	return prev_run(q, process, first, last, pos < q->snap.n_steps ? pos : q->snap.n_steps - 1);
}

/* Is an instruction of @process in [@first, @last] next at the end, though no step tells? */
static bool is_at_end(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last)
{
	uint64_t end = q->snap.end;

	return q->snap.has_end_pc && q->snap.end_pc != TS_NO_PC && q->snap.end_pc >= first &&
	       q->snap.end_pc <= last &&
	       (process == TS_ANY_PROCESS || ts_query_process(q, ts_query_thread(q, end)) == process);
}

uint64_t ts_query_next_arrival(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
			       uint64_t pos)
{
	uint64_t end = q->snap.end, next;

	if (pos > end)
		return TS_NO_POS;
	next = next_run(q, process, first, last, pos);
	if (next <= end)
		return next;
	return is_at_end(q, process, first, last) ? end : TS_NO_POS;
}

uint64_t ts_query_prev_arrival(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
			       uint64_t pos)
{
	uint64_t end = q->snap.end;

	if (pos >= end && is_at_end(q, process, first, last))
		return end;
	return prev_run(q, process, first, last, pos < end ? pos : end);
}

/* -------------------------------------------------------------------------------------------- accesses */

static uint64_t next_in(const struct ts_query *q, const struct ts_space *sp, enum ts_access access,
			uint64_t first, uint64_t last, uint64_t chunk)
{
	static uint64_t (*const finds[])(const struct ts_space *sp, uint64_t chunk, uint64_t addr,
					 uint64_t last) = {
		[TS_ACCESS_CHANGE] = ts_space_next_change,
		[TS_ACCESS_WRITE] = ts_space_next_write,
		[TS_ACCESS_READ] = ts_space_next_read,
		[TS_ACCESS_REPLACE] = ts_space_next_fill,
	};
	uint64_t next = chunk == TS_NO_CHUNK ? TS_NO_CHUNK : finds[access](sp, chunk, first, last);

	return next != TS_NO_CHUNK && next * TS_CHUNK_STEPS < q->snap.n_steps ? next : TS_NO_CHUNK;
}

static uint64_t prev_in(const struct ts_query *q, const struct ts_space *sp, enum ts_access access,
			uint64_t first, uint64_t last, uint64_t chunk)
{
	static uint64_t (*const finds[])(const struct ts_space *sp, uint64_t chunk, uint64_t addr,
					 uint64_t last) = {
		[TS_ACCESS_CHANGE] = ts_space_prev_change,
		[TS_ACCESS_WRITE] = ts_space_prev_write,
		[TS_ACCESS_READ] = ts_space_prev_read,
		[TS_ACCESS_REPLACE] = ts_space_prev_fill,
	};
	uint64_t newest;

	if (!q->snap.n_steps || chunk == TS_NO_CHUNK)
		return TS_NO_CHUNK;
	newest = (q->snap.n_steps - 1) / TS_CHUNK_STEPS;
	return finds[access](sp, chunk < newest ? chunk : newest, first, last);
}

uint64_t ts_query_next_access(const struct ts_query *q, enum ts_access access, uint32_t process,
			      uint64_t first, uint64_t last, uint64_t chunk)
{
	if (process >= q->tl->n_memory)
		return TS_NO_CHUNK;
	return next_in(q, q->tl->memory[process], access, first, last, chunk);
}

uint64_t ts_query_prev_access(const struct ts_query *q, enum ts_access access, uint32_t process,
			      uint64_t first, uint64_t last, uint64_t chunk)
{
	if (process >= q->tl->n_memory)
		return TS_NO_CHUNK;
	return prev_in(q, q->tl->memory[process], access, first, last, chunk);
}

uint64_t ts_query_next_register(const struct ts_query *q, enum ts_access access, uint32_t thread,
				uint32_t first, uint32_t last, uint64_t chunk)
{
	uint64_t base = thread * TS_REGS_STRIDE;

	return next_in(q, q->tl->regs, access, base + first, base + last, chunk);
}

uint64_t ts_query_prev_register(const struct ts_query *q, enum ts_access access, uint32_t thread,
				uint32_t first, uint32_t last, uint64_t chunk)
{
	uint64_t base = thread * TS_REGS_STRIDE;

	return prev_in(q, q->tl->regs, access, base + first, base + last, chunk);
}

/* ---------------------------------------------------------------------------------------------- events */

const struct ts_event_at *ts_query_next_event(const struct ts_query *q, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_event_at *h = ts_world_next_event(&q->tl->world, kind, step);

	return h && h->step < q->snap.n_steps ? h : NULL;
}

const struct ts_event_at *ts_query_prev_event(const struct ts_query *q, enum ts_event_kind kind,
					       uint64_t step)
{
	if (!q->snap.n_steps)
		return NULL;
	return ts_world_prev_event(&q->tl->world, kind, step < q->snap.n_steps ? step : q->snap.n_steps - 1);
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

static bool listed_module(const struct ts_query *q, size_t i, struct ts_module_info *m)
{
	const struct ts_module_span *l = ts_world_module(&q->tl->world, i);

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

static bool mapped_module(const struct ts_query *q, size_t i, struct ts_module_info *m)
{
	const struct ts_mapped_module *l = &q->mapped.items[i];

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

bool ts_query_module(const struct ts_query *q, size_t i, struct ts_module_info *m)
{
	if (q->tl->rec->maps_are_modules)
		return i < q->mapped.n && mapped_module(q, i, m);
	return i < q->snap.n_modules && listed_module(q, i, m);
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

uint64_t ts_query_next_admitted(const struct ts_query *q, const struct ts_filter *f, uint64_t pos)
{
	uint64_t next = f && pos <= q->snap.end ? ts_filter_next(f, &q->tl->modes, pos) : pos;

	return next <= q->snap.end ? next : TS_NO_POS;
}

uint64_t ts_query_prev_admitted(const struct ts_query *q, const struct ts_filter *f, uint64_t pos)
{
	pos = pos < q->snap.end ? pos : q->snap.end;
	return f ? ts_filter_prev(f, &q->tl->modes, pos) : pos;
}
