/* SPDX-License-Identifier: MIT */
/*
 * ^C during long work: it is recorded, so that the command can report the state of the work.
 */
#ifndef TS_INTERRUPT_H
#define TS_INTERRUPT_H

#include <stdbool.h>

/* Record the first SIGINT from now on; a second one ends the process at once. */
void ts_interrupt_catch(void);

/* Record each SIGINT from now on; none ends the process, because the sender repeats it until the answer. */
void ts_interrupt_catch_all(void);

/* SIGINT ends the process again. */
void ts_interrupt_release(void);

/* Was a SIGINT recorded since ts_interrupt_catch()? */
bool ts_is_interrupted(void);

/* End the process by SIGINT, so that a shell's loop ends, too. */
_Noreturn void ts_interrupt_end(void);

#endif
