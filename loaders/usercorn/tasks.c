/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

enum task_flag {
	HAS_PC = 1,
	HAD_PC = 2,
	HAS_STATE = 4,
	HAS_STEPPED = 8,
	IS_EXITING = 16,
};

static bool no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the processes of the trace");
}

static void free_task(struct ucir_task *t)
{
	free(t->parts);
	free(t);
}

void ucir_tasks_fini(struct ucir_tasks *tasks)
{
	for (uint32_t i = 0; i < tasks->n; i++)
		free_task(tasks->items[i]);
	free(tasks->items);
	*tasks = (struct ucir_tasks){ 0 };
}

struct ucir_task *ucir_tasks_find(const struct ucir_tasks *tasks, uint64_t pid)
{
	for (uint32_t i = 0; i < tasks->n; i++)
		if (tasks->items[i]->pid == pid)
			return tasks->items[i];
	return NULL;
}

struct ucir_task *ucir_tasks_by_thread(const struct ucir_tasks *tasks, uint32_t thread)
{
	for (uint32_t i = 0; i < tasks->n; i++)
		if (tasks->items[i]->thread == thread)
			return tasks->items[i];
	return NULL;
}

struct ucir_task *ucir_tasks_add(struct ucir_tasks *tasks, uint64_t pid, uint32_t thread,
				 struct ts_error *err)
{
	struct ucir_task *t = calloc(1, sizeof(*t));

	if (t && tasks->n == tasks->cap) {
		uint32_t cap = tasks->cap ? tasks->cap * 2 : 4;
		struct ucir_task **p = realloc(tasks->items, cap * sizeof(struct ucir_task *));

		if (p) {
			tasks->items = p;
			tasks->cap = cap;
		}
	}
	if (!t || tasks->n == tasks->cap) {
		free(t);
		no_memory(err);
		return NULL;
	}
	t->pid = pid;
	t->thread = thread;
	tasks->items[tasks->n++] = t;
	return t;
}

void ucir_tasks_remove(struct ucir_tasks *tasks, struct ucir_task *t)
{
	uint32_t i = 0;

	while (tasks->items[i] != t)
		i++;
	memmove(tasks->items + i, tasks->items + i + 1, (--tasks->n - i) * sizeof(struct ucir_task *));
	free_task(t);
}

bool ucir_task_add_part(struct ucir_task *t, const struct ucir_part *part, struct ts_error *err)
{
	if (t->n_parts == t->cap_parts) {
		uint32_t cap = t->cap_parts ? t->cap_parts * 2 : 4;
		struct ucir_part *p = realloc(t->parts, cap * sizeof(*p));

		if (!p)
			return no_memory(err);
		t->parts = p;
		t->cap_parts = cap;
	}
	t->parts[t->n_parts++] = *part;
	return true;
}

/* -------------------------------------------------------------------------------- decode points */

void ucir_put_num(struct ts_buf *b, uint64_t v)
{
	while (v >= 0x80) {
		ts_buf_putc(b, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	ts_buf_putc(b, (uint8_t)v);
}

uint64_t ucir_get_num(struct ts_cursor *c)
{
	uint64_t v = 0;
	uint8_t b = 0x80;

	for (unsigned shift = 0; shift < 64 && b & 0x80; shift += 7) {
		b = ts_u8(c);
		v |= (uint64_t)(b & 0x7f) << shift;
	}
	return v;
}

static void save_task(const struct ucir_task *t, struct ts_buf *b)
{
	ucir_put_num(b, t->pid);
	ucir_put_num(b, t->thread);
	ucir_put_num(b, t->pc);
	ucir_put_num(b, (t->has_pc ? HAS_PC : 0) | (t->had_pc ? HAD_PC : 0) | (t->has_state ? HAS_STATE : 0) |
				(t->has_stepped ? HAS_STEPPED : 0) | (t->is_exiting ? IS_EXITING : 0));
	ucir_put_num(b, t->n_parts);
	for (uint32_t i = 0; i < t->n_parts; i++) {
		ucir_put_num(b, t->parts[i].off);
		ucir_put_num(b, t->parts[i].end - t->parts[i].off);
		ucir_put_num(b, t->parts[i].left);
	}
}

void ucir_tasks_save(const struct ucir_tasks *tasks, struct ts_buf *b)
{
	ucir_put_num(b, tasks->n);
	for (uint32_t i = 0; i < tasks->n; i++)
		save_task(tasks->items[i], b);
}

static bool restore_parts(struct ucir_task *t, struct ts_cursor *c, uint64_t stream_len, struct ts_error *err)
{
	for (uint64_t n = ts_count(c, ucir_get_num(c), 3); n > 0; n--) {
		struct ucir_part p = { .off = ucir_get_num(c) };
		uint64_t len = ucir_get_num(c);

		p.left = (uint32_t)ucir_get_num(c);
		if (p.off > stream_len || len > stream_len - p.off)
			return ts_fail(err, TS_ECORRUPT, TS_NO_OFF,
				       "a decode point passes the end of the trace");
		p.end = p.off + len;
		if (!ucir_task_add_part(t, &p, err))
			return false;
	}
	return ts_ok(c);
}

static bool restore_task(struct ucir_tasks *tasks, struct ts_cursor *c, uint32_t n_threads,
			 uint64_t stream_len, struct ts_error *err)
{
	uint64_t pid = ucir_get_num(c), thread = ucir_get_num(c), flags;
	struct ucir_task *t;

	if (thread >= n_threads)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "a decode point names an unknown thread");
	t = ucir_tasks_add(tasks, pid, (uint32_t)thread, err);
	if (!t)
		return false;
	t->pc = ucir_get_num(c);
	flags = ucir_get_num(c);
	t->has_pc = flags & HAS_PC;
	t->had_pc = flags & HAD_PC;
	t->has_state = flags & HAS_STATE;
	t->has_stepped = flags & HAS_STEPPED;
	t->is_exiting = flags & IS_EXITING;
	return restore_parts(t, c, stream_len, err);
}

bool ucir_tasks_restore(struct ucir_tasks *tasks, struct ts_cursor *c, uint32_t n_threads,
			uint64_t stream_len, struct ts_error *err)
{
	for (uint64_t n = ts_count(c, ucir_get_num(c), 5); n > 0; n--) {
		if (!restore_task(tasks, c, n_threads, stream_len, err))
			return false;
	}
	return ts_ok(c);
}
