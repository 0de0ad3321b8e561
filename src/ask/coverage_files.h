/* SPDX-License-Identifier: MIT */
/*
 * What was executed, as files for other programs: lcov's trace files and DynamoRIO's drcov.
 */
#ifndef TS_ASK_COVERAGE_FILES_H
#define TS_ASK_COVERAGE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "verb.h"

/* An address, or a function, and how many steps were there. */
struct ts_covered {
	uint64_t addr;
	uint64_t steps;
	uint8_t len; /* of an instruction, 0 if unknown */
};

/* The addresses of a process that were executed, ascending.  Members are borrowed. */
struct ts_covered_list {
	const struct ts_ask *ask;
	uint32_t process;
	const struct ts_covered *items;
	size_t n;
};

/*
 * Append a trace file of lcov (geninfo(1)): DA of each line that has code is the most steps of one of its
 * addresses, 0 if none was executed.  If memory is exhausted @out has failed.
 */
void ts_lcov_put(const struct ts_covered_list *c, struct ts_buf *out);

/*
 * Append a log of drcov, version 2 with module table version 2.  Blocks are instructions that follow each
 * other in memory and were executed.  If memory is exhausted @out has failed.
 */
void ts_drcov_put(const struct ts_covered_list *c, struct ts_buf *out);

#endif
