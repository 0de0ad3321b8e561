/* SPDX-License-Identifier: MIT */
/*
 * The tools of the Model Context Protocol: their descriptions, and the conversion of a call's arguments to a question.
 *
 * The tools are few, and made for a client that works backwards from a symptom; the tool ask has all verbs.  Each
 * argument is one argument of the question: its value never becomes another part of the question.
 */
#ifndef TS_MCP_TOOLS_H
#define TS_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

#include "src/ask/grammar/question.h"
#include "src/ask/verb.h"
#include "src/base/collections/buf.h"

enum ts_mcp_tool {
	TS_MCP_OVERVIEW,
	TS_MCP_WHERE,
	TS_MCP_ASK,
	TS_MCP_WHY,
	TS_MCP_FLOWS,
	TS_MCP_SOURCE,
	TS_MCP_DIFF,
	TS_MCP_SQL,
	TS_MCP_MARK,
	TS_MCP_RECORDINGS, /* only if there are several recordings */
	TS_MCP_N_TOOLS,
};

/*
 * The list of all tools for tools/list; with @has_several recordings the argument "recording" is
 * required.
 *
 * Returns the list, whose reference the caller owns.
 * Returns NULL if memory is exhausted.
 */
json_t *ts_mcp_tools(bool has_several);

/* Returns the tool of this name; TS_MCP_N_TOOLS if no tool has this name. */
enum ts_mcp_tool ts_mcp_tool(const char *name);

/* The limits of a call without first or last, in rows and in bytes of rows; and of a call with them. */
#define TS_MCP_ROWS     50
#define TS_MCP_BYTES    8192u
#define TS_MCP_MAX_ROWS 10000

/*
 * Check the arguments of a call (an object or NULL).
 *
 * Returns false, with a sentence in @out, if an argument is missing, not declared, or of another type.
 */
bool ts_mcp_check(enum ts_mcp_tool tool, const json_t *arguments, bool has_several, struct ts_buf *out);

/* The maximum number of arguments of a question. */
#define TS_MCP_MAX_ARGUMENTS 20

/* The arguments of a call as those of a question.  Strings are borrowed from the call. */
struct ts_mcp_question {
	struct ts_argument arguments[TS_MCP_MAX_ARGUMENTS];
	size_t n;
	char numbers[TS_MCP_MAX_ARGUMENTS][24]; /* the text of a number; borrowed by the argument of the same index */
};

/*
 * Set *qn to the arguments of the question about @verb of a call of @tool with @arguments (checked).  *qn borrows from
 * @arguments and points into itself: it cannot be copied.
 */
void ts_mcp_question(struct ts_mcp_question *qn, enum ts_mcp_tool tool, const struct ts_verb *verb,
		     const json_t *arguments);

/*
 * Returns the first argument of the tool ask that is only permitted in the words of a whole question, a literal.
 *
 * Returns NULL if no argument is one of these.
 */
const char *ts_mcp_misplaced(const json_t *arguments);

/* Does the call limit its rows itself? */
bool ts_mcp_is_bounded(const json_t *arguments);

/* Returns the value of a text argument, borrowed from @arguments; NULL if it was not given. */
const char *ts_mcp_text(const json_t *arguments, const char *name);

#endif
