/* SPDX-License-Identifier: MIT */
/*
 * The matcher: it compares each line of a text trace with the patterns of the grammar.
 *
 * The time is linear in the length of the line, except for optional groups, whose number the grammar bounds.
 * Values and accesses are appended to a batch as effects.  The caller closes the step afterwards.
 */
#ifndef LOADERS_GRAMMAR_MATCH_H
#define LOADERS_GRAMMAR_MATCH_H

#include "line.h"

/* @g, @map and @set are borrowed as long as @m is used. */
void grammar_matcher_init(struct grammar_matcher *m, const struct grammar *g, const struct regmap *map,
			  const struct ts_regset *set);

/*
 * Match the @len bytes at @text, after which 16 bytes must be readable.  *line is set to the fields of the
 * line, and its effects are appended to @out:
 * - a register value before the instruction is TS_FX_REG_READ;
 * - a register value after it is TS_FX_REG_WRITE, without data if the value cannot be read;
 * - an access has length 0 if its size is that of the instruction's access; it is hidden if it is a read or a
 * write,
 *   unknown which, and inferred if the instruction decides which.
 */
void grammar_match(struct grammar_matcher *m, const char *text, size_t len, struct grammar_line *line,
		   struct ts_steps *out);

/*
 * Process a line of @kind: update *is_skipping, which is true while lines are skipped.
 *
 * Returns true if the line itself is skipped.
 */
bool grammar_skips(enum grammar_kind kind, bool *is_skipping);

/*
 * Set *thread to the thread of a line that begins like a pattern of a state.  Only patterns count that begin
 * with literals and the thread.  The rest of the line is not checked.
 *
 * Returns false if no such pattern has this beginning.
 */
bool grammar_match_thread(const struct grammar_matcher *m, const char *text, size_t len, uint64_t *thread);

#endif
