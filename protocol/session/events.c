/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "src/arch/signals.h"
#include "src/query/search/search.h"

/* The first event of the kind at the session's position, NULL if none is found. */
static const struct ts_event_at *event_here(const struct rsp_session *s, enum ts_event_kind kind)
{
	const struct ts_query *q = s->target->q;
	uint64_t i = ts_query_n_events_below(q, kind, s->pos ? s->pos - 1 : 0);
	const struct ts_event_at *h;

	for (; (h = ts_query_event(q, kind, i)) && h->step <= s->pos; i++) {
		uint64_t pos = kind == TS_EV_INTERRUPT ? h->step : ts_event_position(h);

		if (pos == s->pos)
			return h;
	}
	return NULL;
}

static void put_words(const struct ts_event_at *h, struct ts_buf *out)
{
	if (ts_event_lacks_address(&h->event))
		ts_buf_puts(out, ", no address (SI_KERNEL)");
	else if (h->event.has_addr)
		ts_buf_printf(out, ", address 0x%" PRIx64, h->event.addr);
	if (*h->event.text)
		ts_buf_printf(out, ": %s", h->event.text);
	ts_buf_putc(out, '\n');
}

/* Signals that an instruction causes.  Their siginfo has an address; the siginfo of other signals has the sender. */
static bool has_fault_addr(uint64_t signal)
{
	return signal == 4 || signal == 5 || signal == 8 || signal == 10 || signal == 11;
}

static void put_signal(const struct ts_event_at *h, struct ts_buf *out)
{
	const char *name = ts_signal_name(h->event.number);

	ts_buf_printf(out, "%ssignal%s%s", name ? "" : "unknown ", name ? " " : "", name ? name : "");
	if (h->event.has_addr && h->event.has_ret && !has_fault_addr(ts_event_signal(h)))
		ts_buf_printf(out, ", sent by process %" PRIu64 "\n", h->event.addr);
	else
		put_words(h, out);
}

static void put_exit(const struct ts_event_at *h, struct ts_buf *out)
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
	const struct ts_event_at *h;

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

/* The register that has the address of the siginfo when a handler begins, by the beginning of the processor's name. */
static const struct {
	const char *arch, *reg;
} handler_args[] = {
	{ "x86_64", "rsi" }, { "aarch64", "x1" }, { "arm", "r1" }, { "riscv", "a1" }, { "ppc", "r4" }, { "mips", "r5" },
};

/* Returns false if the register is not known at @pos. */
static bool handler_arg(const struct rsp_session *s, uint64_t pos, uint32_t thread, uint64_t *addr)
{
	const struct ts_regset *set = rsp_regset(s);
	uint8_t *data = malloc(2 * (size_t)set->g_len);
	struct ts_error ignored = { 0 };
	bool is_known = false;
	int reg = -1;

	for (size_t i = 0; i < sizeof(handler_args) / sizeof(handler_args[0]) && reg < 0; i++) {
		if (!strncmp(set->arch->name, handler_args[i].arch, strlen(handler_args[i].arch)))
			reg = ts_regset_find(set, handler_args[i].reg);
	}
	if (data && reg >= 0 && set->regs[reg].len <= 8 &&
	    ts_query_regs(s->target->q, pos, thread, data, data + set->g_len, &ignored)) {
		is_known = !memchr(data + set->g_len + set->regs[reg].off, 0, set->regs[reg].len);
		*addr = ts_arch_get(set->arch, data + set->regs[reg].off, set->regs[reg].len);
	}
	free(data);
	return is_known;
}

/* The siginfo that the handler got which begins after @h: the frame holds it, if it is that of this signal. */
static bool put_handlers_siginfo(const struct rsp_session *s, const struct ts_event_at *h, struct ts_buf *out)
{
	struct ts_query *q = s->target->q;
	const struct ts_arch *arch = rsp_regset(s)->arch;
	uint8_t bytes[SIGINFO_LEN], known[SIGINFO_LEN];
	struct ts_error ignored = { 0 };
	uint64_t addr;

	if (h->event.is_after || !handler_arg(s, h->step + 1, h->thread, &addr) ||
	    !ts_query_mem(q, h->step + 1, ts_query_process(q, h->thread), addr, sizeof(bytes), bytes, known, &ignored) ||
	    memchr(known, 0, sizeof(known)) ||
	    ts_arch_get(arch, bytes, 4) != ts_signal_to_linux(arch, (uint32_t)ts_event_signal(h)))
		return false;
	ts_buf_put(out, bytes, sizeof(bytes));
	return true;
}

bool rsp_events_siginfo(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_event_at *h = event_here(s, TS_EV_FAULT);
	const struct ts_arch *arch = rsp_regset(s)->arch;
	uint32_t addr_len = arch->addr_bits > 32 ? 8 : 4;
	uint8_t bytes[SIGINFO_LEN] = { 0 };
	uint64_t signal;

	if (!h)
		h = event_here(s, TS_EV_SIGNAL);
	signal = h ? ts_event_signal(h) : 0;
	if (h && h->event.kind == TS_EV_SIGNAL && put_handlers_siginfo(s, h, out))
		return true;
	/* what is not recorded must not show as zero */
	if (!h || !h->event.has_addr || (!h->event.has_ret && !has_fault_addr(signal)))
		return false;
	ts_arch_put(arch, bytes, 4, h->event.has_ret ? h->event.args[0] : ts_signal_to_linux(arch, (uint32_t)signal));
	ts_arch_put(arch, bytes + CODE_OFF, 4, h->event.has_ret ? h->event.ret : TS_SI_KERNEL);
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
