/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "src/query/thumb.h"
#include "threads.h"

/*
 * An end of the recording.  lldb before 20 has no stop reason for it, and repeats a step that did not move
 * until the stop has another reason than a step.
 */
static void put_limit(const struct rsp_session *s, struct rsp_reply *r, bool is_end)
{
	if (s->is_lldb) {
		rsp_reply_puts(r, "reason:exception;description:");
		rsp_reply_hex_text(r, is_end ? "end of the recording" : "beginning of the recording");
		rsp_reply_putc(r, ';');
	}
	rsp_reply_printf(r, "replaylog:%s;", is_end ? "end" : "begin");
}

static void put_reason(const struct rsp_session *s, struct rsp_reply *r, const struct ts_found *f)
{
	static const char *const watch_names[] = {
		[TS_WATCH_WRITE] = "watch",
		[TS_WATCH_READ] = "rwatch",
		[TS_WATCH_ACCESS] = "awatch",
	};
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
		rsp_reply_printf(r, "%s:%" PRIx64 ";", watch_names[s->breaks.watches[f->watch].kind],
				 f->addr);
		break;
	case TS_STOP_SYSCALL_ENTRY:
		rsp_reply_printf(r, "syscall_entry:%" PRIx64 ";", f->number);
		break;
	case TS_STOP_SYSCALL_RETURN:
		rsp_reply_printf(r, "syscall_return:%" PRIx64 ";", f->number);
		break;
	case TS_STOP_MODULES:
		rsp_reply_puts(r, "library:;");
		break;
	case TS_STOP_SIGNAL: /* the signal number tells it */
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
	rsp_reply_puts(r, "05reason:exception;description:");
	rsp_reply_hex_text(r, text);
	rsp_reply_putc(r, ';');
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
