/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the tool's files share.  The tool has no libc: only Valgrind's functions and system calls of its own.
 */
#ifndef TS_RECORDER_VG_TOOL_H
#define TS_RECORDER_VG_TOOL_H

#include <pub_tool_basics.h>
#include <pub_tool_guest.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_vki.h>
#include "src/record/log.h"

/* The shared memory; NULL before it is mapped. */
extern struct ts_log *ts_log;

/* Returns whether the program is being recorded now. */
extern Bool ts_is_on;

/* -------------------------------------------------------------------------------- log.c */

/* Map the shared memory at descriptor @fd and close it.  Does not return if that fails. */
void ts_log_open(Int fd);

/*
 * New shared memory of @n_chunks chunks of @chunk_len bytes, in place of the log that there was, if any, at the same
 * address.
 *
 * Returns its descriptor, which the caller closes.
 * Returns -1 if the system refuses; the previous log is still mapped then.
 */
Int ts_log_create(UInt n_chunks, ULong chunk_len);

/* Empty the log.  The next block that is described is the first one. */
void ts_log_rewind(void);

/* Returns the number of the next block that is described: 1 for the first one. */
UInt ts_log_next_block(void);

/*
 * Room for a control record of @kind whose head is followed by @len bytes, at most TS_LOG_MAX_CONTROL in all.
 *
 * Returns the address for these bytes, valid until the next record.
 * Returns NULL if the recording has ended.
 */
void *ts_log_room(enum ts_log_kind kind, SizeT len);

/* A new chunk: called by translated code when the one in use is full. */
void ts_log_next_chunk(void);

/* Has either side ended the recording, while this process still records? */
Bool ts_log_must_stop(void);

/* End the recording. */
void ts_log_stop(void);

/* End the recording in this process, whose log belongs to another process or has no reader: use private memory instead. */
void ts_log_detach(void);

/* Returns the kernel's result: a negative value is an error number. */
Word ts_syscall(Word num, Word a, Word b, Word c, Word d, Word e, Word f);

/* Does the process @pid exist?  True also without permission to signal it.  (No header for tools has Valgrind's kill().) */
Bool ts_is_alive(Int pid);

/* -------------------------------------------------------------------------------- follow.c */

/* Parse the option's text: RECORDER:CHUNKS:BYTES-OF-A-CHUNK:FIFO.  Returns False if it is malformed. */
Bool ts_follow_take(const HChar *text);

/* Returns True if the option was given. */
Bool ts_follow_is_on(void);

/*
 * Make a log for this process and wait until its reader has it.
 *
 * Returns False if the log has no reader; the caller must not record then.
 */
Bool ts_follow_begin(Bool is_fork);

/*
 * The program is about to execute the file whose path is at @path.  If this is a link to the program's own file
 * (/proc/self/exe), store the file's name for the launcher (exec.c), in whose process the link has another target.
 */
void ts_follow_exec(Addr path);

/* -------------------------------------------------------------------------------- place.c */

enum ts_place_kind { TS_PLACE_NONE, TS_PLACE_ANY, TS_PLACE_NEVER, TS_PLACE_ADDR, TS_PLACE_FUNC, TS_PLACE_LINE };

/* A place at which the recording begins or ends, when it is executed for the @count-th time. */
struct ts_place {
	enum ts_place_kind kind;
	ULong count, n_seen;
	Addr addr;
	UInt line;
	const HChar *name; /* of the function, or of the source file */
};

/* Read a number that ends with a colon; *at is set to the byte after the colon.  Returns False if no such number is at *at. */
Bool ts_take_number(const HChar **at, ULong *n);

/*
 * Parse the text of an option, KIND:COUNT:WHAT: addr:N:ADDRESS, func:N:NAME, line:N:LINE:FILE, signal:1:, in which
 * numbers are decimal.  Returns False if it is malformed.
 */
Bool ts_place_take(struct ts_place *p, const HChar *text);

/* Is it at the instruction at @addr, whose file is mapped? */
Bool ts_place_is_at(const struct ts_place *p, Addr addr);

/* -------------------------------------------------------------------------------- threads.c */

#define TS_MAX_THREADS 65536u

struct ts_thread {
	Bool is_known;      /* its registers are in the log */
	Bool has_signal;    /* a handler is to run */
	UInt signal;        /* its number */
	Addr interrupted;   /* the stack pointer when it came */
	Addr failed;        /* the instruction at which it came */
	UInt lwp;           /* the system's number; 0: it has not run yet */
	Addr tid_word;      /* the kernel clears it when the thread ends; 0: none */
	Addr robust;        /* struct robust_list_head of <linux/futex.h>; 0: none */
	Bool is_in_call;
	struct ts_log_call call; /* which one */
};

/* By Valgrind's number. */
extern struct ts_thread ts_threads[TS_MAX_THREADS];

/* The stack pointer when the program began. */
extern Addr ts_first_sp;

/* The system's number of a thread; 0 if the thread does not exist. */
UInt ts_threads_lwp(ThreadId tid);

/* Log the registers of a thread. */
void ts_threads_log_state(ThreadId tid);

/* Log the system call in which a thread is. */
void ts_threads_log_call(ThreadId tid);

/* Log that the kernel clears @word when the thread ends; 0: nothing is logged. */
void ts_threads_log_word(ThreadId tid, Addr word);

/* Log the registers and the open system calls of all threads; @now is the last one. */
void ts_threads_log_all(ThreadId now);

/*
 * The thread goes on running.  Unless @has_state (its registers were logged just now), log its registers if they are not
 * in the log, or else that another thread ran before.
 */
void ts_threads_run(ThreadId tid, Bool has_state);

/* @parent makes the thread @child. */
void ts_threads_begin(ThreadId parent, ThreadId child, Addr tid_word);

/* Valgrind's callback: a thread is about to end. */
void ts_threads_end(ThreadId tid);

/* Wait until the kernel has cleared the word of the thread that ended last. */
void ts_threads_await_cleared(void);

/* -------------------------------------------------------------------------------- window.c */

extern struct ts_place ts_from, ts_until;

/* The part of the execution that is recorded: the callbacks that begin and end it. */
void ts_window_track(void);

/* In a forked process that has a log: begin its recording at once, or wait for the place at which its parent's begins. */
void ts_window_fork(void);

/* Is the program recorded, or will it be? */
Bool ts_window_is_open(void);

/* Returns the place that translated code must check for now, a static object; NULL if it need not check. */
const struct ts_place *ts_window_place(void);

/*
 * Called by translated code at that place, with the two registers of a request to Valgrind.  Returns whether the code must
 * make the request.
 */
UWord ts_window_arrive(UWord args_reg, UWord result_reg);

/* The value for the argument register of such a request. */
Addr ts_window_request(void);

/* Called when a thread is scheduled: begin or end the recording if the user requested it by a signal. */
void ts_window_poll(void);

/* -------------------------------------------------------------------------------- memory.c */

/* Copy @len bytes of the program's memory; returns how many could be read. */
SizeT ts_memory_read(Addr addr, void *to, SizeT len);

/* Log @len bytes from @addr on as a record of @kind (MEMORY, COMPARE). */
void ts_memory_log(enum ts_log_kind kind, Addr addr, SizeT len);

/* Log all that is mapped, with its contents. */
void ts_memory_log_all(Addr sp);

/* Install Valgrind's callbacks for changes of the address space. */
void ts_memory_track(void);

/*
 * Can the program modify the code at @addr?  *is_unseen is set to whether Valgrind would not notice it; Valgrind compares
 * code in anonymous memory with the code that it translated.
 */
Bool ts_memory_is_written_code(Addr addr, Bool *is_unseen);

/* Log the memory that a system call may have changed without a callback. */
void ts_memory_after_call(UInt num, const UWord *args, UWord n_args, Bool is_error, UWord ret);

/* -------------------------------------------------------------------------------- translate.c */

/* Valgrind's callback: add the code that logs a block's executions.  Returns the new block, which Valgrind frees. */
IRSB *ts_translate(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		   const VexArchInfo *host, IRType guest_word, IRType host_word);

/* -------------------------------------------------------------------------------- kernel.c */

/* Register the callbacks for system calls, signals, threads and forks with Valgrind. */
void ts_kernel_track(void);

/* -------------------------------------------------------------------------------- names.c */

/* A system call returned without an error: log the names of threads that it changed. */
void ts_names_after_call(ThreadId tid, UInt num, const UWord *args);

/* -------------------------------------------------------------------------------- surroundings.c */

/* Remove Valgrind's additions from the program's environment, on the stack at @sp. */
void ts_clean_environment(Addr sp);

/* -------------------------------------------------------------------------------- guest.c */

/* Log samples of how flags are computed. */
void ts_guest_log_flags(void);

/* The offset in a logged guest state of the byte at @off of the guest state; negative if it is not logged. */
Int ts_guest_place(Int off);

/* Copy the guest state of a thread in the log's form, TS_STATE_LEN bytes. */
void ts_guest_read(ThreadId tid, UChar *to);

#define TS_STATE_LEN ((SizeT)sizeof(VexGuestArchState) < TS_LOG_MAX_STATE ? (SizeT)sizeof(VexGuestArchState) : TS_LOG_MAX_STATE)

#endif
