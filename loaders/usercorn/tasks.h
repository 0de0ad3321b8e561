/* SPDX-License-Identifier: MIT */
/*
 * The live processes at a place of a Usercorn trace, each with one thread and its open group, and their
 * encoding in a decode point.  In version 2 a task is a thread.
 */
#ifndef LOADERS_USERCORN_TASKS_H
#define LOADERS_USERCORN_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/trace/point.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

/* A part of an open group: the ops at [off, end) of the stream.  At off, the frame has `left` more ops. */
struct ucir_part {
	uint64_t off, end;
	uint32_t left;
};

/*
 * The parts of an open group that are before frames of other processes.  A decode point has only the
 * beginning of the first and the end of the last part, because a group may stay open over many frames.  After
 * resuming, the parts between first.off and first.end are searched for in the stream when they are needed;
 * `items` are the parts after them.
 */
struct ucir_parts {
	struct ucir_part *items; /* owned */
	uint32_t n;
	size_t cap;
	bool is_sought;          /* first has not been searched for yet */
	struct ucir_part first;  /* if is_sought */
};

/* The largest number of general registers that are kept: those of x86. */
#define UCIR_MAX_GPRS 16u

struct ucir_task {
	uint64_t pid;
	uint64_t pc;      /* of the next instruction */
	uint64_t next_pc; /* the pc after it, from the open group */
	uint64_t pc_key;  /* an address xor this identifies the process, too */
	uint32_t thread;  /* ordinal of the thread, and of its process */
	bool has_pc;
	bool had_pc; /* has_pc as it was when the group began */
	bool has_next_pc;
	bool has_state; /* a keyframe was applied */
	bool has_stepped;
	bool is_exiting; /* its EXIT has been read, the STEP of the EXIT has not */
	struct ucir_task *next_of_pid, *next_of_thread; /* in the chains of struct ucir_tasks */
	struct ucir_parts parts;
	uint64_t gprs[1 + UCIR_MAX_GPRS]; /* the last values; gprs[0] is a dummy for all other registers */
};

/* Does the open group have ops before frames of other processes? */
static inline bool ucir_parts_any(const struct ucir_parts *p)
{
	return p->n || p->is_sought;
}

/* Live processes, the oldest first. */
struct ucir_tasks {
	struct ucir_task **items; /* owned, as are the tasks, whose addresses do not change */
	uint32_t n;
	size_t cap;
	struct ucir_task **of_pid, **of_thread; /* owned; chains by hash, cap of each */
};

/* Free all tasks. */
void ucir_tasks_fini(struct ucir_tasks *tasks);

/*
 * Find a live task by its process id @pid, or by its thread ordinal @thread.
 *
 * Return the task, borrowed until ucir_tasks_remove().
 * Return NULL if no live task has it.
 */
struct ucir_task *ucir_tasks_find(const struct ucir_tasks *tasks, uint64_t pid);
struct ucir_task *ucir_tasks_by_thread(const struct ucir_tasks *tasks, uint32_t thread);

/*
 * Add a task.
 *
 * Returns the task, borrowed until ucir_tasks_remove().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ucir_task *ucir_tasks_add(struct ucir_tasks *tasks, uint64_t pid, uint32_t thread,
				 struct ts_error *err);

/* Remove and free @t. */
void ucir_tasks_remove(struct ucir_tasks *tasks, struct ucir_task *t);

/* Add the place @part of ops of the open group.  Returns false if memory is exhausted (TS_ENOMEM). */
bool ucir_parts_add(struct ucir_parts *p, const struct ucir_part *part, struct ts_error *err);

/* Remove all parts: the group has ended. */
void ucir_parts_clear(struct ucir_parts *p);

/*
 * Write the fields of a decode point, or parse them into the empty @tasks (src/trace/point.h).  Parsed thread ordinals
 * must be less than @n_threads and different, and parts must end at @stream_end at the latest.
 *
 * Returns false if the parsed point is malformed (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_tasks_point(struct ucir_tasks *tasks, uint32_t n_gprs, struct ts_point *p, uint32_t n_threads,
		      uint64_t stream_end);

#endif
