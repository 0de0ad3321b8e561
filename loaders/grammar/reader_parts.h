/* SPDX-License-Identifier: MIT */
/*
 * A reader of groups of lines, with the functions that steps (step_reader.c) and states (state_reader.c) share.
 */
#ifndef LOADERS_GRAMMAR_READER_PARTS_H
#define LOADERS_GRAMMAR_READER_PARTS_H

#include "fill.h"
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
