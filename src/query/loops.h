/* SPDX-License-Identifier: MIT */
/*
 * Loops that were followed backwards, from turn to turn, and where that led.
 *
 * To follow the value of a loop takes a decoded chunk every few turns.  What was followed once is not
 * followed again: some turns are kept with the query object, so that a later walk that arrives at one of them
 * goes on at the last one.  Only complete recordings have them: what is found there does not change.
 */
#ifndef TS_LOOPS_H
#define TS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"

/* A turn of a loop: its position, and how many turns it lies before the first one that was kept. */
struct ts_turn {
	uint64_t pos;
	int64_t n;
};

/* Turns of a loop that lead from one to the next; positions descend. */
struct ts_turns {
	struct ts_turn *items; /* owned */
	size_t n, cap;
};

/* A walk through a loop.  All zero: it is through none. */
struct ts_loop_walk {
	uint8_t *key; /* owned; see ts_loop_walk_begin() */
	size_t key_len;
	struct ts_turns turns; /* that are kept, since it began, or joined the loop */
	struct ts_turn last;   /* where it is, if has_last */
	bool has_last, is_full;
	uint64_t joined; /* the serial of the loop whose last turn it went on from; 0: none */
};

/*
 * The walk enters a loop.  @key (copied) says which: from one position two walks whose keys are the same
 * bytes go through the same turns.
 */
void ts_loop_walk_begin(struct ts_loop_walk *w, const void *key, size_t len);

/*
 * The walk is at the turn at @pos, from which it goes on.
 *
 * Returns the position of the turn to go on from, at most @max turns further; *n gets how many.
 */
uint64_t ts_loop_walk_turn(struct ts_loop_walk *w, struct ts_query *q, uint64_t pos, uint64_t max,
			   uint64_t *n);

/* The walk leaves its loop, if it is in one: what it went through is kept.  It frees what the walk has. */
void ts_loop_walk_end(struct ts_loop_walk *w, struct ts_query *q);

/* What a query object keeps; it frees it. */
struct ts_loops;

void ts_loops_free(struct ts_loops *l);

#endif
