/* SPDX-License-Identifier: MIT */
/*
 * Registers of threads as their states list them: what one state changes is told from the one before.
 */
#ifndef LOADERS_GRAMMAR_STATES_H
#define LOADERS_GRAMMAR_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "grammar.h"
#include "src/arch/arch.h"
#include "src/base/buf.h"
#include "src/trace/step.h"

struct ts_point;

/* A thread's registers, each as long as the layout. */
struct grammar_file {
	uint8_t *g, *known; /* owned; NULL: nothing is known of the thread */
};

struct grammar_files {
	struct grammar_file *files; /* owned; by the ordinals of threads */
	size_t n;
	uint8_t *listed;            /* owned; of the state that is compared: 1 for each byte that it lists */
	uint8_t *zeros;             /* owned; as long as the registers of a thread */
	const struct ts_regset *set; /* borrowed */
	uint8_t missing;            /* enum grammar_missing */
	uint32_t g_len;
};

void grammar_files_init(struct grammar_files *f, const struct grammar *g, const struct ts_regset *set);
void grammar_files_fini(struct grammar_files *f);

/*
 * The registers of @thread are as the effects of @state list them: append to @out those that
 * changed.  @is_all: a thread's first state may list all of its registers that are not zero.  @is_hidden: no instruction
 * made the change.
 *
 * Returns false if memory is exhausted.
 */
bool grammar_files_change(struct grammar_files *f, uint32_t thread, const struct ts_steps *state, bool is_all,
			  struct ts_steps *out, bool is_hidden);

/* The registers of @thread, of which nothing is known at first.  Returns NULL if memory is exhausted. */
struct grammar_file *grammar_files_get(struct grammar_files *f, uint32_t thread);

/*
 * Take note of effects [@first, @end) of @fx that are of kind @kind: TS_FX_REG_READ, what the registers held;
 * TS_FX_REG_WRITE, what they are now.
 */
void grammar_file_note(struct grammar_file *file, const struct ts_steps *fx, uint32_t first, uint32_t end,
		       enum ts_effect_kind kind);

/* Make @to, which knows nothing, a copy of @from.  Returns false if memory is exhausted. */
bool grammar_files_copy(struct grammar_files *to, const struct grammar_files *from);

/* No register of any thread is known. */
void grammar_files_forget(struct grammar_files *f);

/* Their part of a decode point, which tells if it is bad.  Returns false if memory is exhausted. */
bool grammar_files_point(struct grammar_files *f, struct ts_point *p, uint32_t n_threads);

#endif
