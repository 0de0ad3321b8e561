/* SPDX-License-Identifier: MIT */
/*
 * Monitor commands: requests whose answers are texts for users, because the protocol has no packet for them.
 *
 * Most commands complete at once (run).  A command that may take long, or that may need a part that has not
 * been read yet, returns how its answer is delivered (start).
 */
#ifndef RSP_COMMAND_H
#define RSP_COMMAND_H

#include <stdbool.h>

struct rsp_session;
struct ts_buf;

enum rsp_command_end {
	RSP_COMMAND_DONE,    /* the text is the answer */
	RSP_COMMAND_REFUSED, /* nothing was done; the text is the reason, one sentence */
	RSP_COMMAND_LATER,   /* nothing was done; the command is run again when more has been read (wait.h) */
	RSP_COMMAND_JOB,     /* a job of the session sends the answer, after the text */
};

/* run() and start() append the text to @out.  Their @arg is "" if the user gave no argument. */
struct rsp_command {
	const char *name;
	const char *arg;  /* "" for a command without one */
	const char *help;
	/*
	 * Run a command that completes at once.  Either run or start is NULL.
	 *
	 * Returns false if the command was refused; the text is the reason.
	 */
	bool (*run)(struct rsp_session *s, const char *arg, struct ts_buf *out);
	enum rsp_command_end (*start)(struct rsp_session *s, const char *arg, struct ts_buf *out);
};

#endif
