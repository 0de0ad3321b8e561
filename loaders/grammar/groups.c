/* SPDX-License-Identifier: MIT */
/* Facts of a group of lines beside its accesses, of steps and of states: its thread, sizes, events. */
#include "groups.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------ threads */

/* A thread is called as its tracer calls it, and as its file. */
static void name_thread(const struct grammar_log *log, const struct grammar_head *head, struct ts_thread *thread)
{
	const char *word = log->g.thread_word[0] ? log->g.thread_word : "thread";
	unsigned long long n = head->line.thread % GRAMMAR_PART_THREADS;

	if (log->parts.n > 1 && log->g.has_thread)
		snprintf(thread->name, sizeof(thread->name), "%.15s %.6s %llu", log->parts.names[head->part], word, n);
	else if (log->parts.n > 1)
		snprintf(thread->name, sizeof(thread->name), "%.31s", log->parts.names[head->part]);
	else if (log->g.has_thread)
		snprintf(thread->name, sizeof(thread->name), "%.15s %llu", word, (unsigned long long)head->line.thread);
}

bool grammar_look_up_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err)
{
	struct ts_recording *rec = &r->log->base;
	uint32_t n = rec->n_threads;

	*thread = threads_find(&r->threads, rec, 0, 1, grammar_tid(head), head->off, err);
	if (*thread == TS_NO_THREAD)
		return false;
	if (rec->n_threads > n)
		name_thread(r->log, head, &rec->threads[*thread]);
	r->thread = *thread;
	return true;
}

/* --------------------------------------------------------------------------------------- sizes, events */

/* The largest access of which no line and no code determines the size. */
#define MAX_SIZE 64u

void grammar_append_sizes(struct ts_steps *out, uint64_t mask)
{
	uint32_t n = out->n_effects;

	for (uint32_t i = out->n_closed; i < n; i++) {
		struct ts_effect *e = &out->effects[i], *after;

		if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || e->len)
			continue;
		e->len = 1;
		if (e->kind != TS_FX_WRITE || e->addr > mask - MAX_SIZE)
			continue;
		/* no TS_FX_FORGET: such a store may be in every step, and a layer of memory for each is too much */
		after = ts_steps_effect(out, TS_FX_WRITE, e->addr + 1, MAX_SIZE - 1);
		if (after)
			after->is_hidden = after->is_inferred = true;
	}
}

void grammar_append_event(struct ts_steps *out, enum ts_event_kind kind, const char *text)
{
	struct ts_event *ev = ts_steps_event(out, kind);

	if (ev)
		snprintf(ev->text, sizeof(ev->text), "%s", text);
}
