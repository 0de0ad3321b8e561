/* SPDX-License-Identifier: MIT */
/*
 * Destinations of goto in the recording: "1234", "50%", "begin", "end", "frame", "next-signal".
 */
#ifndef RSP_GOTO_PARSE_H
#define RSP_GOTO_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/number.h"
#include "src/trace/step.h"

enum rsp_destination_kind {
	RSP_TO_POSITION,
	RSP_TO_SHARE, /* of the whole recording */
	RSP_TO_FRAME, /* the position of the selected trace frame */
	RSP_TO_NEXT,  /* the position before the next event of a kind */
	RSP_TO_PREVIOUS,
};

struct rsp_destination {
	enum rsp_destination_kind kind;
	uint64_t pos;             /* POSITION */
	struct ts_percentage share; /* SHARE */
	enum ts_event_kind event; /* NEXT, PREVIOUS */
};

/* Returns false if @arg has another form.  The caller then parses it as a PLACE (src/ask/grammar/place.h). */
bool rsp_destination_parse(struct rsp_destination *d, const char *arg);

/* Returns the name of a kind of events in "next-EVENT", a literal; never NULL. */
const char *rsp_destination_event(enum ts_event_kind kind);

#endif
