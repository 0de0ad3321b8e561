/* SPDX-License-Identifier: MIT */
/*
 * A reader of groups of lines, with the functions that steps (step_reader.c) and states (state_reader.c) share.
 */
#ifndef LOADERS_GRAMMAR_READER_PARTS_H
#define LOADERS_GRAMMAR_READER_PARTS_H

#include "loaders/grammar/code/decoder.h"
#include "lines.h"
#include "loaders/kit/line_reader.h"
#include "loaders/kit/threads.h"
#include "log.h"
#include "loaders/grammar/language/match.h"
#include "states.h"

struct grammar_later {
	struct ts_line_reader lines;
	struct grammar_matcher matcher;
	struct grammar_line line;
	struct ts_steps fx;
	bool is_able; /* the lines of this grammar list all accesses of a state */
};

/* @log is borrowed until grammar_later_fini(). */
void grammar_later_init(struct grammar_later *l, const struct grammar_log *log);
void grammar_later_fini(struct grammar_later *l);

/*
 * Append to @out the writes of the last instruction of a thread, with unknown values.  They are listed on the
 * next line of that thread at or after file offset @off; @thread is its number on lines.  If that line has no
 * accesses, TS_FX_UNSEEN is appended, because the kernel may have written.  *is_told is set to false, and
 * nothing is appended, if no such line is nearby or if it cannot be parsed.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_later_append(struct grammar_later *l, uint64_t thread, uint64_t off, struct ts_steps *out, bool *is_told,
			struct ts_error *err);

struct grammar_fill {
	const struct grammar_log *log;   /* borrowed */
	struct grammar_decoder *decoder; /* owned; NULL: no instruction is decoded */
	struct grammar_files scratch;    /* of states: registers after a step; of steps: those of one line */
};

/*
 * @log is borrowed until grammar_fill_fini(), which the caller calls in both cases.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_fill_init(struct grammar_fill *f, const struct grammar_log *log, struct ts_error *err);
void grammar_fill_fini(struct grammar_fill *f);

/*
 * Set missing values of the accesses of a step from registers: from the registers on its line, and, if lines
 * list every change, from the registers of @thread in @files.
 *
 * Returns false if memory is exhausted.
 */
bool grammar_fill_step(struct grammar_fill *f, struct grammar_files *files, struct grammar_head *head, uint32_t thread);

/*
 * If lines list every change, update the registers of @thread in @files with the writes of the open step of
 * @out.
 */
void grammar_fill_keep(struct grammar_fill *f, struct grammar_files *files, uint32_t thread, const struct ts_steps *out);

/* The slow path of grammar_fill_append().  Returns as grammar_fill_append() does. */
bool grammar_fill_moves(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at,
			const struct ts_steps *next, struct ts_steps *out);

/*
 * Append to @out the reads and writes of the instruction of a state at @at, if the lines of the grammar do
 * not list them.  They are computed from the instruction's code in the program's file and from the registers
 * in @files.  @next is the next state if it belongs to the same thread, else NULL.
 *
 * Returns false if memory is exhausted.
 */
static inline bool grammar_fill_append(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at,
				     const struct ts_steps *next, struct ts_steps *out)
{
	return !f->decoder || f->log->g.has_accesses || !at->is_there || grammar_fill_moves(f, files, at, next, out);
}

/*
 * Append to @out the writes of the instruction at @at, computed from its code and its registers, before
 * another thread runs.  If lines list accesses, those of this instruction are on the thread's next line,
 * which may be far away and has the contents of memory at that time.  *is_told is set to whether all writes
 * could be computed.
 *
 * Returns false if memory is exhausted.
 */
bool grammar_fill_switch(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at, struct ts_steps *out,
			 bool *is_told);

struct grammar_reader {
	struct ts_reader base;
	struct grammar_log *log; /* borrowed */
	struct grammar_lines lines;
	struct grammar_fill fill;
	struct grammar_later later;
	struct threads threads;
	struct grammar_files files;
	struct ts_steps nothing; /* a state that lists no registers */
	struct grammar_place at; /* of states: the position where the reader is */
	struct grammar_place next; /* the next position, which is being read */
	uint32_t thread;         /* of the last group */
	uint32_t part;           /* of states: its file */
	bool is_lost;            /* of states: a line after the last group was lost */
	struct grammar_module modules[GRAMMAR_MAX_MODULES];
	unsigned n_modules;
};

/* gdb needs thread ids above 0; text traces count from 0. */
static inline uint64_t grammar_tid(const struct grammar_head *head)
{
	return (head->line.has & HAS_THREAD ? head->line.thread : 0) + 1;
}

/*
 * The slow path of grammar_find_thread(): the thread is not that of the previous group.  Returns as grammar_find_thread()
 * does.
 */
bool grammar_look_up_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err);

/*
 * Set *thread to the ordinal of a group's thread, which is added if it is new.
 *
 * Returns false if there are too many threads (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
static inline bool grammar_find_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread,
				       struct ts_error *err)
{
	const struct ts_recording *rec = &r->log->base;

	*thread = r->thread;
	return (r->thread < rec->n_threads && (!(head->line.has & HAS_THREAD) || rec->threads[r->thread].tid == grammar_tid(head))) ||
	       grammar_look_up_thread(r, head, thread, err);
}

/*
 * Complete the accesses of the open step whose size is unknown: the first byte is accessed, and the bytes
 * after it may have been written.  @mask is the mask of addresses.
 */
void grammar_append_sizes(struct ts_steps *out, uint64_t mask);

/* Append an event of @kind with @text to the open step. */
void grammar_append_event(struct ts_steps *out, enum ts_event_kind kind, const char *text);

/*
 * Append the next step, from lines that are steps, and from lines that are states.
 *
 * Return TS_ITEM, TS_END or TS_FAIL as next() of struct ts_reader_ops.
 */
enum ts_next grammar_next_step(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);
enum ts_next grammar_next_state(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);

/*
 * Read the state of position 0 into the log.
 *
 * Return false if no line is an instruction or a state with a program counter (TS_EUNSUPPORTED).
 * Return false if the file cannot be read (TS_EIO, TS_ETRUNC).
 * Return false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_start_steps(struct grammar_reader *r, struct ts_error *err);
bool grammar_start_states(struct grammar_reader *r, struct ts_error *err);

#endif
