/* SPDX-License-Identifier: MIT */
/*
 * What was executed, as files for other programs: lcov's trace files and DynamoRIO's drcov.
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
	 * A trace file of lcov (geninfo(1)): DA of each line that has code is the most steps of one of its
	 * addresses, 0 if none was executed.
	 */
	TS_COVERAGE_LCOV,
	/*
	 * A log of drcov, version 2 with module table version 2.  Blocks are instructions that follow each
	 * other in memory and were executed.
	 */
	TS_COVERAGE_DRCOV,
};

/* A file that is being written. */
struct ts_coverage_file;

/*
 * Begin to write the file that will be @path of what @list has, whose items are borrowed.
 *
 * Returns NULL if no file can be created there (TS_EIO), or memory is exhausted.
 */
struct ts_coverage_file *ts_coverage_file_new(const struct ts_covered_list *list, enum ts_coverage_form form,
					      const char *path, struct ts_error *err);

/* Discard a file that has not been written as a whole; @f may be NULL. */
void ts_coverage_file_free(struct ts_coverage_file *f);

/*
 * Write on, about as long as a chunk takes to decode.
 *
 * Returns TS_GOT_PENDING if there is more to do, TS_GOT_END when the file is in its place, TS_GOT_FAIL if it
 * cannot be written or memory is exhausted.
 */
enum ts_got ts_coverage_file_some(struct ts_coverage_file *f, struct ts_error *err);

#endif
