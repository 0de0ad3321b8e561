/* SPDX-License-Identifier: MIT */
/*
 * A place at which a recording begins or ends, in the form of the command line: FUNC[:N], FILE:LINE[:N],
 * ADDRESS[:N] or SIGUSR1.
 */
#ifndef TS_RECORD_PLACE_H
#define TS_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum ts_record_place_kind { TS_AT_NOTHING, TS_AT_ADDRESS, TS_AT_FUNCTION, TS_AT_LINE, TS_AT_SIGNAL };

struct ts_record_place {
	enum ts_record_place_kind kind;
	const char *text; /* the user's text; borrowed */
	const char *name; /* the function or the file: @n_name bytes in @text */
	int n_name;
	uint64_t addr, line;
	uint64_t count;   /* N: the number of the execution, from 1 */
};

/*
 * Parse @text.  A name with a dot or a slash, followed by a number, is a file name; an address begins with 0x.
 *
 * Returns false if it is malformed: nothing before the colon, or a number that is 0 or too large.
 */
bool ts_record_place_parse(struct ts_record_place *place, const char *text);

#endif
