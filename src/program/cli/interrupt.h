/* SPDX-License-Identifier: MIT */
/*
 * ^C while something takes long: it is noted, so that the command can say what it leaves behind.
 */
#ifndef TS_INTERRUPT_H
#define TS_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT is noted; a second one ends the process at once. */
void ts_interrupt_catch(void);

/* The same, and none ends the process: who sends one sends it until the answer is there. */
void ts_interrupt_catch_all(void);

/* SIGINT ends the process again. */
void ts_interrupt_release(void);

/* Was one noted since ts_interrupt_catch()? */
bool ts_is_interrupted(void);

/* End as a process that SIGINT ends, so that a shell's loop ends too. */
_Noreturn void ts_interrupt_end(void);

#endif
