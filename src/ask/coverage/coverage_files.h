/* SPDX-License-Identifier: MIT */
/*
 * The executed code as a file for other programs: lcov's trace file or DynamoRIO's drcov log.
 */
#ifndef TS_ASK_COVERAGE_FILES_H
#define TS_ASK_COVERAGE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "covered.h"
#include "src/base/error.h"
#include "src/ask/verb.h"

/* The addresses of a process that were executed, ascending.  Members are borrowed. */
struct ts_covered_list {
	const struct ts_ask *ask;
	uint32_t process;
	const struct ts_covered *items;
	size_t n;
};

enum ts_coverage_form {
	/*
	 * A trace file of lcov (geninfo(1)): the DA count of a line with code is the largest step count of its
	 * addresses, 0 if none was executed.
	 */
	TS_COVERAGE_LCOV,
	/*
	 * A log of drcov, version 2 with module table version 2.  A block is a run of executed instructions that
	 * are adjacent in memory.
	 */
	TS_COVERAGE_DRCOV,
};

/* A file that is being written. */
struct ts_coverage_file;

/*
 * Begin to write @list to the file @path.  The items of the list are borrowed.
 *
 * Returns NULL if no file can be created there (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_coverage_file *ts_coverage_file_new(const struct ts_covered_list *list, enum ts_coverage_form form,
					      const char *path, struct ts_error *err);

/* Free @f, which may be NULL, and discard a file that is incomplete. */
void ts_coverage_file_free(struct ts_coverage_file *f);

/*
 * Continue to write, for about the time that decoding a chunk takes.
 *
 * Returns TS_MORE if there is more to write.
 * Returns TS_END when the file is complete and has its name.
 * Returns TS_FAIL if it cannot be written.
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_coverage_file_some(struct ts_coverage_file *f, struct ts_error *err);

#endif
