/* SPDX-License-Identifier: MIT */
/* Options of a comparison: the rows to report. */
#ifndef TS_ASK_DIFF_OPTIONS_H
#define TS_ASK_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of rows, as a mask. */
enum ts_diff_rows { TS_DIFF_PATHS = 1, TS_DIFF_REGISTERS = 2, TS_DIFF_MEMORY = 4 };

/* Which rows are wanted; all zero: all but differences by nature. */
struct ts_diff_options {
	bool is_rebased; /* what belongs together may lie at other addresses in B (rebase.h); values that are addresses there are the same, too */
	bool is_all;     /* also differences by nature (diff_noise.c), which are else left out and counted in the note */
	unsigned kinds;  /* mask of enum ts_diff_rows; 0: all kinds */
	bool has_range;  /* only rows whose position in A is from <= position < to */
	uint64_t from, to;
	/* is_rebased: the program's file, found in each recording by what is known there; NULL: none is named.  Borrowed */
	const char *program;
	const uint64_t *program_base; /* where the user says that it lies in A; NULL: it is searched for there, too */
	const char *function; /* borrowed; only rows in functions whose names this pattern (* ? [..]) matches; NULL: all rows */
};

/*
 * Parse a comma-separated list of kinds: path, register, memory.
 *
 * Returns false if @text has any other word.
 */
bool ts_diff_parse_kinds(const char *text, unsigned *kinds);

#endif
