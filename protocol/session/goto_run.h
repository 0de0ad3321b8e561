/* SPDX-License-Identifier: MIT */
/*
 * The position of a destination, as far as the recording has been read.
 */
#ifndef RSP_GOTO_RUN_H
#define RSP_GOTO_RUN_H

#include "goto_parse.h"
#include "session.h"

enum rsp_reach {
	RSP_REACHED, /* *pos has the position */
	RSP_NOWHERE, /* there is no such position; @why has the reason in one sentence */
	RSP_LATER,   /* more of the recording must be read first: the handler must return RSP_WAIT */
};

/* Find the destination's position, starting from the session's position. */
enum rsp_reach rsp_reach(struct rsp_session *s, const struct rsp_destination *d, uint64_t *pos,
				    struct ts_buf *why);

#endif
