/* SPDX-License-Identifier: MIT */
/*
 * The processes of a Usercorn trace that live at some place in it, each with its one thread and its open
 * group, and how they are written into a decode point.
 */
#ifndef LOADERS_USERCORN_TASKS_H
#define LOADERS_USERCORN_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/base/error.h"

/* Some ops of an open group: [off, end) of the stream; at off, @left ops of the frame are still to come. */
struct ucir_part {
	uint64_t off, end;
	uint32_t left;
};

struct ucir_task {
	uint64_t pid;
	uint64_t pc;      /* of the coming instruction */
	uint64_t next_pc; /* what the open group says of the pc behind it */
	uint32_t thread;  /* ordinal of the thread, and of its process */
	bool has_pc;
	bool had_pc; /* has_pc as it was when the group began */
	bool has_next_pc;
	bool has_state; /* a keyframe was applied */
	bool has_stepped;
	bool is_exiting;         /* EXIT was seen, its STEP not yet */
	struct ucir_part *parts; /* owned; what of the open group lies before frames of other processes */
	uint32_t n_parts, cap_parts;
};

/* Those that live, the eldest first. */
struct ucir_tasks {
	struct ucir_task **items; /* owned, each too: their addresses stay */
	uint32_t n, cap;
};

/* Forget all and give their memory back. */
void ucir_tasks_fini(struct ucir_tasks *tasks);

/* The one of process id @pid, or of thread ordinal @thread; NULL if none lives. */
struct ucir_task *ucir_tasks_find(const struct ucir_tasks *tasks, uint64_t pid);
struct ucir_task *ucir_tasks_by_thread(const struct ucir_tasks *tasks, uint32_t thread);

/* Add one.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ucir_task *ucir_tasks_add(struct ucir_tasks *tasks, uint64_t pid, uint32_t thread,
				 struct ts_error *err);

/* Take @t out and free it. */
void ucir_tasks_remove(struct ucir_tasks *tasks, struct ucir_task *t);

/* Note that ops of the open group lie there.  Returns false if memory is exhausted (TS_ENOMEM). */
bool ucir_task_add_part(struct ucir_task *t, const struct ucir_part *part, struct ts_error *err);

/* Numbers of seven bits a byte, the low ones first, as decode points have them. */
void ucir_put_num(struct ts_buf *b, uint64_t v);
uint64_t ucir_get_num(struct ts_cursor *c);

/* Append @tasks to a decode point. */
void ucir_tasks_save(const struct ucir_tasks *tasks, struct ts_buf *b);

/*
 * Read what ucir_tasks_save() wrote into the empty @tasks; threads must be below @n_threads, parts within
 * @stream_len.
 *
 * Returns false if it cannot be that (TS_ECORRUPT, TS_ETRUNC), or if memory is exhausted (TS_ENOMEM).
 */
bool ucir_tasks_restore(struct ucir_tasks *tasks, struct ts_cursor *c, uint32_t n_threads,
			uint64_t stream_len, struct ts_error *err);

#endif
