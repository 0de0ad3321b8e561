/* SPDX-License-Identifier: MIT */
/*
 * A place of the program where a recording begins or ends, as the command line names it: FUNC[:N], FILE:LINE[:N],
 * ADDRESS[:N] or SIGUSR1.
 */
#ifndef TS_RECORD_PLACE_H
#define TS_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum ts_record_place_kind { TS_AT_NOTHING, TS_AT_ADDRESS, TS_AT_FUNCTION, TS_AT_LINE, TS_AT_SIGNAL };

struct ts_record_place {
	enum ts_record_place_kind kind;
	const char *text; /* as it was given; borrowed */
	const char *name; /* of the function or the file: it begins there in @text and has @n_name bytes */
	int n_name;
	uint64_t addr, line;
	uint64_t count;   /* the N-th time */
};

/*
 * Parse @text.  A name with a dot or a slash that a number follows is a file's; an address begins with 0x.
 *
 * Returns false if it is malformed: nothing before the colon, or a number that is 0 or too large.
 */
bool ts_record_place_parse(struct ts_record_place *place, const char *text);

#endif
