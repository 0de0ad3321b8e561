/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

static void free_task(struct ucir_task *t)
{
	free(t->parts.items);
	free(t);
}

void ucir_tasks_fini(struct ucir_tasks *tasks)
{
	for (uint32_t i = 0; i < tasks->n; i++)
		free_task(tasks->items[i]);
	free(tasks->items);
	free(tasks->of_pid);
	free(tasks->of_thread);
	*tasks = (struct ucir_tasks){ 0 };
}

/* The chains in which the tasks of @pid, and of @thread, are; there are some (cap is a power of two). */
static struct ucir_task **pid_chain(const struct ucir_tasks *tasks, uint64_t pid)
{
	return &tasks->of_pid[ts_hash(pid, 0) & (tasks->cap - 1)];
}

static struct ucir_task **thread_chain(const struct ucir_tasks *tasks, uint32_t thread)
{
	return &tasks->of_thread[ts_hash(thread, 1) & (tasks->cap - 1)];
}

static void chain(struct ucir_tasks *tasks, struct ucir_task *t)
{
	struct ucir_task **of_pid = pid_chain(tasks, t->pid), **of_thread = thread_chain(tasks, t->thread);

	t->next_of_pid = *of_pid;
	t->next_of_thread = *of_thread;
	*of_pid = *of_thread = t;
}

static void unchain(struct ucir_tasks *tasks, const struct ucir_task *t)
{
	struct ucir_task **p = pid_chain(tasks, t->pid);

	while (*p != t)
		p = &(*p)->next_of_pid;
	*p = t->next_of_pid;
	p = thread_chain(tasks, t->thread);
	while (*p != t)
		p = &(*p)->next_of_thread;
	*p = t->next_of_thread;
}

struct ucir_task *ucir_tasks_find(const struct ucir_tasks *tasks, uint64_t pid)
{
	struct ucir_task *t = tasks->n ? *pid_chain(tasks, pid) : NULL;

	while (t && t->pid != pid)
		t = t->next_of_pid;
	return t;
}

struct ucir_task *ucir_tasks_by_thread(const struct ucir_tasks *tasks, uint32_t thread)
{
	struct ucir_task *t = tasks->n ? *thread_chain(tasks, thread) : NULL;

	while (t && t->thread != thread)
		t = t->next_of_thread;
	return t;
}

/* Twice as many chains, and as much room.  Returns false if memory is exhausted. */
static bool grow(struct ucir_tasks *tasks)
{
	uint32_t cap = tasks->cap ? tasks->cap * 2 : 4;
	struct ucir_task **items = realloc(tasks->items, cap * sizeof(*items)), **of_pid, **of_thread;

	tasks->items = items ? items : tasks->items;
	of_pid = calloc(cap, sizeof(*of_pid));
	of_thread = calloc(cap, sizeof(*of_thread));
	if (!items || !of_pid || !of_thread) {
		free(of_pid);
		free(of_thread);
		return false;
	}
	free(tasks->of_pid);
	free(tasks->of_thread);
	tasks->of_pid = of_pid;
	tasks->of_thread = of_thread;
	tasks->cap = cap;
	for (uint32_t i = 0; i < tasks->n; i++)
		chain(tasks, tasks->items[i]);
	return true;
}

struct ucir_task *ucir_tasks_add(struct ucir_tasks *tasks, uint64_t pid, uint32_t thread,
				 struct ts_error *err)
{
	struct ucir_task *t = calloc(1, sizeof(*t));

	if (!t || (tasks->n == tasks->cap && !grow(tasks))) {
		free(t);
		ts_no_memory(err, "the processes of the trace");
		return NULL;
	}
	t->pid = pid;
	t->thread = thread;
	t->pc_key = (uint64_t)thread << 52;
	chain(tasks, t);
	tasks->items[tasks->n++] = t;
	return t;
}

void ucir_tasks_remove(struct ucir_tasks *tasks, struct ucir_task *t)
{
	uint32_t i = 0;

	unchain(tasks, t);
	while (tasks->items[i] != t)
		i++;
	memmove(tasks->items + i, tasks->items + i + 1, (--tasks->n - i) * sizeof(struct ucir_task *));
	free_task(t);
}

/* More than these are not known one by one, as after resuming: a group may stay open while others run. */
#define MAX_PARTS 65536u

static void forget_places(struct ucir_parts *p)
{
	struct ucir_part first = p->is_sought ? p->first : p->items[0];

	first.end = p->items[p->n - 1].end;
	p->first = first;
	p->is_sought = true;
	p->n = 0;
}

bool ucir_parts_add(struct ucir_parts *p, const struct ucir_part *part, struct ts_error *err)
{
	if (!ts_vec_reserve(&p->items, p->n, &p->cap, 1, sizeof(*p->items)))
		return ts_no_memory(err, "the processes of the trace");
	p->items[p->n++] = *part;
	if (p->n == MAX_PARTS)
		forget_places(p);
	return true;
}

void ucir_parts_clear(struct ucir_parts *p)
{
	p->n = 0;
	p->is_sought = false;
}

/* -------------------------------------------------------------------------------- decode points */

static void point_parts(struct ucir_parts *parts, struct ts_point *p, uint64_t stream_end)
{
	struct ucir_part all = parts->is_sought ? parts->first : parts->n ? *parts->items : (struct ucir_part){ 0 };
	bool is_any = ucir_parts_any(parts);

	if (parts->n)
		all.end = parts->items[parts->n - 1].end;
	if (!TS_POINT(p, is_any, 1))
		return;
	TS_POINT(p, all.off, stream_end);
	TS_POINT(p, all.left, UINT32_MAX);
	all.end = all.off + ts_point_number(p, all.end - all.off, stream_end - all.off);
	if (p->to)
		return;
	parts->is_sought = true;
	parts->first = all;
}

/* @t is the task that is written; NULL: a new one is parsed. */
static bool point_task(struct ucir_tasks *tasks, struct ucir_task *t, uint32_t n_gprs, struct ts_point *p,
		       uint32_t n_threads, uint64_t stream_end)
{
	uint64_t pid = ts_point_number(p, t ? t->pid : 0, UINT64_MAX);
	uint64_t thread = ts_point_number(p, t ? t->thread : 0, n_threads ? n_threads - 1 : 0);

	if (!ts_point_ok(p))
		return false;
	if (!t && (!n_threads || ucir_tasks_find(tasks, pid) || ucir_tasks_by_thread(tasks, (uint32_t)thread)))
		return ts_point_fail(p);
	if (!t && !(t = ucir_tasks_add(tasks, pid, (uint32_t)thread, p->err)))
		return false;
	TS_POINT(p, t->pc, UINT64_MAX);
	TS_POINT_FLAGS(p, &t->has_pc, &t->had_pc, &t->has_state, &t->has_stepped, &t->is_exiting);
	point_parts(&t->parts, p, stream_end);
	for (uint32_t i = 1; i <= n_gprs; i++)
		TS_POINT(p, t->gprs[i], UINT64_MAX);
	return ts_point_ok(p);
}

bool ucir_tasks_point(struct ucir_tasks *tasks, uint32_t n_gprs, struct ts_point *p, uint32_t n_threads,
		      uint64_t stream_end)
{
	uint64_t n = ts_point_count(p, tasks->n, n_threads, 5);

	for (uint64_t i = 0; i < n; i++) {
		if (!point_task(tasks, p->to ? tasks->items[i] : NULL, n_gprs, p, n_threads, stream_end))
			return false;
	}
	return ts_point_ok(p);
}
