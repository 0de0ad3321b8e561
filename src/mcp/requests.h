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

struct ts_requests {
	json_t *list;    /* owned; an array, whose first items have been taken */
	size_t n_taken;
	json_t *pending; /* owned; by id: is the request cancelled? */
};

/* Returns false if memory is exhausted; ts_requests_fini() may be called all the same. */
bool ts_requests_init(struct ts_requests *r);
void ts_requests_fini(struct ts_requests *r);

/* Append a message or a batch.  Returns false if memory is exhausted. */
bool ts_requests_put(struct ts_requests *r, json_t *message);

/* Take the first one: a new reference.  Returns NULL if there is none. */
json_t *ts_requests_take(struct ts_requests *r);

/* Expect the requests of @message, which may be a batch: from now on they can be cancelled. */
bool ts_requests_expect(struct ts_requests *r, const json_t *message);

/* Cancel an expected request; any other @id is ignored. */
void ts_requests_cancel(struct ts_requests *r, const json_t *id);

/* The request with this id begins.  Returns false if it was cancelled: then it is not to be answered. */
bool ts_requests_begin(struct ts_requests *r, const json_t *id);

#endif
