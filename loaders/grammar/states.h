/* SPDX-License-Identifier: MIT */
/*
 * The registers of threads in states.  The changes of a state are its differences from the previous state.
 */
#ifndef LOADERS_GRAMMAR_STATES_H
#define LOADERS_GRAMMAR_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/grammar/language/grammar.h"
#include "src/arch/arch.h"
#include "src/base/collections/buf.h"
#include "src/trace/step.h"

struct ts_point;

/* The registers of a thread: values and known-mask, both with the length of the 'g' layout. */
struct grammar_file {
	uint8_t *g, *known; /* owned; NULL: no register is known */
};

struct grammar_files {
	struct grammar_file *files; /* owned; by the ordinals of threads */
	size_t n;
	uint8_t *listed;            /* owned; 1 for each byte of the layout that the current state lists */
	uint8_t *zeros;             /* owned; g_len zeros */
	const struct ts_regset *set; /* borrowed */
	uint8_t missing;            /* enum grammar_missing */
	uint32_t g_len;
};

void grammar_files_init(struct grammar_files *f, const struct grammar *g, const struct ts_regset *set);
void grammar_files_fini(struct grammar_files *f);

/*
 * Set the registers of @thread to those in the effects of @state, and append the registers that changed to
 * @out.  With @is_all, the first state of a thread may omit registers that are zero.  With @is_hidden, the
 * appended effects are hidden: no instruction made the change.
 *
 * Returns false if memory is exhausted.
 */
bool grammar_files_change(struct grammar_files *f, uint32_t thread, const struct ts_steps *state, bool is_all,
			  struct ts_steps *out, bool is_hidden);

/*
 * Returns the registers of @thread, borrowed until the next call; at first no register is known.
 * Returns NULL if memory is exhausted.
 */
struct grammar_file *grammar_files_get(struct grammar_files *f, uint32_t thread);

/*
 * Apply the effects [@first, @end) of @fx that have the kind @kind: with TS_FX_REG_READ the values before the
 * instruction, with TS_FX_REG_WRITE the values after it.
 */
void grammar_file_note(struct grammar_file *file, const struct ts_steps *fx, uint32_t first, uint32_t end,
		       enum ts_effect_kind kind);

/* Copy @from to @to, in which no register is known.  Returns false if memory is exhausted. */
bool grammar_files_copy(struct grammar_files *to, const struct grammar_files *from);

/* Make all registers of all threads unknown. */
void grammar_files_forget(struct grammar_files *f);

/* Their part of a decode point, which determines if it is bad.  Returns false if memory is exhausted. */
bool grammar_files_point(struct grammar_files *f, struct ts_point *p, uint32_t n_threads);

#endif
