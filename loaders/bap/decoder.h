/* SPDX-License-Identifier: MIT */
/*
 * The state that the frames up to a place of the trace have set: a reader without its position.
 */
#ifndef LOADERS_BAP_DECODER_H
#define LOADERS_BAP_DECODER_H

#include "frame_template.h"
#include "src/trace/point.h"
#include "operand.h"
#include "state.h"
#include "stream.h"

#define BAP_MAX_CALLS 8

/* A system call whose frame was read. */
struct bap_call {
	uint64_t address, thread_id;
	uint64_t number, args[TS_MAX_SYSCALL_ARGS];
	uint32_t n_args;
};

/* System calls whose instruction has not been read: its std frame comes after that of the system call. */
struct bap_calls {
	struct bap_call items[BAP_MAX_CALLS];
	uint32_t n;
};

/* Add a system call.  If there are more than BAP_MAX_CALLS, the oldest one is dropped with a warning. */
void bap_calls_add(struct bap_calls *calls, const struct bap_look *look, const struct bap_call *call);

/*
 * Remove the system call of the instruction of @t at @address, and append it as an event to the open step.
 * Does nothing if there is none.
 */
void bap_calls_take(struct bap_calls *calls, struct bap_known *k, const struct bap_thread *t,
		    uint64_t address);

struct bap_course {
	struct bap *rec; /* borrowed */
	struct bap_known known;
	struct bap_parser in;
	struct bap_plans plans;
	struct bap_thread *now; /* the thread of the last std frame, borrowed from known; NULL: none */
	struct bap_calls calls;
	uint64_t n_modules;
	uint8_t last_insn[TS_X86_MAX_INSN]; /* bytes of the last frame's instruction; last_len 0: none, or
					       more */
	uint8_t last_len;
};

/* Initialize *co: no register is known.  All parameters are borrowed until bap_course_fini(). */
void bap_course_init(struct bap_course *co, struct bap *rec, struct bap_look *look, struct ts_end *end);
void bap_course_fini(struct bap_course *co);

/*
 * Make the thread of the std frame at file offset @off the current thread.
 *
 * Returns the thread, borrowed from the course.
 * Returns NULL if the recording has too many threads (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct bap_thread *bap_course_thread(struct bap_course *co, uint64_t id, uint64_t off, struct ts_error *err);

/* Make all registers and memory unknown, as effects of the open step. */
void bap_course_lose(struct bap_course *co);

/*
 * Save to a decode point, and resume from one.  With @has_reported the point records which register bytes have
 * been reported; without it none has (bap_forget_reported()).
 *
 * bap_course_resume() returns false if the point belongs to another trace (TS_ECORRUPT).
 * bap_course_resume() returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_course_point(struct bap_course *co, bool has_reported, struct ts_point *p);

/* ----------------------------------------------------------------------------------- insn_frame.c */

/*
 * Append the effects of the opened std frame to the open step.  *t and *pc are set to its thread and address,
 * and *insn_len to the instruction's length in bytes (0: unknown).
 *
 * Returns false if the frame is damaged (TS_ECORRUPT, in the error that it was opened with).
 */
bool bap_read_std(struct bap_course *co, struct bap_stream *s, struct bap_thread **t, uint64_t *pc,
		  uint16_t *insn_len);

/* --------------------------------------------------------------------------------- other_frames.c */

/*
 * Append the effects of the opened frame, which is not a std frame, to the open step.
 *
 * Returns false if the frame is damaged (TS_ECORRUPT, in the error that it was opened with).
 */
bool bap_read_other(struct bap_course *co, const struct bap_stream *s);

/* ---------------------------------------------------------------------------------------- value.c */

/*
 * Process the value of a register operand before the instruction (bap_op_see()), or after it
 * (bap_op_write()).
 */
void bap_op_see(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);
void bap_op_write(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/*
 * Process a written operand, register or memory, of the old recorder, which lists the value before the
 * instruction.  The new value is unknown.
 */
void bap_op_lose(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/* Append a memory operand and its value as an effect of kind TS_FX_READ or TS_FX_WRITE. */
void bap_op_memory(struct bap_known *k, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden);

/* -------------------------------------------------------------------------------------- threads.c */

/*
 * The thread with the recorder's @id, of the frame at file offset @off.  It is added to the recording if it
 * is new.
 *
 * Returns the thread, valid until the next call, or until a later call that passes it as @keep.
 * Returns NULL if there are too many threads (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct bap_thread *bap_threads_find(struct bap_known *k, uint64_t id, const struct bap_thread *keep,
				    uint64_t off, struct ts_error *err);

/*
 * Add a thread of a decode point.  A decode point lists the threads in reverse order of their last frames.
 *
 * Returns the thread, valid until the next call.
 * Returns NULL if the point lists too many threads, a thread twice, or a thread that the recording does not
 * have (TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct bap_thread *bap_threads_add(struct bap_known *k, uint64_t id, struct ts_error *err);

#endif
