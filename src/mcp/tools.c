/* SPDX-License-Identifier: MIT */
#include "tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum arg_type {
	ARG_STRING,
	ARG_INTEGER, /* not negative */
	ARG_BOOLEAN,
	ARG_PLACE,   /* a string, or a position as a number */
};

/* Tools, as a mask. */
#define WHERE      (1u << TS_MCP_WHERE)
#define ASK        (1u << TS_MCP_ASK)
#define WHY        (1u << TS_MCP_WHY)
#define FLOWS      (1u << TS_MCP_FLOWS)
#define SOURCE     (1u << TS_MCP_SOURCE)
#define DIFF       (1u << TS_MCP_DIFF)
#define SQL        (1u << TS_MCP_SQL)
#define MARK       (1u << TS_MCP_MARK)
#define RECORDINGS (1u << TS_MCP_RECORDINGS)
#define ALL        (~0u)

/* An argument: the tools that have it, and the words of a question that it represents. */
struct arg {
	const char *name;
	enum arg_type type;
	unsigned tools, required; /* masks */
	enum ts_argument_kind kind;
	const char *word;  /* for TS_ARGUMENT_WORD: that of the grammar; NULL: it is no part of a question */
	const char *description;
};

static const struct arg args[] = {
	{ "recording", ARG_STRING, ALL & ~(RECORDINGS | DIFF), 0, TS_ARGUMENT_WORD, NULL, "Which recording: its file name or path." },
	{ "question", ARG_STRING, ASK, ASK, TS_ARGUMENT_WORD, NULL,
	  "A verb with its words; or the verb alone, and its words in the arguments below, where a value is never taken for a word." },
	{ "what", ARG_STRING, ASK, 0, TS_ARGUMENT_OPERAND, NULL, "WHAT, VALUE, PATTERN, KIND, NAME or PLACE of the verb." },
	{ "what", ARG_STRING, WHY, WHY, TS_ARGUMENT_OPERAND, NULL,
	  "Register, memory or variable: $rax, 0x404000,8, total; or: branch, why the last jump went where it went." },
	{ "what", ARG_STRING, FLOWS, FLOWS, TS_ARGUMENT_OPERAND, NULL, "Register, memory or variable at that position: 0x7ffe1000,16, $rdi, key." },
	{ "what", ARG_STRING, SOURCE, SOURCE, TS_ARGUMENT_OPERAND, NULL, "The function: a name, an address in it, FILE:LINE." },
	{ "what", ARG_STRING, MARK, 0, TS_ARGUMENT_OPERAND, NULL, "The mark's name; without it the marks are listed." },
	{ "statement", ARG_STRING, SQL, SQL, TS_ARGUMENT_WORD, NULL, "One SELECT." },
	{ "a", ARG_STRING, DIFF, DIFF, TS_ARGUMENT_WORD, NULL, "A recording: its file name or path." },
	{ "b", ARG_STRING, DIFF, DIFF, TS_ARGUMENT_WORD, NULL, "The recording that it is compared with." },
	{ "all", ARG_BOOLEAN, DIFF, 0, TS_ARGUMENT_WORD, NULL, "Also what differs by nature: clocks, random numbers, process numbers." },
	{ "rebase", ARG_BOOLEAN, DIFF, 0, TS_ARGUMENT_WORD, NULL, "Modules, regions and the stack may lie at other addresses in b." },
	{ "kinds", ARG_STRING, ASK, 0, TS_ARGUMENT_KINDS, NULL, "Of accesses: a string of r, w and x; default rw." },
	{ "memory", ARG_STRING, ASK, 0, TS_ARGUMENT_MEMORY, NULL, "Of find: only in this memory, ADDR:END." },
	{ "by", ARG_STRING, ASK, 0, TS_ARGUMENT_WORD, "by", "Of hot: address, to count instructions instead of functions." },
	{ "function", ARG_STRING, DIFF, 0, TS_ARGUMENT_WORD, NULL, "Only rows in functions whose names match: * ? [..]." },
	{ "only", ARG_STRING, DIFF, 0, TS_ARGUMENT_WORD, NULL, "Only rows of these kinds: path, register, memory; separated by commas." },
	{ "in", ARG_STRING, ASK | FLOWS | DIFF, 0, TS_ARGUMENT_WORD, "in", "Only rows whose position k has A <= k < B: \"A:B\"; A or B may be left out." },
	{ "if", ARG_STRING, ASK, 0, TS_ARGUMENT_WORD, "if",
	  "Only rows for which this holds: \"value == 5\"; \"$rdi > 3 && *(u32 *)0x404000 != 0\"; of calls: \"result < 0\"." },
	{ "thread", ARG_INTEGER, ASK | WHY | FLOWS | WHERE, 0, TS_ARGUMENT_WORD, "thread", "The thread, by its number in the column thread." },
	{ "first", ARG_INTEGER, ASK | WHY | FLOWS | DIFF | SQL | SOURCE, 0, TS_ARGUMENT_WORD, "first",
	  "The maximum number of rows, from the first one on, up to 10000; default: 50, or 8 KB." },
	{ "last", ARG_INTEGER, ASK | WHY | FLOWS, 0, TS_ARGUMENT_WORD, "last", "The maximum number of rows, the last ones, up to 10000." },
	{ "at", ARG_PLACE, ASK | WHY | FLOWS | WHERE | SOURCE | MARK, 0, TS_ARGUMENT_WORD, "at",
	  "The PLACE asked from: a position, +N, -N, 50%, begin, end, a mark, #3 (row 3 of the last answer), next|previous "
	  "write|read|exec WHAT, next|previous syscall|call|return|switch. Default: the recording's position, at first its end." },
	{ "depth", ARG_INTEGER, ASK | WHY, 0, TS_ARGUMENT_WORD, "depth", "The maximum depth; of why: default 8." },
	{ "inputs", ARG_BOOLEAN, WHY, 0, TS_ARGUMENT_WORD, "inputs",
	  "Only where it all came from: bytes of input, constants, initial memory; without the way." },
	{ "addresses", ARG_BOOLEAN, WHY, 0, TS_ARGUMENT_WORD, "addresses", "Follow registers of addresses, too: through tables." },
	{ "min", ARG_INTEGER, ASK, 0, TS_ARGUMENT_WORD, "min", "Of strings: the minimum number of characters." },
	{ "to", ARG_STRING, FLOWS, 0, TS_ARGUMENT_WORD, "to",
	  "Only rows of this kind: copy, compute, compare, branch, address, call, output, overwritten." },
	{ "changes", ARG_BOOLEAN, ASK, 0, TS_ARGUMENT_WORD, "--changes", "Leave out writes of the value that was there." },
	{ "text", ARG_STRING, ASK | MARK, 0, TS_ARGUMENT_TEXT, NULL, "The text of the mark: one line." },
	{ "remove", ARG_BOOLEAN, MARK, 0, TS_ARGUMENT_WORD, NULL, "Remove the mark." },
	{ "partial", ARG_BOOLEAN, ASK, 0, TS_ARGUMENT_WORD, "--partial", "Answer from what has been read so far; do not wait for the rest." },
};
#define N_ARGS (sizeof(args) / sizeof(args[0]))

/* The words of the grammar that have an argument of ask are fewer than fit. */
_Static_assert(N_ARGS <= 32, "arguments of one tool fit into a question");

#define TEXT_OF(x) #x
#define TEXT_OF_MACRO(x) TEXT_OF(x)
static const char default_rows[] = TEXT_OF_MACRO(TS_MCP_ROWS);

static const struct {
	const char *name, *description;
} tools[TS_MCP_N_TOOLS] = {
	[TS_MCP_OVERVIEW] = { "overview",
			      "Begin here: the program, how the recording ends (exit, signal, fault), the last events (system calls "
			      "with their texts), threads and the stack of each at the end, the functions with most steps, what "
			      "the recording does not know." },
	[TS_MCP_WHERE] = { "where",
			   "The position: its thread, function and line of the source, the lines around it, the instruction "
			   "and what it reads and writes, the stack, the registers. With at: looks there, and does not move." },
	[TS_MCP_ASK] = { "ask", NULL },
	[TS_MCP_WHY] = { "why",
			 "Where a value came from: the step that wrote it, what that read, and so on back to inputs, "
			 "constants and initial values; or why the program branched. Asked just behind the wrong value (at)." },
	[TS_MCP_FLOWS] = { "flows",
			   "Where bytes went, forwards from a position (at): each step that copied them, computed, compared or "
			   "branched with them, used them as an address, passed or sent them." },
	[TS_MCP_SOURCE] = { "source",
			    "The lines of a function's source: how often each ran (steps), and of the last pass before the "
			    "position when it ran (position) and what it wrote (values: register or memory = value)." },
	[TS_MCP_DIFF] = { "diff",
			  "Where two recordings of one program part: the first row is the first difference. path: other steps "
			  "were executed; register, memory: another value." },
	[TS_MCP_SQL] = { "sql",
			 "SELECT over the recording. Tables: step, reg_write, mem_write, mem_read, call, event, branch, thread, "
			 "module, map, symbol, line, meta; functions: history(what), call(name), calls(pattern), stack(position), "
			 "why(what, position), find(value), ...; scalars: reg(name, position), u32(address, position), "
			 "cstr(address, position), sym(address), addr(name). The resource tracestub://schema has the columns. "
			 "Example: SELECT callee, count(*) FROM call GROUP BY callee ORDER BY 2 DESC LIMIT 10" },
	[TS_MCP_MARK] = { "mark", "Name a position, for at in later questions; list or remove such names." },
	[TS_MCP_RECORDINGS] = { "recordings", "List the recordings that are open: columns recording, positions." },
};

/* ------------------------------------------------------------------------------------------ descriptions */

static json_t *describe_arg(const struct arg *a)
{
	switch (a->type) {
	case ARG_STRING:
		return json_pack("{s:s, s:s}", "type", "string", "description", a->description);
	case ARG_INTEGER:
		return json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description", a->description);
	case ARG_BOOLEAN:
		return json_pack("{s:s, s:s}", "type", "boolean", "description", a->description);
	case ARG_PLACE:
		return json_pack("{s:[s, s], s:s}", "type", "string", "integer", "description", a->description);
	}
	return NULL;
}

static bool is_required(const struct arg *a, unsigned tool, bool has_several)
{
	return a->required & tool || (has_several && !strcmp(a->name, "recording"));
}

/* The verbs of ask, a line each, and examples. */
static void put_verbs(struct ts_buf *out)
{
	size_t n;
	const struct ts_verb *const *verbs = ts_verbs(&n);

	ts_buf_puts(out,
		    "Ask anything about the execution. A question is VERB [WHAT] [in A:B] [if COND] [thread T] [first N | last N] "
		    "[at PLACE]. WHAT: $rax, 0x404000, 0x404000,16, variable, variable+8,4, local (in scope at the position), local->member[2], function, FILE:LINE. Verbs:\n");
	for (size_t i = 0; i < n; i++)
		ts_buf_printf(out, "%s%s%s: %s\n", verbs[i]->name, *verbs[i]->synopsis ? " " : "", verbs[i]->synopsis,
			      verbs[i]->help);
	ts_buf_puts(out, "Examples: events syscall last 10; events failed; history total --changes; last-write 0x404010,8; calls "
			 "malloc if $rdi > 0x1000; calls parse* depth 3 tree; executions FILE.c:40; steps in 100:120; find "
			 "\"secret\"; compares check; memory $rsp,64 at 500; goto previous write total; strings min 6.");
}

static json_t *describe_tool(enum ts_mcp_tool tool, bool has_several)
{
	json_t *properties = json_object(), *required = json_array(), *described;
	struct ts_buf text;

	ts_buf_init(&text);
	if (tools[tool].description)
		ts_buf_puts(&text, tools[tool].description);
	else
		put_verbs(&text);
	for (size_t i = 0; i < N_ARGS; i++) {
		if (!(args[i].tools >> tool & 1))
			continue;
		json_object_set_new(properties, args[i].name, describe_arg(&args[i]));
		if (is_required(&args[i], 1u << tool, has_several))
			json_array_append_new(required, json_string(args[i].name));
	}
	described = json_pack("{s:s, s:s, s:{s:s, s:o, s:o, s:b}}", "name", tools[tool].name, "description",
			      ts_buf_text(&text), "inputSchema", "type", "object", "properties", properties, "required",
			      required, "additionalProperties", 0);
	ts_buf_fini(&text);
	return described;
}

json_t *ts_mcp_tools(bool has_several)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < TS_MCP_N_TOOLS; i++) {
		if ((i != TS_MCP_RECORDINGS && i != TS_MCP_DIFF) || has_several)
			json_array_append_new(list, describe_tool(i, has_several));
	}
	return list;
}

enum ts_mcp_tool ts_mcp_tool(const char *name)
{
	unsigned i = 0;

	while (i < TS_MCP_N_TOOLS && strcmp(tools[i].name, name))
		i++;
	return i;
}

/* ---------------------------------------------------------------------------------------------- arguments */

static bool is_of_type(const json_t *value, enum arg_type type)
{
	bool is_count = json_is_integer(value) && json_integer_value(value) >= 0;

	switch (type) {
	case ARG_STRING:
		return json_is_string(value);
	case ARG_INTEGER:
		return is_count;
	case ARG_BOOLEAN:
		return json_is_boolean(value);
	case ARG_PLACE:
		return json_is_string(value) || is_count;
	}
	return false;
}

static const struct arg *find_arg(enum ts_mcp_tool tool, const char *name)
{
	for (size_t i = 0; i < N_ARGS; i++) {
		if (!strcmp(args[i].name, name) && args[i].tools >> tool & 1)
			return &args[i];
	}
	return NULL;
}

static bool refuse(struct ts_buf *out, const char *format, const char *name)
{
	ts_buf_reset(out);
	ts_buf_printf(out, format, name);
	return false;
}

bool ts_mcp_check(enum ts_mcp_tool tool, const json_t *arguments, bool has_several, struct ts_buf *out)
{
	const char *name;
	json_t *value;

	if (arguments && !json_is_object(arguments))
		return refuse(out, "%s is not an object", "arguments");
	json_object_foreach((json_t *)arguments, name, value) {
		const struct arg *a = find_arg(tool, name);

		if (!a)
			return refuse(out, "the argument %.100s is not declared", name);
		if (!is_of_type(value, a->type))
			return refuse(out, "the argument %s is of another type than declared", name);
	}
	for (size_t i = 0; i < N_ARGS; i++) {
		if (args[i].tools >> tool & 1 && is_required(&args[i], 1u << tool, has_several) &&
		    !json_object_get(arguments, args[i].name))
			return refuse(out, "the argument %s is missing", args[i].name);
	}
	return true;
}

/* Of `hot N`, N follows the verb. */
static enum ts_argument_kind kind_of(const struct ts_verb *verb, const struct arg *a)
{
	return a->kind == TS_ARGUMENT_WORD && !strcmp(a->name, "first") && verb->takes & TS_TAKES_COUNT
		       ? TS_ARGUMENT_COUNT
		       : a->kind;
}

static void add(struct ts_mcp_question *qn, enum ts_argument_kind kind, const char *word, const json_t *value)
{
	struct ts_argument *a = &qn->arguments[qn->n];
	char *number = qn->numbers[qn->n];

	*a = (struct ts_argument){ kind, word, "" };
	if (json_is_integer(value)) {
		snprintf(number, sizeof(qn->numbers[0]), "%" PRId64, (int64_t)json_integer_value(value));
		a->value = number;
	} else if (json_is_string(value)) {
		a->value = json_string_value(value);
	}
	qn->n += !json_is_false(value);
}

void ts_mcp_question(struct ts_mcp_question *qn, enum ts_mcp_tool tool, const struct ts_verb *verb,
		     const json_t *arguments)
{
	qn->n = 0;
	for (size_t i = 0; i < N_ARGS; i++) {
		const json_t *value = args[i].tools >> tool & 1 ? json_object_get(arguments, args[i].name) : NULL;

		if (value && (args[i].kind != TS_ARGUMENT_WORD || args[i].word))
			add(qn, kind_of(verb, &args[i]), args[i].word, value);
	}
	if (verb->takes & TS_TAKES_BOUND && !ts_mcp_is_bounded(arguments))
		qn->arguments[qn->n++] = (struct ts_argument){ TS_ARGUMENT_WORD, "first", default_rows };
}

const char *ts_mcp_misplaced(const json_t *arguments)
{
	for (size_t i = 0; i < N_ARGS; i++) {
		bool is_beside = !strcmp(args[i].name, "recording") || !strcmp(args[i].name, "question") ||
				 !strcmp(args[i].name, "partial") || !strcmp(args[i].name, "first");

		if (args[i].tools & ASK && !is_beside && json_object_get(arguments, args[i].name))
			return args[i].name;
	}
	return NULL;
}

bool ts_mcp_is_bounded(const json_t *arguments)
{
	return json_object_get(arguments, "first") || json_object_get(arguments, "last");
}

const char *ts_mcp_text(const json_t *arguments, const char *name)
{
	return json_string_value(json_object_get(arguments, name));
}
