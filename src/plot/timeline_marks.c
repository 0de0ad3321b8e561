/* SPDX-License-Identifier: MIT */
#include "timeline_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/signals.h"
#include "src/arch/syscall_name.h"
#include "src/base/collections/bisect.h"
#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"
#include "src/symbols/names.h"
#include "src/query/query.h"

static const char *const kind_names[TS_N_MARK_KINDS] = {
	[TS_MARK_SYSCALL] = "system calls",   [TS_MARK_SIGNAL] = "signals",
	[TS_MARK_FAULT] = "faults",	      [TS_MARK_INTERRUPT] = "interrupts",
	[TS_MARK_GAP] = "gaps",		      [TS_MARK_MODULE] = "modules",
	[TS_MARK_THREAD_START] = "thread starts", [TS_MARK_THREAD_END] = "thread ends",
	[TS_MARK_EXIT] = "exits",
};

static const struct {
	enum ts_mark_kind kind;
	enum ts_event_kind event;
} recorded[] = {
	{ TS_MARK_SYSCALL, TS_EV_SYSCALL },	  { TS_MARK_SIGNAL, TS_EV_SIGNAL },
	{ TS_MARK_FAULT, TS_EV_FAULT },		  { TS_MARK_INTERRUPT, TS_EV_INTERRUPT },
	{ TS_MARK_GAP, TS_EV_GAP },		  { TS_MARK_THREAD_END, TS_EV_THREAD_END },
	{ TS_MARK_EXIT, TS_EV_EXIT },
};

/* The list of one kind while it is taken. */
struct taking {
	struct ts_timeline_marks *marks;
	struct ts_mark_list *list;
	struct ts_labels *labels;
	uint64_t from, to;
	unsigned shift; /* events are one mark if their positions, shifted, are the same */
};

const char *ts_mark_kind_name(enum ts_mark_kind kind)
{
	return kind_names[kind];
}

void ts_timeline_marks_fini(struct ts_timeline_marks *m)
{
	for (unsigned i = 0; i < TS_N_MARK_KINDS; i++)
		free(m->kinds[i].items);
	*m = (struct ts_timeline_marks){ 0 };
}

/* An event; those of a kind come by position. */
static void add(struct taking *t, uint64_t pos, const char *name)
{
	struct ts_mark_list *l = t->list;
	struct ts_timeline_mark *last = l->n ? &l->items[l->n - 1] : NULL;

	if (pos < t->from || pos >= t->to)
		return;
	if (last && last->pos >> t->shift == pos >> t->shift && t->shift) {
		last->n++;
		return;
	}
	t->marks->is_failed |= !TS_PUSH(l->items, l->n, l->cap, (struct ts_timeline_mark){ .pos = pos, .n = 1, .label = ts_labels_add(t->labels, name) });
}

/* How an event is called; "" where its kind says all. */
static void name_event(const struct ts_facts *facts, const struct ts_event *ev, char *name, size_t size)
{
	const char *known = NULL;

	snprintf(name, size, "%s", ev->text);
	if (ev->kind == TS_EV_SYSCALL) {
		if (!strcmp(facts->os, "linux"))
			known = ts_syscall_name(facts->regs->arch, ev->number, name, size);
		if (known && known != name)
			snprintf(name, size, "%s", known);
		else if (!known)
			snprintf(name, size, "#%" PRIu64, ev->number);
	} else if (ev->kind == TS_EV_SIGNAL || ev->kind == TS_EV_FAULT) {
		known = ts_signal_name(ev->number);
		if (known)
			snprintf(name, size, "%s", known);
		else if (ev->kind == TS_EV_SIGNAL)
			snprintf(name, size, "unknown signal");
	} else if ((ev->kind == TS_EV_EXIT || ev->kind == TS_EV_THREAD_END) && ev->has_ret) {
		snprintf(name, size, "status %" PRIu64, ev->number);
	}
}

/*
 * So wide that at most @max of all events of the range can be marks: more than enough if they lie close
 * together.
 */
static unsigned width(uint64_t n, uint64_t len, size_t max)
{
	unsigned shift = 0;

	/* the range may begin in the middle of one: one more than len >> shift */
	while (n > max && (len >> shift) + 2 > max)
		shift++;
	return n > max ? (shift ? shift : 1) : 0;
}

static void take_recorded(struct taking *t, const struct ts_ask *ask, enum ts_event_kind kind, size_t max)
{
	const struct ts_facts *facts = ts_query_facts(ask->q);
	uint64_t n = ts_query_n_events(ask->q, kind), n_inside = 0;
	char name[64];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t pos = ts_query_event(ask->q, kind, i)->step;

		n_inside += pos >= t->from && pos < t->to;
	}
	t->shift = width(n_inside, t->to - t->from, max);
	for (uint64_t i = 0; i < n; i++) {
		const struct ts_event_at *h = ts_query_event(ask->q, kind, i);

		if (h->step < t->from || h->step >= t->to)
			continue;
		name_event(facts, &h->event, name, sizeof(name));
		add(t, h->step, *name ? name : NULL);
	}
}

/* Modules and threads come in the order in which they appeared, which may not be that of positions. */
static void sort_and_join(struct taking *t, size_t max)
{
	struct ts_mark_list *l = t->list;
	unsigned shift = width(l->n, t->to - t->from, max);
	size_t n = 0;

	TS_SORT_BY(l->items, l->n, pos);
	for (size_t i = 0; i < l->n; i++) {
		if (shift && n && l->items[n - 1].pos >> shift == l->items[i].pos >> shift)
			l->items[n - 1].n++;
		else
			l->items[n++] = l->items[i];
	}
	l->n = n;
}

/* A thread or module is there from the position after the step that began it; at 0, before any step. */
static void take_modules(struct taking *t, const struct ts_ask *ask)
{
	struct ts_module_info m;

	for (size_t i = 0; ts_query_module(ask->q, i, &m); i++) {
		if (m.from)
			add(t, m.from - 1, m.file ? ts_last_name(m.file) : NULL);
	}
}

static void take_threads(struct taking *t, const struct ts_ask *ask)
{
	char name[32];

	for (uint32_t i = 0; i < ts_query_n_threads(ask->q) && i < ask->names->n_tids; i++) {
		uint64_t first = ts_query_next_step(ask->q, i, 0);

		snprintf(name, sizeof(name), "thread %" PRId64, ask->names->tids[i]);
		if (first && first != TS_NO_POS)
			add(t, first - 1, name);
	}
}

bool ts_timeline_marks_take(struct ts_timeline_marks *m, struct ts_labels *labels, const struct ts_ask *ask,
			    uint64_t from, uint64_t to, size_t max)
{
	struct taking t = { .marks = m, .labels = labels, .from = from, .to = to };

	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		t.list = &m->kinds[recorded[i].kind];
		take_recorded(&t, ask, recorded[i].event, max);
	}
	t.shift = 0;
	t.list = &m->kinds[TS_MARK_MODULE];
	take_modules(&t, ask);
	sort_and_join(&t, max);
	t.list = &m->kinds[TS_MARK_THREAD_START];
	take_threads(&t, ask);
	sort_and_join(&t, max);
	return !m->is_failed;
}
