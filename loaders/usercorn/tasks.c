/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

enum task_flag {
	HAS_PC = 1,
	HAD_PC = 2,
	HAS_STATE = 4,
	HAS_STEPPED = 8,
	IS_EXITING = 16,
};

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

static void save_parts(const struct ucir_parts *p, struct ts_buf *b)
{
	const struct ucir_part *first = p->is_sought ? &p->first : p->items;
	uint64_t end;

	point_put(b, ucir_parts_any(p));
	if (!ucir_parts_any(p))
		return;
	end = p->n ? p->items[p->n - 1].end : p->first.end;
	point_put(b, first->off);
	point_put(b, first->left);
	point_put(b, end - first->off);
}

static void save_task(const struct ucir_task *t, uint32_t n_gprs, struct ts_buf *b)
{
	point_put(b, t->pid);
	point_put(b, t->thread);
	point_put(b, t->pc);
	point_put(b, (t->has_pc ? HAS_PC : 0) | (t->had_pc ? HAD_PC : 0) | (t->has_state ? HAS_STATE : 0) |
			     (t->has_stepped ? HAS_STEPPED : 0) | (t->is_exiting ? IS_EXITING : 0));
	save_parts(&t->parts, b);
	for (uint32_t i = 1; i <= n_gprs; i++)
		point_put(b, t->gprs[i]);
}

void ucir_tasks_save(const struct ucir_tasks *tasks, uint32_t n_gprs, struct ts_buf *b)
{
	point_put(b, tasks->n);
	for (uint32_t i = 0; i < tasks->n; i++)
		save_task(tasks->items[i], n_gprs, b);
}

static void restore_parts(struct ucir_parts *parts, struct point *p, uint64_t stream_end)
{
	parts->is_sought = point_get_flag(p);
	if (!parts->is_sought)
		return;
	parts->first.off = point_get(p, stream_end);
	parts->first.left = (uint32_t)point_get(p, UINT32_MAX);
	parts->first.end = parts->first.off + point_get(p, stream_end - parts->first.off);
}

static bool restore_task(struct ucir_tasks *tasks, uint32_t n_gprs, struct point *p, uint32_t n_threads,
			 uint64_t stream_end)
{
	uint64_t pid = point_get(p, UINT64_MAX), thread = point_get(p, n_threads ? n_threads - 1 : 0), flags;
	struct ucir_task *t;

	if (!point_ok(p))
		return false;
	if (!n_threads || ucir_tasks_find(tasks, pid) || ucir_tasks_by_thread(tasks, (uint32_t)thread))
		return point_fail(p);
	t = ucir_tasks_add(tasks, pid, (uint32_t)thread, p->err);
	if (!t)
		return false;
	t->pc = point_get(p, UINT64_MAX);
	flags = point_get(p, HAS_PC | HAD_PC | HAS_STATE | HAS_STEPPED | IS_EXITING);
	t->has_pc = flags & HAS_PC;
	t->had_pc = flags & HAD_PC;
	t->has_state = flags & HAS_STATE;
	t->has_stepped = flags & HAS_STEPPED;
	t->is_exiting = flags & IS_EXITING;
	restore_parts(&t->parts, p, stream_end);
	for (uint32_t i = 1; i <= n_gprs; i++)
		t->gprs[i] = point_get(p, UINT64_MAX);
	return point_ok(p);
}

bool ucir_tasks_restore(struct ucir_tasks *tasks, uint32_t n_gprs, struct point *p, uint32_t n_threads,
			uint64_t stream_end)
{
	for (uint64_t n = point_get_count(p, n_threads, 5); n > 0; n--) {
		if (!restore_task(tasks, n_gprs, p, n_threads, stream_end))
			return false;
	}
	return point_ok(p);
}
