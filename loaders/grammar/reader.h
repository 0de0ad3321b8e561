/* SPDX-License-Identifier: MIT */
/*
 * A reader of groups of lines, with the functions that steps (step_reader.c) and states (state_reader.c) share.
 */
#ifndef LOADERS_GRAMMAR_READER_H
#define LOADERS_GRAMMAR_READER_H

#include "decoder.h"
#include "lines.h"
#include "loaders/kit/line_reader.h"
#include "loaders/kit/threads.h"
#include "log.h"
#include "match.h"
#include "states.h"

struct grammar_later {
	struct ts_line_reader lines;
	struct grammar_matcher matcher;
	struct grammar_line line;
	struct ts_steps fx;
	bool is_able; /* such lines of the grammar have all accesses of a state */
};

void grammar_later_init(struct grammar_later *l, const struct grammar_log *log);
void grammar_later_fini(struct grammar_later *l);

/*
 * Append to @out what the last instruction of the thread that lines call @thread wrote, with values that are unknown, by
 * its next line at or after file offset @off; of one without accesses, that the kernel may have written.  *is_told gets whether that line is there, not far away, and can be read;
 * nothing is appended if not.  Returns false if the source cannot be read, or memory is exhausted.
 */
bool grammar_later_tell(struct grammar_later *l, uint64_t thread, uint64_t off, struct ts_steps *out, bool *is_told,
			struct ts_error *err);

struct grammar_fill {
	const struct grammar_log *log;   /* borrowed */
	struct grammar_decoder *decoder; /* owned; NULL: no instruction is decoded */
	struct grammar_files scratch;    /* of states: registers after a step; of steps: those of one line */
};

/* Returns false if memory is exhausted (TS_ENOMEM). */
bool grammar_fill_init(struct grammar_fill *f, const struct grammar_log *log, struct ts_error *err);
void grammar_fill_fini(struct grammar_fill *f);

/*
 * Fill in values of accesses of a step by the registers: those of its line, and, where lines list every change, those
 * in @files.  Returns false if memory is exhausted.
 */
bool grammar_fill_step(struct grammar_fill *f, struct grammar_files *files, struct grammar_head *head, uint32_t thread);

/* Where lines list every change, take note in @files of the registers that the open step of @out writes. */
void grammar_fill_keep(struct grammar_fill *f, struct grammar_files *files, uint32_t thread, const struct ts_steps *out);

/* As grammar_fill_tell(), if no line has the accesses. */
bool grammar_fill_moves(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at,
			const struct ts_steps *next, struct ts_steps *out);

/*
 * Append to @out what the instruction of a state at @at reads and writes, where no line says that: by its code, which
 * the program has, and by its registers in @files.  @next: the next state, if it is of the same thread, else NULL.
 * Returns false if memory is exhausted.
 */
static inline bool grammar_fill_tell(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at,
				     const struct ts_steps *next, struct ts_steps *out)
{
	return !f->decoder || f->log->g.has_accesses || !at->is_there || grammar_fill_moves(f, files, at, next, out);
}

/*
 * Where lines list accesses, those of a thread's last instruction are on the thread's next line, which may be far away,
 * with the bytes that are there then.  Append to @out what the instruction at @at wrote by its code and its registers.
 * *is_told gets whether these tell it.  Returns false if memory is exhausted.
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

/* As grammar_find_thread(), if it is another thread than that of the previous group. */
bool grammar_look_up_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err);

/* The thread of a group, which is added if it is new.  Returns false if there are too many, or memory is exhausted. */
static inline bool grammar_find_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread,
				       struct ts_error *err)
{
	const struct ts_recording *rec = &r->log->base;

	*thread = r->thread;
	return (r->thread < rec->n_threads && (!(head->line.has & HAS_THREAD) || rec->threads[r->thread].tid == grammar_tid(head))) ||
	       grammar_look_up_thread(r, head, thread, err);
}

/* Append the accesses of the open step whose size is unknown: the first byte is accessed, the bytes after it may be written. */
void grammar_tell_sizes(struct ts_steps *out, uint64_t mask);

void grammar_tell_event(struct ts_steps *out, enum ts_event_kind kind, const char *text);

/* Append the next step; as struct ts_reader_ops has it. */
enum ts_next grammar_next_step(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);
enum ts_next grammar_next_state(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);

/* Read the state of position 0 into the log.  Returns false if the file cannot be read, or memory is exhausted. */
bool grammar_start_steps(struct grammar_reader *r, struct ts_error *err);
bool grammar_start_states(struct grammar_reader *r, struct ts_error *err);

#endif
