/* SPDX-License-Identifier: MIT */
/*
 * The processes of a Usercorn trace that are alive at some place in it, each with its one thread and its open
 * group, and their encoding in a decode point.
 */
#ifndef LOADERS_USERCORN_TASKS_H
#define LOADERS_USERCORN_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/trace/point.h"
#include "src/base/buf.h"
#include "src/base/error.h"

/* Some ops of an open group: [off, end) of the stream; at off, @left ops of the frame are still to come. */
struct ucir_part {
	uint64_t off, end;
	uint32_t left;
};

/*
 * The part of an open group before frames of other processes.  A decode point has only its beginning and end,
 * because a group that stays open over many frames would be written in each point.  After resuming, the parts
 * from first.off to first.end are searched for in the stream when they are needed; @items are those after
 * them.
 */
struct ucir_parts {
	struct ucir_part *items; /* owned */
	uint32_t n;
	size_t cap;
	bool is_sought;          /* first has not been searched for yet */
	struct ucir_part first;  /* if is_sought */
};

/* General registers that are kept: x86's. */
#define UCIR_MAX_GPRS 16u

struct ucir_task {
	uint64_t pid;
	uint64_t pc;      /* of the coming instruction */
	uint64_t next_pc; /* the pc after it, from the open group */
	uint64_t pc_key;  /* an address xor this identifies the process, too */
	uint32_t thread;  /* ordinal of the thread, and of its process */
	bool has_pc;
	bool had_pc; /* has_pc as it was when the group began */
	bool has_next_pc;
	bool has_state; /* a keyframe was applied */
	bool has_stepped;
	bool is_exiting; /* EXIT was seen, its STEP not yet */
	struct ucir_task *next_of_pid, *next_of_thread; /* in the chains of struct ucir_tasks */
	struct ucir_parts parts;
	uint64_t gprs[1 + UCIR_MAX_GPRS]; /* as the trace was read last; the first holds all other registers */
};

/* Does the open group have ops before frames of other processes? */
static inline bool ucir_parts_any(const struct ucir_parts *p)
{
	return p->n || p->is_sought;
}

/* Live processes, the oldest first. */
struct ucir_tasks {
	struct ucir_task **items; /* owned, each too: their addresses stay */
	uint32_t n;
	size_t cap;
	struct ucir_task **of_pid, **of_thread; /* owned; chains by hash, cap of each */
};

/* Free all tasks. */
void ucir_tasks_fini(struct ucir_tasks *tasks);

/* The live task of the process id @pid, or of the thread ordinal @thread; NULL if there is none. */
struct ucir_task *ucir_tasks_find(const struct ucir_tasks *tasks, uint64_t pid);
struct ucir_task *ucir_tasks_by_thread(const struct ucir_tasks *tasks, uint32_t thread);

/* Add one.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ucir_task *ucir_tasks_add(struct ucir_tasks *tasks, uint64_t pid, uint32_t thread,
				 struct ts_error *err);

/* Remove and free @t. */
void ucir_tasks_remove(struct ucir_tasks *tasks, struct ucir_task *t);

/* Add the place @part of ops of the open group.  Returns false if memory is exhausted (TS_ENOMEM). */
bool ucir_parts_add(struct ucir_parts *p, const struct ucir_part *part, struct ts_error *err);

/* The group is over. */
void ucir_parts_clear(struct ucir_parts *p);

/*
 * The part of a decode point that has @tasks, with @n_gprs general registers each.  Parsed tasks are added to the empty
 * @tasks: thread ordinals must be less than @n_threads and different, and parts must end at @stream_end at the latest.
 *
 * Returns false if it is malformed (TS_ECORRUPT), or if memory is exhausted (TS_ENOMEM).
 */
bool ucir_tasks_point(struct ucir_tasks *tasks, uint32_t n_gprs, struct ts_point *p, uint32_t n_threads,
		      uint64_t stream_end);

#endif
