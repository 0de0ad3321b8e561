/* SPDX-License-Identifier: MIT */
#include "tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/diff/diff.h"

enum arg_type {
	ARG_STRING,
	ARG_INTEGER, /* not negative */
	ARG_BOOLEAN,
	ARG_PLACE,   /* a string, or a position as a number */
};

/* An argument: the verbs that take it, and the words that it stands for. */
struct arg {
	const char *name;
	enum arg_type type;
	unsigned takes;    /* any of these; 0: see needs_what() and all verbs */
	enum ts_argument_kind kind;
	const char *word;  /* for TS_ARGUMENT_WORD: that of the grammar */
	const char *description;
};

static const struct arg args[] = {
	{ "recording", ARG_STRING, 0, TS_ARGUMENT_WORD, NULL, "Which recording: its file name or path." },
	{ "what", ARG_STRING, 0, TS_ARGUMENT_OPERAND, NULL, NULL },
	{ "kinds", ARG_STRING, TS_TAKES_KINDS, TS_ARGUMENT_KINDS, NULL, "Kinds of accesses: a string of r, w and x; default rw." },
	{ "memory", ARG_STRING, TS_TAKES_MEMORY, TS_ARGUMENT_MEMORY, NULL, "Look only in this memory: ADDR:END." },
	{ "by", ARG_STRING, TS_TAKES_BY, TS_ARGUMENT_WORD, "by", "address: count instructions instead of functions." },
	{ "in", ARG_STRING, TS_TAKES_RANGE, TS_ARGUMENT_WORD, "in", "Only rows whose position k has A <= k < B: \"A:B\"; A or B may be left out." },
	{ "if", ARG_STRING, TS_TAKES_COND | TS_TAKES_STATE, TS_ARGUMENT_WORD, "if",
	  "Only rows for which this holds: \"value == 5\", or registers and memory: \"$rdi > 3 && *(u32 *)0x404000 != 0\"." },
	{ "thread", ARG_INTEGER, TS_TAKES_THREAD, TS_ARGUMENT_WORD, "thread", "Only this thread, by its number in the column thread." },
	{ "first", ARG_INTEGER, TS_TAKES_BOUND | TS_TAKES_COUNT, TS_ARGUMENT_WORD, "first", "Only the first so many rows; default 100, at most 10000." },
	{ "last", ARG_INTEGER, TS_TAKES_BOUND, TS_ARGUMENT_WORD, "last", "Only the last so many rows; at most 10000." },
	{ "at", ARG_PLACE, TS_TAKES_AT, TS_ARGUMENT_WORD, "at", "The PLACE that is asked from: a position, 50%, begin, end, a mark." },
	{ "depth", ARG_INTEGER, TS_TAKES_DEPTH, TS_ARGUMENT_WORD, "depth", "At most so deep." },
	{ "min", ARG_INTEGER, TS_TAKES_MIN, TS_ARGUMENT_WORD, "min", "At least so many characters." },
	{ "changes", ARG_BOOLEAN, TS_TAKES_CHANGES, TS_ARGUMENT_WORD, "--changes", "Leave out writes of the value that was there." },
	{ "text", ARG_STRING, TS_TAKES_REST, TS_ARGUMENT_TEXT, NULL, "The text of the mark: one line." },
	{ "partial", ARG_BOOLEAN, 0, TS_ARGUMENT_WORD, "--partial", "Answer from what has been read so far; do not wait for the rest." },
};
#define N_ARGS (sizeof(args) / sizeof(args[0]))

/* Those of diff, which is about two recordings. */
static const struct arg diff_args[] = {
	{ "a", ARG_STRING, 0, TS_ARGUMENT_WORD, NULL, "A recording: its file name or path." },
	{ "b", ARG_STRING, 0, TS_ARGUMENT_WORD, NULL, "The recording that it is compared with." },
	{ "all", ARG_BOOLEAN, 0, TS_ARGUMENT_WORD, NULL, "Also what differs by nature: clocks, random numbers, process numbers." },
	{ "rebase", ARG_BOOLEAN, 0, TS_ARGUMENT_WORD, NULL, "Modules, regions and the stack may lie at other addresses in b." },
	{ "first", ARG_INTEGER, 0, TS_ARGUMENT_WORD, NULL, "Only the first so many rows; default 100, at most 10000." },
};
#define N_DIFF_ARGS (sizeof(diff_args) / sizeof(diff_args[0]))

_Static_assert(N_ARGS <= TS_MCP_MAX_ARGUMENTS, "the table and the rows that are shown by default fit");

#define TEXT_OF(x) #x
#define TEXT_OF_MACRO(x) TEXT_OF(x)
static const char default_rows[] = TEXT_OF_MACRO(TS_MCP_ROWS);

/* What the argument "what" is, NULL if the verb has no operand. */
static const char *describe_what(const struct ts_verb *verb)
{
	switch (verb->operand) {
	case TS_OPERAND_NONE:
		return verb->takes & TS_TAKES_BRANCH ? "branch" : NULL;
	case TS_OPERAND_WHAT:
	case TS_OPERAND_WHAT_OR_NONE:
		return "Register or memory: $REG, ADDR, ADDR,LEN, ADDR:END, SYMBOL, SYMBOL+OFF,LEN.";
	case TS_OPERAND_MEMORY:
	case TS_OPERAND_MEMORY_OR_NONE:
		return "Memory or code: ADDR, ADDR,LEN, ADDR:END, SYMBOL, SYMBOL+OFF,LEN.";
	case TS_OPERAND_REGISTERS_OR_NONE:
		return "Names of registers, separated by blanks; all registers without it.";
	case TS_OPERAND_CALLEE_OR_NONE:
		return "The function that is called: ADDR, SYMBOL, or a PATTERN with * and ?.";
	case TS_OPERAND_VALUE:
		return "The value: bytes in hex (41 ?? 43), \"text\", u16\"text\", u32:N, i64:N, f64:X.";
	case TS_OPERAND_KIND_OR_NONE:
		return "The kind: syscall, signal, fault, interrupt, thread-start, thread-end, module, map, unmap, gap, exit.";
	case TS_OPERAND_PLACE:
		return "A PLACE: a position, +N, -N, 50%, begin, end, a mark, next|previous write|read|access|change|exec "
		       "WHAT, next|previous KIND|call|return|switch.";
	case TS_OPERAND_NAME:
		return "The name of a mark.";
	}
	return NULL;
}

static bool needs_what(const struct ts_verb *verb)
{
	return verb->operand == TS_OPERAND_WHAT || verb->operand == TS_OPERAND_MEMORY ||
	       verb->operand == TS_OPERAND_VALUE || verb->operand == TS_OPERAND_PLACE ||
	       verb->operand == TS_OPERAND_NAME;
}

static bool takes(const struct ts_verb *verb, const struct arg *a)
{
	if (!strcmp(a->name, "what"))
		return describe_what(verb) != NULL;
	return !a->takes || verb->takes & a->takes;
}

/* ------------------------------------------------------------------------------------------ descriptions */

static json_t *describe_arg(const struct arg *a, const char *text)
{
	switch (a->type) {
	case ARG_STRING:
		return json_pack("{s:s, s:s}", "type", "string", "description", text);
	case ARG_INTEGER:
		return json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description", text);
	case ARG_BOOLEAN:
		return json_pack("{s:s, s:s}", "type", "boolean", "description", text);
	case ARG_PLACE:
		return json_pack("{s:[s, s], s:s}", "type", "string", "integer", "description", text);
	}
	return NULL;
}

static json_t *schema_of(json_t *properties, json_t *required)
{
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required",
			 required, "additionalProperties", 0);
}

static json_t *describe(const char *name, const char *text, json_t *schema)
{
	return json_pack("{s:s, s:s, s:o}", "name", name, "description", text, "inputSchema", schema);
}

/* "last_write" of "last-write"; valid until the next call. */
static const char *tool_name(const struct ts_verb *verb)
{
	static char name[64];
	size_t i;

	for (i = 0; verb->name[i] && i + 1 < sizeof(name); i++)
		name[i] = (char)(verb->name[i] == '-' ? '_' : verb->name[i]);
	name[i] = '\0';
	return name;
}

/* The tool of a verb; the schema is given away. */
static json_t *describe_rows(const struct ts_verb *verb, json_t *schema)
{
	struct ts_buf text;
	json_t *tool;

	ts_buf_init(&text);
	ts_buf_printf(&text, "%s Columns:", verb->help);
	for (unsigned i = 0; i < verb->n_columns; i++)
		ts_buf_printf(&text, " %s", verb->columns[i].name);
	ts_buf_puts(&text, ".");
	tool = describe(tool_name(verb), ts_buf_ok(&text) ? ts_buf_text(&text) : verb->help, schema);
	ts_buf_fini(&text);
	return tool;
}

static json_t *describe_verb(const struct ts_verb *verb, bool has_several)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < N_ARGS; i++) {
		if (takes(verb, &args[i]))
			json_object_set_new(properties, args[i].name, describe_arg(&args[i], args[i].description ? args[i].description : describe_what(verb)));
	}
	if (has_several)
		json_array_append_new(required, json_string("recording"));
	if (needs_what(verb))
		json_array_append_new(required, json_string("what"));
	return describe_rows(verb, schema_of(properties, required));
}

static json_t *describe_diff(void)
{
	json_t *properties = json_object();

	for (size_t i = 0; i < N_DIFF_ARGS; i++)
		json_object_set_new(properties, diff_args[i].name,
				    describe_arg(&diff_args[i], diff_args[i].description));
	return describe_rows(&ts_verb_diff, schema_of(properties, json_pack("[s, s]", "a", "b")));
}

json_t *ts_mcp_tools(bool has_several)
{
	json_t *tools = json_array();
	size_t n;
	const struct ts_verb *const *verbs = ts_verbs(&n);

	json_array_append_new(tools, describe("recordings",
					      "List the recordings that are open: columns recording, positions.",
					      schema_of(json_object(), json_array())));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(tools, describe_verb(verbs[i], has_several));
	json_array_append_new(tools, describe_diff());
	return tools;
}

const struct ts_verb *ts_mcp_verb(const char *tool)
{
	size_t n;
	const struct ts_verb *const *verbs = ts_verbs(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(tool_name(verbs[i]), tool))
			return verbs[i];
	}
	return NULL;
}

/* --------------------------------------------------------------------------------------------- a question */

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

static const struct arg *find_arg(const struct ts_verb *verb, const char *name)
{
	for (size_t i = 0; i < N_ARGS; i++) {
		if (!strcmp(args[i].name, name) && takes(verb, &args[i]))
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

static bool check(const struct ts_verb *verb, const json_t *arguments, bool has_several, struct ts_buf *out)
{
	const char *name;
	json_t *value;

	if (arguments && !json_is_object(arguments))
		return refuse(out, "%s is not an object", "arguments");
	json_object_foreach((json_t *)arguments, name, value) {
		const struct arg *a = find_arg(verb, name);

		if (!a)
			return refuse(out, "the argument %.100s is not declared", name);
		if (!is_of_type(value, a->type))
			return refuse(out, "the argument %s is of another type than declared", name);
	}
	if (needs_what(verb) && !json_object_get(arguments, "what"))
		return refuse(out, "the argument %s is missing", "what");
	if (has_several && !json_object_get(arguments, "recording"))
		return refuse(out, "the argument %s is missing: there are several", "recording");
	return true;
}

bool ts_mcp_check_diff(const json_t *arguments, struct ts_buf *out)
{
	const char *name;
	json_t *value;

	if (!json_is_object(arguments))
		return refuse(out, "%s is not an object", "arguments");
	json_object_foreach((json_t *)arguments, name, value) {
		size_t i = 0;

		while (i < N_DIFF_ARGS && strcmp(diff_args[i].name, name))
			i++;
		if (i == N_DIFF_ARGS)
			return refuse(out, "the argument %.100s is not declared", name);
		if (!is_of_type(value, diff_args[i].type))
			return refuse(out, "the argument %s is of another type than declared", name);
	}
	for (size_t i = 0; i < 2; i++) {
		if (!json_object_get(arguments, diff_args[i].name))
			return refuse(out, "the argument %s is missing", diff_args[i].name);
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

bool ts_mcp_question(struct ts_mcp_question *qn, const struct ts_verb *verb, const json_t *arguments,
		     bool has_several, struct ts_buf *out)
{
	qn->n = 0;
	if (!check(verb, arguments, has_several, out))
		return false;
	for (size_t i = 1; i < N_ARGS; i++) { /* but "recording" */
		const json_t *value = json_object_get(arguments, args[i].name);

		if (value)
			add(qn, kind_of(verb, &args[i]), args[i].word, value);
	}
	if (verb->takes & TS_TAKES_BOUND && !json_object_get(arguments, "first") &&
	    !json_object_get(arguments, "last"))
		qn->arguments[qn->n++] = (struct ts_argument){ TS_ARGUMENT_WORD, "first", default_rows };
	return true;
}

const char *ts_mcp_recording(const json_t *arguments)
{
	return json_string_value(json_object_get(arguments, "recording"));
}
