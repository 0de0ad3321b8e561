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

/* Is the program recorded now? */
extern Bool ts_is_on;

/* -------------------------------------------------------------------------------- log.c */

/* Map the shared memory at descriptor @fd and close it.  Does not return if that fails. */
void ts_log_open(Int fd);

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

/* In a child: private memory takes the place of the log. */
void ts_log_detach(void);

Long ts_syscall(Long num, Long a, Long b, Long c, Long d, Long e, Long f);

/* -------------------------------------------------------------------------------- memory.c */

/* Copy @len bytes of the program's memory; returns how many could be read. */
SizeT ts_memory_read(Addr addr, void *to, SizeT len);

/* Log @len bytes from @addr on as a record of @kind (MEMORY, COMPARE). */
void ts_memory_log(enum ts_log_kind kind, Addr addr, SizeT len);

/* Log all that is mapped, with its contents. */
void ts_memory_log_all(Addr sp);

/* The kernel's changes of the address space: Valgrind's callbacks. */
void ts_memory_track(void);

/* Memory that a system call may have changed without a callback. */
void ts_memory_after_call(UInt num, const UWord *args, UWord n_args, Bool is_error, UWord ret);

/* -------------------------------------------------------------------------------- translate.c */

/* Valgrind's callback: a block with what logs its execution. */
IRSB *ts_translate(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
		   const VexArchInfo *host, IRType guest_word, IRType host_word);

/* -------------------------------------------------------------------------------- kernel.c */

void ts_kernel_track(void);

/* -------------------------------------------------------------------------------- surroundings.c */

/* Take what Valgrind put into the program's environment out of it, on the stack at @sp. */
void ts_clean_environment(Addr sp);

/* -------------------------------------------------------------------------------- guest.c */

/* Log samples of how flags are computed. */
void ts_guest_log_flags(void);

#define TS_STATE_LEN ((SizeT)sizeof(VexGuestArchState) < TS_LOG_MAX_STATE ? (SizeT)sizeof(VexGuestArchState) : TS_LOG_MAX_STATE)

#endif
