/* SPDX-License-Identifier: MIT */
/*
 * Questions about the recording (src/ask) as monitor commands: a job that prints rows as console output.
 */
#ifndef RSP_ASKING_H
#define RSP_ASKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"

struct rsp_session;
struct ts_buf;
struct ts_error;

/* What a session keeps between questions. */
struct rsp_asking;

void rsp_asking_free(struct rsp_asking *q);

/* Is it the name of a question? */
bool rsp_asking_is_verb(const char *name);

/* Append a line for each verb, for help; verbs with the name of one of the @n @commands are left out. */
void rsp_asking_help(const char *const *commands, size_t n, struct ts_buf *out);

/*
 * Begin to answer the question "@verb @words".
 *
 * Returns RSP_COMMAND_JOB if the answer follows, RSP_COMMAND_LATER if it needs more of the recording than has
 * been read, RSP_COMMAND_REFUSED and @err if the question is not understood, or memory is exhausted
 * (TS_ENOMEM).
 */
enum rsp_command_end rsp_asking_start(struct rsp_session *s, const char *verb, const char *words,
				      struct ts_error *err);

/*
 * The same of "goto @place", but the session stays: where that leads is announced (monitor announce).  The
 * answer has no text, unless there is no such place: then it is refused.
 */
enum rsp_command_end rsp_asking_announce(struct rsp_session *s, const char *place, struct ts_error *err);

/* The session is about to leave its position for @pos: "back" comes back here. */
void rsp_asking_note_left(struct rsp_session *s, uint64_t pos);

/*
 * The monitor command "checkpoint [TEXT]": marks the session's position as checkpoint-N.  Returns false if it
 * is refused, with the reason appended to @out.
 */
bool rsp_asking_checkpoint(struct rsp_session *s, const char *text, struct ts_buf *out);

#endif
