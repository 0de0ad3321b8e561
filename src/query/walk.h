/* SPDX-License-Identifier: MIT */
/*
 * A walk: from a position to the stop that ends it, by continuing, by a step, or out of a range.
 *
 * A step has a target, the position after (in reverse: before) the next instruction of its thread; a continue
 * has the end of the recording (in reverse: its beginning).  A search looks for a stop on the way there.  A
 * range step looks for its target first: the first position at which the thread has left the range.
 *
 * A walk goes on in slices.  Where it needs positions that are not published yet it waits for them: nothing
 * is found, and no end is reported, because of what has not been read.
 */
#ifndef TS_WALK_H
#define TS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "search.h"

enum ts_walked {
	TS_WALK_STOP, /* it is over */
	TS_WALK_ON,   /* it needs another slice */
	TS_WALK_WAIT, /* it needs more of the recording: another slice makes sense after ts_query_refresh() */
	TS_WALK_FAIL, /* the trace cannot be read any more, or memory is exhausted */
};

enum ts_walk_state {
	TS_WALK_STANDING,  /* no walk, or it is over */
	TS_WALK_AIMING,    /* a target is to be chosen, if it is published */
	TS_WALK_LEAVING,   /* a range step looks for its target */
	TS_WALK_STARTING,  /* the target is known */
	TS_WALK_SEARCHING,
};

/* Members are the walk's own; ts_walk_is_step() and the like tell what others may know. */
struct ts_walk {
	enum ts_walk_state state;
	struct ts_query *q;    /* borrowed */
	struct ts_stops stops; /* its arrays are borrowed */
	bool is_reverse;
	bool is_interrupted;
	bool is_range;
	bool has_target;       /* of a step: the walk is done there */
	bool is_open;          /* the target is as far as the recording was published: the walk goes on from there */
	bool has_passed;       /* a breakpoint did not hold: the walk may end there */
	bool has_open_reads;   /* steps were passed that may have read what a watchpoint is about */
	bool is_passing;       /* a breakpoint did not hold: a system call or an exit may stop at the same position */
	uint32_t thread;       /* that steps; TS_NO_THREAD for a continue */
	uint64_t from;         /* there is no stop up to here */
	uint64_t pos;          /* LEAVING: how far it got */
	uint64_t target;
	uint64_t range_start, range_end;
	struct ts_search search; /* if SEARCHING */
};

/*
 * Begin a walk at @pos, which must be published.  The arrays of @stops are borrowed until it is over.  @w is
 * zero at first; a walk under way is dropped.
 */
void ts_walk_continue(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		      bool is_reverse);

/* The same until one instruction of @thread has run, or has been undone; other threads' pass on the way. */
void ts_walk_step(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		  uint32_t thread, bool is_reverse);

/* The same, forwards, while the pc of @thread is in [@start, @end); at least one instruction of it. */
void ts_walk_range(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		   uint32_t thread, uint64_t start, uint64_t end);

/*
 * Go on for a slice: about one chunk is decoded.
 *
 * Returns TS_WALK_STOP and fills @found when the walk is over.  Its kind is TS_STOP_STEP at the target of a
 * step, whatever else is there but a watchpoint, a system call or a signal; TS_STOP_END at the end (in
 * reverse: the beginning) of the recording, or, where a step back finds nothing of its thread, at once;
 * TS_STOP_INTERRUPT where an interrupted walk gave up; else what was found.
 */
enum ts_walked ts_walk_run(struct ts_walk *w, struct ts_found *found, struct ts_error *err);

/*
 * The TS_STOP_BREAK that ts_walk_run() found last, @found, does not hold (its condition is false): the walk
 * goes on after it.
 */
void ts_walk_pass(struct ts_walk *w, const struct ts_found *found);

/*
 * End the walk where it is.  ts_walk_run() then returns TS_WALK_STOP soon: TS_STOP_INTERRUPT, or a stop that
 * is found at once.
 */
void ts_walk_interrupt(struct ts_walk *w);

/* Drop a walk, if one is under way. */
void ts_walk_fini(struct ts_walk *w);

static inline bool ts_walk_is_under_way(const struct ts_walk *w)
{
	return w->state != TS_WALK_STANDING;
}


#endif
