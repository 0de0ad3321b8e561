/* SPDX-License-Identifier: MIT */
#include "rpc.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/text/json.h"
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

/* --------------------------------------------------------------------------------------- without a deadlock */

/* Bytes that are read while the client takes no answer. */
#define MAX_UNREAD ((size_t)32 << 20)

/* A pipe that is writable accepts at least this number of bytes without blocking. */
#define ROOM ((size_t)PIPE_BUF)

#define TOO_LONG "the message is too long"

/* Read what is there.  Returns false at the end, or if memory is exhausted. */
static bool fill(struct ts_rpc *rpc)
{
	uint8_t bytes[65536];
	ssize_t n = read(rpc->in, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n < 0) {
		ts_log(TS_LOG_ERROR, "cannot read from the client: %s", strerror(errno));
		return false;
	}
	if (rpc->n_taken > rpc->line.len / 2) {
		ts_buf_consume(&rpc->line, rpc->n_taken);
		rpc->n_taken = 0;
	}
	ts_buf_put(&rpc->line, bytes, (size_t)n);
	if (!n && rpc->line.len)
		ts_buf_putc(&rpc->line, '\n');
	if (!ts_buf_ok(&rpc->line))
		ts_log(TS_LOG_ERROR, "no memory for a message of the client");
	return n > 0 && ts_buf_ok(&rpc->line);
}

/*
 * Wait until there is room for an answer.  A client may write many requests before it reads the first answer: they are read
 * meanwhile, or both would wait for each other.
 */
static bool wait_for_room(struct ts_rpc *rpc)
{
	for (;;) {
		bool may_read = !rpc->is_at_end && rpc->line.len - rpc->n_taken < MAX_UNREAD;
		struct pollfd fds[] = { { .fd = rpc->out, .events = POLLOUT },
					{ .fd = may_read ? rpc->in : -1, .events = POLLIN } };

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return true;
		if (fds[1].revents)
			rpc->is_at_end = !fill(rpc);
	}
}

static bool write_all(struct ts_rpc *rpc, const uint8_t *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		size_t n = len - done < ROOM ? len - done : ROOM;

		if (!wait_for_room(rpc) || !ts_write_whole(rpc->out, bytes + done, n))
			return false;
		done += n;
	}
	return true;
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
	done = ts_buf_ok(&out) && write_all(rpc, out.data, out.len);
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
		done = ts_buf_ok(&rpc->batch) && write_all(rpc, rpc->batch.data, rpc->batch.len);
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
	bool is_skipped;

	*message = NULL;
	if (!end)
		return false;
	len = (size_t)(end - line);
	is_skipped = rpc->is_skipping;
	rpc->is_skipping = false;
	rpc->n_taken += len + 1; /* before an answer: more may be read then */
	if (!is_skipped && len > TS_RPC_MAX_LINE)
		refuse(rpc, TS_RPC_INVALID, TOO_LONG);
	else if (!is_skipped && strspn(line, " \t\r") < len)
		*message = parse(rpc, line, len);
	return true;
}

/* The buffer holds no whole line.  Returns true if the line is too long: it was refused, and more may be there now. */
static bool limit_line(struct ts_rpc *rpc)
{
	bool is_new = !rpc->is_skipping;

	if (rpc->line.len - rpc->n_taken <= TS_RPC_MAX_LINE)
		return false;
	rpc->is_skipping = true;
	rpc->n_taken = rpc->line.len;
	if (is_new)
		refuse(rpc, TS_RPC_INVALID, TOO_LONG);
	return is_new;
}

bool ts_rpc_has_lost_client(const struct ts_rpc *rpc)
{
	struct pollfd fd = { .fd = rpc->out };

	return poll(&fd, 1, 0) == 1 && fd.revents & (POLLERR | POLLHUP);
}

enum ts_rpc_got ts_rpc_read(struct ts_rpc *rpc, int timeout_ms, json_t **message)
{
	struct pollfd fd = { .fd = rpc->in, .events = POLLIN };

	for (;;) {
		while (take_line(rpc, message)) {
			if (*message)
				return TS_RPC_MESSAGE;
		}
		if (limit_line(rpc))
			continue;
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
