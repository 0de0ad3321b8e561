/* SPDX-License-Identifier: MIT */
/* Resources: how to go about common jobs, and the tables of sql. */
#include <string.h>

#include "server.h"
#include "tools.h"

/* src/mcp/SKILL.md, after its head (src/Makefile.inc). */
extern const char ts_mcp_guide[];

static const struct {
	const char *uri, *name, *description, *type;
} resources[] = {
	{ "tracestub://guide", "guide", "How to go about a crash, a wrong value, a hang, an unknown program", "text/markdown" },
	{ "tracestub://schema", "schema", "The tables, columns and functions of the tool sql", "text/plain" },
};
#define N_RESOURCES (sizeof(resources) / sizeof(resources[0]))

void ts_mcp_list_resources(struct ts_mcp_server *sv, const json_t *id)
{
	json_t *list = json_array();

	for (size_t i = 0; i < N_RESOURCES; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "uri", resources[i].uri, "name",
						      resources[i].name, "description", resources[i].description,
						      "mimeType", resources[i].type));
	ts_mcp_reply_json(sv, id, json_pack("{s:o}", "resources", list));
}

/* The guide begins after the head of the file, which is for programs that load it. */
static const char *guide(void)
{
	const char *end = strncmp(ts_mcp_guide, "---\n", 4) ? NULL : strstr(ts_mcp_guide + 4, "\n---\n");

	return end ? end + 5 : ts_mcp_guide;
}

void ts_mcp_read_resource(struct ts_mcp_server *sv, const json_t *params, const json_t *id)
{
	const char *uri = ts_mcp_text(params, "uri");
	size_t i = 0;
	json_t *text;

	while (uri && i < N_RESOURCES && strcmp(resources[i].uri, uri) != 0)
		i++;
	if (!uri || i == N_RESOURCES) {
		ts_mcp_fail(sv, id, uri ? TS_RPC_NO_RESOURCE : TS_RPC_BAD_PARAMS,
			    uri ? "there is no such resource" : "the argument uri is missing");
		return;
	}
	text = i ? ts_mcp_sql_schema(&sv->recordings[0]) : json_string(guide());
	ts_mcp_reply_json(sv, id, json_pack("{s:[{s:s, s:s, s:o}]}", "contents", "uri", resources[i].uri, "mimeType",
					    resources[i].type, "text", text));
}
