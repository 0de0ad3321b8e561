/* SPDX-License-Identifier: MIT */
#include "tracing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/wait.h"
#include "src/base/clock.h"
#include "src/export/frame_bytes.h"

/* How long a packet may search for an offset in the bytes of all frames. */
#define MAX_SEARCH_NS   INT64_C(15000000)
#define MIN_FRAMES_READ 64

/* Limit on the regions of memory that are searched. */
#define MAX_REGIONS 256

/* Limit on the parts listed of one collected range. */
#define MAX_LISTED (UINT32_C(1) << 20)

/* Counts are int in gdb. */
#define MAX_COUNT INT32_MAX

/* ---------------------------------------------------------------------------------------- the implied run */

static bool add_piece(struct ts_tracing *t, enum ts_piece piece, struct ts_buf *text, struct ts_error *err)
{
	bool done =
		ts_buf_ok(text) && ts_tracing_piece(t, piece, (const char *)text->data, text->len, 0, err);

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

bool rsp_tracing_imply(struct rsp_session *s, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (s->tracing.implied.points)
		return true;
	return ts_query_pc(s->target->q, 0, ts_query_thread(s->target->q, 0), &pc, &has_pc, err) &&
	       define_implied(&s->tracing.implied, pc, rsp_last(s), err);
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

bool rsp_tracing_init(struct rsp_tracing *t, const struct ts_query *q, struct ts_error *err)
{
	*t = (struct rsp_tracing){ .selected = TS_NO_FRAME };
	ts_frame_init(&t->frame);
	ts_tracing_init(&t->implied);
	rsp_tracing_grow(t, q);
	t->implied.status.end = TS_RUN_STOPPED;
	t->implied.status.is_disconnected = true;
	if (define_clock(&t->implied, err))
		return true;
	rsp_tracing_fini(t);
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a session");
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
	t->raw = (struct rsp_raw_cursor){ 0 };
	t->piece = (struct rsp_piece_cursor){ 0 };
}

/*
 * The client's run, once it has begun.  What is defined but not started, or was refused, hides no frames.
 */
static struct rsp_collector *own_run(const struct rsp_session *s)
{
	struct rsp_collector *c = s->tracing.collector;

	return c && rsp_collector_has_begun(c) ? c : NULL;
}

static bool is_running(struct rsp_collector *c)
{
	return rsp_collector_tracing(c)->status.is_running;
}

void rsp_tracing_leave(struct rsp_session *s)
{
	struct rsp_tracing *t = &s->tracing;

	if (!own_run(s) || !s->target->kept || !rsp_collector_tracing(t->collector)->status.is_disconnected)
		return;
	if (t->is_live && is_running(t->collector)) { /* it would wait for moves of this client */
		rsp_collector_stop(t->collector);
		rsp_collector_tracing(t->collector)->status.end = TS_RUN_DISCONNECTED;
	}
	rsp_collector_free(*s->target->kept);
	*s->target->kept = t->collector;
	t->collector = NULL;
}

void rsp_tracing_take(struct rsp_session *s)
{
	if (!s->target->kept)
		return;
	s->tracing.collector = *s->target->kept;
	*s->target->kept = NULL;
	s->tracing.is_unread = s->tracing.collector && is_running(s->tracing.collector) &&
			       !rsp_collector_is_busy(s->tracing.collector);
}

/* ------------------------------------------------------------------------------------------ what is shown */

bool rsp_tracing_has_run(const struct rsp_session *s)
{
	return own_run(s) != NULL;
}

struct ts_frames *rsp_tracing_frames(const struct rsp_session *s)
{
	if (own_run(s))
		return rsp_collector_frames(own_run(s));
	if (ts_query_facts(s->target->q)->frames)
		return ts_query_facts(s->target->q)->frames;
	return (struct ts_frames *)&s->tracing.steps;
}

const struct ts_tracing *rsp_tracing_shown(const struct rsp_session *s)
{
	if (own_run(s))
		return rsp_collector_tracing(own_run(s));
	if (ts_query_facts(s->target->q)->tracing)
		return ts_query_facts(s->target->q)->tracing;
	return &s->tracing.implied;
}

bool rsp_tracing_wait_until_known(struct rsp_session *s)
{
	return own_run(s) || rsp_wait_until_complete(s);
}

/* The frames are the recording's own, and more of it is being read. */
static bool is_provisional(const struct rsp_session *s)
{
	return !own_run(s) && !rsp_is_complete(s);
}

/* The progress of a run or of reading, as the notes, which clients show. */
static void put_progress(const struct rsp_session *s, const char *own, struct ts_buf *notes)
{
	uint64_t pos, until;

	ts_buf_printf(notes, "%s%s", own ? own : "", own && *own ? "; " : "");
	if (is_provisional(s)) {
		rsp_target_put_read(s->target, notes);
		return;
	}
	if (s->tracing.is_unread) {
		ts_buf_puts(notes, "begins when the recording has been read; ");
		rsp_target_put_read(s->target, notes);
		return;
	}
	rsp_collector_progress(s->tracing.collector, &pos, &until);
	ts_buf_printf(notes, "collecting, position %" PRIu64 " of %" PRIu64, pos, until);
}

void rsp_tracing_status(const struct rsp_session *s, struct ts_run_status *status, struct ts_buf *notes)
{
	struct rsp_collector *c = own_run(s);

	*status = c ? *rsp_collector_status(c) : rsp_tracing_shown(s)->status;
	/* one that was saved while it ran: it no longer runs, and gdb selects no frame of a running one */
	if (!c)
		status->is_running = false;
	if (is_provisional(s))
		status->n_frames = status->n_created = TS_NO_COUNT;
	else if (!rsp_tracing_is_collecting(s))
		return;
	put_progress(s, status->notes, notes);
	status->notes = ts_buf_text(notes);
}

/* ------------------------------------------------------------------------------------- the selected frame */

bool rsp_tracing_select(struct rsp_session *s, uint64_t n, struct ts_error *err)
{
	struct rsp_tracing *t = &s->tracing;

	if (n != TS_NO_FRAME && !ts_frames_get(rsp_tracing_frames(s), n, &t->frame, err)) {
		t->selected = TS_NO_FRAME;
		return false;
	}
	t->selected = n;
	return true;
}

uint64_t rsp_tracing_next(const struct rsp_session *s)
{
	uint64_t from = rsp_tracing_is_looking(&s->tracing) ? s->tracing.selected + 1 : 0;

	return from < rsp_tracing_frames(s)->n_frames ? from : TS_NO_FRAME;
}

/* The first position >= @pos whose pc is in [first, last], in any process. */
static uint64_t next_arrival(const struct ts_query *q, uint64_t first, uint64_t last, uint64_t pos)
{
	return ts_query_next_arrival(q, TS_ANY_PROCESS, first, last, pos);
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
	uint64_t low = from, high = f->n_frames;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (f->ops->pos(f, mid) < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
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

uint64_t rsp_tracing_find_pc(const struct rsp_session *s, uint64_t first, uint64_t last, bool is_outside)
{
	uint64_t from = rsp_tracing_next(s);

	if (from == TS_NO_FRAME)
		return TS_NO_FRAME;
	if (own_run(s))
		return rsp_collector_next_pc(own_run(s), first, last, is_outside, from);
	return find_pc_in(s->target->q, rsp_tracing_frames(s), first, last, is_outside, from);
}

/* A frame without registers shows at least its pc. */
static void keep_pc_only(const struct rsp_session *s, uint8_t *data, uint8_t *known)
{
	const struct ts_regset *set = rsp_regset(s);

	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *reg = &set->regs[i];

		if ((int)i == set->pc && s->tracing.frame.has_pc)
			continue;
		memset(data + reg->off, 0, reg->len);
		memset(known + reg->off, 0, reg->len);
	}
}

static uint32_t frame_thread(const struct rsp_session *s)
{
	return ts_query_thread(s->target->q, s->tracing.frame.pos);
}

bool rsp_tracing_regs(const struct rsp_session *s, uint8_t *data, uint8_t *known, struct ts_error *err)
{
	const struct ts_frame *f = &s->tracing.frame;

	if (!rsp_session_regs(s, f->pos, frame_thread(s), data, known, err))
		return false;
	if (!f->has_regs)
		keep_pc_only(s, data, known);
	return true;
}

/* Read-only memory is in every frame. */
static bool is_readonly(const struct rsp_tracing *t, uint64_t addr)
{
	for (size_t i = 0; i < t->n_readonly; i++) {
		if (addr >= t->readonly[i].addr && addr - t->readonly[i].addr < t->readonly[i].len)
			return true;
	}
	return false;
}

/*
 * In a saved run, so is memory that the program cannot write: gdb lists the read-only ranges of its own runs
 * only.
 */
static void add_fixed(const struct rsp_session *s, uint32_t process, uint64_t addr, size_t len,
		      const uint8_t *all, uint8_t *known)
{
	struct ts_region_info regions[MAX_REGIONS];
	size_t n = ts_query_regions(s->target->q, process, s->tracing.frame.pos, regions, MAX_REGIONS);

	for (size_t i = 0; i < n && i < MAX_REGIONS; i++) {
		const struct ts_region_info *r = &regions[i];

		if (!r->prot || r->prot & TS_PROT_WRITE)
			continue;
		for (size_t j = 0; j < len; j++)
			known[j] |= all[j] && addr + j >= r->first && addr + j <= r->last;
	}
}

bool rsp_tracing_mem(const struct rsp_session *s, uint64_t addr, size_t len, uint8_t *data, uint8_t *known,
		     struct ts_error *err)
{
	const struct ts_frame *f = &s->tracing.frame;
	uint32_t process = ts_query_process(s->target->q, frame_thread(s));
	uint8_t *all;

	if (!rsp_session_mem(s, f->pos, process, addr, len, data, known, err))
		return false;
	if (f->is_whole)
		return true;
	all = malloc(len + 1);
	if (!all)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a trace frame's memory");
	memcpy(all, known, len);
	ts_frame_mask(f, addr, len, known);
	for (size_t i = 0; i < len; i++)
		known[i] |= all[i] && is_readonly(&s->tracing, addr + i);
	if (!own_run(s))
		add_fixed(s, process, addr, len, all, known);
	free(all);
	return true;
}

/* ------------------------------------------------------------------------------------------ what is in it */

/* The known parts of a collected range: one element each. */
static void put_known(const struct rsp_session *s, const struct ts_range *range, struct ts_buf *out)
{
	size_t len = range->len < MAX_LISTED ? (size_t)range->len : MAX_LISTED;
	uint8_t *bytes = malloc(2 * len + 1), *known = bytes ? bytes + len : NULL;
	struct ts_error err = { 0 };

	if (!bytes || !rsp_tracing_mem(s, range->addr, len, bytes, known, &err))
		len = 0;
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 1; i + n < len && known[i + n] == known[i];)
			n++;
		if (known[i])
			ts_buf_printf(out, "<memory start=\"0x%" PRIx64 "\" length=\"0x%zx\"/>\n",
				      ts_arch_wide_addr(rsp_regset(s)->arch, range->addr + i), n);
	}
	free(bytes);
}

void rsp_tracing_info_xml(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_frame *f = &s->tracing.frame;

	ts_buf_puts(out, "<?xml version=\"1.0\"?>\n<!DOCTYPE traceframe-info SYSTEM "
			 "\"traceframe-info.dtd\">\n<traceframe-info>\n");
	for (size_t i = 0; i < f->n_ranges; i++)
		put_known(s, &f->ranges[i], out);
	for (size_t i = 0; i < f->n_vars; i++)
		ts_buf_printf(out, "<tvar id=\"0x%" PRIx32 "\"/>\n", f->vars[i].number);
	ts_buf_puts(out, "</traceframe-info>\n");
}

/* The bytes of frame @n. */
static bool frame_bytes(const struct rsp_session *s, uint64_t n, struct ts_buf *out, struct ts_error *err)
{
	struct ts_frame f;
	bool done;

	ts_frame_init(&f);
	done = ts_frames_get(rsp_tracing_frames(s), n, &f, err) && ts_frame_bytes(s->target->q, &f, out, err);
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

/* Clients read from the beginning to the end, so the search for a piece starts where the last one began. */
bool rsp_tracing_raw(struct rsp_session *s, uint64_t off, size_t len, struct ts_buf *out,
		     struct ts_error *err)
{
	struct rsp_raw_cursor *at = &s->tracing.raw;
	uint64_t n_frames = rsp_tracing_frames(s)->n_frames, n;
	int64_t begin = ts_now_ns();
	unsigned n_read = 0;

	if (s->layout)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "frames are kept with all registers: monitor export saves them");
	if (off < at->off)
		*at = (struct rsp_raw_cursor){ 0 };
	for (n = at->frame; n < n_frames && at->off + out->len < off + len && has_time(n_read, begin);
	     n++, n_read++) {
		if (!frame_bytes(s, n, out, err))
			return false;
		if (at->off + out->len <= off) {
			*at = (struct rsp_raw_cursor){ n + 1, at->off + out->len };
			ts_buf_reset(out);
		}
	}
	if (off > at->off + out->len || (off == at->off + out->len && n < n_frames))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       n < n_frames ? "frames are read in order" : "there are no more frames");
	ts_buf_consume(out, (size_t)(off - at->off));
	if (out->len > len)
		out->len = len;
	return true;
}

/* --------------------------------------------------------------------------------------------- collecting */

bool rsp_tracing_start(struct rsp_session *s, struct ts_error *err)
{
	struct rsp_tracing *t = &s->tracing;

	if (!t->collector)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "no tracepoints are defined");
	t->selected = TS_NO_FRAME;
	t->raw = (struct rsp_raw_cursor){ 0 };
	rsp_collector_see(t->collector, s->layout ? &s->layout->regs : NULL, s->is_physical);
	if (!rsp_collector_start(t->collector, rsp_process(s), err))
		return false;
	t->is_live = t->mode == RSP_COLLECT_LIVE;
	t->is_unread = !t->is_live; /* or it has been read already: the first slice checks */
	return true;
}

bool rsp_tracing_is_collecting(const struct rsp_session *s)
{
	const struct rsp_tracing *t = &s->tracing;

	return t->collector &&
	       (rsp_collector_is_busy(t->collector) || (t->is_unread && is_running(t->collector)));
}

bool rsp_tracing_is_held_up(const struct rsp_session *s)
{
	return s->tracing.is_unread && !ts_query_is_complete(s->target->q) && rsp_tracing_is_collecting(s);
}

bool rsp_tracing_has_chores(const struct rsp_session *s)
{
	return rsp_tracing_is_collecting(s) && !rsp_tracing_is_held_up(s);
}

bool rsp_tracing_follow(struct rsp_session *s, uint64_t from, const struct ts_found *found)
{
	struct rsp_tracing *t = &s->tracing;

	if (!t->collector || !t->is_live || found->pos <= from ||
	    !rsp_collector_tracing(t->collector)->status.is_running)
		return false;
	rsp_collector_span(t->collector, from + 1, found->pos);
	t->found = *found;
	return true;
}

/* A run over the whole recording is done.  The protocol has no stop reason for this: the text tells it. */
static void finish(struct rsp_collector *c)
{
	struct ts_run_status *status = &rsp_collector_tracing(c)->status;
	bool was_running = status->is_running;

	rsp_collector_stop(c);
	if (was_running && status->end == TS_RUN_STOPPED)
		status->text = "the end of the recording";
}

bool rsp_tracing_slice(struct rsp_session *s, int64_t end_ns)
{
	struct rsp_tracing *t = &s->tracing;

	if (rsp_tracing_is_held_up(s))
		return false;
	if (t->is_unread)
		rsp_collector_span(t->collector, 0, rsp_last(s));
	t->is_unread = false;
	if (!rsp_collector_slice(t->collector, end_ns))
		return false;
	if (!t->is_live)
		finish(t->collector);
	return true;
}
