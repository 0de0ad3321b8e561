/* SPDX-License-Identifier: MIT */
/*
 * The tools overview and where: answers of several questions in one row.  What a question's rows do not know is left out
 * there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server.h"
#include "src/ask/grammar/question.h"
#include "src/ask/verbs/verbs.h"
#include "src/base/text/json.h"
#include "src/query/query.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "tools.h"

/* The numbers of rows that a summary shows of long lists. */
#define MAX_EVENTS  "8"
#define MAX_HOT     "8"
#define MAX_FRAMES  "6"
#define MAX_MODULES "6"
#define MAX_THREADS 6u
#define LINES_AROUND 4

/* The questions whose answers make up a row. */
struct summary {
	struct ts_mcp_server *sv;
	struct ts_mcp_recording *r;
	json_t *row; /* owned; NULL: memory is exhausted */
	struct ts_error err;
};

/* ---------------------------------------------------------------------------------------------- questions */

static json_t *without_nulls(json_t *row)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(row, next, key, value) {
		size_t len = strlen(key);
		bool is_again = len > 6 && !strcmp(key + len - 6, "_bytes");

		if (json_is_null(value) || is_again)
			json_object_del(row, key);
	}
	return row;
}

/* The rows of JSON Lines; the end is no row. */
static json_t *rows_of(struct ts_buf *lines)
{
	json_t *rows = json_array();
	char *at = (char *)lines->data, *newline;

	ts_buf_text(lines);
	while (at && (newline = strchr(at, '\n')) && newline[1]) {
		json_array_append_new(rows, without_nulls(json_loadb(at, (size_t)(newline - at), JSON_ALLOW_NUL, NULL)));
		at = newline + 1;
	}
	return rows;
}

/*
 * The rows of a question, a new reference.
 *
 * Returns NULL if the call was cancelled, the question makes no sense of this recording (TS_EUSAGE), the trace cannot be read
 * or memory is exhausted.
 */
static json_t *find_rows(struct summary *s, const struct ts_verb *verb, const struct ts_argument *arguments, size_t n,
			 struct ts_error *err)
{
	struct ts_answer *a = ts_answer_new_arguments(s->r->ask, verb, arguments, n, TS_FORM_JSON, err);
	struct ts_buf lines;
	json_t *rows = NULL;

	ts_buf_init(&lines);
	if (a && ts_mcp_drive(s->sv, a, &lines, err))
		rows = rows_of(&lines);
	ts_answer_free(a);
	ts_buf_fini(&lines);
	return rows;
}

/* As find_rows(), after the questions before it have succeeded.  A question that makes no sense of this recording has no rows. */
static json_t *ask(struct summary *s, const struct ts_verb *verb, const struct ts_argument *arguments, size_t n)
{
	struct ts_error err = { 0 };
	json_t *rows;

	if (s->err.code != TS_OK || s->sv->is_cancelled)
		return NULL;
	rows = find_rows(s, verb, arguments, n, &err);
	if (err.code == TS_EUSAGE)
		return json_array();
	s->err = err;
	return rows;
}

/* A question: words and their values in turn; the word "" is the operand. */
static json_t *ask_words(struct summary *s, const char *verb, const char *const *words, size_t n)
{
	struct ts_argument arguments[8];

	for (size_t i = 0; i < n; i++) {
		bool is_operand = !*words[2 * i];

		arguments[i] = (struct ts_argument){ is_operand ? TS_ARGUMENT_OPERAND : TS_ARGUMENT_WORD,
						     is_operand ? NULL : words[2 * i], words[2 * i + 1] };
	}
	return ask(s, ts_verb_find(verb, strlen(verb)), arguments, n);
}

#define ASK(s, verb, ...)                                                                            \
	ask_words(s, verb, (const char *const[]){ __VA_ARGS__ },                                     \
		  sizeof((const char *const[]){ __VA_ARGS__ }) / (2 * sizeof(const char *)))

/* Put the value (given away) into the row, unless it is NULL. */
static void put(struct summary *s, const char *key, json_t *value)
{
	if (value && (json_array_size(value) || !json_is_array(value)))
		json_object_set_new(s->row, key, value);
	else
		json_decref(value);
}

static void put_text(struct summary *s, const char *key, const char *text)
{
	if (text && *text)
		put(s, key, json_string(text));
}

/* Answer with the row, or with the failure. */
static void finish(struct summary *s, const json_t *id)
{
	if (s->err.code == TS_OK && !s->sv->is_cancelled) {
		ts_mcp_reply_row(s->sv, id, s->row);
		return;
	}
	json_decref(s->row);
	ts_mcp_reply_failure(s->sv, s->r, &s->err, id);
}

/* ----------------------------------------------------------------------------------------------- overview */

static const char *end_of(const struct ts_query *q)
{
	struct ts_ending ending;

	ts_query_ending(q, &ending);
	if (ending.damage.code != TS_OK)
		return "the trace is damaged, or was not read, from there on";
	if (ending.is_fault)
		return "a fault: the last instruction did not complete";
	return ending.has_exit ? "the program's exit" : "no exit was recorded: the recording stops there";
}

static json_t *arguments_of(const struct ts_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->cmdline->len; i += strlen((const char *)facts->cmdline->data + i) + 1) {
		json_t *text = json_string((const char *)facts->cmdline->data + i);

		if (text)
			json_array_append_new(list, text);
	}
	return list;
}

/* The questions that this recording cannot answer. */
static json_t *unknown_of(const struct ts_query *q, struct ts_symbols *symbols)
{
	const struct ts_facts *facts = ts_query_facts(q);
	struct ts_index_stats stats;
	json_t *list = json_array();

	ts_query_stats(q, &stats);
	if (!facts->has_reads)
		json_array_append_new(list, json_string("memory reads are not recorded"));
	else if (facts->misses_reads)
		json_array_append_new(list, json_string("memory reads of vector, floating-point and atomic instructions are not recorded"));
	if (!facts->has_syscalls)
		json_array_append_new(list, json_string("system calls are not recorded"));
	if (stats.n_unexplained)
		json_array_append_new(list, json_sprintf("%" PRIu64 " changes that nothing in the trace made: ask unexplained",
							 stats.n_unexplained));
	if (!symbols || !ts_symbols_get(symbols, 0))
		json_array_append_new(list, json_string("no symbols: functions are known by address only"));
	return list;
}

/* A thread's steps, and its stack where it ends. */
static json_t *thread_of(struct summary *s, uint32_t thread)
{
	const struct ts_ask *a = s->r->ask;
	char tid[24], at[24];
	json_t *row = json_object();

	snprintf(tid, sizeof(tid), "%" PRId64, a->names->tids[thread]);
	snprintf(at, sizeof(at), "%" PRIu64, a->n_steps);
	json_object_set_new(row, "thread", json_integer(a->names->tids[thread]));
	json_object_set_new(row, "steps", json_integer((json_int_t)ts_query_n_steps_of(a->q, thread, a->n_steps)));
	json_object_set_new(row, "stack", ASK(s, "stack", "thread", tid, "at", at, "first", MAX_FRAMES));
	return row;
}

static void put_threads(struct summary *s)
{
	uint32_t n = ts_query_n_threads(s->r->ask->q);
	json_t *list = json_array();

	for (uint32_t i = 0; i < n && i < MAX_THREADS && i < s->r->ask->names->n_tids; i++)
		json_array_append_new(list, thread_of(s, i));
	put(s, "threads", list);
	if (n > MAX_THREADS)
		put(s, "more_threads", json_integer(n - MAX_THREADS));
}

static json_t *hot_of(struct summary *s)
{
	const struct ts_argument count = { TS_ARGUMENT_COUNT, NULL, MAX_HOT };

	return ask(s, ts_verb_find("hot", 3), &count, 1);
}

void ts_mcp_overview(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *id)
{
	struct summary s = { .sv = sv, .r = r, .row = json_object() };
	const struct ts_facts *facts = ts_query_facts(r->ask->q);

	put_text(&s, "recording", r->path);
	put_text(&s, "format", facts->format);
	put_text(&s, "architecture", facts->regs->arch->name);
	put_text(&s, "system", facts->os);
	put_text(&s, "program", facts->exec_path);
	put(&s, "arguments", arguments_of(facts));
	put(&s, "positions", json_integer((json_int_t)r->ask->n_steps));
	put(&s, "here", json_integer((json_int_t)r->ask->here));
	put_text(&s, "end", end_of(r->ask->q));
	put(&s, "last_events", ASK(&s, "events", "last", MAX_EVENTS));
	put_threads(&s);
	put(&s, "hot", hot_of(&s));
	put(&s, "modules", ASK(&s, "modules", "in", "0:", "first", MAX_MODULES));
	put(&s, "unknown", unknown_of(r->ask->q, r->ask->symbols));
	finish(&s, id);
}

/* -------------------------------------------------------------------------------------------------- where */

/* The arguments of questions about one moment. */
struct moment {
	char at[24], from[32], to[32], thread[24];
	bool has_thread;
};

/* The position that is asked for.  Returns false, and says why, if none is found. */
static bool find_moment(struct summary *s, const json_t *arguments, struct moment *m)
{
	const struct ts_verb *when = ts_verb_find("when", 4);
	const json_t *thread = json_object_get(arguments, "thread");
	struct ts_mcp_question qn;
	json_t *rows;
	uint64_t pos;

	ts_mcp_question(&qn, TS_MCP_WHERE, when, arguments);
	for (size_t i = 0; i < qn.n; i++) { /* when has no thread */
		if (qn.arguments[i].word && !strcmp(qn.arguments[i].word, "thread"))
			qn.arguments[i] = qn.arguments[--qn.n];
	}
	rows = find_rows(s, when, qn.arguments, qn.n, &s->err);
	if (!rows)
		return false;
	json_object_update(s->row, json_array_get(rows, 0));
	json_decref(rows);
	pos = (uint64_t)json_integer_value(json_object_get(s->row, "position"));
	snprintf(m->at, sizeof(m->at), "%" PRIu64, pos);
	snprintf(m->from, sizeof(m->from), "%" PRIu64 ":", pos);
	snprintf(m->to, sizeof(m->to), ":%" PRIu64, pos);
	m->has_thread = thread != NULL;
	snprintf(m->thread, sizeof(m->thread), "%" PRId64,
		 (int64_t)json_integer_value(thread ? thread : json_object_get(s->row, "thread")));
	return true;
}

/* The only step of an answer, as an object: a new reference, NULL if none is found. */
static json_t *step_of(json_t *rows)
{
	json_t *row = json_incref(json_array_get(rows, 0));

	json_decref(rows);
	return row;
}

/* The lines around the one where the thread is. */
static json_t *lines_around(struct summary *s, const struct moment *m, const char *pc, json_int_t line)
{
	const struct ts_argument question[] = { { TS_ARGUMENT_OPERAND, NULL, pc }, { TS_ARGUMENT_WORD, "at", m->at } };
	json_t *rows = ask(s, &ts_verb_source, question, 2), *near = json_array(), *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		json_int_t other = json_integer_value(json_object_get(row, "line"));

		if (other >= line - LINES_AROUND && other <= line + LINES_AROUND)
			json_array_append(near, row);
	}
	json_decref(rows);
	return near;
}

static json_t *registers_of(struct summary *s, const struct moment *m)
{
	json_t *rows = ASK(s, "registers", "at", m->at, "thread", m->thread), *named = json_object(), *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *name = json_string_value(json_object_get(row, "register"));
		json_t *value = json_object_get(row, "value");

		if (name && value && json_integer_value(json_object_get(row, "length")) <= 8)
			json_object_set(named, name, value);
	}
	json_decref(rows);
	return named;
}

void ts_mcp_where(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id)
{
	struct summary s = { .sv = sv, .r = r, .row = json_object() };
	struct moment m;
	json_t *frames, *frame;
	const char *pc;

	if (find_moment(&s, arguments, &m)) {
		frames = ASK(&s, "stack", "at", m.at, "thread", m.thread, "first", "20");
		frame = json_array_get(frames, 0);
		pc = json_string_value(json_object_get(frame, "pc"));
		if (m.has_thread)
			put(&s, "thread", json_integer(json_integer_value(json_object_get(arguments, "thread"))));
		if (m.has_thread && pc)
			put_text(&s, "pc", pc);
		put(&s, "last_step", step_of(ASK(&s, "steps", "in", m.to, "thread", m.thread, "last", "1")));
		put(&s, "next_step", step_of(ASK(&s, "steps", "in", m.from, "thread", m.thread, "first", "1")));
		if (pc)
			put(&s, "lines", lines_around(&s, &m, pc, json_integer_value(json_object_get(frame, "line"))));
		put(&s, "stack", frames);
		put(&s, "registers", registers_of(&s, &m));
	}
	finish(&s, id);
}
