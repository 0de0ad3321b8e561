/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* gdb keeps process ids in an int; other clients do so with thread ids. */
#define MAX_ID INT32_MAX

#define NO_ID INT64_MIN

/* A recorded id and whose it is. */
struct claim {
	uint64_t id;
	uint32_t ordinal;
};

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a;
	const struct claim *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->ordinal < y->ordinal ? -1 : 1;
}

/*
 * Give each of @n a number of its own: the first to claim an id gets it if gdb can show it, the others get
 * the smallest unclaimed numbers.  Sorts @claims.
 */
static void give_ids(struct claim *claims, uint32_t n, int64_t *ids)
{
	int64_t next = 1;
	uint32_t at = 0;

	qsort(claims, n, sizeof(*claims), compare_claims);
	for (uint32_t i = 0; i < n; i++) {
		const struct claim *c = &claims[i];
		bool is_first = !i || claims[i - 1].id != c->id;

		ids[c->ordinal] = is_first && c->id && c->id <= MAX_ID ? (int64_t)c->id : NO_ID;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] != NO_ID)
			continue;
		while (at < n && claims[at].id <= (uint64_t)next) {
			if (claims[at++].id == (uint64_t)next)
				next++;
		}
		ids[i] = next++;
	}
}

/* The pid of a process is that of its first thread. */
static void claim_pids(const struct ts_query *q, struct claim *claims, uint32_t n_pids)
{
	for (uint32_t i = 0; i < n_pids; i++)
		claims[i] = (struct claim){ 0, i };
	for (uint32_t t = ts_query_n_threads(q); t-- > 0;)
		claims[ts_query_process(q, t)].id = ts_query_thread_facts(q, t)->pid;
}

bool ts_names_init(struct ts_names *names, const struct ts_query *q, struct ts_error *err)
{
	uint32_t n_pids = ts_query_n_processes(q), n_tids = ts_query_n_threads(q);
	struct claim *claims = calloc((size_t)(n_pids > n_tids ? n_pids : n_tids) + 1, sizeof(*claims));

	names->pids = calloc((size_t)n_pids + 1, sizeof(*names->pids));
	names->tids = calloc((size_t)n_tids + 1, sizeof(*names->tids));
	names->n_pids = n_pids;
	names->n_tids = n_tids;
	if (!claims || !names->pids || !names->tids) {
		free(claims);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the names of %u threads", n_tids);
	}
	claim_pids(q, claims, n_pids);
	give_ids(claims, n_pids, names->pids);
	for (uint32_t t = 0; t < n_tids; t++)
		claims[t] = (struct claim){ ts_query_thread_facts(q, t)->tid, t };
	give_ids(claims, n_tids, names->tids);
	free(claims);
	return true;
}

static bool is_taken(const int64_t *ids, uint32_t n, int64_t id)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

/* A number for item @n, whose recorded id is @wanted: those before keep theirs. */
static int64_t id_for_late(const int64_t *ids, uint32_t n, uint64_t wanted)
{
	int64_t id = wanted && wanted <= MAX_ID ? (int64_t)wanted : 1;

	while (is_taken(ids, n, id))
		id = id < MAX_ID ? id + 1 : 1;
	return id;
}

static uint64_t pid_of(const struct ts_query *q, uint32_t process)
{
	uint32_t t = 0;

	while (ts_query_process(q, t) != process)
		t++;
	return ts_query_thread_facts(q, t)->pid;
}

bool ts_names_grow(struct ts_names *names, const struct ts_query *q)
{
	uint32_t n_pids = ts_query_n_processes(q), n_tids = ts_query_n_threads(q);
	int64_t *pids, *tids;

	if (names->n_tids == n_tids && names->n_pids == n_pids)
		return true;
	pids = realloc(names->pids, ((size_t)n_pids + 1) * sizeof(*pids));
	if (pids)
		names->pids = pids;
	tids = pids ? realloc(names->tids, ((size_t)n_tids + 1) * sizeof(*tids)) : NULL;
	if (!tids)
		return false;
	names->tids = tids;
	for (; names->n_pids < n_pids; names->n_pids++)
		pids[names->n_pids] = id_for_late(pids, names->n_pids, pid_of(q, names->n_pids));
	for (; names->n_tids < n_tids; names->n_tids++)
		tids[names->n_tids] = id_for_late(tids, names->n_tids,
						  ts_query_thread_facts(q, names->n_tids)->tid);
	return true;
}

void ts_names_label(const struct ts_names *names, const struct ts_query *q, uint32_t thread,
		    char label[TS_THREAD_LABEL_LEN])
{
	const char *name = ts_query_thread_facts(q, thread)->name, *quote = *name ? "\"" : "";

	snprintf(label, TS_THREAD_LABEL_LEN, "thread %" PRId64 ".%" PRId64 "%s%s%s%s",
		 names->pids[ts_query_process(q, thread)], names->tids[thread], *name ? " " : "", quote, name, quote);
}

void ts_names_fini(struct ts_names *names)
{
	free(names->pids);
	free(names->tids);
	*names = (struct ts_names){ 0 };
}

uint32_t ts_names_thread(const struct ts_names *names, int64_t tid)
{
	for (uint32_t i = 0; i < names->n_tids; i++) {
		if (names->tids[i] == tid)
			return i;
	}
	return TS_NO_THREAD;
}
