/* SPDX-License-Identifier: MIT */
#include "mcp.h"

#include <string.h>

#include "server.h"
#include "src/query/query.h"
#include "tools.h"

/* Protocol versions, the newest first.  They differ in nothing that is used here but batches. */
static const struct {
	const char *name;
	bool has_batches;
} versions[] = { { "2025-06-18", false }, { "2025-03-26", true }, { "2024-11-05", true } };

/* --------------------------------------------------------------------------------------------- messages */

/* ------------------------------------------------------------------------------------------- requests */

static const char instructions[] =
	"Recorded executions, to be asked instead of run again. Position k is the state before step k; a row's position is "
	"the step that did it. The first position of each recording is its end. Begin with overview, then work backwards from the symptom: "
	"why shows where a wrong value came from, why \"branch\" why the program went where it went, ask answers the rest. "
	"Unknown values are null, never zero. The resource tracestub://guide says how to go about common jobs.";

static void initialize(struct ts_mcp_server *sv, const json_t *params, const json_t *id)
{
	const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
	size_t version = 0;

	if (!wanted) {
		ts_mcp_fail(sv, id, TS_RPC_BAD_PARAMS, "protocolVersion is missing");
		return;
	}
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (!strcmp(versions[i].name, wanted))
			version = i;
	}
	sv->has_batches = versions[version].has_batches;
	ts_mcp_reply_json(sv, id,
			  json_pack("{s:s, s:{s:{s:b}, s:{}}, s:{s:s, s:s}, s:s}", "protocolVersion", versions[version].name,
				    "capabilities", "tools", "listChanged", 0, "resources", "serverInfo", "name", "tracestub",
				    "version", PACKAGE_VERSION, "instructions", instructions));
}

static void list_tools(struct ts_mcp_server *sv, const json_t *params, const json_t *id)
{
	json_t *tools;

	if (json_object_get(params, "cursor")) {
		ts_mcp_fail(sv, id, TS_RPC_BAD_PARAMS, "the list of tools is one page: there is no cursor");
		return;
	}
	tools = ts_mcp_tools(sv->n_recordings > 1);
	ts_mcp_reply_json(sv, id, tools ? json_pack("{s:o}", "tools", tools) : NULL);
}

static void handle_request(struct ts_mcp_server *sv, const char *method, const json_t *params, const json_t *id)
{
	if (!strcmp(method, "initialize") && sv->is_in_batch)
		ts_mcp_fail(sv, id, TS_RPC_INVALID, "initialize is not allowed in a batch");
	else if (!strcmp(method, "initialize"))
		initialize(sv, params, id);
	else if (!strcmp(method, "ping"))
		ts_mcp_reply(sv, id, "{}");
	else if (!strcmp(method, "tools/list"))
		list_tools(sv, params, id);
	else if (!strcmp(method, "tools/call"))
		ts_mcp_call(sv, params, id);
	else if (!strcmp(method, "resources/list"))
		ts_mcp_list_resources(sv, id);
	else if (!strcmp(method, "resources/templates/list"))
		ts_mcp_reply(sv, id, "{\"resourceTemplates\":[]}");
	else if (!strcmp(method, "resources/read"))
		ts_mcp_read_resource(sv, params, id);
	else
		ts_mcp_fail(sv, id, TS_RPC_NO_METHOD, "there is no such method");
}

/* A message of the client: a request, or a notification, which is never answered. */
static void handle_message(struct ts_mcp_server *sv, const json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	const char *method = ts_mcp_method_of(message),
		   *version = json_string_value(json_object_get(message, "jsonrpc"));

	if (!json_is_object(message)) {
		ts_mcp_fail(sv, NULL, TS_RPC_INVALID, "a message is one JSON object");
	} else if (!id && (!version || strcmp(version, "2.0") || !*method)) {
		ts_mcp_fail(sv, NULL, TS_RPC_INVALID, "the message is neither a request nor a notification");
	} else if (!id) {
		return;
	} else if (!json_is_string(id) && !json_is_integer(id)) {
		ts_mcp_fail(sv, NULL, TS_RPC_INVALID, "an id is a string or an integer");
	} else if (!version || strcmp(version, "2.0")) {
		ts_mcp_fail(sv, id, TS_RPC_INVALID, "jsonrpc is not \"2.0\"");
	} else if (!ts_requests_begin(&sv->requests, id)) {
		return;
	} else if (*method) {
		sv->running = id;
		sv->is_cancelled = false;
		handle_request(sv, method, json_object_get(message, "params"), id);
		sv->running = NULL;
	} else if (!json_object_get(message, "result") && !json_object_get(message, "error")) {
		ts_mcp_fail(sv, id, TS_RPC_INVALID, "the method is missing");
	}
}

static void handle_batch(struct ts_mcp_server *sv, json_t *batch)
{
	size_t i;
	json_t *message;

	ts_rpc_begin_batch(&sv->rpc);
	sv->is_in_batch = true;
	sv->is_broken |= !ts_requests_expect(&sv->requests, batch);
	json_array_foreach(batch, i, message)
		handle_message(sv, message);
	sv->is_in_batch = false;
	sv->is_broken |= !ts_rpc_end_batch(&sv->rpc);
}

static void handle(struct ts_mcp_server *sv, json_t *message)
{
	if (json_is_array(message) && json_array_size(message) && sv->has_batches)
		handle_batch(sv, message);
	else
		handle_message(sv, message);
}

/* Read on while the client wants nothing.  Returns false if there is nothing left to read. */
static bool read_on(struct ts_mcp_server *sv, struct ts_error *err)
{
	for (size_t i = 0; i < sv->n_recordings; i++) {
		struct ts_mcp_recording *r = &sv->recordings[i];

		if (!r->ask->is_reading)
			continue;
		return ts_model_grow_for(r->model, TS_MCP_READ_NS) == TS_ITEM || ts_mcp_take_news(r, err);
	}
	return false;
}

/* The next message: one that waits, or one that comes. */
static enum ts_rpc_got next(struct ts_mcp_server *sv, json_t **message, struct ts_error *err)
{
	enum ts_rpc_got got;

	if (!ts_requests_take(&sv->requests, message)) {
		ts_no_memory(err, "a request that waited");
		return TS_RPC_END;
	}
	if (*message)
		return TS_RPC_MESSAGE;
	do {
		got = ts_rpc_read(&sv->rpc, 0, message);
	} while (got == TS_RPC_NOTHING && read_on(sv, err));
	return got == TS_RPC_NOTHING && err->code == TS_OK ? ts_rpc_read(&sv->rpc, -1, message) : got;
}

bool ts_mcp_serve(struct ts_mcp_recording *recordings, size_t n, int in, int out, struct ts_error *err)
{
	struct ts_mcp_server sv = { .recordings = recordings, .n_recordings = n };
	json_t *message;

	ts_error_reset(err);
	if (!ts_requests_init(&sv.requests)) {
		ts_requests_fini(&sv.requests);
		return ts_no_memory(err, "requests");
	}
	ts_rpc_init(&sv.rpc, in, out);
	while (!sv.is_broken && next(&sv, &message, err) == TS_RPC_MESSAGE) {
		handle(&sv, message);
		json_decref(message);
	}
	ts_rpc_fini(&sv.rpc);
	ts_requests_fini(&sv.requests);
	if (sv.is_broken)
		ts_fail(err, TS_EIO, TS_NO_OFF, "cannot write to the client");
	return err->code == TS_OK;
}
