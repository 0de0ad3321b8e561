/* SPDX-License-Identifier: MIT */
#include "handlers.h"

#include <string.h>

#include "src/arch/syscall_name.h"

/* Events that are examined before it is given up. */
#define MAX_LOOKS 65536u

/* What a handler's frame has at least, and what a handler with its calls has on its stack at the most. */
#define MIN_FRAME 64u
#define MAX_DEPTH (UINT64_C(8) << 20)

/* What code that calls sigreturn has up to there. */
#define MAX_SIGRETURN 4u

static bool stack_pointer(struct ts_query *q, uint32_t thread, uint64_t pos, uint64_t *sp, struct ts_error *err)
{
	return ts_query_reg(q, pos, thread, ts_query_regset(q)->sp, sp, err);
}

static bool is_sigreturn(struct ts_query *q, const struct ts_event *ev)
{
	char text[32];
	const char *name = ts_syscall_name(ts_query_regset(q)->arch, ev->number, text, sizeof(text));

	return name && (!strcmp(name, "rt_sigreturn") || !strcmp(name, "sigreturn"));
}

/* The first event of the kind from ordinal *i on whose step is not below @pos, and that is the thread's. */
static const struct ts_event_at *next_event(struct ts_query *q, enum ts_event_kind kind, uint32_t thread,
					     uint64_t *i, unsigned *n_looks)
{
	const struct ts_event_at *h;

	while (*n_looks < MAX_LOOKS && (h = ts_query_event(q, kind, *i))) {
		++*n_looks;
		if (h->thread == thread && (kind != TS_EV_SYSCALL || is_sigreturn(q, &h->event)))
			return h;
		++*i;
	}
	return NULL;
}

/* Signals and sigreturns are nested: the end of the handler that begins after step @pos. */
static uint64_t find_end(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SIGNAL, pos + 1);
	uint64_t k = ts_query_n_events_below(q, TS_EV_SYSCALL, pos + 1);
	unsigned n_looks = 0;

	for (unsigned n_open = 1;;) {
		const struct ts_event_at *begin = next_event(q, TS_EV_SIGNAL, thread, &i, &n_looks);
		const struct ts_event_at *end = next_event(q, TS_EV_SYSCALL, thread, &k, &n_looks);

		if (!end)
			return TS_NO_POS;
		if (begin && begin->step < end->step) {
			n_open++;
			i++;
			continue;
		}
		if (!--n_open)
			return end->step + 1;
		k++;
	}
}

static bool has_signal(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SIGNAL, pos);
	const struct ts_event_at *h;

	for (; (h = ts_query_event(q, TS_EV_SIGNAL, i)) && h->step == pos; i++) {
		if (h->thread == thread)
			return true;
	}
	return false;
}

static bool has_sigreturn(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);
	const struct ts_event_at *h;

	for (; (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step == pos; i++) {
		if (h->thread == thread)
			return is_sigreturn(q, &h->event);
	}
	return false;
}

/* The last event of the kind below ordinal *i that is the thread's. */
static const struct ts_event_at *previous_event(struct ts_query *q, enum ts_event_kind kind, uint32_t thread, uint64_t *i,
						unsigned *n_looks)
{
	const struct ts_event_at *h;

	for (; *n_looks < MAX_LOOKS && *i > 0 && (h = ts_query_event(q, kind, *i - 1)); --*i) {
		++*n_looks;
		if (h->thread == thread && (kind != TS_EV_SYSCALL || is_sigreturn(q, &h->event)))
			return h;
	}
	return NULL;
}

/* The step after which the signal came whose handler ends by the sigreturn of step @pos; TS_NO_POS if it is not known. */
static uint64_t find_begin(struct ts_query *q, uint32_t thread, uint64_t pos, unsigned *n_looks)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SIGNAL, pos), k = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);

	for (unsigned n_open = 1;;) {
		const struct ts_event_at *begin = previous_event(q, TS_EV_SIGNAL, thread, &i, n_looks);
		const struct ts_event_at *end = previous_event(q, TS_EV_SYSCALL, thread, &k, n_looks);

		if (!begin)
			return TS_NO_POS;
		if (end && end->step > begin->step) {
			n_open++;
			k--;
			continue;
		}
		if (!--n_open)
			return begin->step;
		i--;
	}
}

/* Handlers that follow each other: where the first of them came, and where the last one leads. */
static void find_interrupted(struct ts_query *q, uint32_t thread, struct ts_handler *h)
{
	unsigned n_looks = 0;
	uint64_t pos = h->pos;

	h->back = h->end;
	while (n_looks++ < MAX_LOOKS && h->back != TS_NO_POS && has_signal(q, thread, h->back - 1))
		h->back = find_end(q, thread, h->back - 1);
	for (; pos != TS_NO_POS && has_sigreturn(q, thread, pos); pos = find_begin(q, thread, pos, &n_looks))
		h->interrupted = pos;
	h->interrupted = pos == TS_NO_POS ? h->interrupted : pos;
}

/* A step that ends in a handler moves the stack pointer by a frame; one that ends another handler takes that one's frame away. */
static bool has_frame(uint64_t before, uint64_t after, bool is_sigreturn)
{
	return is_sigreturn ? after <= before || after - before < MIN_FRAME : after > before || before - after >= MIN_FRAME;
}

bool ts_query_handler_after(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_handler *handler,
		      struct ts_error *err)
{
	uint64_t before, after;

	if (!has_signal(q, thread, pos) || ts_query_next_step(q, thread, pos + 1) == TS_NO_POS ||
	    !stack_pointer(q, thread, pos, &before, err) || !stack_pointer(q, thread, pos + 1, &after, err) ||
	    !has_frame(before, after, has_sigreturn(q, thread, pos)))
		return false;
	*handler = (struct ts_handler){ .pos = pos, .end = find_end(q, thread, pos), .interrupted = pos };
	find_interrupted(q, thread, handler);
	return true;
}

bool ts_query_is_handler_return(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, pos);
	const struct ts_event_at *h;

	for (; (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step - pos < MAX_SIGRETURN; i++) {
		if (h->thread == thread)
			return is_sigreturn(q, &h->event);
	}
	return false;
}

/* Has the thread not left the handler, by sigreturn or longjmp? */
static bool is_inside(struct ts_query *q, uint32_t thread, uint64_t pos, const struct ts_handler *h,
		      struct ts_error *err)
{
	uint64_t begin, now, top;

	if (h->end <= pos || !stack_pointer(q, thread, h->pos + 1, &begin, err) ||
	    !stack_pointer(q, thread, pos, &now, err))
		return false;
	top = begin + ts_query_regset(q)->arch->addr_bits / 8; /* when it has returned, before sigreturn */
	return top - now < MAX_DEPTH + MIN_FRAME;
}

bool ts_query_handler_at(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_handler *handler,
		   struct ts_error *err)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SIGNAL, pos);

	for (unsigned n = 0; i-- > 0 && n < MAX_LOOKS && err->code == TS_OK; n++) {
		const struct ts_event_at *h = ts_query_event(q, TS_EV_SIGNAL, i);

		if (h && h->thread == thread && h->step < pos && ts_query_handler_after(q, thread, h->step, handler, err) &&
		    is_inside(q, thread, pos, handler, err))
			return true;
	}
	return false;
}
