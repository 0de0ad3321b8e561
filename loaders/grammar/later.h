/* SPDX-License-Identifier: MIT */
/*
 * Where a state lists the accesses of its thread's instruction before it, those of the last instruction before another
 * thread runs are on a later line: the next one of its thread.  They are looked up there when the other thread comes.
 */
#ifndef LOADERS_GRAMMAR_LATER_H
#define LOADERS_GRAMMAR_LATER_H

#include "loaders/kit/line_reader.h"
#include "log.h"
#include "match.h"

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

#endif
