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
struct ts_budget;
struct ts_rows;

enum ts_place_kind {
	TS_PLACE_POSITION,
	TS_PLACE_RELATIVE, /* positions from where it is seen from, which was not known yet */
	TS_PLACE_ACCESS, /* next or previous write, read, access, change, exec */
	TS_PLACE_EVENT,
	TS_PLACE_CALL,
	TS_PLACE_RETURN,
	TS_PLACE_SWITCH,
};

struct ts_ask_place {
	enum ts_place_kind kind;
	uint64_t pos;          /* POSITION; RELATIVE: how many */
	bool is_reverse;       /* RELATIVE: back; the others: previous */
	char word[16];         /* ACCESS: "write", ...; EVENT: its kind */
	struct ts_what what;   /* ACCESS */
};

/*
 * Parse the PLACE that is the @len bytes at @text, as seen from @here; TS_NO_POS: that is not known yet.
 *
 * Returns false if it is not understood, or is a position past the end (TS_EUSAGE): the sentence quotes it.
 */
bool ts_place_parse(struct ts_ask_place *place, struct ts_ask *ask, const char *text, size_t len,
		    uint64_t here, struct ts_error *err);

/* Is it a valid name of a mark?  Words of the grammar are not. */
bool ts_place_is_name(const char *text, size_t len);

/* A search for a place, in slices. */
struct ts_seek {
	const struct ts_ask_place *place; /* borrowed */
	struct ts_ask *ask;           /* borrowed */
	uint64_t here;
	struct ts_question *qn;       /* owned; what the cursor answers */
	struct ts_rows *rows;         /* owned; NULL: none is needed */
	uint32_t thread;              /* previous switch: the next one whose steps are looked for ... */
	uint64_t nearest;             /* ... and the last step of those before it, + 1 */
};

/* Returns false if the trace cannot be read, memory is exhausted, or it is not understood (TS_EUSAGE). */
bool ts_seek_init(struct ts_seek *s, struct ts_ask *ask, const struct ts_ask_place *place, uint64_t here,
		  struct ts_error *err);
void ts_seek_fini(struct ts_seek *s);

/*
 * Go on.  Returns true when it is over, or failed (@err tells): *pos gets where it is, TS_NO_POS if it is
 * nowhere.
 */
bool ts_seek_run(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos, struct ts_error *err);

#endif
