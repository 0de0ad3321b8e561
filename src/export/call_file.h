/* SPDX-License-Identifier: MIT */
/*
 * The calls of a recording as a file for other programs: folded stacks and Chrome's trace events.
 *
 * The unit of both is the instruction: a viewer shows one position as one microsecond.  The work is done in
 * slices.  The memory grows with the number of calls of one thread (20 bytes each) and of different stacks.
 */
#ifndef TS_CALL_FILE_H
#define TS_CALL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/next.h"
#include "src/query/query.h"

enum ts_call_form {
	/*
	 * A line for each different stack, as flamegraph.pl (FlameGraph) and speedscope read it: the thread and the
	 * functions from the outermost to the innermost, separated by semicolons; a blank; the instructions that
	 * the thread executed in the innermost one itself.  The sum is the number of the recording's instructions.
	 */
	TS_CALLS_FOLDED,
	/*
	 * The Trace Event Format's JSON object, which chrome://tracing, Perfetto and speedscope read: a complete
	 * event ("ph": "X") for each call, from its first instruction on.
	 */
	TS_CALLS_EVENTS,
};

/*
 * The largest depth of a folded stack.  Instructions of deeper functions are counted for a frame named "...".
 */
#define TS_MAX_FOLDED 512u

/* Names used in the file.  A returned name is borrowed until the next call. */
struct ts_call_names {
	const char *(*function)(void *user, uint64_t addr); /* NULL: not known */
	uint64_t (*thread)(void *user, uint32_t thread);    /* the number that clients see */
	uint64_t (*process)(void *user, uint32_t process);
	void *user;
};

/* Set *form to the form called @name: "folded" or "chrome".  Returns false if no form has this name. */
bool ts_call_form_find(const char *name, enum ts_call_form *form);

struct ts_call_file;

/*
 * Begin to write the file, which appears at @path when it is complete.  @q and the user of @names are
 * borrowed until ts_call_file_free().
 *
 * Returns the file, which the caller frees with ts_call_file_free().
 * Returns NULL if no file can be created at @path (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_call_file *ts_call_file_new(struct ts_query *q, enum ts_call_form form, const struct ts_call_names *names,
				      const char *path, struct ts_error *err);

/* Discard a file that is not complete; @f may be NULL. */
void ts_call_file_free(struct ts_call_file *f);

/*
 * Work on about @n calls.
 *
 * Returns TS_MORE if there is more to do.
 * Returns TS_END if the file is complete and in its place.
 * Returns TS_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if the file cannot be written (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_call_file_run(struct ts_call_file *f, uint32_t n, struct ts_error *err);

/* Returns the number of calls written so far. */
uint64_t ts_call_file_n_calls(const struct ts_call_file *f);

/* Returns the number of instructions executed in functions deeper than TS_MAX_FOLDED. */
uint64_t ts_call_file_n_deeper(const struct ts_call_file *f);

#endif
