/* SPDX-License-Identifier: MIT */
/*
 * What a client of the MCP server sends, line by line, requests that are cancelled among them: each message is taken once, and
 * what is answered is JSON, a line each.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/mcp/requests.h"
#include "src/mcp/rpc.h"

static void put_all(int fd, const uint8_t *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		abort();
}

/* A notification that cancels names the request in its parameters. */
static void handle(struct ts_requests *r, struct ts_rpc *rpc, json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	const json_t *cancelled = json_object_get(json_object_get(message, "params"), "requestId");

	if (cancelled)
		ts_requests_cancel(r, cancelled);
	if (id && ts_requests_begin(r, id))
		assert(ts_rpc_reply(rpc, id, "{}"));
	else if (!json_is_object(message))
		assert(ts_rpc_fail(rpc, NULL, TS_RPC_INVALID, "no object"));
}

static void answer(struct ts_requests *r, struct ts_rpc *rpc, json_t *message)
{
	size_t i;
	json_t *one;

	if (!json_is_array(message)) {
		handle(r, rpc, message);
		return;
	}
	ts_rpc_begin_batch(rpc);
	json_array_foreach(message, i, one)
		handle(r, rpc, one);
	assert(ts_rpc_end_batch(rpc));
}

/*
 * All lines are taken before the first is answered, as when they come while another one is handled.  *came gets them: what is
 * taken from the queue is the same.
 */
static void take_all(struct ts_requests *r, struct ts_rpc *rpc, json_t *came)
{
	json_t *message;

	while (ts_rpc_read(rpc, 0, &message) == TS_RPC_MESSAGE) {
		assert(json_is_object(message) || json_is_array(message));
		assert(ts_requests_expect(r, message) && ts_requests_put(r, message));
		assert(!json_array_append_new(came, message));
	}
}

static void check_lines(int fd)
{
	FILE *file = fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!file)
		abort();
	rewind(file);
	while ((len = getline(&line, &cap, file)) > 0) {
		json_t *json = json_loadb(line, (size_t)len, JSON_ALLOW_NUL, NULL);

		assert(json && line[len - 1] == '\n');
		json_decref(json);
	}
	free(line);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	int in = memfd_create("in", 0), out = memfd_create("out", 0);
	struct ts_requests requests;
	struct ts_rpc rpc;
	json_t *message, *came = json_array();
	size_t n_taken = 0;

	if (in < 0 || out < 0 || !ts_requests_init(&requests))
		abort();
	put_all(in, bytes, len);
	ts_rpc_init(&rpc, in, out);
	take_all(&requests, &rpc, came);
	for (; ts_requests_take(&requests, &message) && message; n_taken++) {
		assert(json_equal(message, json_array_get(came, n_taken)));
		answer(&requests, &rpc, message);
		json_decref(message);
	}
	assert(json_array_size(came) == n_taken && !requests.n);
	json_decref(came);
	ts_requests_fini(&requests);
	ts_rpc_fini(&rpc);
	close(in);
	check_lines(out);
	return 0;
}
