/* SPDX-License-Identifier: MIT */
/*
 * The tracepoint side of a session: its trace run, and the trace frame that it looks at.
 *
 * A recording is presented as a run that has stopped.  One that tracepoints made has frames of its own; any
 * other is the run of tracepoint 1 at its first instruction, stepping to the end, so that frame k is position
 * k.  Tracepoints that the client defines replace that run by theirs.  While a frame is selected the client
 * sees its registers and memory; the position stays where it is.
 */
#ifndef RSP_TRACING_H
#define RSP_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector.h"
#include "src/frames/frames.h"
#include "src/query/search.h"

struct rsp_session;
struct ts_buf;

enum rsp_collect_mode {
	RSP_COLLECT_ALL_AT_ONCE, /* tstart: over the whole recording */
	RSP_COLLECT_LIVE,        /* between tstart and tstop, where the client moves forwards */
};

/* Which of the client's pieces comes next. */
struct rsp_piece_cursor {
	const struct ts_tracepoint *tp;
	const struct ts_tvar *var;
	unsigned i;
};

/* Where reading frames as one sequence of bytes has come to. */
struct rsp_raw_cursor {
	uint64_t frame, off; /* the frame's first byte */
};

struct rsp_tracing {
	enum rsp_collect_mode mode;
	bool is_live;                    /* the run that was started is of that kind */
	bool is_unread;                  /* it begins when the recording has been read to its end */
	struct rsp_collector *collector; /* owned; NULL: the client has not defined anything */
	struct ts_frames steps;          /* a frame a position */
	struct ts_tracing implied;       /* what has made them */
	struct ts_range *readonly;       /* owned; what the client says never changes */
	size_t n_readonly;
	uint64_t selected;               /* TS_NO_FRAME: none */
	struct ts_frame frame;           /* the selected one */
	bool was_listed;                 /* the client has asked once for the tracepoints that were there */
	struct rsp_piece_cursor piece;
	struct rsp_raw_cursor raw;
	int64_t deadline;                /* of the answer to QTStart */
	struct ts_found found;           /* where a run stopped that is followed by collecting */
};

/* False: no memory; then no fini is needed. */
bool rsp_tracing_init(struct rsp_tracing *t, const struct ts_query *q, struct ts_error *err);
/* More has been read: the steps that are shown as frames are more. */
void rsp_tracing_grow(struct rsp_tracing *t, const struct ts_query *q);
void rsp_tracing_fini(struct rsp_tracing *t);

/* A client that has gone may leave its run to the next one: QTDisconnected.  That one takes it. */
void rsp_tracing_leave(struct rsp_session *s);
void rsp_tracing_take(struct rsp_session *s);

/* Forget what the client has defined and collected, and look at no frame. */
void rsp_tracing_reset(struct rsp_tracing *t);

/*
 * Make up the tracepoint of a run that no one has set; rsp_tracing_shown() has it from then on.  False: the
 * trace cannot be read.
 */
bool rsp_tracing_imply(struct rsp_session *s, struct ts_error *err);

/* Has the client started a run of its own? */
bool rsp_tracing_has_run(const struct rsp_session *s);

/*
 * The frames of the run that is shown, and what has made them: the client's own run from its start on; before
 * that, and after a refused start, those of the recording.
 */
struct ts_frames *rsp_tracing_frames(const struct rsp_session *s);
const struct ts_tracing *rsp_tracing_shown(const struct rsp_session *s);

/*
 * Are all frames there, and their number final, but for what a run still collects?  If not, the handler is to
 * return RSP_WAIT.
 */
bool rsp_tracing_wait_until_known(struct rsp_session *s);

/*
 * The same with the status brought up to date; *status is a copy, @notes (to be kept as long) has room for
 * its texts.
 */
void rsp_tracing_status(const struct rsp_session *s, struct ts_run_status *status, struct ts_buf *notes);

/* Does the client look at a frame? */
static inline bool rsp_tracing_is_looking(const struct rsp_tracing *t)
{
	return t->selected != TS_NO_FRAME;
}

/*
 * Look at frame @n, at the live state with TS_NO_FRAME.  False: the trace cannot be read; then the selection
 * is as before.
 */
bool rsp_tracing_select(struct rsp_session *s, uint64_t n, struct ts_error *err);

/*
 * The first frame behind the selected one, or of all, with a pc in [first, last], or with @is_outside one
 * that is not.
 *
 * Returns TS_NO_FRAME if there is none.
 */
uint64_t rsp_tracing_find_pc(const struct rsp_session *s, uint64_t first, uint64_t last, bool is_outside);

/* The first frame behind the selected one, or of all. */
uint64_t rsp_tracing_next(const struct rsp_session *s);

/*
 * Registers and memory of the selected frame, as rsp_session_regs() and ts_query_mem() give those of a
 * position.
 */
bool rsp_tracing_regs(const struct rsp_session *s, uint8_t *data, uint8_t *known, struct ts_error *err);
bool rsp_tracing_mem(const struct rsp_session *s, uint64_t addr, size_t len, uint8_t *data, uint8_t *known,
		     struct ts_error *err);

/* What is in the selected frame, which is none of a whole position, as gdb's document of it. */
void rsp_tracing_info_xml(const struct rsp_session *s, struct ts_buf *out);

/*
 * Frames in a row as bytes (src/query/frame_bytes.h): at most @len from @off on go to @out, none at their end.
 *
 * Returns false if @off lies beyond the end, or farther ahead of what was read last than can be searched at
 * once, or if the trace cannot be read.
 */
bool rsp_tracing_raw(struct rsp_session *s, uint64_t off, size_t len, struct ts_buf *out,
		     struct ts_error *err);

/* Begin the run that the client has defined.  False with the reason. */
bool rsp_tracing_start(struct rsp_session *s, struct ts_error *err);

/*
 * The client has moved forwards to where @found is: is there something to collect on the way?  It then is
 * collected in the slices that follow.
 */
bool rsp_tracing_follow(struct rsp_session *s, uint64_t from, const struct ts_found *found);

/* Has a run begun that will collect more without the client's doing? */
bool rsp_tracing_is_collecting(const struct rsp_session *s);

/* Is there something to collect while the client does something else? */
bool rsp_tracing_has_chores(const struct rsp_session *s);

/* Does the run wait for more of the recording? */
bool rsp_tracing_is_held_up(const struct rsp_session *s);

/* Go on collecting until @end_ns.  True: it is done. */
bool rsp_tracing_slice(struct rsp_session *s, int64_t end_ns);

#endif
