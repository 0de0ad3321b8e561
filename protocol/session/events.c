/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <inttypes.h>
#include <string.h>

#include "session.h"

/* gdb's numbers of signals; @host is that of Linux, for signals that an instruction causes. */
static const struct {
	uint8_t number, host;
	const char *name;
} signals[] = {
	{ 1, 0, "SIGHUP" },   { 2, 0, "SIGINT" },   { 3, 0, "SIGQUIT" },  { 4, 4, "SIGILL" },
	{ 5, 5, "SIGTRAP" },  { 6, 0, "SIGABRT" },  { 8, 8, "SIGFPE" },   { 9, 0, "SIGKILL" },
	{ 10, 7, "SIGBUS" },  { 11, 11, "SIGSEGV" }, { 12, 0, "SIGSYS" },  { 13, 0, "SIGPIPE" },
	{ 14, 0, "SIGALRM" }, { 15, 0, "SIGTERM" }, { 20, 0, "SIGCHLD" }, { 30, 0, "SIGUSR1" },
	{ 31, 0, "SIGUSR2" },
};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static size_t find_signal(uint64_t number)
{
	size_t i = 0;

	while (i < N_SIGNALS && signals[i].number != number)
		i++;
	return i;
}

/* The first event of the kind at the session's position, NULL if there is none. */
static const struct ts_happening *event_here(const struct rsp_session *s, enum ts_event_kind kind)
{
	bool is_after = kind == TS_EV_FAULT || kind == TS_EV_EXIT;
	uint64_t step = s->pos - is_after;
	const struct ts_happening *h = NULL;

	if (s->pos >= is_after)
		h = ts_query_next_event(s->target->q, kind, step);
	return h && h->step == step ? h : NULL;
}

static void put_words(const struct ts_happening *h, struct ts_buf *out)
{
	if (h->event.has_addr)
		ts_buf_printf(out, ", address 0x%" PRIx64, h->event.addr);
	if (*h->event.text)
		ts_buf_printf(out, ": %s", h->event.text);
	ts_buf_putc(out, '\n');
}

static void put_exit(const struct ts_happening *h, struct ts_buf *out)
{
	ts_buf_puts(out, "exit: the process has ended, ");
	if (h->event.has_ret)
		ts_buf_printf(out, "status %" PRIu64 "\n", h->event.number);
	else
		ts_buf_puts(out, "its status was not recorded\n");
}

void rsp_events_text(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_happening *h;

	h = event_here(s, TS_EV_INTERRUPT);
	if (h)
		ts_buf_printf(out, "interrupt%s%s\n", *h->event.text ? ": " : "", h->event.text);
	h = event_here(s, TS_EV_SIGNAL);
	if (h) {
		size_t i = find_signal(h->event.number);

		if (i < N_SIGNALS)
			ts_buf_printf(out, "signal %s", signals[i].name);
		else
			ts_buf_printf(out, "signal %" PRIu64 " of gdb", h->event.number);
		put_words(h, out);
	}
	h = event_here(s, TS_EV_FAULT);
	if (h) {
		ts_buf_puts(out, "fault: the last instruction did not complete");
		put_words(h, out);
	}
	h = event_here(s, TS_EV_EXIT);
	if (h)
		put_exit(h, out);
}

/* ---------------------------------------------------------------------------------------------- siginfo */

/* Offsets of the members of siginfo_t. */
#define SIGINFO_LEN 128
#define CODE_OFF    8
#define SI_KERNEL   0x80 /* sent by the kernel, for an unknown reason */

bool rsp_events_siginfo(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_happening *h = event_here(s, TS_EV_FAULT);
	const struct ts_arch *arch = rsp_regset(s)->arch;
	uint32_t addr_len = arch->addr_bits > 32 ? 8 : 4;
	uint8_t bytes[SIGINFO_LEN] = { 0 };
	size_t i;

	if (!h)
		h = event_here(s, TS_EV_SIGNAL);
	i = h ? find_signal(ts_event_signal(h)) : N_SIGNALS;
	if (i == N_SIGNALS || !signals[i].host || !h->event.has_addr)
		return false;
	ts_arch_put(arch, bytes, 4, signals[i].host);
	ts_arch_put(arch, bytes + CODE_OFF, 4, SI_KERNEL);
	ts_arch_put(arch, bytes + (addr_len == 8 ? 16 : 12), addr_len, h->event.addr);
	ts_buf_put(out, bytes, sizeof(bytes));
	return true;
}

bool rsp_events_may_have_siginfo(const struct rsp_session *s)
{
	const struct ts_query *q = s->target->q;

	return !rsp_is_complete(s) || ts_query_n_events(q, TS_EV_FAULT) || ts_query_n_events(q, TS_EV_SIGNAL);
}
