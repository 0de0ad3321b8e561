/* SPDX-License-Identifier: MIT */
/*
 * The events that end long work early: ^C, SIGTERM, and output whose reader has closed it.  It is recorded, so that the
 * command can report the state of the work.
 */
#ifndef TS_INTERRUPT_H
#define TS_INTERRUPT_H

#include <stdbool.h>

/* Record the first SIGINT and SIGTERM from now on; a second one ends the process at once. */
void ts_interrupt_catch(void);

/* Record each SIGINT from now on; none ends the process, because the sender repeats it until the answer. */
void ts_interrupt_catch_all(void);

/* The signals end the process again. */
void ts_interrupt_release(void);

/* From now on it counts as an interrupt if the reader of the standard output, a pipe or a socket, has left. */
void ts_interrupt_watch_output(void);

/* Was an interrupt recorded since ts_interrupt_catch()? */
bool ts_is_interrupted(void);

/* Did the reader of the output close it?  Answers end without a message then, as those of other programs do. */
bool ts_has_lost_reader(void);

/* Returns a text of the recorded signal for a message, a literal: "interrupted". */
const char *ts_interrupt_text(void);

/* End the process by the signal that was recorded (SIGINT if none was), so that a shell's loop ends, too. */
_Noreturn void ts_interrupt_end(void);

#endif
