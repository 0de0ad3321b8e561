/* SPDX-License-Identifier: MIT */
/*
 * A PLACE in the recording: a position, or the nearest position of an access, an event, a call or a line.
 */
#ifndef TS_ASK_PLACE_H
#define TS_ASK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "what.h"

struct ts_ask;
struct ts_verb;

enum ts_place_kind {
	TS_PLACE_POSITION,
	TS_PLACE_RELATIVE, /* an offset in positions from @here, which was unknown during parsing */
	TS_PLACE_FIRST,  /* the first execution of a function or of a line of the source */
	TS_PLACE_ACCESS, /* next or previous write, read, access, change, exec */
	TS_PLACE_EVENT,
	TS_PLACE_CALL,
	TS_PLACE_RETURN,
	TS_PLACE_SWITCH,
	TS_PLACE_LINE,   /* previous: the line of the source that ran before this one */
	TS_PLACE_CALLER, /* the call instruction of the current call, or the instruction before the current handler's signal */
	TS_PLACE_OUT,    /* the return from that call or handler */
};

struct ts_ask_place {
	enum ts_place_kind kind;
	uint64_t pos;          /* POSITION; RELATIVE: the number of positions */
	bool is_reverse;       /* RELATIVE: backwards; the others: previous */
	char word[16];         /* ACCESS: "write", ...; EVENT: its kind */
	struct ts_what what;   /* ACCESS, FIRST */
	char line[256];        /* FIRST: FILE:LINE with several ranges of code, in place of @what; "" for none */
	/* ACCESS, FIRST, EVENT, CALL, in a question: the verb whose nearest row is the place; borrowed: a constant table */
	const struct ts_verb *verb;
};

/*
 * Parse the PLACE in the @len bytes at @text, relative to @here; TS_NO_POS: @here is not known yet.
 *
 * Returns false if the text is no PLACE, or is a position past the end (TS_EUSAGE); the message quotes it.
 */
bool ts_place_parse(struct ts_ask_place *place, struct ts_ask *ask, const char *text, size_t len,
		    uint64_t here, struct ts_error *err);

/* Set *pos to the position @n positions after (before) @here.  Returns false if it would be before position 0. */
bool ts_place_add_steps(uint64_t here, uint64_t n, bool is_back, uint64_t *pos);

#endif
