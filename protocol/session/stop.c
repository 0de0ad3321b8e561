/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>

#include "machine.h"
#include "session.h"
#include "src/arch/signals.h"
#include "protocol/session/documents/threads.h"

/* One step is in one chunk. */
#define CHUNKS_A_TURN 4

/* A reason of lldb's that is text only. */
static void put_exception(struct rsp_reply *r, const char *text)
{
	rsp_reply_puts(r, "reason:exception;description:");
	rsp_reply_hex_text(r, text);
	rsp_reply_putc(r, ';');
}

/*
 * An end of the recording.  lldb before 20 has no stop reason for it, and repeats a step that did not move
 * until the stop has another reason than a step.
 */
static void put_limit(const struct rsp_session *s, struct rsp_reply *r, bool is_end)
{
	if (s->is_lldb)
		put_exception(r, is_end ? "end of the recording" : "beginning of the recording");
	rsp_reply_printf(r, "replaylog:%s;", is_end ? "end" : "begin");
}

/*
 * lldb 21, which can go backwards, does not do so from a stop by a signal: it would deliver it.  lldb 20 is the
 * first that sends swbreak+.
 */
static void put_recorded_signal(const struct rsp_session *s, struct rsp_reply *r, uint64_t number)
{
	const char *name = ts_signal_name(number);
	char text[64];

	if (!s->is_lldb || !s->has_swbreak)
		return;
	snprintf(text, sizeof(text), "%ssignal%s%s", name ? "" : "unknown ", name ? " " : "", name ? name : "");
	put_exception(r, text);
}

static void put_watch(struct rsp_reply *r, const struct ts_watch *watch, uint64_t addr)
{
	static const char *const names[] = {
		[TS_WATCH_WRITE] = "watch",
		[TS_WATCH_READ] = "rwatch",
		[TS_WATCH_ACCESS] = "awatch",
	};

	rsp_reply_printf(r, "%s:%" PRIx64 ";", names[watch->kind], addr);
}

static void put_reason(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *f)
{
	struct ts_break at = { ts_query_process(s->target->q, s->thread), 0 };
	struct ts_error err = { 0 };
	bool has_pc, is_soft;

	switch (f->kind) {
	case TS_STOP_END: /* not at the last position: where its thread begins */
		put_limit(s, r, f->pos && f->pos == rsp_last(s));
		break;
	case TS_STOP_EXIT:
		if (f->pos == 0 || (f->pos == rsp_last(s) && ts_query_is_complete(s->target->q)))
			put_limit(s, r, f->pos != 0);
		break;
	case TS_STOP_BREAK:
		ts_query_pc(s->target->q, s->pos, s->thread, &at.addr, &has_pc, &err);
		is_soft = rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at) != NULL;
		if (is_soft ? s->has_swbreak : s->has_hwbreak)
			rsp_reply_puts(r, is_soft ? "swbreak:;" : "hwbreak:;");
		break;
	case TS_STOP_WATCH:
		put_watch(r, &s->breaks.watches[f->watch], f->addr);
		break;
	case TS_STOP_SYSCALL_ENTRY:
		rsp_reply_printf(r, "syscall_entry:%" PRIx64 ";", f->number);
		break;
	case TS_STOP_SYSCALL_RETURN:
		rsp_reply_printf(r, "syscall_return:%" PRIx64 ";", f->number);
		break;
	case TS_STOP_FORK: /* the child has one thread */
	case TS_STOP_VFORK:
		s->child = (int64_t)f->number;
		s->owes_vfork_done = f->kind == TS_STOP_VFORK;
		rsp_reply_printf(r, "%s:p%" PRIx64 ".%" PRIx64 ";", f->kind == TS_STOP_VFORK ? "vfork" : "fork", f->number, f->number);
		break;
	case TS_STOP_VFORK_DONE:
		rsp_reply_puts(r, "vforkdone:;");
		break;
	case TS_STOP_MODULES:
		rsp_reply_puts(r, "library:;");
		break;
	case TS_STOP_SIGNAL: /* the signal number shows it */
		put_recorded_signal(s, r, f->number);
		break;
	case TS_STOP_STEP:
	case TS_STOP_INTERRUPT:
		break;
	}
}

/* A register that a debugger reads at every stop. */
static bool is_expedited(const struct ts_regset *set, const struct ts_reg *reg)
{
	return (reg->feature == set->regs[set->pc].feature || reg->role != TS_ROLE_NONE) && reg->bits <= 64;
}

static bool is_known(const uint8_t *known, size_t len)
{
	size_t i = 0;

	while (i < len && known[i])
		i++;
	return i == len;
}

static void put_registers(struct rsp_session *s, struct rsp_reply *r)
{
	const struct ts_regset *set = rsp_regset(s);
	uint8_t *data = s->scratch, *known = s->scratch + set->g_len;
	struct ts_error err = { 0 };

	if (!rsp_session_regs(s, s->pos, s->thread, data, known, &err)) {
		rsp_reply_failure(r, s->target->trace, &err);
		return;
	}
	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *reg = &set->regs[i];

		if (is_expedited(set, reg) && is_known(known + reg->off, reg->len))
			rsp_reply_register(r, reg->regnum, data + reg->off, reg->len);
	}
}

static void put_moved(const struct rsp_session *s, struct rsp_reply *r)
{
	char text[64];

	snprintf(text, sizeof(text), "at position %" PRIu64, s->pos);
	rsp_reply_puts(r, "05");
	put_exception(r, text);
}

/*
 * lldb resumes by itself after a stop that has neither a signal nor a reason: so it goes on when it has read
 * the list of libraries, but not where the session has moved.
 */
static void put_signal(const struct rsp_session *s, struct rsp_reply *r, uint8_t signal,
		       const struct ts_found *found)
{
	if (s->is_lldb && found && found->kind == TS_STOP_MODULES)
		signal = 0;
	else if (s->is_lldb && !signal) {
		put_moved(s, r);
		return;
	}
	rsp_reply_hex(r, &signal, 1);
}

/*
 * The ids of the threads at the position, for a client that wants them with each stop (lldb-gdb-remote.txt,
 * QListThreadsInStopReply).  A list that does not fit is left out: the client then asks for it.
 */
static void put_threads(const struct rsp_session *s, struct rsp_reply *r)
{
	const uint32_t n = ts_query_n_threads(s->target->q);
	const size_t max_len = sizeof("threads:;") + 17 * (size_t)n;
	char separator = ':';

	if (max_len > rsp_reply_room(r))
		return;
	rsp_reply_puts(r, "threads");
	for (uint32_t i = 0; i < n; i++) {
		if (!rsp_thread_exists(s, i))
			continue;
		rsp_reply_putc(r, separator);
		rsp_reply_num(r, rsp_session_tid(s, i).tid);
		separator = ',';
	}
	rsp_reply_putc(r, ';');
}

void rsp_stop_reply(struct rsp_session *s, struct rsp_reply *r, uint8_t signal,
			    const struct ts_found *found)
{
	s->reported_pos = s->pos;
	rsp_threads_note(s, s->thread);
	rsp_reply_putc(r, 'T');
	put_signal(s, r, signal, found);
	if (found)
		put_reason(s, r, found);
	put_registers(s, r);
	rsp_reply_puts(r, "thread:");
	rsp_reply_tid(r, rsp_session_tid(s, s->thread));
	rsp_reply_putc(r, ';');
	if (s->lists_threads)
		put_threads(s, r);
}

/* Does the step between these neighbouring positions trigger the watchpoint?  Fills @found. */
static bool triggers(struct rsp_session *s, const struct ts_watch *watch, uint64_t from, uint64_t to,
		     struct ts_found *found)
{
	const struct ts_stops stops = {
		.watches = watch,
		.n_watches = 1,
		.is_virtual = rsp_machine_is_virtual(s),
	};
	struct ts_error ignored = { 0 };
	enum ts_next next = TS_FAIL;
	struct ts_search search;

	if (!ts_search_init(&search, s->target->q, &stops, from, to, &ignored))
		return false;
	do
		next = ts_search_run(&search, CHUNKS_A_TURN, found, &ignored);
	while (next == TS_END);
	ts_search_fini(&search);
	return next == TS_ITEM && found->kind == TS_STOP_WATCH;
}

void rsp_stop_put_watches(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found,
			  bool is_reverse)
{
	const uint64_t from = is_reverse ? found->pos + 1 : found->pos - 1;
	struct ts_found other;

	if (found->kind != TS_STOP_WATCH || !s->has_watches || r->kind != RSP_REPLY_DATA)
		return;
	for (size_t i = 0; i < s->breaks.n_watches; i++) {
		if (i != found->watch && triggers(s, &s->breaks.watches[i], from, found->pos, &other))
			put_watch(r, &s->breaks.watches[i], other.addr);
	}
}
