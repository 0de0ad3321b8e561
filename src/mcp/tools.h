/* SPDX-License-Identifier: MIT */
/*
 * Verbs as tools of the Model Context Protocol: their descriptions, and from a call's arguments to a
 * question.
 *
 * A tool is called as its verb with '_' for '-'.  Each argument is one argument of the question: its value never
 * becomes another part of it.
 */
#ifndef TS_MCP_TOOLS_H
#define TS_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

#include "src/ask/grammar/question.h"
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

/* A verb has at most as many arguments. */
#define TS_MCP_MAX_ARGUMENTS 16

/* The arguments of a call as those of a question.  Strings are borrowed from the call. */
struct ts_mcp_question {
	struct ts_argument arguments[TS_MCP_MAX_ARGUMENTS];
	size_t n;
	char numbers[TS_MCP_MAX_ARGUMENTS][24]; /* the text of a number; borrowed by the argument of the same index */
};

/*
 * Set *qn to what a call of @verb with @arguments (an object or NULL) asks.  *qn borrows from @arguments and
 * points into itself: it cannot be copied.
 *
 * Returns false if an argument is missing, not declared, or of another type: @out gets a sentence that says
 * which.
 */
bool ts_mcp_question(struct ts_mcp_question *qn, const struct ts_verb *verb, const json_t *arguments,
		     bool has_several, struct ts_buf *out);

/* The value of "recording", NULL if it was not given. */
const char *ts_mcp_recording(const json_t *arguments);

#endif
