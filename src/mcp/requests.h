/* SPDX-License-Identifier: MIT */
/*
 * A queue of messages that arrive while another one is handled, and the requests that were cancelled before
 * their turn.  Each operation takes constant time.
 */
#ifndef TS_MCP_REQUESTS_H
#define TS_MCP_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"

/* The limits on the number of queued messages, and on the length of their text. */
#define TS_REQUESTS_MAX     ((size_t)32768)
#define TS_REQUESTS_MAX_LEN ((size_t)4 << 20)

struct ts_requests {
	/* the queued messages, each as a line of JSON: as values they take up to eighty times as much memory */
	struct ts_buf texts;
	size_t n_taken;  /* the bytes of texts that belong to messages that have been removed */
	size_t n;        /* the number of queued messages */
	json_t *pending; /* owned; by id: is the request cancelled? */
};

/* Returns false if memory is exhausted.  The caller may call ts_requests_fini() in both cases. */
bool ts_requests_init(struct ts_requests *r);
void ts_requests_fini(struct ts_requests *r);

/*
 * Is the queue full?  Then the caller must read nothing until a message was taken.  The last message may have any
 * length.
 */
bool ts_requests_is_full(const struct ts_requests *r);

/* Append a message or a batch.  Returns false if memory is exhausted. */
bool ts_requests_put(struct ts_requests *r, const json_t *message);

/*
 * Remove the first message; *message is a new reference, or NULL if the queue is empty.  Returns false if memory is
 * exhausted: the message is lost.
 */
bool ts_requests_take(struct ts_requests *r, json_t **message);

/*
 * Register the requests of @message, which may be a batch, so that they can be cancelled.
 *
 * Returns false if memory is exhausted.
 */
bool ts_requests_expect(struct ts_requests *r, const json_t *message);

/* Cancel a registered request; any other @id is ignored. */
void ts_requests_cancel(struct ts_requests *r, const json_t *id);

/* Begin the request with this id.  Returns false if it was cancelled: it must not be answered then. */
bool ts_requests_begin(struct ts_requests *r, const json_t *id);

#endif
