/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/query/paging.h"
#include "src/query/code/thumb.h"

/* Where one process alone is examined, it runs there; the recording may have been read only up to before that. */
void rsp_session_go_first(struct rsp_session *s)
{
	uint64_t pos = s->target->process ? ts_query_find_admitted(s->target->q, &s->filter, 0, TS_FORWARDS) : 0;

	rsp_session_go(s, pos == TS_NO_POS ? 0 : pos);
}

bool rsp_session_init(struct rsp_session *s, const struct rsp_target *target, struct ts_error *err)
{
	*s = (struct rsp_session){ .target = target };
	s->scratch = malloc(4 * (size_t)ts_query_regset(target->q)->g_len + 1);
	if (!s->scratch)
		return ts_no_memory(err, "a session");
	if (!rsp_tracing_init(&s->tracing, target, err)) {
		free(s->scratch);
		return false;
	}
	rsp_breaks_init(&s->breaks);
	s->breaks.budget = target->budget;
	ts_buf_init(&s->console);
	ts_buf_init(&s->missing);
	ts_buf_init(&s->wait.packet);
	ts_buf_init(&s->document.text);
	for (unsigned i = 0; i < RSP_MAX_FILES; i++)
		ts_buf_init(&s->files[i].text);
	rsp_session_reset(s);
	rsp_tracing_take(&s->tracing);
	rsp_session_go_first(s);
	return true;
}

void rsp_session_reset(struct rsp_session *s)
{
	rsp_job_cancel(&s->job, s);
	rsp_breaks_fini(&s->breaks);
	for (unsigned i = 0; i < RSP_MAX_FILES; i++)
		rsp_session_close(s, &s->files[i]);
	s->document.name[0] = '\0';
	free(s->syscalls);
	s->syscalls = NULL;
	s->n_syscalls = 0;
	s->catches_syscalls = false;
	s->is_backwards = false;
	memset(s->passed_signals, 0, sizeof(s->passed_signals));
	s->tracing.selected = TS_NO_FRAME;
	s->tracing.was_listed = false;
	s->is_announcing = s->is_interrupt_pending = s->is_stop_unseen = s->has_ended = s->has_reported_reads = false;
	s->is_physical = false;
	s->layout = rsp_target_layout(s->target, s->pos);
	s->filter = (struct ts_filter){ 0 };
	if (s->target->process)
		s->filter = (struct ts_filter){ .has_root = true, .root = *s->target->process };
	s->has_forks = s->has_vforks = s->has_execs = s->is_in_child = s->owes_vfork_done = false;
	s->child = 0;
	s->has_multiprocess = s->has_swbreak = s->has_hwbreak = false;
	s->step_thread = TS_NO_THREAD;
	free(s->listed_threads);
	s->listed_threads = NULL;
	s->n_listed_threads = 0;
	s->alone = TS_NO_THREAD;
	s->has_stepped_over = false;
	s->modules_at = TS_NO_POS;
	ts_buf_reset(&s->missing);
}

void rsp_session_fini(struct rsp_session *s)
{
	rsp_session_reset(s);
	rsp_tracing_leave(&s->tracing);
	rsp_tracing_fini(&s->tracing);
	ts_buf_fini(&s->document.text);
	ts_buf_fini(&s->console);
	ts_buf_fini(&s->missing);
	free(s->scratch);
	if (s->asking)
		s->free_asking(s->asking);
}

bool rsp_session_open(struct rsp_session *s, struct rsp_file *f)
{
	struct rsp_frame_budget *budget = s->target->budget;
	uint64_t len = f->source ? 0 : f->text.len, sum = 0;

	for (unsigned i = 0; i < RSP_MAX_FILES; i++)
		sum += s->files[i].counted;
	if ((sum && sum + len > RSP_MAX_FILE_TEXT) || (budget && len && budget->used + len > budget->max / 2)) {
		rsp_session_close(s, f);
		return false;
	}
	f->is_open = true;
	f->counted = len;
	if (budget)
		budget->used += len;
	return true;
}

void rsp_session_close(struct rsp_session *s, struct rsp_file *f)
{
	if (s->target->budget)
		s->target->budget->used -= f->counted;
	f->counted = 0;
	f->is_open = false;
	ts_buf_fini(&f->text);
}

void rsp_session_go(struct rsp_session *s, uint64_t pos)
{
	s->pos = pos;
	rsp_session_stop_in(s, ts_query_thread(s->target->q, pos));
}

void rsp_session_announce(struct rsp_session *s, const struct rsp_destination *d)
{
	s->announced = *d;
	s->is_announcing = true;
	if (s->is_lldb && d->kind == RSP_TO_POSITION)
		ts_buf_printf(&s->console, "The next step or continue stops at position %" PRIu64 ".\n",
			      d->pos);
	else if (s->is_lldb)
		ts_buf_puts(&s->console, "The next step or continue stops there.\n");
}

void rsp_session_shown(struct rsp_session *s)
{
	s->is_interrupt_pending = s->is_stop_unseen = s->has_ended = false;
	s->has_stepped_over = false;
}

void rsp_session_interrupt(struct rsp_session *s)
{
	if (s->job.ops)
		rsp_job_interrupt(&s->job, s);
	else
		s->is_interrupt_pending = s->is_stop_unseen;
}

/* ------------------------------------------------------------------------------------------------ threads */

struct rsp_tid rsp_session_tid(const struct rsp_session *s, uint32_t thread)
{
	const struct ts_names *names = &s->target->names;

	return (struct rsp_tid){
		.pid = s->has_multiprocess ? names->pids[ts_query_process(s->target->q, thread)]
					   : RSP_TID_ANY,
		.tid = names->tids[thread],
		.has_pid = s->has_multiprocess,
	};
}

bool rsp_session_begins_later(const struct rsp_session *s, uint32_t thread)
{
	uint64_t first = ts_query_next_step(s->target->q, thread, 0);

	return first != TS_NO_POS && first > s->pos && !ts_query_is_alive(s->target->q, thread, s->pos);
}

static bool is_meant(const struct rsp_session *s, uint32_t thread, struct rsp_tid tid)
{
	const struct ts_names *names = &s->target->names;

	if (tid.has_pid && tid.pid > 0 && names->pids[ts_query_process(s->target->q, thread)] != tid.pid)
		return false;
	return tid.tid <= 0 || names->tids[thread] == tid.tid;
}

uint32_t rsp_session_find_thread(const struct rsp_session *s, struct rsp_tid tid)
{
	if (is_meant(s, s->thread, tid))
		return s->thread;
	for (uint32_t i = 0; i < ts_query_n_threads(s->target->q); i++) {
		if (is_meant(s, i, tid))
			return i;
	}
	return TS_NO_THREAD;
}

/* ---------------------------------------------------------------------------------------------- registers */

/* Set at least the Thumb bit of an unknown status register; a register cannot be sent as partly unknown. */
static bool fill_status(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint8_t *data,
			uint8_t *known, struct ts_error *err)
{
	const struct ts_regset *set = rsp_regset(s);
	const struct ts_reg *reg = &set->regs[set->flags];
	bool is_thumb;

	if (known[reg->off])
		return true;
	if (!ts_thumb_at(s->target->q, pos, thread, &is_thumb, err))
		return false;
	ts_arch_put(set->arch, data + reg->off, reg->len, is_thumb ? TS_THUMB_BIT : 0);
	memset(known + reg->off, 1, reg->len);
	return true;
}

/* All ones for an unknown pc of the thread that runs; a trace frame may be without one. */
static void fill_pc(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known)
{
	const struct ts_regset *set = rsp_regset(s);
	const struct ts_reg *reg = &set->regs[set->pc];

	if (known[reg->off] || rsp_tracing_is_looking(&s->tracing) ||
	    thread != ts_query_thread(s->target->q, pos))
		return;
	memset(data + reg->off, 0xff, reg->len);
	memset(known + reg->off, 1, reg->len);
}

bool rsp_session_regs(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint8_t *data,
		      uint8_t *known, struct ts_error *err)
{
	uint32_t len = ts_query_regset(s->target->q)->g_len;
	uint8_t *all = s->scratch + 2 * (size_t)len;

	if (pos == s->pos && rsp_session_begins_later(s, thread)) { /* not even what its first step will show */
		memset(known, 0, rsp_regset(s)->g_len);
		memset(data, 0, rsp_regset(s)->g_len);
		return true;
	}
	if (s->layout) {
		if (!ts_query_regs(s->target->q, pos, thread, all, all + len, err))
			return false;
		ts_regview_see(&s->layout->regs, all, all + len, data, known);
		return true;
	}
	if (!ts_query_regs(s->target->q, pos, thread, data, known, err))
		return false;
	if (!s->is_gdb)
		return true;
	fill_pc(s, pos, thread, data, known);
	return !rsp_regset(s)->arch->has_thumb || fill_status(s, pos, thread, data, known, err);
}

bool rsp_session_mem(const struct rsp_session *s, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		     uint8_t *data, uint8_t *known, struct ts_error *err)
{
	if (s->is_physical)
		return ts_query_mem(s->target->q, pos, process, addr, len, data, known, err);
	return ts_virtual_mem(s->target->q, pos, process, addr, len, data, known, err);
}

/* ------------------------------------------------------------------------------------------------ errors */

void rsp_session_refuse(struct rsp_session *s, struct rsp_reply *r, const char *text, bool is_command)
{
	if (!is_command || (s->has_error_message && rsp_reply_is_plain(text))) {
		rsp_reply_error_text(r, "%s", text);
		return;
	}
	ts_buf_printf(&s->console, "%s\n", text);
	if (s->has_error_message)
		rsp_reply_error_text(r, "Nothing was done");
	else
		rsp_reply_error(r, RSP_ERROR_PLAIN);
}

enum rsp_done rsp_reply_failure(struct rsp_reply *r, const char *file, const struct ts_error *err)
{
	char text[600];

	ts_error_format(err, file, text, sizeof(text));
	ts_log(TS_LOG_WARN, "%s", text);
	return rsp_reply_error_text(r, "%s", text);
}

/* --------------------------------------------------------------------------------------- packets and runs */

bool rsp_session_is_delay_slot(const struct rsp_session *s, uint64_t pos, uint32_t thread)
{
	uint64_t pc[3] = { 0 };
	bool has_pc = true;
	struct ts_error err = { 0 };

	if (!rsp_regset(s)->arch->has_delay_slots || !pos)
		return false;
	for (unsigned i = 0; i < 3 && has_pc; i++)
		has_pc = ts_query_pc(s->target->q, pos - 1 + i, thread, &pc[i], &has_pc, &err) && has_pc;
	return has_pc && pc[1] == pc[0] + 4 && pc[2] != pc[1] + 4;
}

void rsp_session_do_background(struct rsp_session *s)
{
	rsp_tracing_slice(&s->tracing, ts_now_ns() + TS_SLICE_NS);
}
