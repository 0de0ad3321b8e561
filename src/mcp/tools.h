/* SPDX-License-Identifier: MIT */
/*
 * Verbs as tools of the Model Context Protocol: their descriptions, and from a call's arguments to a
 * question.
 *
 * A tool is called as its verb with '_' for '-'.  Arguments are the words of the question (queries.md, part
 * 3).
 */
#ifndef TS_MCP_TOOLS_H
#define TS_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

#include "src/ask/verb.h"
#include "src/base/buf.h"

/*
 * The list of all tools, as tools/list answers it; with @has_several recordings the argument "recording" is
 * required.
 *
 * Returns a new reference, NULL if memory is exhausted.
 */
json_t *ts_mcp_tools(bool has_several);

/* The verb of a tool, NULL if there is none of this name. */
const struct ts_verb *ts_mcp_verb(const char *tool);

/* Without first or last, a call shows so many rows; with them, at most ... */
#define TS_MCP_ROWS     100
#define TS_MCP_MAX_ROWS 10000

/*
 * Check the arguments of the tool diff (an object or NULL).
 *
 * Returns false if one is missing, not declared, or of another type: @out gets a sentence that says which.
 */
bool ts_mcp_check_diff(const json_t *arguments, struct ts_buf *out);

/*
 * Append the question that a call of @verb with @arguments (an object or NULL) asks.
 *
 * Returns false if an argument is missing, not declared, or of another type: @out gets a sentence that says
 * which.
 */
bool ts_mcp_question(const struct ts_verb *verb, const json_t *arguments, bool has_several,
		     struct ts_buf *out);

/* The value of "recording", NULL if it was not given. */
const char *ts_mcp_recording(const json_t *arguments);

#endif
