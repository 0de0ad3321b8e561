/* SPDX-License-Identifier: MIT */
/*
 * What the tool's files share.  The tool has no libc: only Valgrind's functions and system calls of its own.
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
 * Returns its descriptor, which is to be closed; -1 if the system refuses: the log that there was is still mapped.
 */
Int ts_log_create(UInt n_chunks, ULong chunk_len);

/* Nothing has been recorded yet: the log is empty. */
void ts_log_rewind(void);

/*
 * Room for a control record of @kind whose head is followed by @len bytes, at most TS_LOG_MAX_CONTROL in all.
 *
 * Returns where those bytes are to be written; NULL if nothing is recorded any more.
 */
void *ts_log_room(enum ts_log_kind kind, SizeT len);

/* A new chunk: called by translated code when the one in use is full. */
void ts_log_next_chunk(void);

/* Has either side ended the recording, while this process still records? */
Bool ts_log_must_stop(void);

/* Nothing is recorded from here on. */
void ts_log_stop(void);

/* Nothing is recorded from here on: private memory takes the place of the log, which is another process's or has no reader. */
void ts_log_detach(void);

/* Returns the kernel's result: a negative value is an error number. */
Word ts_syscall(Word num, Word a, Word b, Word c, Word d, Word e, Word f);

/* Is there a process @pid?  Also if this process may send it no signal.  (Valgrind's kill() is in no header for tools.) */
Bool ts_is_alive(Int pid);

/* -------------------------------------------------------------------------------- follow.c */

/* Parse the option's text: RECORDER:CHUNKS:BYTES-OF-A-CHUNK:FIFO.  Returns False if it is malformed. */
Bool ts_follow_take(const HChar *text);

Bool ts_follow_is_on(void);

/*
 * Make a log for this process and wait until its reader has it.
 *
 * Returns False if the log has no reader: nothing must be recorded then.
 */
Bool ts_follow_begin(Bool is_fork);

/*
 * The program is about to execute the file whose path is at @path.  If that is the link to its own file, leave the file's
 * name for the launcher (exec.c), for which the link leads elsewhere.
 */
void ts_follow_exec(Addr path);

/* -------------------------------------------------------------------------------- place.c */

enum ts_place_kind { TS_PLACE_NONE, TS_PLACE_ANY, TS_PLACE_NEVER, TS_PLACE_ADDR, TS_PLACE_FUNC, TS_PLACE_LINE };

/* Where the recording begins or ends: the @count-th time that it is executed. */
struct ts_place {
	enum ts_place_kind kind;
	ULong count, n_seen;
	Addr addr;
	UInt line;
	const HChar *name; /* of the function, or of the source file */
};

/*
 * Parse the text of an option, KIND:COUNT:WHAT: addr:N:ADDRESS, func:N:NAME, line:N:LINE:FILE, signal:1:, in which
 * numbers are decimal.  Returns False if it is malformed.
 */
Bool ts_place_take(struct ts_place *p, const HChar *text);

/* Is it at the instruction at @addr, whose file is mapped? */
Bool ts_place_is_at(const struct ts_place *p, Addr addr);

/* -------------------------------------------------------------------------------- window.c */

extern struct ts_place ts_from, ts_until;

/* The part of the execution that is recorded: the callbacks that begin and end it. */
void ts_window_track(void);

/* A process that was forked has a log: its recording begins at once, or where its parent's is to begin. */
void ts_window_fork(void);

/* Is the program recorded, or will it be? */
Bool ts_window_is_open(void);

/* The place that translated code has to look for now; NULL if there is none. */
const struct ts_place *ts_window_place(void);

/*
 * Called by translated code at that place, with two registers that a request to Valgrind uses.  Returns whether
 * Valgrind is to be entered.
 */
UWord ts_window_arrive(UWord args_reg, UWord result_reg);

/* What the register for the arguments of such a request has to hold. */
Addr ts_window_request(void);

/* At a thread's start of a slice: end the recording if that was asked for, or wait for the place where it begins. */
void ts_window_poll(void);

/* -------------------------------------------------------------------------------- memory.c */

/* Copy @len bytes of the program's memory; returns how many could be read. */
SizeT ts_memory_read(Addr addr, void *to, SizeT len);

/* Log @len bytes from @addr on as a record of @kind (MEMORY, COMPARE). */
void ts_memory_log(enum ts_log_kind kind, Addr addr, SizeT len);

/* Log all that is mapped, with its contents. */
void ts_memory_log_all(Addr sp);

/* The kernel's changes of the address space: Valgrind's callbacks. */
void ts_memory_track(void);

/*
 * May the code at @addr be written by a store?  *is_unseen gets whether Valgrind, which compares the code of anonymous memory
 * with what it translated, would not see that.
 */
Bool ts_memory_is_written_code(Addr addr, Bool *is_unseen);

/* Memory that a system call may have changed without a callback. */
void ts_memory_after_call(UInt num, const UWord *args, UWord n_args, Bool is_error, UWord ret);

/* -------------------------------------------------------------------------------- translate.c */

/* The next block that is described is the first one. */
void ts_translate_restart(void);

/* Valgrind's callback: a block with what logs its execution. */
IRSB *ts_translate(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		   const VexArchInfo *host, IRType guest_word, IRType host_word);

/* -------------------------------------------------------------------------------- kernel.c */

void ts_kernel_track(void);

/* Log all threads: their registers, and the system calls in which they are; thread @now at last. */
void ts_kernel_log_threads(ThreadId now);

/* The system's number of a thread; 0 if there is no such thread. */
UInt ts_kernel_lwp(ThreadId tid);

/* The lowest address that the main stack had in use when the program began. */
Addr ts_kernel_first_sp(void);

/* -------------------------------------------------------------------------------- names.c */

/* A system call returned without an error: log the names of threads that it changed. */
void ts_names_after_call(ThreadId tid, UInt num, const UWord *args);

/* -------------------------------------------------------------------------------- surroundings.c */

/* Remove Valgrind's additions from the program's environment, on the stack at @sp. */
void ts_clean_environment(Addr sp);

/* -------------------------------------------------------------------------------- guest.c */

/* Log samples of how flags are computed. */
void ts_guest_log_flags(void);

/* Offset in the log of the part of the guest state at @off; negative if the log does not have it. */
Int ts_guest_place(Int off);

/* Copy the guest state of the thread as the log has it, TS_STATE_LEN bytes. */
void ts_guest_read(ThreadId tid, UChar *to);

#define TS_STATE_LEN ((SizeT)sizeof(VexGuestArchState) < TS_LOG_MAX_STATE ? (SizeT)sizeof(VexGuestArchState) : TS_LOG_MAX_STATE)

#endif
