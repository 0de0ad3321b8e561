/* SPDX-License-Identifier: MIT */
/*
 * A question that waits, while others ask by the same query object.
 *
 * It waits in the middle of reading the timeline, for a damaged part of the index file that is being built
 * again (src/model/mend.h).  What it uses of the query object is set aside, so that it finds all of it as it
 * was: decoded chunks, registers, instructions, the reader.  Nothing that was unpacked from index files
 * leaves memory meanwhile.
 */
#ifndef TS_ASIDE_H
#define TS_ASIDE_H

#include <stdbool.h>

struct ts_query;

/*
 * While a question waits @serve(@user) is called every few milliseconds, to let others ask.  It returns when
 * nobody has asked more.  NULL: nobody else asks.
 */
void ts_query_set_server(struct ts_query *q, void (*serve)(void *user), void *user);

/*
 * What happens in between uses something that all who ask have in common, and is not to be entered twice:
 * nobody is served if it waits.
 */
void ts_query_begin_alone(struct ts_query *q);
void ts_query_end_alone(struct ts_query *q);

/* ------------------------------------------------------------------------------------- for who lets it wait */

struct ts_aside;

/*
 * Set aside what the question that is under way uses.
 *
 * Returns NULL if nobody can be served meanwhile.
 */
struct ts_aside *ts_query_set_aside(struct ts_query *q);

/* Let others ask. */
void ts_query_serve_others(struct ts_query *q);

/* The question goes on.  @aside is freed. */
void ts_query_bring_back(struct ts_query *q, struct ts_aside *aside);

#endif
