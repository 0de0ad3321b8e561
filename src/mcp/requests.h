/* SPDX-License-Identifier: MIT */
/*
 * Messages that came while another one is handled, in their order, and requests that were cancelled before
 * their turn.  Each operation takes constant time, whatever the number of messages.
 */
#ifndef TS_MCP_REQUESTS_H
#define TS_MCP_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Messages that wait at most, and the length of their text. */
#define TS_REQUESTS_MAX     ((size_t)32768)
#define TS_REQUESTS_MAX_LEN ((size_t)4 << 20)

struct ts_requests {
	json_t *list;    /* owned; an array of strings, the messages' text, whose first items have been taken */
	size_t n_taken;
	size_t len;      /* of the text of those that wait */
	json_t *pending; /* owned; by id: is the request cancelled? */
};

/* Returns false if memory is exhausted; ts_requests_fini() may be called all the same. */
bool ts_requests_init(struct ts_requests *r);
void ts_requests_fini(struct ts_requests *r);

/* Whether as many wait as may: nothing is to be read until one has been taken.  The last one may be of any length. */
bool ts_requests_is_full(const struct ts_requests *r);

/* Append a message or a batch.  Returns false if memory is exhausted. */
bool ts_requests_put(struct ts_requests *r, const json_t *message);

/* Take the first one, *message a new reference, or NULL: none waits.  Returns false if memory is exhausted: it is lost. */
bool ts_requests_take(struct ts_requests *r, json_t **message);

/* Expect the requests of @message, which may be a batch: from now on they can be cancelled. */
bool ts_requests_expect(struct ts_requests *r, const json_t *message);

/* Cancel an expected request; any other @id is ignored. */
void ts_requests_cancel(struct ts_requests *r, const json_t *id);

/* The request with this id begins.  Returns false if it was cancelled: then it is not to be answered. */
bool ts_requests_begin(struct ts_requests *r, const json_t *id);

#endif
