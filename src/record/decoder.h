/* SPDX-License-Identifier: MIT */
/*
 * The decoder of the Valgrind tool's log (log.h): it writes frames.
 *
 * The decoder keeps the guest state of each thread, and a shadow of the program's memory.  If a load finds other bytes
 * than the shadow has, they are written as CHANGED and counted as unexplained.
 */
#ifndef TS_RECORD_DECODER_H
#define TS_RECORD_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op_frames.h"

struct ts_log_decoder;

struct ts_log_decoder_counts {
	uint64_t n_steps, n_unexplained;
	uint32_t n_children;
	uint64_t n_elsewhere;       /* instructions of modules that are not recorded */
	uint64_t n_x87;             /* steps of x87 arithmetic */
	bool has_filter;            /* the program has installed a filter of system calls, seccomp(2) */
	bool has_exit;              /* a thread has called exit_group */
	uint32_t exit_status;       /* if has_exit */
	const char *exec_path;      /* of a call of execve that has not returned; NULL if no such call is open */
};

/*
 * A decoder for the log of process @process, for @arch as a recording names it.  The frames are borrowed.
 *
 * Returns NULL if logs of @arch cannot be decoded.
 * Returns NULL if memory is exhausted.
 */
struct ts_log_decoder *ts_log_decoder_new(const char *arch, uint32_t process, struct ts_op_frames *frames);
void ts_log_decoder_free(struct ts_log_decoder *d);

/* Children have recordings of their own: no NOTE says that they were not recorded. */
void ts_log_decoder_follow(struct ts_log_decoder *d);

/*
 * Record only instructions of the modules that match one of @modules, patterns of fnmatch(3), the last one followed by
 * NULL; they are borrowed.  The caller must call this before it decodes anything.
 */
void ts_log_decoder_only(struct ts_log_decoder *d, const char *const *modules);

/* With ts_log_decoder_only(): has no instruction of these modules been executed yet?  Nothing is written until then. */
bool ts_log_decoder_is_waiting(const struct ts_log_decoder *d);

/* With ts_log_decoder_only(): write the changes that other modules made, for all threads. */
void ts_log_decoder_put_gaps(struct ts_log_decoder *d);

/*
 * Decode the @len bytes of a chunk.
 *
 * Returns NULL on success.
 * Returns a sentence, a literal, if the log is damaged: no more of it can be decoded then.
 */
const char *ts_log_decoder_take(struct ts_log_decoder *d, const uint8_t *bytes, size_t len);

/* Is the damaged record the last one of its chunk?  A process that is killed leaves an incomplete last record. */
bool ts_log_decoder_is_last_damaged(const struct ts_log_decoder *d);

/* Is everything that was decoded also written?  It is not while a change by the kernel is only partly decoded. */
bool ts_log_decoder_is_settled(const struct ts_log_decoder *d);

/*
 * Write the current state of the program, so that a recording can begin here: a KEYFRAME of each thread, with all memory
 * and maps in the first one, and the names of threads.  ts_log_decoder_is_settled() must be true.
 */
void ts_log_decoder_put_state(struct ts_log_decoder *d);

/*
 * Set the fatal signal that the engine reported.  It is written at the last position of the thread that died.  @flags are
 * UCIR_SIGNAL_HAS_CODE and _HAS_ADDR, as far as @code and @addr are known.
 */
void ts_log_decoder_set_fatal(struct ts_log_decoder *d, uint16_t num, int32_t code, uint64_t addr, uint8_t flags);

/* The program has ended: write the system calls that have not returned, and the fatal signal. */
void ts_log_decoder_finish(struct ts_log_decoder *d);

/* Call @tell with the path of each file that is or was mapped as code, at most TS_MAX_CODE_FILES. */
void ts_log_decoder_files(struct ts_log_decoder *d, void (*tell)(void *user, const char *path), void *user);

/* Set *counts to the counts of the log so far. */
void ts_log_decoder_count(const struct ts_log_decoder *d, struct ts_log_decoder_counts *counts);

#endif
