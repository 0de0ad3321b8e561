/* SPDX-License-Identifier: MIT */
/*
 * A monitor command: text for users, where the protocol has no packet.
 *
 * Most commands complete at once (run).  A command that needs a part that has not been read yet, or that takes long
 * (start), returns how its answer is delivered.
 */
#ifndef RSP_COMMAND_H
#define RSP_COMMAND_H

#include <stdbool.h>

struct rsp_session;
struct ts_buf;

enum rsp_command_end {
	RSP_COMMAND_DONE,    /* the text is the answer */
	RSP_COMMAND_REFUSED, /* the text is one sentence with the reason why nothing was done */
	RSP_COMMAND_LATER,   /* nothing was done: run it again when more has been read (see wait.h) */
	RSP_COMMAND_JOB,     /* the session now has a job, whose end is the answer; the text precedes it */
};

/* Both functions append text to @out; @arg is "" where the user gave none. */
struct rsp_command {
	const char *name;
	const char *arg;  /* "" for a command without one */
	const char *help;
	/*
	 * Completes at once: returns false if it was refused, with the reason in the text.  Either this or
	 * start is NULL.
	 */
	bool (*run)(struct rsp_session *s, const char *arg, struct ts_buf *out);
	enum rsp_command_end (*start)(struct rsp_session *s, const char *arg, struct ts_buf *out);
};

#endif
