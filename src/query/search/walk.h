/* SPDX-License-Identifier: MIT */
/*
 * A walk moves from a position to the next stop: by a continue, by a step, or by a step out of a range.
 *
 * The target of a step is the position after (in reverse: before) the next instruction of its thread.  The
 * target of a continue is the end of the recording (in reverse: its beginning).  The target of a range step
 * is the first position at which the thread has left the range, and is searched for first.  Then a search
 * looks for a stop before the target.
 *
 * A walk is run in slices.  If it needs positions that are not published yet, it waits for them.
 */
#ifndef TS_WALK_H
#define TS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "search.h"

enum ts_walked {
	TS_WALK_STOP, /* the walk has ended */
	TS_WALK_ON,   /* the walk needs another slice */
	TS_WALK_WAIT, /* the walk needs positions that are not published: see ts_query_refresh() */
	TS_WALK_FAIL, /* the trace cannot be read any more, or memory is exhausted */
};

enum ts_walk_state {
	TS_WALK_STANDING,  /* no walk was begun, or it has ended */
	TS_WALK_AIMING,    /* the target is chosen next, when it is published */
	TS_WALK_LEAVING,   /* the target of a range step is being searched for */
	TS_WALK_STARTING,  /* the target is known; the search begins next */
	TS_WALK_SEARCHING, /* a stop before the target is being searched for */
};

/* The members are private to walk.c. */
struct ts_walk {
	enum ts_walk_state state;
	struct ts_query *q;    /* borrowed */
	struct ts_stops stops; /* its arrays are borrowed */
	bool is_reverse;
	bool is_interrupted;
	bool is_range;
	bool has_target;       /* of a step: the walk ends at the target */
	bool is_open;          /* the target is the last published position: the walk continues there */
	bool has_passed;       /* a breakpoint's condition was false: the walk may end at that position */
	bool has_open_reads;   /* the walk has passed steps that may have read a watched place */
	bool is_passing;       /* as has_passed; a system call or an exit may stop at the same position */
	uint32_t thread;       /* the thread that steps; TS_NO_THREAD for a continue */
	uint64_t from;         /* up to this position nothing is a stop */
	uint64_t pos;          /* LEAVING: the position up to which has been searched */
	uint64_t target;
	uint64_t range_start, range_end;
	struct ts_search search; /* if SEARCHING */
};

/*
 * Begin a continue at @pos, which must be published.  @q and the arrays of @stops are borrowed until the walk
 * has ended.  *w is zero before the first walk; a walk in progress is dropped.
 */
void ts_walk_continue(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		      bool is_reverse);

/*
 * Begin a step: until one instruction of @thread has run, or has been undone.  Other threads may run in
 * between.
 */
void ts_walk_step(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		  uint32_t thread, bool is_reverse);

/*
 * Begin a range step: forwards while the pc of @thread is in [@start, @end), at least one instruction of it.
 */
void ts_walk_range(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		   uint32_t thread, uint64_t start, uint64_t end);

/*
 * Run the walk for one slice, in which about one chunk is decoded.
 *
 * Returns TS_WALK_STOP with *found set if the walk has ended.  found->kind is
 * - TS_STOP_STEP at the target of a step, unless a watchpoint, a system call or a signal is there;
 * - TS_STOP_END at the end (in reverse: the beginning) of the recording, or if a step back finds no step of
 * its thread;
 * - TS_STOP_INTERRUPT if the walk was interrupted;
 * - otherwise the kind of the stop that was found.
 * Returns TS_WALK_ON if the walk needs another slice.
 * Returns TS_WALK_WAIT if the walk needs positions that are not published.
 * Returns TS_WALK_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_WALK_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_walked ts_walk_run(struct ts_walk *w, struct ts_found *found, struct ts_error *err);

/*
 * Continue the walk after @found, the TS_STOP_BREAK that ts_walk_run() has found last: the breakpoint's
 * condition is false.
 */
void ts_walk_pass(struct ts_walk *w, const struct ts_found *found);

/*
 * Interrupt the walk.  ts_walk_run() returns TS_WALK_STOP soon afterwards, with TS_STOP_INTERRUPT or with a
 * stop that it finds in the same slice.
 */
void ts_walk_interrupt(struct ts_walk *w);

/* Drop the walk, if one is in progress. */
void ts_walk_fini(struct ts_walk *w);

/* Is a walk in progress? */
static inline bool ts_walk_is_under_way(const struct ts_walk *w)
{
	return w->state != TS_WALK_STANDING;
}

#endif
