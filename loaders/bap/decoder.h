/* SPDX-License-Identifier: MIT */
/*
 * The knowledge from the frames up to some place: the state of a reader except for its position.
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

/* System calls that wait for the std frames of their instructions, which come after them. */
struct bap_calls {
	struct bap_call items[BAP_MAX_CALLS];
	uint32_t n;
};

/* One more; of too many the first is left out. */
void bap_calls_add(struct bap_calls *calls, const struct bap_look *look, const struct bap_call *call);

/* Take the one for the instruction of @t at @address, if there is one: an event of the open step. */
void bap_calls_take(struct bap_calls *calls, struct bap_known *k, const struct bap_thread *t,
		    uint64_t address);

struct bap_course {
	struct bap *rec; /* borrowed */
	struct bap_known known;
	struct bap_parser in;
	struct bap_plans plans;
	struct bap_thread *now; /* the last std frame's, borrowed from known; NULL: none */
	struct bap_calls calls;
	uint64_t n_modules;
	uint8_t last_insn[TS_X86_MAX_INSN]; /* bytes of the last frame's instruction; last_len 0: none, or
					       more */
	uint8_t last_len;
};

/* Nothing is known. */
void bap_course_init(struct bap_course *co, struct bap *rec, struct bap_look *look, struct ts_end *end);
void bap_course_fini(struct bap_course *co);

/*
 * Make the thread of the std frame at file offset @off the current one.
 *
 * Returns NULL as bap_threads_find() does.
 */
struct bap_thread *bap_course_thread(struct bap_course *co, uint64_t id, uint64_t off, struct ts_error *err);

/* Make all registers and memory unknown, as effects of the open step. */
void bap_course_lose(struct bap_course *co);

/*
 * The part of a decode point.  @has_told: it includes what was told of registers; else that was all forgotten
 * (bap_forget_told()).
 *
 * Returns false if the point belongs to another trace, or memory is exhausted.
 */
bool bap_course_point(struct bap_course *co, bool has_told, struct ts_point *p);

/* ----------------------------------------------------------------------------------- insn_frame.c */

/*
 * Read the opened std frame into the open step; *t and *pc get its thread and address, *insn_len the
 * instruction's length in bytes (0: unknown).
 *
 * Returns false if it is damaged: the error that it was opened with has the reason.
 */
bool bap_read_std(struct bap_course *co, struct bap_stream *s, struct bap_thread **t, uint64_t *pc,
		  uint16_t *insn_len);

/* --------------------------------------------------------------------------------- other_frames.c */

/*
 * Read the opened frame, not a std frame, into the open step.
 *
 * Returns false if it is damaged: the error that it was opened with has the reason.
 */
bool bap_read_other(struct bap_course *co, const struct bap_stream *s);

/* ---------------------------------------------------------------------------------------- value.c */

/* A register operand's value before the instruction, or after it. */
void bap_op_see(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);
void bap_op_write(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/*
 * The old recorder lists what is written, register or memory, with its old value: the new one is not there.
 */
void bap_op_lose(struct bap_known *k, struct bap_thread *t, const struct bap_op *op);

/* A memory operand's value as an effect of kind TS_FX_READ or TS_FX_WRITE. */
void bap_op_memory(struct bap_known *k, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden);

/* -------------------------------------------------------------------------------------- threads.c */

/*
 * The thread with the recorder's @id, met at file offset @off; one that is met for the first time becomes a
 * thread of the recording.  @keep, which may be NULL, stays valid; others are so until the next call.
 *
 * Returns NULL if there are too many threads (TS_ELIMIT) or memory is exhausted (TS_ENOMEM).
 */
struct bap_thread *bap_threads_find(struct bap_known *k, uint64_t id, const struct bap_thread *keep,
				    uint64_t off, struct ts_error *err);

/*
 * A thread of a decode point, which lists threads from the one met last on.
 *
 * Returns NULL as above, or if there are too many, if it is there twice, or if the recording does not have it
 * (TS_ECORRUPT).
 */
struct bap_thread *bap_threads_add(struct bap_known *k, uint64_t id, struct ts_error *err);

#endif
