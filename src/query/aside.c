/* SPDX-License-Identifier: MIT */
#include "aside.h"

#include <stdlib.h>

#include "snapshot.h"

/* The query object as it was.  Its members keep their addresses, so that pointers to them stay good. */
struct ts_aside {
	struct ts_query q;
};

void ts_query_set_server(struct ts_query *q, void (*serve)(void *user), void *user)
{
	q->serve = serve;
	q->serve_user = user;
}

void ts_query_begin_alone(struct ts_query *q)
{
	q->n_alone++;
}

void ts_query_end_alone(struct ts_query *q)
{
	q->n_alone--;
}

struct ts_aside *ts_query_set_aside(struct ts_query *q)
{
	struct ts_aside *aside = q->serve && !q->n_alone ? malloc(sizeof(*aside)) : NULL;
	struct ts_error ignored = { 0 };

	if (!aside)
		return NULL;
	aside->q = *q;
	if (ts_query_caches_init(q, &ignored)) {
		q->n_aside++;
		q->epoch++;
		return aside;
	}
	ts_query_caches_fini(q);
	*q = aside->q;
	free(aside);
	return NULL;
}

void ts_query_serve_others(struct ts_query *q)
{
	q->serve(q->serve_user);
}

void ts_query_bring_back(struct ts_query *q, struct ts_aside *aside)
{
	uint64_t epoch = q->epoch;

	ts_query_caches_fini(q);
	aside->q.loops = q->loops; /* they are in no question's hands */
	*q = aside->q;
	q->epoch = epoch + 1; /* what was lent meanwhile is gone */
	free(aside);
}
