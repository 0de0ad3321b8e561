/* SPDX-License-Identifier: MIT */
/*
 * The log of the Valgrind tool (log.h) into frames.
 *
 * It keeps the guest state of each thread and a shadow of the program's memory.  A load that finds something
 * else than the shadow has is written as CHANGED and counted.
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
	bool has_filter;            /* the program has asked for a filter of its system calls, seccomp(2) */
	bool has_exit;              /* a thread has called exit_group */
	uint32_t exit_status;       /* then */
	const char *exec_path;      /* of a call of execve that has not returned; NULL if there is none */
};

/*
 * A decoder for the log of process @process, for @arch as a recording names it.  The frames are borrowed.
 *
 * Returns NULL if @arch is none that is decoded or memory is exhausted.
 */
struct ts_log_decoder *ts_log_decoder_new(const char *arch, uint32_t process, struct ts_op_frames *frames);
void ts_log_decoder_free(struct ts_log_decoder *d);

/* Children have recordings of their own: no NOTE says that they were not recorded. */
void ts_log_decoder_follow(struct ts_log_decoder *d);

/*
 * Record only instructions of the modules that match one of @modules, patterns of fnmatch(3), the last one followed by
 * NULL; they are borrowed.  To be called before anything is decoded.
 */
void ts_log_decoder_only(struct ts_log_decoder *d, const char *const *modules);

/* With ts_log_decoder_only(): no such instruction was executed yet, nothing is written. */
bool ts_log_decoder_is_waiting(const struct ts_log_decoder *d);

/* The same: write what has changed elsewhere, in all threads. */
void ts_log_decoder_tell_gaps(struct ts_log_decoder *d);

/*
 * Decode the @len bytes of a chunk.
 *
 * Returns NULL, or what is wrong with the log; then nothing more can be decoded.
 */
const char *ts_log_decoder_take(struct ts_log_decoder *d, const uint8_t *bytes, size_t len);

/* Was it the last record of the chunk, of which no other follows?  A process that is killed leaves such a one. */
bool ts_log_decoder_is_last_damaged(const struct ts_log_decoder *d);

/* Has all that was decoded been written?  If not, a change of the kernel's is not decoded to its end. */
bool ts_log_decoder_is_settled(const struct ts_log_decoder *d);

/*
 * Write the state of the program as it is now, when all is settled: a KEYFRAME of each thread, with all memory and maps
 * in the first, and the threads' names.  A recording can begin with it.
 */
void ts_log_decoder_put_state(struct ts_log_decoder *d);

/*
 * A fatal signal, as the engine reported it: written where the thread died.  @flags: UCIR_SIGNAL_HAS_CODE,
 * _HAS_ADDR as far as they are known.
 */
void ts_log_decoder_set_fatal(struct ts_log_decoder *d, uint16_t num, int32_t code, uint64_t addr, uint8_t flags);

/* The program has ended: write the system calls in which threads ended, and where they are. */
void ts_log_decoder_finish(struct ts_log_decoder *d);

/* Each file that is or was mapped as code, by its path; at most TS_MAX_CODE_FILES. */
void ts_log_decoder_files(struct ts_log_decoder *d, void (*tell)(void *user, const char *path), void *user);

void ts_log_decoder_count(const struct ts_log_decoder *d, struct ts_log_decoder_counts *counts);

#endif
