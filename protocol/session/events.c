/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <inttypes.h>
#include <string.h>

#include "session.h"
#include "src/arch/signals.h"
#include "src/query/search.h"

/* The first event of the kind at the session's position, NULL if there is none. */
static const struct ts_happening *event_here(const struct rsp_session *s, enum ts_event_kind kind)
{
	const struct ts_query *q = s->target->q;
	uint64_t i = ts_query_n_events_below(q, kind, s->pos ? s->pos - 1 : 0);
	const struct ts_happening *h;

	for (; (h = ts_query_event(q, kind, i)) && h->step <= s->pos; i++) {
		uint64_t pos = kind == TS_EV_INTERRUPT ? h->step : ts_event_position(h);

		if (pos == s->pos)
			return h;
	}
	return NULL;
}

static void put_words(const struct ts_happening *h, struct ts_buf *out)
{
	if (h->event.has_addr)
		ts_buf_printf(out, ", address 0x%" PRIx64, h->event.addr);
	if (*h->event.text)
		ts_buf_printf(out, ": %s", h->event.text);
	ts_buf_putc(out, '\n');
}

/* Signals that an instruction causes, whose siginfo holds an address; that of others holds who sent them. */
static bool has_fault_addr(uint64_t signal)
{
	return signal == 4 || signal == 5 || signal == 8 || signal == 10 || signal == 11;
}

static void put_signal(const struct ts_happening *h, struct ts_buf *out)
{
	const char *name = ts_signal_name(h->event.number);

	if (name)
		ts_buf_printf(out, "signal %s", name);
	else
		ts_buf_printf(out, "signal %" PRIu64 " of gdb", h->event.number);
	if (h->event.has_addr && h->event.has_ret && !has_fault_addr(ts_event_signal(h)))
		ts_buf_printf(out, ", sent by process %" PRIu64 "\n", h->event.addr);
	else
		put_words(h, out);
}

static void put_exit(const struct ts_happening *h, struct ts_buf *out)
{
	ts_buf_puts(out, "exit: the process has ended, ");
	if (h->event.has_ret)
		ts_buf_printf(out, "status %" PRIu64 "\n", h->event.number);
	else if (*h->event.text)
		ts_buf_printf(out, "%s\n", h->event.text);
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
	if (h)
		put_signal(h, out);
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

/* Offsets of the members of siginfo_t, as gdb has them on every processor. */
#define SIGINFO_LEN 128
#define CODE_OFF    8
#define SI_KERNEL   0x80 /* sent by the kernel, for an unknown reason */

bool rsp_events_siginfo(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_happening *h = event_here(s, TS_EV_FAULT);
	const struct ts_arch *arch = rsp_regset(s)->arch;
	uint32_t addr_len = arch->addr_bits > 32 ? 8 : 4;
	uint8_t bytes[SIGINFO_LEN] = { 0 };
	uint64_t signal;

	if (!h)
		h = event_here(s, TS_EV_SIGNAL);
	signal = h ? ts_event_signal(h) : 0;
	/* what is not recorded must not show as zero */
	if (!h || !h->event.has_addr || (!h->event.has_ret && !has_fault_addr(signal)))
		return false;
	ts_arch_put(arch, bytes, 4, h->event.has_ret ? h->event.args[0] : ts_signal_to_linux(arch, (uint32_t)signal));
	ts_arch_put(arch, bytes + CODE_OFF, 4, h->event.has_ret ? h->event.ret : SI_KERNEL);
	if (!has_fault_addr(signal))
		addr_len = 4; /* si_pid */
	ts_arch_put(arch, bytes + (arch->addr_bits > 32 ? 16 : 12), addr_len, h->event.addr);
	ts_buf_put(out, bytes, sizeof(bytes));
	return true;
}

bool rsp_events_may_have_siginfo(const struct rsp_session *s)
{
	const struct ts_query *q = s->target->q;

	return !rsp_is_complete(s) || ts_query_n_events(q, TS_EV_FAULT) || ts_query_n_events(q, TS_EV_SIGNAL);
}
