/* SPDX-License-Identifier: MIT */
/*
 * JSON-RPC 2.0 over two file descriptors, a message a line (Model Context Protocol 2025-06-18, "stdio").
 *
 * Messages are read without blocking, so that a running call can check whether it was cancelled.
 * A line may be a batch, an array of messages, whose answers are one line, too (version 2025-03-26).
 */
#ifndef TS_RPC_H
#define TS_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/collections/buf.h"
#include "src/base/error.h"

/* The limit on the length of a line; the rest of a longer line is skipped. */
#define TS_RPC_MAX_LINE ((size_t)1 << 20)

enum ts_rpc_error {
	TS_RPC_PARSE = -32700,
	TS_RPC_INVALID = -32600,
	TS_RPC_NO_METHOD = -32601,
	TS_RPC_BAD_PARAMS = -32602,
	TS_RPC_INTERNAL = -32603,
	TS_RPC_NO_RESOURCE = -32002, /* of MCP */
};

struct ts_rpc {
	int in, out;         /* borrowed */
	struct ts_buf line;  /* input that is not a complete message yet */
	size_t n_taken;      /* its bytes that belong to lines that were returned */
	struct ts_buf batch; /* the answers of the current batch */
	bool is_batch;       /* answers are added to the batch */
	bool is_skipping;    /* skip the rest of a line that was too long */
	bool is_at_end;      /* the input has ended */
};

void ts_rpc_init(struct ts_rpc *rpc, int in, int out);
void ts_rpc_fini(struct ts_rpc *rpc);

enum ts_rpc_got {
	TS_RPC_MESSAGE,
	TS_RPC_NOTHING, /* the time-out expired */
	TS_RPC_END,     /* the client has closed its end */
};

/*
 * Read the next message, waiting up to @timeout_ms (-1: without limit).  A line that is neither a JSON object nor an
 * array is answered with an error here.  The last line needs no newline.
 *
 * Returns TS_RPC_MESSAGE with *message, which the caller releases with json_decref().
 */
enum ts_rpc_got ts_rpc_read(struct ts_rpc *rpc, int timeout_ms, json_t **message);

/* Has the client closed the end from which it reads answers? */
bool ts_rpc_has_lost_client(const struct ts_rpc *rpc);

/*
 * Answer the request @id (borrowed) with @result, JSON text of one line; or with an error.
 *
 * Returns false if it cannot be written.
 */
bool ts_rpc_reply(struct ts_rpc *rpc, const json_t *id, const char *result);
bool ts_rpc_fail(struct ts_rpc *rpc, const json_t *id, enum ts_rpc_error code, const char *text);

/* As ts_rpc_reply(), for a request that is not in the current batch.  Returns as ts_rpc_reply() does. */
bool ts_rpc_reply_apart(struct ts_rpc *rpc, const json_t *id, const char *result);

/*
 * Collect the answers from here on; ts_rpc_end_batch() writes them as one array, or nothing if no answer came.
 *
 * ts_rpc_end_batch() returns false if the answers cannot be written, or memory is exhausted.
 */
void ts_rpc_begin_batch(struct ts_rpc *rpc);
bool ts_rpc_end_batch(struct ts_rpc *rpc);

#endif
