/* SPDX-License-Identifier: MIT */
/*
 * A monitor command: what the protocol has no packet for, as text for people.
 *
 * Most commands are done at once (run).  One that asks about what has not been read yet, or that takes long
 * (start), says how its answer comes.
 */
#ifndef RSP_COMMAND_H
#define RSP_COMMAND_H

#include <stdbool.h>

struct rsp_session;
struct ts_buf;

enum rsp_command_end {
	RSP_COMMAND_DONE,    /* the text is the answer */
	RSP_COMMAND_REFUSED, /* the text is one sentence that says why nothing was done */
	RSP_COMMAND_LATER,   /* nothing was done: run the command again when there is more (see wait.h) */
	RSP_COMMAND_JOB,     /* the session has a job now, whose end is the answer; the text goes before it */
};

/* Both functions append text to @out; @arg is "" where the user gave none. */
struct rsp_command {
	const char *name;
	const char *arg;  /* "" for a command without one */
	const char *help;
	/* Done at once: returns false if the text says why it was not.  Either this or start is NULL. */
	bool (*run)(struct rsp_session *s, const char *arg, struct ts_buf *out);
	enum rsp_command_end (*start)(struct rsp_session *s, const char *arg, struct ts_buf *out);
};

#endif
