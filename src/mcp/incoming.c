/* SPDX-License-Identifier: MIT */
/* Messages that come while a call runs: it may be cancelled by one. */
#include "server.h"

#include <string.h>

const char *ts_mcp_method_of(const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));

	return method ? method : "";
}

static void note_cancelled(struct ts_mcp_server *sv, const json_t *message)
{
	const json_t *id = json_object_get(json_object_get(message, "params"), "requestId");

	if (!id)
		return;
	if (sv->running && json_equal((json_t *)sv->running, (json_t *)id))
		sv->is_cancelled = true;
	ts_requests_cancel(&sv->requests, id);
}

/* A message that came while a call runs. */
static void take_in(struct ts_mcp_server *sv, json_t *message)
{
	size_t i;
	json_t *part;

	json_array_foreach(message, i, part) {
		if (!strcmp(ts_mcp_method_of(part), "notifications/cancelled"))
			note_cancelled(sv, part);
	}
	if (!strcmp(ts_mcp_method_of(message), "notifications/cancelled"))
		note_cancelled(sv, message);
	else if (!strcmp(ts_mcp_method_of(message), "ping") && json_object_get(message, "id"))
		ts_rpc_reply_apart(&sv->rpc, json_object_get(message, "id"), "{}");
	else
		sv->is_broken |= !ts_requests_put(&sv->requests, message);
}

void ts_mcp_look(struct ts_mcp_server *sv)
{
	json_t *message;

	if (ts_rpc_has_lost_client(&sv->rpc))
		sv->is_cancelled = sv->is_broken = true;

	while (!ts_requests_is_full(&sv->requests) && ts_rpc_read(&sv->rpc, 0, &message) == TS_RPC_MESSAGE) {
		take_in(sv, message);
		json_decref(message);
	}
}
