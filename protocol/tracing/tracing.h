/* SPDX-License-Identifier: MIT */
/*
 * The tracepoint side of a session: its trace run, and its selected trace frame.
 *
 * A recording is presented as a run that has stopped.  A recording made by tracepoints has frames of its own;
 * any other is the run of tracepoint 1 at its first instruction, stepping to the end, so that frame k is
 * position k.  A run of tracepoints that the client defines replaces that run.  While a frame is selected the
 * client sees its registers and memory; the position does not change.
 */
#ifndef RSP_TRACING_H
#define RSP_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector.h"
#include "src/frames/frames.h"
#include "src/query/search/search.h"

struct rsp_target;
struct ts_buf;

enum rsp_collect_mode {
	RSP_COLLECT_ALL_AT_ONCE, /* tstart: over the whole recording */
	RSP_COLLECT_LIVE,        /* between tstart and tstop, where the client moves forwards */
};

/* The next of the client's pieces. */
struct rsp_piece_cursor {
	const struct ts_tracepoint *tp;
	const struct ts_tvar *var;
	unsigned i;
};

/* The state of reading frames as one sequence of bytes. */
struct rsp_raw_cursor {
	uint64_t frame, off; /* the frame's first byte */
};

struct rsp_tracing {
	const struct rsp_target *target; /* borrowed */
	enum rsp_collect_mode mode;
	bool is_live;                    /* the started run is RSP_COLLECT_LIVE */
	bool is_unread;                  /* the run begins when the recording has been read to its end */
	struct rsp_collector *collector; /* owned; NULL: the client has defined nothing */
	struct ts_frames steps;          /* one frame for each position */
	struct ts_tracing implied;       /* the tracepoint of steps */
	struct ts_range *readonly;       /* owned; memory that never changes, by the client */
	size_t n_readonly;
	uint64_t selected;               /* TS_NO_FRAME: none */
	struct ts_frame frame;           /* the selected one */
	bool was_listed;                 /* the client has asked once for the existing tracepoints */
	struct rsp_piece_cursor piece;
	struct rsp_raw_cursor raw, raw_end; /* the frames in which the last piece begins and ends */
	int64_t deadline;                /* for the answer to QTStart */
	struct ts_found found;           /* the stop of a run that is followed by collecting */
};

/* Returns false if memory is exhausted (TS_ENOMEM).  No fini is needed then. */
bool rsp_tracing_init(struct rsp_tracing *t, const struct rsp_target *target, struct ts_error *err);
/* After more has been read: add frames for the new steps. */
void rsp_tracing_grow(struct rsp_tracing *t, const struct ts_query *q);
void rsp_tracing_fini(struct rsp_tracing *t);

/* A client that disconnects can leave its run to the next client (QTDisconnected), which takes it. */
void rsp_tracing_leave(struct rsp_tracing *t);
void rsp_tracing_take(struct rsp_tracing *t);

/* Discard the client's definitions and frames, and select no frame. */
void rsp_tracing_reset(struct rsp_tracing *t);

/*
 * Make the implied tracepoint of a recording without tracepoints; rsp_tracing_shown() then has it.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_tracing_imply(struct rsp_tracing *t, struct ts_error *err);

/* Has the client started a run of its own? */
bool rsp_tracing_has_run(const struct rsp_tracing *t);

/*
 * The shown run is the client's own once it has started.  Before that, and after a refused start, it is the
 * recording's.
 *
 * Returns its frames, borrowed.
 */
struct ts_frames *rsp_tracing_frames(struct rsp_tracing *t);

/* Returns the definition of the shown run, borrowed. */
const struct ts_tracing *rsp_tracing_shown(const struct rsp_tracing *t);

/*
 * The up-to-date status of the shown run; *status is a copy, and @notes, which must live as long, holds its
 * texts.
 */
void rsp_tracing_status(const struct rsp_tracing *t, struct ts_run_status *status, struct ts_buf *notes);

/* Is a frame selected? */
static inline bool rsp_tracing_is_looking(const struct rsp_tracing *t)
{
	return t->selected != TS_NO_FRAME;
}

/*
 * Select frame @n, or the live state with TS_NO_FRAME.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT); the selection is then
 * unchanged.
 */
bool rsp_tracing_select(struct rsp_tracing *t, uint64_t n, struct ts_error *err);

/*
 * The first frame after the selected one (without one, of all) with a pc in [first, last], or with
 * @is_outside, with one that is not.
 *
 * Returns TS_NO_FRAME if no later frame is so.
 */
uint64_t rsp_tracing_find_pc(const struct rsp_tracing *t, uint64_t first, uint64_t last, bool is_outside);

/* The first frame after the selected one; without one, of all. */
uint64_t rsp_tracing_next(const struct rsp_tracing *t);

/*
 * Frames in a row as bytes (src/query/frame_bytes.h): at most @len bytes from @off on are appended to @out,
 * none at the end.
 *
 * Returns false if @off is beyond the end, or too far after the last piece to be searched at once.
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool rsp_tracing_raw(struct rsp_tracing *t, uint64_t off, size_t len, struct ts_buf *out,
		     struct ts_error *err);

/*
 * Begin the run that the client has defined.
 *
 * Returns false if the client has defined no tracepoint (TS_EUSAGE).
 * Returns false if a tracepoint cannot be evaluated, as rsp_collector_check().
 */
bool rsp_tracing_start(struct rsp_tracing *t, uint32_t process, const struct ts_regview *view,
		       bool is_physical, struct ts_error *err);

/*
 * Called when the client has moved forwards to @found.  Returns whether there is something to collect on the way, which
 * the following slices collect.
 */
bool rsp_tracing_follow(struct rsp_tracing *t, uint64_t from, const struct ts_found *found);

/* Is there a run that will collect more without the client's action? */
bool rsp_tracing_is_collecting(const struct rsp_tracing *t);

/* Is there something to collect in the background? */
bool rsp_tracing_has_chores(const struct rsp_tracing *t);

/* Does the run wait for more of the recording to be read? */
bool rsp_tracing_is_held_up(const struct rsp_tracing *t);

/* Continue collecting until @end_ns.  Returns true when collecting is done. */
bool rsp_tracing_slice(struct rsp_tracing *t, int64_t end_ns);

#endif
