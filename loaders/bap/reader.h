/* SPDX-License-Identifier: MIT */
/*
 * A place in a trace of BAP's frames, and what is known there.
 */
#ifndef LOADERS_BAP_READER_H
#define LOADERS_BAP_READER_H

#include "loaders/kit/pbwire.h"
#include "operands.h"
#include "shown.h"
#include "state.h"

#define BAP_MAX_PENDING 8

/* A system call that waits for its instruction. */
struct bap_pending {
	uint64_t address, thread_id;
	uint64_t number, args[TS_MAX_SYSCALL_ARGS];
	uint64_t n_args;
};

struct bap_reader {
	struct ts_reader base;
	struct bap *rec; /* borrowed */
	uint8_t *buf;    /* owned; bytes of the file from buf_off on */
	size_t buf_len, buf_cap;
	uint64_t buf_off;
	uint64_t off; /* of the next frame */
	struct bap_opened {
		uint64_t off;
		size_t len;            /* 0: none */
		unsigned kind;         /* FRAME_STD, ...; 0: none that is known */
		struct ts_cursor body; /* its message, for copies of this cursor to read */
		struct pb_message std; /* of a std frame, if has_std */
		bool has_std;
	} opened;          /* the frame that was opened last; it lies in buf */
	struct ts_error ahead; /* of a frame that was looked ahead at; next() will say it */
	uint64_t n_frames; /* before it */
	uint64_t n_steps;
	uint64_t n_modules;
	uint8_t serial;              /* counts lists of values before an instruction, never 0 */
	struct bap_thread **threads; /* owned, each too */
	uint32_t n_threads, cap_threads;
	struct bap_thread *now; /* the last frame's */
	struct bap_pending pending[BAP_MAX_PENDING];
	unsigned n_pending;
	uint8_t last_insn[TS_X86_MAX_INSN]; /* bytes of the last frame's instruction; last_len 0: none, or more */
	uint8_t last_len;
	struct ts_steps *out; /* borrowed during next() */
	struct bap_shown *shown;            /* owned; NULL until it is of use */
	struct bap_form forms[BAP_N_FORMS]; /* of operands that were met, by a hash of their names */
	bool is_first_time;   /* this frame is looked at for the first time: count its oddities */
};

#define bap_warn(r, ...)                                                 \
	do {                                                             \
		if ((r)->is_first_time)                                  \
			ts_recording_warn(&(r)->rec->base, __VA_ARGS__); \
	} while (0)

/*
 * A reader at the first instruction.
 *
 * Returns NULL if there is no instruction (TS_EUNSUPPORTED), the trace is damaged before the first one, or
 * memory is exhausted.
 */
struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err);

/* Fill the initial state with what comes before the first instruction.  Fails as bap_reader_new() does. */
bool bap_read_initial(struct bap *rec, struct ts_error *err);

/* ----------------------------------------------------------------------------------------- frame by frame */

/* A reader at the first frame, to be closed with ts_reader_close(); NULL if memory is exhausted (TS_ENOMEM).
 */
struct bap_reader *bap_reader_at_start(struct bap *rec, struct ts_error *err);

/*
 * Go to the first std frame.  Frames before the first instruction belong to the initial state, which goes to
 * @out; NULL: it is known already.  False as bap_reader_new() fails.
 */
bool bap_skip_to_first(struct bap_reader *r, struct ts_steps *out, struct ts_error *err);

/*
 * Open the next frame: r->opened.  It is not taken yet.
 *
 * Returns TS_END behind the last frame; TS_FAIL if the file ends within it (TS_ETRUNC) or it is no frame
 * (TS_ECORRUPT).
 */
enum ts_next bap_open_frame(struct bap_reader *r, struct ts_error *err);

/*
 * The message of the std frame that was opened, which is read once; its parts are relative to the frame's
 * body.
 *
 * Returns it; NULL if it is damaged: the error that the frame was opened with says how.
 */
const struct pb_message *bap_open_std(struct bap_reader *r);

/* The frame that was opened has been read: on to the next one. */
void bap_take_frame(struct bap_reader *r);

#endif
