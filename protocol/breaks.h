/* SPDX-License-Identifier: MIT */
/*
 * The breakpoints and watchpoints of a session, with their conditions.
 */
#ifndef RSP_BREAKS_H
#define RSP_BREAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/search.h"

struct rsp_ax;

/* Z0 and Z1 differ for the client only: a recording is not changed by either. */
enum rsp_break_kind {
	RSP_BREAK_SOFT,
	RSP_BREAK_HARD,
};

struct rsp_break {
	struct ts_break at;
	enum rsp_break_kind kind;
	struct rsp_ax **conditions; /* owned; any of them true stops, none: always */
	size_t n_conditions;
};

/* Two arrays of each: what the search needs, contiguous, and what belongs to it. */
struct rsp_breaks {
	struct rsp_break *items; /* owned */
	struct ts_break *places; /* owned; items[i].at, each place once for the search */
	size_t n_items, cap_items, n_places;
	struct ts_watch *watches; /* owned */
	size_t n_watches, cap_watches;
};

void rsp_breaks_init(struct rsp_breaks *b);
void rsp_breaks_fini(struct rsp_breaks *b);

/*
 * Insert a breakpoint; one of the same kind at the same place is replaced.  @conditions is taken over, on failure too.
 *
 * Returns false if memory is exhausted.
 */
bool rsp_breaks_insert(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at, struct rsp_ax **conditions,
		       size_t n_conditions);

/* Remove it if it is there. */
void rsp_breaks_remove(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at);

/* Insert or remove a watchpoint; one that is there already stays once.  False: no memory. */
bool rsp_breaks_watch(struct rsp_breaks *b, const struct ts_watch *w);
void rsp_breaks_unwatch(struct rsp_breaks *b, const struct ts_watch *w);

/* The breakpoint of a kind at a place, NULL if there is none. */
const struct rsp_break *rsp_breaks_at(const struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at);

/* Breakpoints and watchpoints as what a search looks for; borrowed until the next change. */
void rsp_breaks_stops(const struct rsp_breaks *b, struct ts_stops *stops);

#endif
