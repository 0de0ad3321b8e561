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

/* The state of a session between questions. */
struct rsp_asking;

/* Returns true if @name is the name of a question. */
bool rsp_asking_is_verb(const char *name);

/* Append a line for each verb, for help; verbs with the name of one of the @n @commands are omitted. */
void rsp_asking_help(const char *const *commands, size_t n, struct ts_buf *out);

/*
 * Begin to answer the question "@verb @words".
 *
 * Returns RSP_COMMAND_JOB if the answer follows.
 * Returns RSP_COMMAND_LATER if it needs more of the recording than has been read.
 * Returns RSP_COMMAND_REFUSED and @err if the question is not understood, or memory is exhausted (TS_ENOMEM).
 */
enum rsp_command_end rsp_asking_start(struct rsp_session *s, const char *verb, const char *words,
				      struct ts_error *err);

/*
 * Begin to search for the destination of "goto @place" (monitor announce).  The destination is announced; the
 * session does not move.  The answer has no text.  A place that does not exist is refused.
 *
 * Returns how the answer is delivered, as start() of struct rsp_command; with *err set (TS_EUSAGE, TS_EIO, TS_ENOMEM) if the
 * search could not begin.
 */
enum rsp_command_end rsp_asking_announce(struct rsp_session *s, const char *place, struct ts_error *err);

/*
 * The monitor command "condition VERB WORDS": if the question has a condition that only gdb can compile, and
 * is about one address, the answer is the place and the condition: "function n > 3", "0x401136 n > 3".  gdb then
 * inserts a breakpoint there with the condition "RSP_OFFERED_MARK, n > 3", and removes it; the next such question uses
 * the compiled condition.
 *
 * Returns RSP_COMMAND_DONE on success.
 * Returns RSP_COMMAND_LATER if the question needs more of the recording than has been read.
 * Returns RSP_COMMAND_REFUSED if memory is exhausted.
 */
enum rsp_command_end rsp_asking_condition(struct rsp_session *s, const char *question, struct ts_buf *out);

#define RSP_OFFERED_MARK 0x74736966u

struct ts_ax;

/* Use the condition of a breakpoint inserted at @addr if it is for the announced question. */
void rsp_asking_offer(struct rsp_session *s, uint64_t addr, const struct ts_ax *condition);

/* Before the session moves to @pos: record its position for "back". */
void rsp_asking_note_left(struct rsp_session *s, uint64_t pos);

/*
 * The monitor command "checkpoint [TEXT]": marks the session's position as checkpoint-N.  Returns false if it
 * is refused, with the reason appended to @out.
 */
bool rsp_asking_checkpoint(struct rsp_session *s, const char *text, struct ts_buf *out);

#endif
