/* SPDX-License-Identifier: MIT */
/*
 * Questions to the recording (src/ask), asked by a monitor command: a job that prints rows as console output.
 */
#ifndef RSP_ASKING_H
#define RSP_ASKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"

struct rsp_session;
struct ts_buf;

/* What a session keeps from question to question. */
struct rsp_asking;

void rsp_asking_free(struct rsp_asking *q);

/* Is it the name of a question? */
bool rsp_asking_is_verb(const char *name);

/* Append a line a verb, for help; those called like one of the @n @commands are left out. */
void rsp_asking_help(const char *const *commands, size_t n, struct ts_buf *out);

/*
 * Begin to answer @line.
 *
 * Returns RSP_COMMAND_JOB if the answer comes, RSP_COMMAND_LATER if it needs more of the recording than has been
 * read, RSP_COMMAND_REFUSED with one sentence appended to @out if the question is not understood.
 */
enum rsp_command_end rsp_asking_start(struct rsp_session *s, const char *line, struct ts_buf *out);

/*
 * The position that @text is, where that needs no search: K, +N, -N, P%, a mark, #R.  Returns false if it is none of
 * these.
 */
bool rsp_asking_position(struct rsp_session *s, const char *text, uint64_t *pos);

#endif
