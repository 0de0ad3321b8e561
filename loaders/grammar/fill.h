/* SPDX-License-Identifier: MIT */
/*
 * What instructions tell where lines do not: values of accesses of which a line has the addresses, by the registers;
 * accesses of logs that have registers alone, by the program's code.
 */
#ifndef LOADERS_GRAMMAR_FILL_H
#define LOADERS_GRAMMAR_FILL_H

#include "decoder.h"
#include "lines.h"
#include "log.h"
#include "states.h"

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

/* As grammar_fill_tell(), where no line tells it. */
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

#endif
