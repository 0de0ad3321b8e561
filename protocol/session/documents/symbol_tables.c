/* SPDX-License-Identifier: MIT */
#include "symbol_tables.h"

#include <stdlib.h>

#include "src/base/clock.h"
#include "src/base/thread.h"

struct rsp_symbol_tables {
	struct ts_symbols
		*early; /* owned; found before the recording had been read to its end, NULL: not needed */
	struct ts_symbols *all;  /* owned; the same after that: modules that came later have symbols, too */
	struct ts_symbols *next; /* owned; the one that is being made, NULL: none */
	bool is_all;             /* it is to be "all" */
	struct ts_symbols_search search;
	bool is_found; /* the search for it is over: the task reads what was found */
	struct ts_task task;
	/* the task's result */
	bool is_read;
	struct ts_error error;
};

struct rsp_symbol_tables *rsp_symbol_tables_new(void)
{
	struct rsp_symbol_tables *t = calloc(1, sizeof(*t));

	if (t)
		ts_task_init(&t->task);
	return t;
}

void rsp_symbol_tables_free(struct rsp_symbol_tables *t)
{
	if (!t)
		return;
	ts_task_fini(&t->task);
	ts_symbols_free(t->next);
	ts_symbols_free(t->early);
	ts_symbols_free(t->all);
	free(t);
}

void rsp_symbol_tables_notify(struct rsp_symbol_tables *t, void (*tell)(void *user), void *user)
{
	t->task.tell = tell;
	t->task.tell_user = user;
}

bool rsp_symbol_tables_are_being_read(struct rsp_symbol_tables *t)
{
	return t->is_found && !ts_task_is_done(&t->task);
}

static void drop(struct rsp_symbol_tables *t)
{
	ts_symbols_free(t->next);
	t->next = NULL;
	t->is_found = false;
}

static bool begin(struct rsp_symbol_tables *t, struct ts_query *q, const struct ts_symbols_places *places,
		  struct ts_error *err)
{
	t->next = ts_symbols_new();
	if (!t->next)
		return ts_no_memory(err, "symbols");
	t->is_all = ts_query_is_complete(q);
	t->search = (struct ts_symbols_search){ .symbols = t->next, .q = q, .places = *places };
	return true;
}

/* Called on the task's thread, while no other thread uses the table. */
static void read_found(void *user)
{
	struct rsp_symbol_tables *t = user;

	ts_error_reset(&t->error);
	t->is_read = ts_symbols_read_all(t->next, &t->error);
}

/* A slice of the search.  Returns false if it failed. */
static bool search(struct rsp_symbol_tables *t, struct ts_error *err)
{
	const int64_t end = ts_now_ns() + TS_SLICE_NS;
	enum ts_next got;

	do
		got = ts_symbols_search_next(&t->search, err);
	while (got == TS_MORE && ts_now_ns() < end);
	if (got == TS_FAIL) {
		drop(t);
		return false;
	}
	t->is_found = got == TS_END;
	if (t->is_found)
		ts_task_start(&t->task, read_found, t);
	return true;
}

/* Take over the tables that the task has read.  Returns false if it failed. */
static bool take(struct rsp_symbol_tables *t, struct ts_error *err)
{
	if (t->is_read) {
		*(t->is_all ? &t->all : &t->early) = t->next;
		t->next = NULL;
	} else {
		*err = t->error;
	}
	drop(t);
	return t->is_read;
}

/* The recording may have been read to its end during the search: modules that came late are then missing. */
static bool is_outdated(const struct rsp_symbol_tables *t, bool is_all)
{
	return t->next && !t->is_found && t->is_all != is_all;
}

struct ts_symbols *rsp_symbol_tables_get(struct rsp_symbol_tables *t, struct ts_query *q,
					 const struct ts_symbols_places *places, struct ts_error *err)
{
	const bool is_all = ts_query_is_complete(q);
	struct ts_symbols *const *table = is_all ? &t->all : &t->early;

	if (*table)
		return *table;
	if (is_outdated(t, is_all))
		drop(t);
	if ((!t->next && !begin(t, q, places, err)) || (!t->is_found && !search(t, err)))
		return NULL;
	if (t->is_found && ts_task_wait(&t->task) && !take(t, err))
		return NULL;
	return *table;
}
