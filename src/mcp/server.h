/* SPDX-License-Identifier: MIT */
/* The internals of the server.  Included by src/mcp only. */
#ifndef TS_MCP_SERVER_H
#define TS_MCP_SERVER_H

#include "recording.h"
#include "requests.h"
#include "rpc.h"
#include "src/ask/output/answer.h"

/* The time for which the server reads a trace before it looks for messages again. */
#define TS_MCP_READ_NS INT64_C(5000000)

struct ts_mcp_server {
	struct ts_rpc rpc;
	struct ts_mcp_recording *recordings; /* borrowed */
	size_t n_recordings;
	bool has_batches;      /* the negotiated version has batches */
	struct ts_requests requests; /* requests that arrived while another one was answered */
	bool is_in_batch;      /* a batch is being answered */
	const json_t *running; /* borrowed; the id of the request that is being answered, NULL: none */
	bool is_cancelled;     /* the running request must not be answered any more */
	bool is_broken;        /* the client cannot be written to */
};

/* ----------------------------------------------------------------------------------------- incoming.c */

/* Returns the method of a message, borrowed; "" if it names none. */
const char *ts_mcp_method_of(const json_t *message);

/* While a call runs: read new messages.  Requests are queued, but a ping is answered. */
void ts_mcp_look(struct ts_mcp_server *sv);

/* ------------------------------------------------------------------------------------------ replies.c */

/* Answer the request @id with the JSON text @result, or with an error of the protocol. */
void ts_mcp_reply(struct ts_mcp_server *sv, const json_t *id, const char *result);
void ts_mcp_fail(struct ts_mcp_server *sv, const json_t *id, enum ts_rpc_error code, const char *text);

/* Answer with @value, of which this function takes ownership; NULL: memory was exhausted. */
void ts_mcp_reply_json(struct ts_mcp_server *sv, const json_t *id, json_t *value);

/* Answer a call with an error: its question was not understood, or could not be answered. */
void ts_mcp_reply_error(struct ts_mcp_server *sv, const json_t *id, const char *sentence);

/* Answer the call with the reason why it has no rows. */
void ts_mcp_reply_failure(struct ts_mcp_server *sv, const struct ts_mcp_recording *r, const struct ts_error *err,
			  const json_t *id);

/*
 * Run the answer to its end, and append its rows to @lines.
 *
 * Returns false if the call was cancelled (TS_OK).
 * Returns false if the answer failed, with its error.
 */
bool ts_mcp_drive(struct ts_mcp_server *sv, struct ts_answer *a, struct ts_buf *lines, struct ts_error *err);

/*
 * Answer a call with the rows and the end of @lines, JSON Lines.  With @is_short rows that do not fit into
 * TS_MCP_BYTES are omitted, and the end reports it.
 */
void ts_mcp_reply_rows(struct ts_mcp_server *sv, const json_t *id, struct ts_buf *lines, bool is_short);

/* Answer a call with one row, an object of which this function takes ownership; NULL: memory was exhausted. */
void ts_mcp_reply_row(struct ts_mcp_server *sv, const json_t *id, json_t *row);

/* --------------------------------------------------------------------------------------- recordings.c */

/*
 * Make newly read positions available to questions.  If no goto has set the position, it becomes the new end.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_mcp_take_news(struct ts_mcp_recording *r, struct ts_error *err);

/*
 * The recording @name: a path, or a unique file name; NULL: the only one.  It is read to its end, unless the call @is_partial.
 *
 * Returns the recording, borrowed from the server.
 * Returns NULL if the call has been answered, or was cancelled.
 */
struct ts_mcp_recording *ts_mcp_recording_of(struct ts_mcp_server *sv, const char *name, bool is_partial, const json_t *id);

/* Answer the tool recordings: rows with the columns recording and positions. */
void ts_mcp_list_recordings(struct ts_mcp_server *sv, const json_t *id);

/* -------------------------------------------------------------------------------------------- calls.c */

/* Answer tools/call. */
void ts_mcp_call(struct ts_mcp_server *sv, const json_t *params, const json_t *id);

/* ------------------------------------------------------------------------------------------ summary.c */

/* The tools overview and where; their arguments have been checked. */
void ts_mcp_overview(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *id);
void ts_mcp_where(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id);

/* ---------------------------------------------------------------------------------------- statement.c */

/* The tool sql; its arguments have been checked. */
void ts_mcp_sql(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id);

/*
 * The tables and their columns, a declaration a line.
 *
 * Returns a text, whose reference the caller owns.
 * Returns NULL if memory is exhausted.
 */
json_t *ts_mcp_sql_schema(struct ts_mcp_recording *r);

/* ---------------------------------------------------------------------------------------- resources.c */

/* Answer resources/list and resources/read. */
void ts_mcp_list_resources(struct ts_mcp_server *sv, const json_t *id);
void ts_mcp_read_resource(struct ts_mcp_server *sv, const json_t *params, const json_t *id);

#endif
