/* SPDX-License-Identifier: MIT */
/*
 * Lines of the source, by the addresses of their instructions.
 *
 * Files are registered first; their line tables are read at the first look-up.
 */
#ifndef TS_SYMBOLS_CODE_LINES_H
#define TS_SYMBOLS_CODE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

struct ts_code_line {
	uint64_t addr;
	uint64_t len;     /* bytes, not 0 */
	const char *file; /* its path; borrowed from the table; the same pointer for the same file */
	uint32_t line;
};

struct ts_code_lines;

/* Returns an empty table, which the caller frees with ts_code_lines_free(); NULL if memory is exhausted. */
struct ts_code_lines *ts_code_lines_new(void);
void ts_code_lines_free(struct ts_code_lines *l);

/*
 * Register the file @src, which is loaded @bias bytes above its linked address.  Takes ownership of @src, also on
 * failure.
 *
 * Returns false if memory is exhausted.
 */
bool ts_code_lines_add_file(struct ts_code_lines *l, struct ts_source *src, uint64_t bias);

/* Read the registered files.  Returns false if memory was exhausted; lines are then missing. */
bool ts_code_lines_read(struct ts_code_lines *l);

/* Returns the line of the instruction at @addr, borrowed from the table; NULL if none is known. */
const struct ts_code_line *ts_code_lines_at(struct ts_code_lines *l, uint64_t addr);

/*
 * The addresses at which a debugger would stop for line @line of the source file @name (@len bytes: a path, or the end
 * of a path): the first address of each contiguous range.  At most @cap are stored in @addrs, and the lengths of the
 * ranges in bytes in @lens.
 *
 * Returns the number of ranges.  *is_file is set to whether there is such a source file.
 */
size_t ts_code_lines_find(struct ts_code_lines *l, const char *name, size_t len, uint32_t line, uint64_t *addrs,
			  uint64_t *lens, size_t cap, bool *is_file);

/*
 * Returns all lines, sorted by address, borrowed from the table; *n is set to their number.  NULL if *n is 0.
 */
const struct ts_code_line *ts_code_lines_all(struct ts_code_lines *l, size_t *n);

#endif
