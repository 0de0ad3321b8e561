/* SPDX-License-Identifier: MIT */
/*
 * Values of accesses by the registers, and accesses by the instructions.
 */
#ifndef LOADERS_GRAMMAR_FILL_H
#define LOADERS_GRAMMAR_FILL_H

#include "lines.h"
#include "loaders/grammar/code/decoder.h"
#include "log.h"
#include "states.h"

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

#endif
