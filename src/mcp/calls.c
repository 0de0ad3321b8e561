/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "server.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/anchors.h"
#include "src/ask/verbs/verbs.h"
#include "src/query/query.h"
#include "tools.h"

/* How many rows the call shows at most. */
static uint64_t bound_of(const json_t *arguments)
{
	const json_t *first = json_object_get(arguments, "first");

	if (first && json_integer_value(first) < TS_MCP_MAX_ROWS)
		return (uint64_t)json_integer_value(first);
	return ts_mcp_is_bounded(arguments) ? TS_MCP_MAX_ROWS : TS_MCP_ROWS;
}

/* Answer with what @a (given away) finds, at most @max rows, or with why there is no @a. */
static void reply_answer(struct ts_mcp_server *sv, struct ts_mcp_recording *r, struct ts_answer *a, uint64_t max,
			 bool is_short, struct ts_error *err, const json_t *id)
{
	struct ts_buf lines;

	ts_buf_init(&lines);
	if (a)
		ts_answer_bound(a, max);
	if (a && ts_mcp_drive(sv, a, &lines, err)) {
		ts_answer_keep_shown(a, r->ask);
		if (ts_answer_go(a) != TS_NO_POS) {
			ts_ask_move(r->ask, ts_answer_question(a)->verb, ts_answer_go(a));
			r->has_moved = true;
		}
		ts_mcp_reply_rows(sv, id, &lines, is_short);
	} else {
		ts_mcp_reply_failure(sv, r, err, id);
	}
	ts_answer_free(a);
	ts_buf_fini(&lines);
}

/* A verb and its arguments. */
static void ask_verb(struct ts_mcp_server *sv, struct ts_mcp_recording *r, enum ts_mcp_tool tool,
		     const struct ts_verb *verb, const json_t *arguments, const json_t *id)
{
	struct ts_error err = { 0 };
	struct ts_mcp_question qn;
	struct ts_answer *a;

	ts_mcp_question(&qn, tool, verb, arguments);
	a = ts_answer_new_arguments(r->ask, verb, qn.arguments, qn.n, TS_FORM_JSON, &err);
	reply_answer(sv, r, a, ts_mcp_is_bounded(arguments) ? TS_MCP_MAX_ROWS : TS_MCP_ROWS, !ts_mcp_is_bounded(arguments),
		     &err, id);
}

/* A question as a text.  One that bounds its rows by first or last has its own way. */
static void ask_text(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const char *text, const json_t *arguments,
		     const json_t *id)
{
	const char *misplaced = ts_mcp_misplaced(arguments);
	struct ts_answer *a = NULL;
	struct ts_error err = { 0 };
	bool is_bounded = ts_mcp_is_bounded(arguments);

	if (misplaced)
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "'%s' must not be in the question, nor be given with a bare verb; example: events first 5",
			misplaced);
	else
		a = ts_answer_new(r->ask, text, TS_FORM_JSON, &err);
	is_bounded |= a && ts_answer_question(a)->bound != TS_BOUND_NONE;
	reply_answer(sv, r, a,
		     json_object_get(arguments, "first") ? bound_of(arguments) : is_bounded ? TS_MCP_MAX_ROWS : TS_MCP_ROWS,
		     !is_bounded, &err, id);
}

static const struct ts_verb *verb_of(const char *name)
{
	return ts_verb_find(name, strlen(name));
}

static bool is_partial(const json_t *arguments)
{
	const char *question = ts_mcp_text(arguments, "question");

	return json_is_true(json_object_get(arguments, "partial")) || (question && strstr(question, "--partial"));
}

static void call_ask(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id)
{
	const char *question = ts_mcp_text(arguments, "question");
	const struct ts_verb *verb;

	question += strspn(question, " \t\n");
	verb = verb_of(question);
	if (verb)
		ask_verb(sv, r, TS_MCP_ASK, verb, arguments, id);
	else
		ask_text(sv, r, question, arguments, id);
}

static void call_mark(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id)
{
	const char *verb = !ts_mcp_text(arguments, "what")				? "marks"
			   : json_is_true(json_object_get(arguments, "remove")) ? "unmark"
										: "mark";

	ask_verb(sv, r, TS_MCP_MARK, verb_of(verb), arguments, id);
}

/*
 * What the call says of the rows that it wants.
 *
 * Returns false if it is not understood (TS_EUSAGE), or the trace cannot be read.
 */
static bool take_diff_options(struct ts_diff_options *o, struct ts_ask *ask, const json_t *arguments, struct ts_error *err)
{
	const char *only = ts_mcp_text(arguments, "only"), *range = ts_mcp_text(arguments, "in");

	*o = (struct ts_diff_options){ .is_rebased = json_is_true(json_object_get(arguments, "rebase")),
				       .is_all = json_is_true(json_object_get(arguments, "all")),
				       .has_range = range != NULL,
				       .function = ts_mcp_text(arguments, "function") };
	if (only && !ts_diff_parse_kinds(only, &o->kinds))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.100s' is not a kind of difference: path, register or memory", only);
	return !range || ts_range_find(ask, range, &o->from, &o->to, err);
}

static void call_diff(struct ts_mcp_server *sv, const json_t *arguments, const json_t *id)
{
	struct ts_mcp_recording *a = ts_mcp_recording_of(sv, ts_mcp_text(arguments, "a"), false, id), *b;
	struct ts_diff_options options;
	struct ts_answer *answer = NULL;
	struct ts_rows *rows = NULL;
	struct ts_error err = { 0 };

	b = a ? ts_mcp_recording_of(sv, ts_mcp_text(arguments, "b"), false, id) : NULL;
	if (!b)
		return;
	a->ask->n_steps = ts_query_end(a->ask->q);
	if (take_diff_options(&options, a->ask, arguments, &err))
		rows = ts_diff_open(a->ask, b->ask->q, &options, &err);
	if (rows)
		answer = ts_answer_of_rows(a->ask, &ts_verb_diff, rows, bound_of(arguments), TS_FORM_JSON, &err);
	reply_answer(sv, a, answer, bound_of(arguments), !ts_mcp_is_bounded(arguments), &err, id);
}

static void call_tool(struct ts_mcp_server *sv, enum ts_mcp_tool tool, const json_t *arguments, const json_t *id)
{
	bool is_of_one = tool != TS_MCP_RECORDINGS && tool != TS_MCP_DIFF, is_part = tool == TS_MCP_ASK && is_partial(arguments);
	struct ts_mcp_recording *r =
		is_of_one ? ts_mcp_recording_of(sv, ts_mcp_text(arguments, "recording"), is_part, id) : NULL;

	if (is_of_one && !r)
		return;
	switch (tool) {
	case TS_MCP_OVERVIEW: ts_mcp_overview(sv, r, id); return;
	case TS_MCP_WHERE: ts_mcp_where(sv, r, arguments, id); return;
	case TS_MCP_ASK: call_ask(sv, r, arguments, id); return;
	case TS_MCP_WHY: ask_verb(sv, r, TS_MCP_WHY, verb_of("why"), arguments, id); return;
	case TS_MCP_FLOWS: ask_verb(sv, r, TS_MCP_FLOWS, verb_of("flows"), arguments, id); return;
	case TS_MCP_SOURCE: ask_verb(sv, r, TS_MCP_SOURCE, &ts_verb_source, arguments, id); return;
	case TS_MCP_SQL: ts_mcp_sql(sv, r, arguments, id); return;
	case TS_MCP_MARK: call_mark(sv, r, arguments, id); return;
	case TS_MCP_DIFF: call_diff(sv, arguments, id); return;
	case TS_MCP_RECORDINGS: ts_mcp_list_recordings(sv, id); return;
	case TS_MCP_N_TOOLS: return;
	}
}

/* The tool does not exist: answer with the list of tools. */
static void fail_tool(struct ts_mcp_server *sv, const char *name, const json_t *id)
{
	struct ts_buf text;

	ts_buf_init(&text);
	if (name)
		ts_buf_printf(&text, "there is no tool '%.100s': tools/list has the tools%s",
			      name, verb_of(name) ? "; that is a verb of ask" : "");
	else
		ts_buf_puts(&text, "the tool's name is missing");
	ts_mcp_fail(sv, id, TS_RPC_BAD_PARAMS, ts_buf_text(&text));
	ts_buf_fini(&text);
}

void ts_mcp_call(struct ts_mcp_server *sv, const json_t *params, const json_t *id)
{
	const char *name = ts_mcp_text(params, "name");
	const json_t *arguments = json_object_get(params, "arguments");
	enum ts_mcp_tool tool = name ? ts_mcp_tool(name) : TS_MCP_N_TOOLS;
	struct ts_buf text;

	if (tool == TS_MCP_N_TOOLS) {
		fail_tool(sv, name, id);
		return;
	}
	ts_buf_init(&text);
	if (!ts_mcp_check(tool, arguments, sv->n_recordings > 1, &text))
		ts_mcp_fail(sv, id, TS_RPC_BAD_PARAMS, ts_buf_text(&text));
	else
		call_tool(sv, tool, arguments, id);
	ts_buf_fini(&text);
}
