/* SPDX-License-Identifier: MIT */
/*
 * A run of tracepoints over a recording.
 *
 * The recording is complete, so that no client has to wait until a tracepoint is reached: the index has the
 * positions at which each was executed, and the state there is an ordinary query.  A frame is such a position
 * and the collected ranges, not a copy of them.  The run proceeds in slices, so that other clients are served in
 * between.
 */
#ifndef RSP_COLLECTOR_H
#define RSP_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_store.h"
#include "src/arch/regview.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/query/query.h"

/* gdb's builtin variable for time: the position. */
#define RSP_TVAR_TIMESTAMP 1u

struct rsp_collector;

/* Make an empty collector; @q is borrowed.  Returns NULL if memory is exhausted. */
struct rsp_collector *rsp_collector_new(struct ts_query *q);
void rsp_collector_free(struct rsp_collector *c);

/*
 * Returns the tracepoints and their actions, borrowed, which the caller fills before the run starts.  During
 * the run and afterwards they hold the results.
 */
struct ts_tracing *rsp_collector_tracing(struct rsp_collector *c);

/* Update the figures of the run's status.  Returns the status, borrowed. */
const struct ts_run_status *rsp_collector_status(struct rsp_collector *c);

/* Has a run begun?  It may have no frames. */
bool rsp_collector_has_begun(const struct rsp_collector *c);

/* Returns the frames so far, borrowed. */
struct ts_frames *rsp_collector_frames(struct rsp_collector *c);

/*
 * Can the condition and the actions of @tp be evaluated?
 *
 * Returns false if an action or an expression is not supported (TS_EUNSUPPORTED).
 * Returns false if an expression is malformed (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_collector_check(const struct ts_tracepoint *tp, struct ts_error *err);

/*
 * Use @view for registers (borrowed; NULL: as recorded), and physical addresses for memory if @is_physical,
 * as the session does.
 */
void rsp_collector_see(struct rsp_collector *c, const struct ts_regview *view, bool is_physical);

/*
 * Limit the memory of the frames by @budget (borrowed, outlives the collector), which all runs of a server
 * share (--max-memory).  A run that reaches it ends with a message.  Called before a run.
 */
void rsp_collector_bound(struct rsp_collector *c, struct rsp_frame_budget *budget);

/*
 * Called before each definition of the client: charge its definitions to the budget.
 *
 * Returns false if the definitions of one run, or all that the budget counts, take more memory than they may.
 */
bool rsp_collector_may_define(struct rsp_collector *c);

/* The texts of a run's status. */
enum rsp_run_text {
	RSP_RUN_USER,
	RSP_RUN_NOTES,
	RSP_RUN_STOPPED, /* the user's reason to stop it */
	RSP_N_RUN_TEXTS,
};

/* Replace a text by @len bytes of @text.  Returns false if memory is exhausted. */
bool rsp_collector_set_text(struct rsp_collector *c, enum rsp_run_text which, const char *text, size_t len);

/*
 * Begin a run of the tracepoints of @process; the frames of the previous run are dropped.  It collects nothing
 * until the first rsp_collector_span().
 *
 * Returns false if a tracepoint has an action or an expression that is not supported (TS_EUNSUPPORTED) or malformed
 * (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rsp_collector_start(struct rsp_collector *c, uint32_t process, struct ts_error *err);

/*
 * Collect at positions @from to @until, both inclusive, in the slices that follow.  A span that begins where
 * the last one ended continues its stepping.
 */
void rsp_collector_span(struct rsp_collector *c, uint64_t from, uint64_t until);

/*
 * Continue until @end_ns by ts_now_ns(), or a little longer.  Returns true if the span is done or the run has
 * ended.
 */
bool rsp_collector_slice(struct rsp_collector *c, int64_t end_ns);

/* End a running run. */
void rsp_collector_stop(struct rsp_collector *c);

/* Is a span being collected? */
bool rsp_collector_is_busy(const struct rsp_collector *c);

/* The position up to which the span is done, and its last position. */
void rsp_collector_progress(const struct rsp_collector *c, uint64_t *pos, uint64_t *until);

/*
 * The current value of a variable; before the run its initial value.  Returns false if the variable does not exist.
 */
bool rsp_collector_var(const struct rsp_collector *c, uint32_t number, int64_t *value);

/*
 * The first frame >= @from with a pc in [first, last], or with @is_outside one that is not; TS_NO_FRAME if
 * no frame is so.
 */
uint64_t rsp_collector_next_pc(const struct rsp_collector *c, uint64_t first, uint64_t last, bool is_outside,
			       uint64_t from);

#endif
