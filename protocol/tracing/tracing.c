/* SPDX-License-Identifier: MIT */
#include "tracing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/target.h"
#include "src/base/collections/bisect.h"
#include "src/base/clock.h"
#include "src/export/frame_bytes.h"

/* How long a packet may search for an offset in the bytes of all frames. */
#define MAX_SEARCH_NS	INT64_C(3000000)
#define MIN_FRAMES_READ 2 /* that in which the last piece ended, and the next one */

/* Counts are int in gdb. */
#define MAX_COUNT INT32_MAX

/* ---------------------------------------------------------------------------------------- the implied run */

static bool add_piece(struct ts_tracing *t, enum ts_piece piece, struct ts_buf *text, struct ts_error *err)
{
	bool done = (ts_buf_ok(text) || ts_no_memory(err, "tracepoints")) &&
		    ts_tracing_piece(t, piece, (const char *)text->data, text->len, 0, err);

	ts_buf_reset(text);
	return done;
}

static bool add_source(struct ts_tracing *t, uint64_t pc, const char *type, const char *line,
		       struct ts_error *err)
{
	struct ts_buf text;
	bool done;

	ts_buf_init(&text);
	ts_buf_printf(&text, "1:%" PRIx64 ":%s:0:%zx:", pc, type, strlen(line));
	ts_buf_hex(&text, line, strlen(line));
	done = add_piece(t, TS_PIECE_SOURCE, &text, err);
	ts_buf_fini(&text);
	return done;
}

/* Tracepoint 1 at the first instruction, which collects registers and steps to the end. */
static bool define_implied(struct ts_tracing *t, uint64_t pc, uint64_t n_steps, struct ts_error *err)
{
	uint64_t count = n_steps < MAX_COUNT ? n_steps : MAX_COUNT;
	char at[32], stepping[48];
	struct ts_buf text;
	bool done;

	snprintf(at, sizeof(at), "*0x%" PRIx64, pc);
	snprintf(stepping, sizeof(stepping), "while-stepping %" PRIu64, count);
	ts_buf_init(&text);
	ts_buf_printf(&text, "1:%" PRIx64 ":E:%" PRIx64 ":0", pc, count);
	done = add_piece(t, TS_PIECE_DEFINE, &text, err) && add_source(t, pc, "at", at, err) &&
	       add_source(t, pc, "cmd", "collect $regs", err) && add_source(t, pc, "cmd", stepping, err) &&
	       add_source(t, pc, "cmd", "collect $regs", err) && add_source(t, pc, "cmd", "end", err);
	ts_buf_fini(&text);
	return done;
}

bool rsp_tracing_imply(struct rsp_tracing *t, struct ts_error *err)
{
	struct ts_tracing *implied = &t->implied;
	uint64_t pc;
	bool has_pc;

	if (implied->points)
		return true;
	if (ts_query_pc(t->target->q, 0, ts_query_thread(t->target->q, 0), &pc, &has_pc, err) &&
	    define_implied(implied, pc, ts_query_end(t->target->q), err))
		return true;
	ts_tracing_drop_points(implied); /* not a part of it */
	return false;
}

/* ------------------------------------------------------------------------------------------------ life */

/* The client's own variables are numbered after the clock, so the client must know it. */
static bool define_clock(struct ts_tracing *t, struct ts_error *err)
{
	static const char name[] = "trace_timestamp";
	struct ts_buf text;
	bool done;

	ts_buf_init(&text);
	ts_buf_printf(&text, "%x:0:1:", RSP_TVAR_TIMESTAMP);
	ts_buf_hex(&text, name, strlen(name));
	done = ts_buf_ok(&text) && ts_tracing_var(t, (const char *)text.data, text.len, TS_NO_OFF, err);
	ts_buf_fini(&text);
	return done;
}

void rsp_tracing_grow(struct rsp_tracing *t, const struct ts_query *q)
{
	uint64_t end = ts_query_end(q);

	ts_frames_of_steps(&t->steps, end);
	t->implied.status.n_frames = t->implied.status.n_created = end < MAX_COUNT ? end + 1 : MAX_COUNT;
}

bool rsp_tracing_init(struct rsp_tracing *t, const struct rsp_target *target, struct ts_error *err)
{
	*t = (struct rsp_tracing){ .target = target, .selected = TS_NO_FRAME };
	ts_frame_init(&t->frame);
	ts_tracing_init(&t->implied);
	rsp_tracing_grow(t, target->q);
	t->implied.status.end = TS_RUN_STOPPED;
	t->implied.status.is_disconnected = true;
	if (define_clock(&t->implied, err))
		return true;
	rsp_tracing_fini(t);
	return ts_no_memory(err, "a session");
}

void rsp_tracing_fini(struct rsp_tracing *t)
{
	rsp_tracing_reset(t);
	ts_frame_fini(&t->frame);
	ts_tracing_fini(&t->implied);
}

void rsp_tracing_reset(struct rsp_tracing *t)
{
	rsp_collector_free(t->collector);
	t->collector = NULL;
	free(t->readonly);
	t->readonly = NULL;
	t->n_readonly = 0;
	t->selected = TS_NO_FRAME;
	t->is_unread = false;
	t->raw = t->raw_end = (struct rsp_raw_cursor){ 0 };
	t->piece = (struct rsp_piece_cursor){ 0 };
}

/*
 * The client's run, once it has begun.  What is defined but not started, or was refused, hides no frames.
 */
static struct rsp_collector *own_run(const struct rsp_tracing *t)
{
	struct rsp_collector *c = t->collector;

	return c && rsp_collector_has_begun(c) ? c : NULL;
}

static bool is_running(struct rsp_collector *c)
{
	return rsp_collector_tracing(c)->status.is_running;
}

void rsp_tracing_leave(struct rsp_tracing *t)
{
	if (!own_run(t) || !t->target->kept || !rsp_collector_tracing(t->collector)->status.is_disconnected)
		return;
	if (t->is_live && is_running(t->collector)) { /* it would wait for moves of this client */
		rsp_collector_stop(t->collector);
		rsp_collector_tracing(t->collector)->status.end = TS_RUN_DISCONNECTED;
	}
	rsp_collector_free(*t->target->kept);
	*t->target->kept = t->collector;
	t->collector = NULL;
}

void rsp_tracing_take(struct rsp_tracing *t)
{
	if (!t->target->kept)
		return;
	t->collector = *t->target->kept;
	*t->target->kept = NULL;
	t->is_unread = t->collector && is_running(t->collector) && !rsp_collector_is_busy(t->collector);
}

/* ------------------------------------------------------------------------------------------ what is shown */

bool rsp_tracing_has_run(const struct rsp_tracing *t)
{
	return own_run(t) != NULL;
}

/* The frames of the client's own run, or those that the recording consists of; NULL: one for each position. */
static struct ts_frames *collected_frames(const struct rsp_tracing *t)
{
	return own_run(t) ? rsp_collector_frames(own_run(t)) : ts_query_facts(t->target->q)->frames;
}

struct ts_frames *rsp_tracing_frames(struct rsp_tracing *t)
{
	struct ts_frames *collected = collected_frames(t);

	return collected ? collected : &t->steps;
}

static const struct ts_frames *shown_frames(const struct rsp_tracing *t)
{
	const struct ts_frames *collected = collected_frames(t);

	return collected ? collected : &t->steps;
}

const struct ts_tracing *rsp_tracing_shown(const struct rsp_tracing *t)
{
	if (own_run(t))
		return rsp_collector_tracing(own_run(t));
	if (ts_query_facts(t->target->q)->tracing)
		return ts_query_facts(t->target->q)->tracing;
	return &t->implied;
}

/* The frames are the recording's own, and more of it is being read. */
static bool is_provisional(const struct rsp_tracing *t)
{
	return !own_run(t) && !ts_query_is_complete(t->target->q);
}

/* The progress of a run or of reading, as the notes, which clients show. */
static void put_progress(const struct rsp_tracing *t, const char *own, struct ts_buf *notes)
{
	uint64_t pos, until;

	ts_buf_printf(notes, "%s%s", own ? own : "", own && *own ? "; " : "");
	if (is_provisional(t)) {
		rsp_target_put_read(t->target, notes);
		return;
	}
	if (t->is_unread) {
		/* it may have been read since the last slice */
		ts_buf_printf(notes, "begins when the recording has been read%s", ts_query_is_complete(t->target->q) ? "" : "; ");
		rsp_target_put_read(t->target, notes);
		return;
	}
	rsp_collector_progress(t->collector, &pos, &until);
	ts_buf_printf(notes, "collecting, position %" PRIu64 " of %" PRIu64, pos, until);
}

/* Settings that the client has made for the run that it will start. */
static void put_settings(const struct rsp_tracing *t, struct ts_run_status *status)
{
	const struct ts_run_status *own = &rsp_collector_tracing(t->collector)->status;

	status->is_circular |= own->is_circular;
	status->is_disconnected |= own->is_disconnected;
	if (own->n_bytes != TS_NO_COUNT)
		status->n_bytes = status->n_free = own->n_bytes; /* nothing has been collected into it */
	status->user = own->user ? own->user : status->user;
	status->notes = own->notes ? own->notes : status->notes;
}

void rsp_tracing_status(const struct rsp_tracing *t, struct ts_run_status *status, struct ts_buf *notes)
{
	struct rsp_collector *c = own_run(t);

	*status = c ? *rsp_collector_status(c) : rsp_tracing_shown(t)->status;
	/* one that was saved while it ran: it no longer runs, and gdb selects no frame of a running one */
	if (!c)
		status->is_running = false;
	if (!c && t->collector)
		put_settings(t, status);
	if (is_provisional(t))
		status->n_frames = status->n_created = TS_NO_COUNT;
	else if (!rsp_tracing_is_collecting(t))
		return;
	put_progress(t, status->notes, notes);
	status->notes = ts_buf_text(notes);
}

/* ------------------------------------------------------------------------------------- the selected frame */

bool rsp_tracing_select(struct rsp_tracing *t, uint64_t n, struct ts_error *err)
{
	if (n != TS_NO_FRAME && !ts_frames_get(rsp_tracing_frames(t), n, &t->frame, err)) {
		t->selected = TS_NO_FRAME;
		return false;
	}
	t->selected = n;
	return true;
}

uint64_t rsp_tracing_next(const struct rsp_tracing *t)
{
	uint64_t from = rsp_tracing_is_looking(t) ? t->selected + 1 : 0;

	return from < shown_frames(t)->n_frames ? from : TS_NO_FRAME;
}

/* The first position >= @pos whose pc is in [first, last], in any process. */
static uint64_t next_arrival(const struct ts_query *q, uint64_t first, uint64_t last, uint64_t pos)
{
	return ts_query_find_arrival(q, TS_ANY_PROCESS, first, last, pos, TS_FORWARDS);
}

static uint64_t next_outside(const struct ts_query *q, uint64_t first, uint64_t last, uint64_t pos)
{
	uint64_t below = first ? next_arrival(q, 0, first - 1, pos) : TS_NO_POS;
	uint64_t above = last < UINT64_MAX ? next_arrival(q, last + 1, UINT64_MAX, pos) : TS_NO_POS;

	return below < above ? below : above;
}

/* The first frame >= @from at or after position @pos. */
static uint64_t frame_at(const struct ts_frames *f, uint64_t pos, uint64_t from)
{
	uint64_t at = from;

	TS_BISECT(at, f->n_frames, i, f->ops->pos(f, i) < pos);
	return at;
}

/*
 * The frames are not those of the tracepoint's executions: alternate between the next execution and the frame
 * there.
 */
static uint64_t find_pc_in(const struct ts_query *q, const struct ts_frames *f, uint64_t first,
			   uint64_t last, bool is_outside, uint64_t from)
{
	while (from < f->n_frames) {
		uint64_t pos = f->ops->pos(f, from);
		uint64_t next = is_outside ? next_outside(q, first, last, pos)
					   : next_arrival(q, first, last, pos);

		if (next == TS_NO_POS)
			break;
		from = frame_at(f, next, from);
		if (from < f->n_frames && f->ops->pos(f, from) == next)
			return from;
	}
	return TS_NO_FRAME;
}

uint64_t rsp_tracing_find_pc(const struct rsp_tracing *t, uint64_t first, uint64_t last, bool is_outside)
{
	uint64_t from = rsp_tracing_next(t);

	if (from == TS_NO_FRAME)
		return TS_NO_FRAME;
	if (own_run(t))
		return rsp_collector_next_pc(own_run(t), first, last, is_outside, from);
	return find_pc_in(t->target->q, shown_frames(t), first, last, is_outside, from);
}

/* The bytes of frame @n. */
static bool frame_bytes(struct rsp_tracing *t, uint64_t n, struct ts_buf *out, struct ts_error *err)
{
	struct ts_frame f;
	bool done;

	ts_frame_init(&f);
	done = ts_frames_get(rsp_tracing_frames(t), n, &f, err) && ts_frame_bytes(t->target->q, &f, out, err);
	ts_frame_fini(&f);
	return done;
}

/*
 * May a packet that has read @n_read frames since @begin continue?  It may always read a few, however busy
 * the machine is.
 */
static bool has_time(unsigned n_read, int64_t begin)
{
	return n_read < MIN_FRAMES_READ || ts_now_ns() - begin < MAX_SEARCH_NS;
}

/*
 * Where the search for offset @off begins.  Clients read from the beginning to the end, and ask again for a piece that was
 * lost.
 */
static struct rsp_raw_cursor raw_start(const struct rsp_tracing *t, uint64_t off)
{
	if (off >= t->raw_end.off)
		return t->raw_end;
	return off >= t->raw.off ? t->raw : (struct rsp_raw_cursor){ 0 };
}

/* Frame @n was appended to @out, which begins at @at, and before which it had @had bytes. */
static void pass_frame(struct rsp_tracing *t, struct rsp_raw_cursor *at, uint64_t n, size_t had, uint64_t off,
		       struct ts_buf *out)
{
	t->raw_end = (struct rsp_raw_cursor){ n, at->off + had };
	if (at->off + out->len > off)
		return;
	*at = t->raw_end = (struct rsp_raw_cursor){ n + 1, at->off + out->len };
	ts_buf_reset(out);
}

bool rsp_tracing_raw(struct rsp_tracing *t, uint64_t off, size_t len, struct ts_buf *out,
		     struct ts_error *err)
{
	struct rsp_raw_cursor at = raw_start(t, off);
	uint64_t n_frames = shown_frames(t)->n_frames, n;
	int64_t begin = ts_now_ns();
	unsigned n_read = 0;

	for (n = at.frame; n < n_frames && at.off + out->len < off + len && has_time(n_read, begin); n++, n_read++) {
		size_t had = out->len;

		if (!frame_bytes(t, n, out, err))
			return false;
		pass_frame(t, &at, n, had, off, out);
	}
	t->raw = at;
	if (off > at.off + out->len || (off == at.off + out->len && n < n_frames))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       n < n_frames ? "frames are read in order" : "there are no more frames");
	ts_buf_consume(out, (size_t)(off - at.off));
	if (out->len > len)
		out->len = len;
	return true;
}

/* --------------------------------------------------------------------------------------------- collecting */

bool rsp_tracing_start(struct rsp_tracing *t, uint32_t process, const struct ts_regview *view,
		       bool is_physical, struct ts_error *err)
{
	if (!t->collector)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "no tracepoints are defined");
	t->selected = TS_NO_FRAME;
	t->raw = t->raw_end = (struct rsp_raw_cursor){ 0 };
	rsp_collector_see(t->collector, view, is_physical);
	if (!rsp_collector_start(t->collector, process, err))
		return false;
	t->is_live = t->mode == RSP_COLLECT_LIVE;
	t->is_unread = !t->is_live; /* or it has been read already: the first slice checks */
	return true;
}

bool rsp_tracing_is_collecting(const struct rsp_tracing *t)
{
	return t->collector &&
	       (rsp_collector_is_busy(t->collector) || (t->is_unread && is_running(t->collector)));
}

bool rsp_tracing_is_held_up(const struct rsp_tracing *t)
{
	return t->is_unread && !ts_query_is_complete(t->target->q) && rsp_tracing_is_collecting(t);
}

bool rsp_tracing_has_chores(const struct rsp_tracing *t)
{
	return rsp_tracing_is_collecting(t) && !rsp_tracing_is_held_up(t);
}

bool rsp_tracing_follow(struct rsp_tracing *t, uint64_t from, const struct ts_found *found)
{
	if (!t->collector || !t->is_live || found->pos <= from ||
	    !rsp_collector_tracing(t->collector)->status.is_running)
		return false;
	rsp_collector_span(t->collector, from + 1, found->pos);
	t->found = *found;
	return true;
}

/* A run over the whole recording is done.  The protocol has no stop reason for this: the text has it. */
static void finish(struct rsp_collector *c)
{
	struct ts_run_status *status = &rsp_collector_tracing(c)->status;
	bool was_running = status->is_running;

	rsp_collector_stop(c);
	if (was_running && status->end == TS_RUN_STOPPED)
		status->text = "the end of the recording";
}

bool rsp_tracing_slice(struct rsp_tracing *t, int64_t end_ns)
{
	if (rsp_tracing_is_held_up(t))
		return false;
	if (t->is_unread)
		rsp_collector_span(t->collector, 0, ts_query_end(t->target->q));
	t->is_unread = false;
	if (!rsp_collector_slice(t->collector, end_ns))
		return false;
	if (!t->is_live)
		finish(t->collector);
	return true;
}
