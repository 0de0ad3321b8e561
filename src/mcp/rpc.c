/* SPDX-License-Identifier: MIT */
#include "rpc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/io_full.h"

void ts_rpc_init(struct ts_rpc *rpc, int in, int out)
{
	*rpc = (struct ts_rpc){ .in = in, .out = out };
	ts_buf_init(&rpc->line);
	ts_buf_init(&rpc->batch);
}

void ts_rpc_fini(struct ts_rpc *rpc)
{
	ts_buf_fini(&rpc->line);
	ts_buf_fini(&rpc->batch);
}

/* ------------------------------------------------------------------------------------------------ output */

static void put_answer(struct ts_buf *out, const json_t *id, const char *name, const char *value)
{
	ts_buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (id)
		ts_json_put(out, id, JSON_COMPACT | JSON_ENCODE_ANY);
	else
		ts_buf_puts(out, "null");
	ts_buf_printf(out, ",\"%s\":", name);
	ts_buf_puts(out, value);
	ts_buf_puts(out, "}");
}

static bool write_answer(struct ts_rpc *rpc, const json_t *id, const char *name, const char *value)
{
	struct ts_buf out;
	bool done;

	ts_buf_init(&out);
	put_answer(&out, id, name, value);
	ts_buf_puts(&out, "\n");
	done = ts_buf_ok(&out) && ts_write_whole(rpc->out, out.data, out.len);
	ts_buf_fini(&out);
	return done;
}

static bool send_member(struct ts_rpc *rpc, const json_t *id, const char *name, const char *value)
{
	if (!rpc->is_batch)
		return write_answer(rpc, id, name, value);
	ts_buf_puts(&rpc->batch, rpc->batch.len ? "," : "[");
	put_answer(&rpc->batch, id, name, value);
	return ts_buf_ok(&rpc->batch);
}

bool ts_rpc_reply(struct ts_rpc *rpc, const json_t *id, const char *result)
{
	return send_member(rpc, id, "result", result);
}

bool ts_rpc_reply_apart(struct ts_rpc *rpc, const json_t *id, const char *result)
{
	return write_answer(rpc, id, "result", result);
}

bool ts_rpc_fail(struct ts_rpc *rpc, const json_t *id, enum ts_rpc_error code, const char *text)
{
	json_t *error = json_pack("{s:i, s:s}", "code", (int)code, "message", text);
	struct ts_buf value;
	const char *json;
	bool done;

	ts_buf_init(&value);
	ts_json_put(&value, error, JSON_COMPACT);
	json = ts_buf_text(&value);
	done = ts_buf_ok(&value) && send_member(rpc, id, "error", json);
	ts_buf_fini(&value);
	json_decref(error);
	return done;
}

void ts_rpc_begin_batch(struct ts_rpc *rpc)
{
	ts_buf_reset(&rpc->batch);
	rpc->is_batch = true;
}

bool ts_rpc_end_batch(struct ts_rpc *rpc)
{
	bool done = true;

	rpc->is_batch = false;
	if (rpc->batch.len || !ts_buf_ok(&rpc->batch)) {
		ts_buf_puts(&rpc->batch, "]\n");
		done = ts_buf_ok(&rpc->batch) && ts_write_whole(rpc->out, rpc->batch.data, rpc->batch.len);
	}
	ts_buf_fini(&rpc->batch);
	ts_buf_init(&rpc->batch);
	return done;
}

/* ------------------------------------------------------------------------------------------------- input */

/* An error of a line of which no request is known: it is in no batch. */
static void refuse(struct ts_rpc *rpc, enum ts_rpc_error code, const char *text)
{
	bool is_batch = rpc->is_batch;

	rpc->is_batch = false;
	ts_rpc_fail(rpc, NULL, code, text);
	rpc->is_batch = is_batch;
}

/* The line up to its end at @len; NULL if it is no message, which is answered. */
static json_t *parse(struct ts_rpc *rpc, const char *line, size_t len)
{
	json_error_t error;
	json_t *message = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (json_is_object(message) || json_is_array(message))
		return message;
	if (!message)
		refuse(rpc, TS_RPC_PARSE, *error.text ? "the line is not JSON" : "memory is exhausted");
	else
		refuse(rpc, TS_RPC_INVALID, "a message is one JSON object");
	json_decref(message);
	return NULL;
}

/* Take the first whole line, if there is one; *message gets what it says, NULL for nothing. */
static bool take_line(struct ts_rpc *rpc, json_t **message)
{
	size_t n = rpc->line.len - rpc->n_taken, len;
	const char *line = n ? (const char *)rpc->line.data + rpc->n_taken : NULL;
	const char *end = n ? memchr(line, '\n', n) : NULL;

	*message = NULL;
	if (!end)
		return false;
	len = (size_t)(end - line);
	if (!rpc->is_skipping && strspn(line, " \t\r") < len)
		*message = parse(rpc, line, len);
	rpc->is_skipping = false;
	rpc->n_taken += len + 1;
	return true;
}

static void limit_line(struct ts_rpc *rpc)
{
	if (rpc->line.len <= TS_RPC_MAX_LINE || memchr(rpc->line.data, '\n', rpc->line.len))
		return;
	if (!rpc->is_skipping)
		refuse(rpc, TS_RPC_INVALID, "the message is too long");
	rpc->is_skipping = true;
	ts_buf_reset(&rpc->line);
}

/* Read what is there.  Returns false at the end, or if memory is exhausted. */
static bool fill(struct ts_rpc *rpc)
{
	uint8_t bytes[65536];
	ssize_t n = read(rpc->in, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n < 0) {
		ts_log(TS_LOG_ERROR, "cannot read what the client says: %s", strerror(errno));
		return false;
	}
	ts_buf_consume(&rpc->line, rpc->n_taken);
	rpc->n_taken = 0;
	ts_buf_put(&rpc->line, bytes, (size_t)n);
	if (!n && rpc->line.len)
		ts_buf_putc(&rpc->line, '\n');
	if (!ts_buf_ok(&rpc->line))
		ts_log(TS_LOG_ERROR, "no memory for what the client says");
	limit_line(rpc);
	return n > 0 && ts_buf_ok(&rpc->line);
}

enum ts_rpc_got ts_rpc_read(struct ts_rpc *rpc, int timeout_ms, json_t **message)
{
	struct pollfd fd = { .fd = rpc->in, .events = POLLIN };

	for (;;) {
		while (take_line(rpc, message)) {
			if (*message)
				return TS_RPC_MESSAGE;
		}
		if (rpc->is_at_end)
			return TS_RPC_END;
		switch (poll(&fd, 1, timeout_ms)) {
		case 0:
			return TS_RPC_NOTHING;
		case 1:
			rpc->is_at_end = !fill(rpc);
			break;
		default:
			rpc->is_at_end = errno != EINTR;
		}
	}
}
