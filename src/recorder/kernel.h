/* SPDX-License-Identifier: MIT */
/*
 * Effects of the kernel on the program: its initial state, system calls, signals.  The thread has the turn.
 */
#ifndef TS_RECORDER_KERNEL_H
#define TS_RECORDER_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "thread.h"

/* Write the keyframe of a thread whose first instruction is at @pc.  That of the first thread contains all memory. */
void ts_kernel_begin(struct ts_task *t, uint64_t pc, bool is_first);

/* The thread begins a system call; the step of its instruction has been written. */
void ts_kernel_call(struct ts_task *t, int num, const uint64_t args[TS_N_ARGS]);

/* Does call @num end the thread, or the process? */
bool ts_kernel_is_exit(int num);

/* Write the call that ends the process. */
void ts_kernel_exit(struct ts_task *t);

/* The thread's call has returned @ret. */
void ts_kernel_returned(struct ts_task *t, int64_t ret);

/* Write the call that has returned, with the registers it changed if @has_regs. */
void ts_kernel_write_call(struct ts_task *t, bool has_regs);

/*
 * The thread ends.  Its last call and its end are written when QEMU has cleared the word of the thread's id, which
 * happens after QEMU's last callback for the thread.
 */
void ts_kernel_thread_end(struct ts_task *t);

/* The number of threads that have ended and whose end is not written yet. */
extern unsigned ts_kernel_n_leaving;

/* Write the ends of threads whose words have been cleared. */
void ts_kernel_settle(void);

/* Is [@addr, @addr + @len) within the word of a thread's id, which the kernel clears at the thread's end? */
bool ts_kernel_is_tid_word(uint64_t addr, uint32_t len);

/*
 * The thread is about to execute @pc.  Returns the number of the signal whose handler begins there; 0 if none does.
 */
int ts_kernel_find_signal(const struct ts_task *t, uint64_t pc);

/* Returns the bit of the address @pc in a mask of addresses of handlers. */
static inline uint64_t ts_kernel_handler_bit(uint64_t pc)
{
	return UINT64_C(1) << (pc >> 2 & 63);
}

/* As ts_kernel_find_signal(); a bit of the address excludes most instructions first. */
static inline int ts_kernel_signal_at(const struct ts_task *t, uint64_t pc)
{
	extern uint64_t ts_kernel_handlers; /* the bits of all handlers */

	return ts_kernel_handlers & ts_kernel_handler_bit(pc) ? ts_kernel_find_signal(t, pc) : 0;
}

/* Write signal @num, which interrupted the thread.  @is_step: the thread's last instruction may have caused it. */
void ts_kernel_write_signal(struct ts_task *t, int num, bool is_step);

/* ---------------------------------------------------------------------------------------- names.c */

/* A thread begins: it has the name of the one that made it, if the program has given that one. */
void ts_names_begin(const struct ts_task *t);

/* The call has returned: write a note of each name that it gave. */
void ts_names_returned(const struct ts_task *t);

/* -------------------------------------------------------------------------------------- written.c */

/* The call has returned: add what it wrote to its ops. */
void ts_written_add(struct ts_call *c);

/* -------------------------------------------------------------------------------------- siginfo.c */

/* Put the handler before those of QEMU, wherever it is not there yet: after each change of a handler. */
void ts_siginfo_watch(void);

/* The calling thread is in the recording: a signal that it takes is reported for it. */
void ts_siginfo_begin_thread(void);

/*
 * Set *code and *addr to the code and the address of the failed access of the last signal that the host delivered to this
 * thread.  The signal is then forgotten.
 *
 * Returns false if it was not guest signal @num, or another signal has arrived meanwhile.
 */
bool ts_siginfo_last(int num, int32_t *code, uint64_t *addr);

/* ----------------------------------------------------------------------------------------- step.c */

/* The thread's instruction at @pc of @len bytes begins. */
void ts_step_begin(struct ts_task *t, uint64_t pc, uint8_t len, uint8_t flags);

/* It has accessed @len bytes; @found is what it read. */
void ts_step_read(struct ts_task *t, uint64_t addr, const uint8_t *found, uint32_t len);
void ts_step_wrote(struct ts_task *t, uint64_t addr, uint32_t len);

/*
 * The thread's instruction is over: write it, without registers if they belong to a signal that came then.
 * The next one is at @next.
 */
void ts_step_end(struct ts_task *t, bool has_regs, uint64_t next);

/* Only say that the thread's next instruction is at @next. */
void ts_step_jump(struct ts_task *t, uint64_t next);

#endif
