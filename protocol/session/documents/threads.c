/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire/xml.h"
#include "protocol/session/session.h"

bool rsp_thread_exists(const struct rsp_session *s, uint32_t thread)
{
	if (s->is_detached)
		return false;
	/* the first one needs no search for the turn of the position */
	return ts_query_is_alive(s->target->q, thread, s->pos) ||
	       thread == ts_query_thread(s->target->q, s->pos);
}

void rsp_threads_note(struct rsp_session *s, uint32_t thread)
{
	uint32_t n = thread + 1 > ts_query_n_threads(s->target->q) ? thread + 1 : ts_query_n_threads(s->target->q);
	uint8_t *told = s->listed_threads;

	if (thread >= s->n_listed_threads) {
		told = realloc(told, n / 8 + 1);
		if (!told)
			return;
		memset(told + (s->n_listed_threads + 7) / 8, 0, n / 8 + 1 - (s->n_listed_threads + 7) / 8);
		s->listed_threads = told;
		s->n_listed_threads = n;
	}
	told[thread / 8] |= (uint8_t)(1 << thread % 8);
}

void rsp_threads_note_all(struct rsp_session *s)
{
	for (uint32_t i = 0; i < ts_query_n_threads(s->target->q); i++) {
		if (rsp_thread_exists(s, i))
			rsp_threads_note(s, i);
	}
}

/* gdb would add another process for a thread of one that does not exist yet. */
bool rsp_thread_is_listed(const struct rsp_session *s, uint32_t thread)
{
	bool is_told = thread < s->n_listed_threads && (s->listed_threads[thread / 8] >> thread % 8 & 1);

	return rsp_thread_exists(s, thread) ||
	       (is_told && s->is_gdb && !s->is_detached && ts_query_n_processes(s->target->q) == 1 &&
		rsp_session_begins_later(s, thread));
}

void rsp_thread_text(const struct rsp_session *s, uint32_t thread, struct ts_buf *out)
{
	uint64_t next;

	if (thread == ts_query_thread(s->target->q, s->pos)) {
		ts_buf_printf(out, "position %" PRIu64, s->pos);
		if (rsp_is_complete(s))
			ts_buf_printf(out, " of %" PRIu64, rsp_last(s));
		return;
	}
	next = ts_query_next_step(s->target->q, thread, s->pos);
	if (rsp_session_begins_later(s, thread))
		ts_buf_printf(out, "begins at position %" PRIu64, next);
	else if (next == TS_NO_POS && !rsp_is_complete(s))
		ts_buf_puts(out, "does not run again in what has been read so far");
	else if (next == TS_NO_POS)
		ts_buf_puts(out, "does not run again");
	else
		ts_buf_printf(out, "runs again at position %" PRIu64, next);
}

bool rsp_threads_hold_alone(struct rsp_session *s)
{
	struct rsp_tid tid = rsp_session_tid(s, s->thread);

	if (!s->is_gdb || s->alone == TS_NO_THREAD || s->alone == s->thread ||
	    !rsp_thread_exists(s, s->alone))
		return false;
	ts_buf_printf(&s->console, "This thread was to step, but thread %" PRId64 " runs and stops here.\n",
		      tid.tid);
	rsp_session_stop_in(s, s->alone);
	return true;
}

static void put_id(struct rsp_tid tid, struct ts_buf *out)
{
	if (tid.has_pid)
		ts_buf_printf(out, "p%" PRIx64 ".", (uint64_t)tid.pid);
	ts_buf_printf(out, "%" PRIx64, (uint64_t)tid.tid);
}

/* As gdb names it: "Thread 100.101", or "Thread 101" for a client that knows no processes. */
static void put_decimal_id(struct rsp_tid tid, struct ts_buf *out)
{
	ts_buf_puts(out, "Thread ");
	if (tid.has_pid)
		ts_buf_printf(out, "%" PRId64 ".", tid.pid);
	ts_buf_printf(out, "%" PRId64, tid.tid);
}

/*
 * gdb 17 and later print id_str, the text with the number, wherever they name the thread; the description would
 * repeat it.  Of these versions the client says multi-wp-addr+.
 */
static void put_thread(const struct rsp_session *s, uint32_t thread, struct ts_buf *out)
{
	const char *name = ts_query_thread_facts(s->target->q, thread)->name;
	struct rsp_tid tid = rsp_session_tid(s, thread);

	ts_buf_puts(out, "<thread id=\"");
	put_id(tid, out);
	if (*name) {
		ts_buf_puts(out, "\" name=\"");
		rsp_xml_text(name, out);
	}
	ts_buf_puts(out, s->has_watches ? "\" id_str=\"" : "\">");
	if (s->has_watches) {
		put_decimal_id(tid, out);
		ts_buf_puts(out, ", ");
	}
	rsp_thread_text(s, thread, out);
	ts_buf_puts(out, s->has_watches ? "\"/>\n" : "</thread>\n");
}

void rsp_threads_xml(const struct rsp_session *s, struct ts_buf *out)
{
	ts_buf_puts(out, "<?xml version=\"1.0\"?>\n<threads>\n");
	for (uint32_t i = 0; i < ts_query_n_threads(s->target->q); i++) {
		if (rsp_thread_is_listed(s, i))
			put_thread(s, i, out);
	}
	ts_buf_puts(out, "</threads>\n");
}
