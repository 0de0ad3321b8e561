/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "syscall_text.h"
#include "src/arch/signals.h"
#include "src/arch/syscall_name.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/heap.h"
#include "src/ask/grammar/listed.h"
#include "src/ask/grammar/question.h"

/* Results from -4095 to -1 are errors. */
#define MAX_ERROR 4096u

/* The kinds of the model's events; events of other kinds are generated from threads, modules and regions. */
static const struct {
	enum ts_listed kind;
	enum ts_event_kind event;
} recorded[] = {
	{ TS_LISTED_SYSCALL, TS_EV_SYSCALL },     { TS_LISTED_SIGNAL, TS_EV_SIGNAL },
	{ TS_LISTED_FAULT, TS_EV_FAULT },	     { TS_LISTED_INTERRUPT, TS_EV_INTERRUPT },
	{ TS_LISTED_THREAD_END, TS_EV_THREAD_END }, { TS_LISTED_GAP, TS_EV_GAP },
	{ TS_LISTED_EXIT, TS_EV_EXIT },
};

#define N_RECORDED (sizeof(recorded) / sizeof(recorded[0]))

/*
 * The number of threads, modules or regions that are examined, or of events that are skipped, in the time in
 * which a chunk is decoded.
 */
#define ITEMS_A_CHUNK 64u

struct event {
	uint64_t step;
	uint64_t item; /* ordinal of what it is about, in the order of the model */
	enum ts_listed kind;
};

/* The sources of generated events, of which the model has no list by step. */
enum source {
	THREADS,
	MODULES,
	REGIONS,
	N_SOURCES,
};

/*
 * The next row is the first of the next events of the model's lists, which are sorted, and of a heap of
 * generated events.
 */
struct events {
	struct ts_rows rows;
	uint64_t from[N_RECORDED], to[N_RECORDED]; /* ordinals in each list that are left */
	struct ts_heap made;       /* the next one is the first */
	unsigned source;           /* what is examined now for the heap; N_SOURCES: it is complete ... */
	uint64_t at;               /* ... and its next ordinal */
	unsigned n_looked;
	bool is_any;               /* there was one, of any thread */
	bool is_failed;
	struct ts_buf text;
};

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "kind", .type = TS_COLUMN_TEXT },	  { .name = "name", .type = TS_COLUMN_TEXT },
	{ .name = "arguments", .type = TS_COLUMN_LIST },  { .name = "result", .type = TS_COLUMN_AMOUNT },
	{ .name = "error", .type = TS_COLUMN_TEXT },	  { .name = "text", .type = TS_COLUMN_TEXT },
};

enum {
	COL_NAME = 3,
	COL_ARGUMENTS,
	COL_RESULT,
	COL_ERROR,
	COL_TEXT,
};

/* The word of the question for system calls that failed. */
#define FAILED "failed"

/* ------------------------------------------------------------------------------------------------ order */

static int compare(const struct event *x, const struct event *y)
{
	return TS_ORDER(x->step, y->step) ?: TS_ORDER(x->kind, y->kind) ?: TS_ORDER(x->item, y->item);
}

/* Does @x come before @y, in the direction of the cursor? */
static bool is_before(const void *user, const void *x, const void *y)
{
	const struct events *e = user;

	return e->rows.is_reverse ? compare(x, y) > 0 : compare(x, y) < 0;
}

static bool is_asked(const struct events *e, enum ts_listed kind)
{
	if (!strcmp(e->rows.qn->operand, FAILED))
		return kind == TS_LISTED_SYSCALL;
	return !*e->rows.qn->operand || !strcmp(e->rows.qn->operand, ts_listed_names[kind]);
}

/* --------------------------------------------------------------------------------- events that are made */

static void add(struct events *e, enum ts_listed kind, uint64_t step, uint64_t item)
{
	if (step >= e->rows.qn->from && step < e->rows.qn->to && is_asked(e, kind))
		e->is_failed |= !ts_heap_put(&e->made, &(struct event){ .step = step, .item = item, .kind = kind });
}

/* An item that begins at position k > 0 was begun by step k - 1.  Items at position 0 existed before. */
static void add_span(struct events *e, enum ts_listed start, enum ts_listed end, uint64_t from, uint64_t until,
		     uint64_t item)
{
	if (from)
		add(e, start, from - 1, item);
	if (until != TS_NO_POS && until)
		add(e, end, until - 1, item);
}

/* Make the events of the next thread, module or region.  Returns false after the last one. */
static bool make_next(struct events *e)
{
	const struct ts_query *q = e->rows.ask->q;
	uint64_t i = e->at++, first;
	struct ts_module_info m;
	struct ts_region_info r;

	switch ((enum source)e->source) {
	case THREADS:
		if (i >= ts_query_n_threads(q))
			return false;
		first = ts_query_next_step(q, (uint32_t)i, 0);
		if (first && first != TS_NO_POS)
			add(e, TS_LISTED_THREAD_START, first - 1, i);
		return true;
	case MODULES:
		if (!ts_query_module(q, i, &m))
			return false;
		add_span(e, TS_LISTED_MODULE, TS_LISTED_MODULE_END, m.from, m.until, i);
		return true;
	case REGIONS:
		if (!ts_query_region(q, i, &r))
			return false;
		add_span(e, TS_LISTED_MAP, TS_LISTED_UNMAP, r.from, r.until, i);
		return true;
	case N_SOURCES:
		break;
	}
	return false;
}

static bool is_source_asked(const struct events *e)
{
	switch ((enum source)e->source) {
	case THREADS:
		return is_asked(e, TS_LISTED_THREAD_START);
	case MODULES:
		return is_asked(e, TS_LISTED_MODULE);
	case REGIONS:
		return is_asked(e, TS_LISTED_MAP) || is_asked(e, TS_LISTED_UNMAP);
	case N_SOURCES:
		break;
	}
	return false;
}

/* Charge the budget for some of the items.  Returns false if it is used up. */
static bool take_look(struct events *e, struct ts_budget *budget)
{
	if (e->n_looked % ITEMS_A_CHUNK == 0 && !ts_budget_take(budget))
		return false;
	e->n_looked++;
	return true;
}

/* Fill the heap.  Returns false if the budget is used up. */
static bool make_all(struct events *e, struct ts_budget *budget)
{
	for (; e->source < N_SOURCES; e->source++, e->at = 0) {
		while (is_source_asked(e)) {
			if (!take_look(e, budget))
				return false;
			if (!make_next(e))
				break;
		}
	}
	return true;
}

/* ------------------------------------------------------------------------------------- recorded events */

static void begin_lists(struct events *e)
{
	const struct ts_query *q = e->rows.ask->q;

	for (size_t i = 0; i < N_RECORDED; i++) {
		if (!is_asked(e, recorded[i].kind))
			continue;
		e->from[i] = ts_query_n_events_below(q, recorded[i].event, e->rows.qn->from);
		e->to[i] = ts_query_n_events_below(q, recorded[i].event, e->rows.qn->to);
	}
}

/* The next event of a list.  Returns false after the last one. */
static bool look(const struct events *e, size_t list, struct event *event)
{
	uint64_t i = e->rows.is_reverse ? e->to[list] - 1 : e->from[list];

	if (e->from[list] >= e->to[list])
		return false;
	event->step = ts_query_event(e->rows.ask->q, recorded[list].event, i)->step;
	event->item = i;
	event->kind = recorded[list].kind;
	return true;
}

/* Take the next event of all.  Returns false after the last one. */
static bool take(struct events *e, struct event *event)
{
	size_t best = N_RECORDED;
	const struct event *made;
	struct event other;

	for (size_t i = 0; i < N_RECORDED; i++) {
		if (look(e, i, &other) && (best == N_RECORDED || is_before(e, &other, event))) {
			*event = other;
			best = i;
		}
	}
	made = ts_heap_first(&e->made);
	if (made && (best == N_RECORDED || is_before(e, made, event)))
		return ts_heap_take(&e->made, event);
	if (best == N_RECORDED)
		return false;
	if (e->rows.is_reverse)
		e->to[best]--;
	else
		e->from[best]++;
	return true;
}

/* --------------------------------------------------------------------------------------------------- rows */

/* A number has a name only if the recording has the system and the processor. */
static const char *syscall_name(const struct ts_facts *facts, uint64_t number, char *name, size_t size)
{
	const char *found = NULL;

	if (!strcmp(facts->os, "linux"))
		found = ts_syscall_name(facts->regs->arch, number, name, size);
	if (!found)
		snprintf(name, size, "#%" PRIu64, number);
	return name;
}

/* The number of the error that the call returned; 0: it returned none. */
static unsigned error_of(const struct ts_facts *facts, const struct ts_event *ev)
{
	const struct ts_arch *arch = facts->regs->arch;
	uint64_t error = (0 - ev->ret) & ts_arch_addr_mask(arch);

	return !strcmp(facts->os, "linux") && ev->has_ret && error < MAX_ERROR ? (unsigned)error : 0;
}

/* Errors have the same numbers on all processors up to this one; then those of MIPS and SPARC differ. */
static bool is_common(const struct ts_arch *arch, unsigned error)
{
	return error <= 34 || (strncmp(arch->name, "mips", 4) != 0 && strncmp(arch->name, "sparc", 5) != 0);
}

static void put_error(const struct ts_facts *facts, const struct ts_event *ev, struct ts_row *row)
{
	unsigned error = error_of(facts, ev);
	const char *name = is_common(facts->regs->arch, error) ? strerrorname_np((int)error) : NULL;
	char text[32];

	if (!error)
		return;
	snprintf(text, sizeof(text), "error %u", error);
	ts_row_text(row, COL_ERROR, name ? name : text);
}

static void put_syscall(const struct ts_facts *facts, const struct ts_event *ev, struct ts_row *row)
{
	char text[32];

	ts_row_text(row, COL_NAME, syscall_name(facts, ev->number, text, sizeof(text)));
	ts_row_list(row, COL_ARGUMENTS);
	for (unsigned i = 0; i < ev->n_args && i < 6; i++) {
		snprintf(text, sizeof(text), "0x%" PRIx64, ev->args[i]);
		ts_row_list_add(row, COL_ARGUMENTS, text);
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, ev->ret);
	if (ev->has_ret)
		ts_row_text(row, COL_RESULT, text);
	put_error(facts, ev, row);
}

/* SIGBUS or SIGSEGV, by gdb's numbers, of an access; one that was sent has a code that is not positive. */
static bool is_of_access(const struct ts_event *ev)
{
	return ev->has_addr && ev->has_ret && (int32_t)ev->ret > 0 && !ts_event_lacks_address(ev) &&
	       (ev->number == 10 || ev->number == 11);
}

static void put_text(const struct ts_event *ev, struct ts_row *row)
{
	char text[128] = "";
	int n = snprintf(text, sizeof(text), "%s", ev->text);
	const char *space = n ? " " : "";
	size_t left = sizeof(text) - (size_t)n;

	if (ev->kind == TS_EV_SIGNAL && ts_signal_name(ev->number) && is_of_access(ev))
		snprintf(text + n, left, "%s%s at 0x%" PRIx64, space, ts_signal_name(ev->number), ev->addr);
	else if (ev->kind == TS_EV_SIGNAL && ts_signal_name(ev->number) && ts_event_lacks_address(ev))
		snprintf(text + n, left, "%s%s, no address (SI_KERNEL)", space, ts_signal_name(ev->number));
	else if (ev->kind == TS_EV_SIGNAL && ts_signal_name(ev->number))
		snprintf(text + n, left, "%s%s", space, ts_signal_name(ev->number));
	else if (ev->kind == TS_EV_SIGNAL)
		snprintf(text + n, left, "%sunknown signal", space);
	else if ((ev->kind == TS_EV_EXIT || ev->kind == TS_EV_THREAD_END) && ev->has_ret)
		snprintf(text + n, left, "%sstatus %" PRIu64, space, ev->number);
	else if (ev->kind == TS_EV_FAULT && ev->has_addr)
		snprintf(text + n, left, "%sat 0x%" PRIx64, space, ev->addr);
	ts_row_text(row, COL_TEXT, *text ? text : NULL);
}

static uint32_t put_recorded(const struct ts_query *q, enum ts_event_kind kind, uint64_t item,
			     struct ts_row *row)
{
	const struct ts_event_at *h = ts_query_event(q, kind, item);

	if (kind == TS_EV_SYSCALL)
		put_syscall(ts_query_facts(q), &h->event, row);
	put_text(&h->event, row);
	return h->thread;
}

static void put_module(const struct ts_query *q, const struct event *e, struct ts_row *row)
{
	struct ts_module_info m;
	char text[64];

	ts_query_module(q, e->item, &m);
	ts_row_text(row, COL_NAME, m.file);
	snprintf(text, sizeof(text), "%s 0x%" PRIx64 ":0x%" PRIx64,
		 e->kind == TS_LISTED_MODULE ? "loaded at" : "unloaded from", m.first, m.last + 1);
	ts_row_text(row, COL_TEXT, text);
}

static void put_region(const struct ts_query *q, const struct event *e, struct ts_row *row)
{
	struct ts_region_info r;
	char text[64];

	ts_query_region(q, e->item, &r);
	ts_row_text(row, COL_NAME, r.file ? r.file : r.desc);
	snprintf(text, sizeof(text), "0x%" PRIx64 ":0x%" PRIx64 " %c%c%c", r.first, r.last + 1,
		 r.prot & TS_PROT_READ ? 'r' : '-', r.prot & TS_PROT_WRITE ? 'w' : '-',
		 r.prot & TS_PROT_EXEC ? 'x' : '-');
	ts_row_text(row, COL_TEXT, text);
}

/* Returns the thread whose event it is. */
static uint32_t put_event(const struct events *x, const struct event *e, struct ts_row *row)
{
	const struct ts_query *q = x->rows.ask->q;

	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		if (recorded[i].kind == e->kind)
			return put_recorded(q, recorded[i].event, e->item, row);
	}
	if (e->kind == TS_LISTED_THREAD_START)
		return (uint32_t)e->item;
	if (e->kind == TS_LISTED_MODULE || e->kind == TS_LISTED_MODULE_END)
		put_module(q, e, row);
	else
		put_region(q, e, row);
	return ts_query_thread(q, e->step);
}

/* Does the question ask for failed calls, and is the event another one? */
static bool is_passed(const struct events *x, const struct event *e)
{
	const struct ts_query *q = x->rows.ask->q;

	return !strcmp(x->rows.qn->operand, FAILED) &&
	       !error_of(ts_query_facts(q), &ts_query_event(q, TS_EV_SYSCALL, e->item)->event);
}

/*
 * Append the reason for which there is no event: the kinds, of the question or of all, that the format cannot
 * record.
 */
static void note_none(struct events *e)
{
	const struct ts_facts *facts = ts_query_facts(e->rows.ask->q);
	uint32_t absent = facts->absent_events | (uint32_t)!facts->has_syscalls << TS_EV_SYSCALL;
	char *note = e->rows.note;
	size_t size = sizeof(e->rows.note);

	for (unsigned i = 0; i < N_RECORDED && !e->is_any; i++) {
		size_t len = strlen(note);

		if (!is_asked(e, recorded[i].kind) || !(absent >> recorded[i].event & 1))
			continue;
		if (len)
			snprintf(note + len, size - len, ", %s", ts_event_plurals[recorded[i].event]);
		else
			snprintf(note, size, "the %s format does not record %s", facts->format, ts_event_plurals[recorded[i].event]);
	}
}

/* Append the call as source text, if the recorder has not recorded a text. */
static bool put_call(struct events *x, const struct event *e, struct ts_row *row, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	const struct ts_facts *facts = ts_query_facts(q);
	bool is_wanted = !(x->rows.unwanted >> COL_TEXT & 1) && !x->rows.is_counting && !x->rows.is_bare;
	const struct ts_event_at *h;
	char name[32];

	if (e->kind != TS_LISTED_SYSCALL || !is_wanted || strcmp(facts->os, "linux") != 0 || row->cells[COL_TEXT].kind != TS_CELL_NULL)
		return true;
	h = ts_query_event(q, TS_EV_SYSCALL, e->item);
	ts_buf_reset(&x->text);
	if (!ts_syscall_text(q, h, syscall_name(facts, h->event.number, name, sizeof(name)),
			     row->cells[COL_ERROR].kind == TS_CELL_TEXT ? ts_row_get(row, COL_ERROR) : NULL, &x->text, err))
		return false;
	x->is_failed |= !ts_buf_ok(&x->text);
	if (x->text.len)
		ts_row_text(row, COL_TEXT, ts_buf_text(&x->text));
	return true;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct events *x = (struct events *)rows;
	struct event e;
	uint32_t thread;

	if (!make_all(x, budget))
		return TS_MORE;
	if (x->is_failed) {
		ts_no_memory(err, "events");
		return TS_FAIL;
	}
	for (;; ts_row_reset(row)) {
		if (!take_look(x, budget))
			return TS_MORE;
		if (!take(x, &e))
			break;
		x->is_any = true;
		rows->at = e.step;
		thread = put_event(x, &e, row);
		if ((x->rows.qn->thread != TS_NO_THREAD && x->rows.qn->thread != thread) || is_passed(x, &e))
			continue;
		ts_row_number(row, 0, e.step);
		ts_cell_thread(row, 1, x->rows.ask, thread);
		ts_row_text(row, 2, ts_listed_names[e.kind]);
		return put_call(x, &e, row, err) ? TS_ITEM : TS_FAIL;
	}
	note_none(x);
	return TS_END;
}

static void close_events(struct ts_rows *rows)
{
	struct events *e = (struct events *)rows;

	ts_heap_fini(&e->made);
	ts_buf_fini(&e->text);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct events *e = (struct events *)rows;
	const char *kind = rows->qn->operand;

	if (*kind && strcmp(kind, FAILED) != 0 && !ts_listed_is_name(kind, strlen(kind)))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%.100s' is not a kind of event: syscall signal fault interrupt thread-start thread-end module map unmap "
			       "gap exit, or failed for the system calls that failed", kind);
	ts_heap_init(&e->made, sizeof(struct event), is_before, e);
	begin_lists(e);
	return true;
}

static const struct ts_rows_ops ops = { sizeof(struct events), begin, next, close_events };

const struct ts_verb ts_verb_events = {
	.name = "events",
	.synopsis = "[KIND|failed]",
	.help = "List system calls, signals, faults, interrupts, threads, modules, maps, gaps and exits; those of a KIND; "
		"or the system calls that failed.",
	.example = "events syscall first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_KIND_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT,
	.is_reversible = true,
	.rows = &ops,
};
