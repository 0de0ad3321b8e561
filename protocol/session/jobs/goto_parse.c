/* SPDX-License-Identifier: MIT */
#include "goto_parse.h"

#include <string.h>

static const char *const event_names[TS_N_EVENT_KINDS] = {
	[TS_EV_SYSCALL] = "syscall",	       [TS_EV_SIGNAL] = "signal", [TS_EV_FAULT] = "fault",
	[TS_EV_EXIT] = "exit",		       [TS_EV_GAP] = "gap",	  [TS_EV_INTERRUPT] = "interrupt",
	[TS_EV_THREAD_END] = "thread-end",
};

/* --------------------------------------------------------------------------------------------- parsing */

/* Take a number in decimal.  Returns false if none is found or it is too large. */
static bool take_number(const char **text, uint64_t *value)
{
	const char *start = *text;

	for (*value = 0; **text >= '0' && **text <= '9'; ++*text) {
		if (__builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (unsigned)(**text - '0'), value))
			return false;
	}
	return *text != start;
}

static bool parse_event(struct rsp_destination *d, const char *name)
{
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (!strcmp(name, event_names[kind])) {
			d->event = (enum ts_event_kind)kind;
			return true;
		}
	}
	return false;
}

static bool parse_position(struct rsp_destination *d, const char *arg)
{
	const char *p = arg;

	if (!strcmp(arg, "begin"))
		*d = (struct rsp_destination){ .kind = RSP_TO_POSITION };
	else if (!strcmp(arg, "end"))
		*d = (struct rsp_destination){ .kind = RSP_TO_SHARE, .share = { 1, 1 } };
	else if (!strcmp(arg, "frame"))
		*d = (struct rsp_destination){ .kind = RSP_TO_FRAME };
	else if (take_number(&p, &d->pos) && !*p)
		d->kind = RSP_TO_POSITION;
	else if (!ts_percentage_parse(arg, strlen(arg), &d->share))
		d->kind = RSP_TO_SHARE;
	else
		return false;
	return true;
}

bool rsp_destination_parse(struct rsp_destination *d, const char *arg)
{
	static const char next[] = "next-", previous[] = "previous-";

	*d = (struct rsp_destination){ 0 };
	if (!strncmp(arg, next, sizeof(next) - 1)) {
		d->kind = RSP_TO_NEXT;
		return parse_event(d, arg + sizeof(next) - 1);
	}
	if (!strncmp(arg, previous, sizeof(previous) - 1)) {
		d->kind = RSP_TO_PREVIOUS;
		return parse_event(d, arg + sizeof(previous) - 1);
	}
	return parse_position(d, arg);
}

const char *rsp_destination_event(enum ts_event_kind kind)
{
	return event_names[kind];
}
