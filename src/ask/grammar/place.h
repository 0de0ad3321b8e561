/* SPDX-License-Identifier: MIT */
/*
 * A PLACE in the recording: a position, or the nearest one of something.
 */
#ifndef TS_ASK_PLACE_H
#define TS_ASK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "what.h"

struct ts_ask;

enum ts_place_kind {
	TS_PLACE_POSITION,
	TS_PLACE_RELATIVE, /* positions from where it is seen from, which was not known yet */
	TS_PLACE_FIRST,  /* the first execution of a function or of a line of the source */
	TS_PLACE_ACCESS, /* next or previous write, read, access, change, exec */
	TS_PLACE_EVENT,
	TS_PLACE_CALL,
	TS_PLACE_RETURN,
	TS_PLACE_SWITCH,
	TS_PLACE_LINE,   /* previous: the line of the source that ran before this one */
	TS_PLACE_CALLER, /* the instruction that called what runs here, or after which the signal of its handler came */
	TS_PLACE_OUT,    /* where that call has returned, or that handler */
};

struct ts_ask_place {
	enum ts_place_kind kind;
	uint64_t pos;          /* POSITION; RELATIVE: how many */
	bool is_reverse;       /* RELATIVE: back; the others: previous */
	char word[16];         /* ACCESS: "write", ...; EVENT: its kind */
	struct ts_what what;   /* ACCESS, FIRST */
};

/*
 * Parse the PLACE that is the @len bytes at @text, as seen from @here; TS_NO_POS: that is not known yet.
 *
 * Returns false if it is not understood, or is a position past the end (TS_EUSAGE): the sentence quotes it.
 */
bool ts_place_parse(struct ts_ask_place *place, struct ts_ask *ask, const char *text, size_t len,
		    uint64_t here, struct ts_error *err);

/* *pos gets the position @n away from @here.  Returns false if that is before the first. */
bool ts_place_add_steps(uint64_t here, uint64_t n, bool is_back, uint64_t *pos);

#endif
