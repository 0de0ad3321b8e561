/* SPDX-License-Identifier: MIT */
/*
 * The matcher: it compares each line of a text trace with the patterns of the grammar.
 *
 * Time is linear in the line's length but for optional groups, which are bounded by the grammar.  Values and
 * accesses are appended to a batch as effects; the caller closes the step afterwards.
 */
#ifndef LOADERS_GRAMMAR_MATCH_H
#define LOADERS_GRAMMAR_MATCH_H

#include "line.h"

void grammar_matcher_init(struct grammar_matcher *m, const struct grammar *g, const struct regmap *map,
			  const struct ts_regset *set);

/*
 * Match the @len bytes at @text, after which 16 bytes can be read: @line gets what they say, and @out their
 * effects: registers with values before (TS_FX_REG_READ) and after (TS_FX_REG_WRITE; without data: the value
 * cannot be read), accesses (length 0: as many bytes as the instruction accesses; hidden: read or written; inferred: one or the
 * other, as the instruction does).
 */
void grammar_match(struct grammar_matcher *m, const char *text, size_t len, struct grammar_line *line,
		   struct ts_steps *out);

/*
 * Update *is_skipping, whether lines are skipped, after a line of @kind.  Returns whether that line itself is skipped.
 */
bool grammar_skips(enum grammar_kind kind, bool *is_skipping);

/*
 * The thread of a line whose pattern is that of a state, and begins with literals and the thread: *thread gets it.
 * The rest of the line is not checked.  Returns false if no such pattern has this beginning.
 */
bool grammar_match_thread(const struct grammar_matcher *m, const char *text, size_t len, uint64_t *thread);

#endif
