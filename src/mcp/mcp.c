/* SPDX-License-Identifier: MIT */
#include "mcp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "rpc.h"
#include "src/ask/output/answer.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"
#include "src/base/json.h"
#include "src/query/query.h"
#include "tools.h"

/* Between two looks at whether the call was cancelled; less than a millisecond, mostly. */
#define CHUNKS_A_SLICE 4
#define READ_NS INT64_C(5000000)

#define MAX_BACK ((size_t)1024)

/* Protocol versions, the newest first.  They differ in nothing that is used here but batches. */
static const struct {
	const char *name;
	bool has_batches;
} versions[] = { { "2025-06-18", false }, { "2025-03-26", true }, { "2024-11-05", true } };

struct server {
	struct ts_rpc rpc;
	struct ts_mcp_recording *recordings; /* borrowed */
	size_t n_recordings;
	bool has_batches;      /* in the version that was agreed on */
	struct ts_requests requests; /* those that came while another one was answered */
	bool is_in_batch;      /* a batch is being answered */
	const json_t *running; /* borrowed; the id of the request that is being answered, NULL: none */
	bool is_cancelled;     /* it is not to be answered any more */
	bool is_broken;        /* the client cannot be written to */
};

/* --------------------------------------------------------------------------------------------- messages */

static const char *method_of(const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));

	return method ? method : "";
}

static void note_cancelled(struct server *sv, const json_t *message)
{
	const json_t *id = json_object_get(json_object_get(message, "params"), "requestId");

	if (!id)
		return;
	if (sv->running && json_equal((json_t *)sv->running, (json_t *)id))
		sv->is_cancelled = true;
	ts_requests_cancel(&sv->requests, id);
}

/* A message that came while a call runs. */
static void take_in(struct server *sv, json_t *message)
{
	size_t i;
	json_t *part;

	json_array_foreach(message, i, part) {
		if (!strcmp(method_of(part), "notifications/cancelled"))
			note_cancelled(sv, part);
	}
	if (!strcmp(method_of(message), "notifications/cancelled"))
		note_cancelled(sv, message);
	else if (!strcmp(method_of(message), "ping") && json_object_get(message, "id"))
		ts_rpc_reply_apart(&sv->rpc, json_object_get(message, "id"), "{}");
	else
		sv->is_broken |= !ts_requests_put(&sv->requests, message);
}

/* While a call runs: take in what came.  Requests wait, but a ping is answered. */
static void look(struct server *sv)
{
	json_t *message;

	while (ts_rpc_read(&sv->rpc, 0, &message) == TS_RPC_MESSAGE) {
		take_in(sv, message);
		json_decref(message);
	}
}

static void reply(struct server *sv, const json_t *id, const char *result)
{
	sv->is_broken |= !ts_rpc_reply(&sv->rpc, id, result);
}

static void fail(struct server *sv, const json_t *id, enum ts_rpc_error code, const char *text)
{
	sv->is_broken |= !ts_rpc_fail(&sv->rpc, id, code, text);
}

/* Answer with a value that is given away; NULL: memory was exhausted. */
static void reply_json(struct server *sv, const json_t *id, json_t *value)
{
	struct ts_buf json;
	const char *text;

	ts_buf_init(&json);
	ts_json_put(&json, value, JSON_COMPACT);
	text = ts_buf_text(&json);
	if (ts_buf_ok(&json))
		reply(sv, id, text);
	else
		fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
	ts_buf_fini(&json);
	json_decref(value);
}

/* --------------------------------------------------------------------------------------------- a result */

/* A JSON string. */
static void put_string(struct ts_buf *out, const char *text, size_t len)
{
	json_t *value = json_stringn_nocheck(text, len);

	ts_json_put(out, value, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(value);
}

/* A question that was not understood, or could not be answered. */
static void reply_error(struct server *sv, const json_t *id, const char *sentence)
{
	struct ts_buf out;

	ts_buf_init(&out);
	ts_buf_puts(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
	put_string(&out, sentence, strlen(sentence));
	ts_buf_puts(&out, "}],\"isError\":true}");
	if (ts_buf_ok(&out))
		reply(sv, id, ts_buf_text(&out));
	else
		fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
	ts_buf_fini(&out);
}

/* Split JSON Lines: *n_rows gets how many bytes the rows have, the rest is the line of the end. */
static const char *end_of(const struct ts_buf *lines, size_t *n_rows)
{
	size_t len = lines->len && lines->data[lines->len - 1] == '\n' ? lines->len - 1 : lines->len;
	const char *newline = len ? memrchr(lines->data, '\n', len) : NULL;

	*n_rows = newline ? (size_t)(newline - (const char *)lines->data) : 0;
	return newline ? newline + 1 : (const char *)lines->data;
}

/* {"rows":[...],"end":{...}} of JSON Lines, the last of which is the end; without a newline. */
static void put_structure(struct ts_buf *out, const struct ts_buf *lines)
{
	size_t n_rows;
	const char *end = end_of(lines, &n_rows);

	ts_buf_puts(out, "{\"rows\":[");
	for (size_t i = 0; i < n_rows; i++)
		ts_buf_putc(out, lines->data[i] == '\n' ? ',' : lines->data[i]);
	ts_buf_puts(out, "],\"end\":");
	ts_buf_put(out, end, strcspn(end, "\n"));
	ts_buf_puts(out, "}");
}

/* What the text adds for a client that sees the first rows only. */
static const char how_to_go_on[] =
	"\nThere are more rows: ask with a larger first (at most 10000), with last, or with in \"A:B\" after the last row's position.";

static bool is_complete(const struct ts_buf *lines)
{
	static const char mark[] = "{\"complete\":true";
	size_t n_rows;

	return !strncmp(end_of(lines, &n_rows), mark, sizeof(mark) - 1);
}

/* Answer with JSON Lines. */
static void reply_rows(struct server *sv, const json_t *id, struct ts_buf *lines)
{
	struct ts_buf structure, text, out;

	ts_buf_text(lines); /* for the terminating null byte */
	if (!ts_buf_ok(lines)) {
		fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
		return;
	}
	ts_buf_init(&structure);
	ts_buf_init(&text);
	ts_buf_init(&out);
	put_structure(&structure, lines);
	ts_buf_put(&text, structure.data, structure.len);
	if (!is_complete(lines))
		ts_buf_puts(&text, how_to_go_on);
	ts_buf_puts(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
	put_string(&out, (const char *)text.data, text.len);
	ts_buf_puts(&out, "}],\"structuredContent\":");
	ts_buf_put(&out, structure.data, structure.len);
	ts_buf_puts(&out, ",\"isError\":false}");
	if (ts_buf_ok(&structure) && ts_buf_ok(&text) && ts_buf_ok(&out))
		reply(sv, id, ts_buf_text(&out));
	else
		fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
	ts_buf_fini(&structure);
	ts_buf_fini(&text);
	ts_buf_fini(&out);
}

/* ------------------------------------------------------------------------------------------- recordings */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By its path, or by its file name if only one has it; NULL with a sentence in @out. */
static struct ts_mcp_recording *find_recording(struct server *sv, const char *name, struct ts_buf *out)
{
	struct ts_mcp_recording *found = NULL;
	size_t n = 0;

	if (!name)
		return &sv->recordings[0];
	for (size_t i = 0; i < sv->n_recordings; i++) {
		struct ts_mcp_recording *r = &sv->recordings[i];

		if (!strcmp(r->path, name))
			return r;
		if (!strcmp(last_part(r->path), name)) {
			found = r;
			n++;
		}
	}
	if (n == 1)
		return found;
	ts_buf_printf(out, "'%.200s' is %s; the tool recordings lists them", name,
		      n ? "the file name of several recordings: give the path" : "not a recording that is open");
	return NULL;
}

/* What has been read can be asked about. */
static bool take_news(struct ts_mcp_recording *r, struct ts_error *err)
{
	r->ask->n_steps = ts_query_end(r->ask->q);
	r->ask->is_reading = !ts_query_is_complete(r->ask->q);
	return !r->refresh || r->refresh(r->user, err);
}

/*
 * Wait until all has been read.  Returns false if the call was cancelled meanwhile, memory is exhausted, or
 * the system did not let all be read: an answer about a part must be asked for.
 */
static bool read_rest(struct server *sv, struct ts_mcp_recording *r, struct ts_error *err)
{
	bool is_new = r->ask->is_reading, is_left = is_new;

	while (is_left && !sv->is_cancelled) {
		is_left = ts_model_grow_for(r->model, READ_NS) == TS_ITEM;
		look(sv);
	}
	/* also if the call was cancelled just then: the next one does not wait */
	if (is_new && !is_left && !take_news(r, err))
		return false;
	return !sv->is_cancelled && !ts_query_is_abandoned(r->ask->q, err);
}

/* Where goto has led; back and forward go through the positions that it left. */
static void move(struct ts_ask *ask, const struct ts_verb *verb, uint64_t to)
{
	uint64_t *back;

	if (to == TS_NO_POS)
		return;
	if (ask->at_back == MAX_BACK && strcmp(verb->name, "back") && strcmp(verb->name, "forward")) {
		memmove(ask->back, ask->back + 1, ask->at_back * sizeof(*back)); /* the oldest place is forgotten */
		ask->at_back--;
	}
	if (!strcmp(verb->name, "back") && ask->at_back) {
		ask->at_back--;
	} else if (!strcmp(verb->name, "forward") && ask->at_back + 1 < ask->n_back) {
		ask->at_back++;
	} else if (ask->at_back < MAX_BACK &&
		   (back = realloc(ask->back, (ask->at_back + 2) * sizeof(*back))) != NULL) {
		back[ask->at_back] = ask->here;
		back[++ask->at_back] = to;
		ask->back = back;
		ask->n_back = ask->at_back + 1;
	}
	ask->here = to;
}

/* ---------------------------------------------------------------------------------------------- calls */

/* Let the answer run to its end.  Returns false if it was cancelled or failed. */
static bool drive(struct server *sv, struct ts_answer *a, struct ts_buf *lines, struct ts_error *err)
{
	enum ts_got got;

	do {
		got = ts_answer_run(a, CHUNKS_A_SLICE, lines, lines, err);
		look(sv);
	} while (got == TS_GOT_PENDING && !sv->is_cancelled);
	return got == TS_GOT_END && !sv->is_cancelled;
}

/* Answer with what @a (given away) finds, or with why there is no @a. */
static void reply_answer(struct server *sv, struct ts_mcp_recording *r, struct ts_answer *a,
			 struct ts_error *err, const json_t *id)
{
	char sentence[TS_MAX_WORD];
	struct ts_buf lines;

	ts_buf_init(&lines);
	if (a)
		ts_answer_bound(a, TS_MCP_MAX_ROWS);
	if (a && drive(sv, a, &lines, err)) {
		ts_answer_keep_shown(a, r->ask);
		move(r->ask, ts_answer_question(a)->verb, ts_answer_go(a));
		reply_rows(sv, id, &lines);
	} else if (!sv->is_cancelled) {
		ts_error_format(err, err->code == TS_EUSAGE ? NULL : r->path, sentence, sizeof(sentence));
		reply_error(sv, id, sentence);
	}
	ts_answer_free(a);
	ts_buf_fini(&lines);
}

static void answer(struct server *sv, struct ts_mcp_recording *r, const struct ts_verb *verb,
		   const struct ts_mcp_question *qn, bool is_partial, const json_t *id)
{
	struct ts_error err = { 0 };
	struct ts_answer *a = NULL;

	if (is_partial || read_rest(sv, r, &err))
		a = ts_answer_new_arguments(r->ask, verb, qn->arguments, qn->n, TS_FORM_JSON, &err);
	reply_answer(sv, r, a, &err, id);
}

static void call_verb(struct server *sv, const struct ts_verb *verb, const json_t *arguments,
		      const json_t *id)
{
	struct ts_mcp_question qn;
	struct ts_mcp_recording *r;
	struct ts_buf sentence;

	ts_buf_init(&sentence);
	if (!ts_mcp_question(&qn, verb, arguments, sv->n_recordings > 1, &sentence)) {
		fail(sv, id, TS_RPC_BAD_PARAMS, ts_buf_text(&sentence));
	} else {
		r = find_recording(sv, ts_mcp_recording(arguments), &sentence);
		if (r)
			answer(sv, r, verb, &qn, json_is_true(json_object_get(arguments, "partial")), id);
		else
			reply_error(sv, id, ts_buf_text(&sentence));
	}
	ts_buf_fini(&sentence);
}

/* A recording that an argument names, read to its end; NULL: the call has been answered, or cancelled. */
static struct ts_mcp_recording *read_named(struct server *sv, const char *name, const json_t *id)
{
	struct ts_mcp_recording *r;
	struct ts_error err = { 0 };
	struct ts_buf sentence;

	ts_buf_init(&sentence);
	r = find_recording(sv, name, &sentence);
	if (!r)
		reply_error(sv, id, ts_buf_text(&sentence));
	ts_buf_fini(&sentence);
	if (!r || read_rest(sv, r, &err))
		return r;
	reply_answer(sv, r, NULL, &err, id);
	return NULL;
}

static void diff(struct server *sv, const json_t *arguments, const json_t *id)
{
	struct ts_mcp_recording *a = read_named(sv, json_string_value(json_object_get(arguments, "a")), id),
				*b;
	const json_t *first = json_object_get(arguments, "first");
	struct ts_answer *answer = NULL;
	struct ts_error err = { 0 };
	struct ts_rows *rows;

	b = a ? read_named(sv, json_string_value(json_object_get(arguments, "b")), id) : NULL;
	if (!b)
		return;
	a->ask->n_steps = ts_query_end(a->ask->q);
	rows = ts_diff_open(a->ask->q, b->ask->q, json_is_true(json_object_get(arguments, "rebase")),
			    json_is_true(json_object_get(arguments, "all")), &err);
	if (rows)
		answer = ts_answer_of_rows(a->ask, &ts_verb_diff, rows,
					   first ? (uint64_t)json_integer_value(first) : TS_MCP_ROWS, TS_FORM_JSON, &err);
	reply_answer(sv, a, answer, &err, id);
}

static void call_diff(struct server *sv, const json_t *arguments, const json_t *id)
{
	struct ts_buf text;

	ts_buf_init(&text);
	if (ts_mcp_check_diff(arguments, &text))
		diff(sv, arguments, id);
	else
		fail(sv, id, TS_RPC_BAD_PARAMS, ts_buf_text(&text));
	ts_buf_fini(&text);
}

/*
 * The number is null while the recording is being read, and if it cannot be: then there is an error in the
 * row.
 */
static void put_recording(struct ts_buf *lines, const struct ts_mcp_recording *r)
{
	char sentence[TS_MAX_WORD];
	struct ts_error why;

	ts_buf_puts(lines, "{\"recording\":");
	put_string(lines, r->path, strlen(r->path));
	if (ts_query_is_abandoned(r->ask->q, &why)) {
		ts_error_format(&why, NULL, sentence, sizeof(sentence));
		ts_buf_puts(lines, ",\"positions\":null,\"error\":");
		put_string(lines, sentence, strlen(sentence));
		ts_buf_puts(lines, "}\n");
	} else if (r->ask->is_reading) {
		ts_buf_puts(lines, ",\"positions\":null}\n");
	} else {
		ts_buf_printf(lines, ",\"positions\":%" PRIu64 "}\n", ts_query_end(r->ask->q));
	}
}

/* Rows `recording positions`. */
static void call_recordings(struct server *sv, const json_t *arguments, const json_t *id)
{
	struct ts_buf lines;

	if (arguments && (!json_is_object(arguments) || json_object_size(arguments))) {
		fail(sv, id, TS_RPC_BAD_PARAMS, "recordings takes no arguments");
		return;
	}
	ts_buf_init(&lines);
	for (size_t i = 0; i < sv->n_recordings; i++)
		put_recording(&lines, &sv->recordings[i]);
	ts_buf_printf(&lines, "{\"complete\":true,\"rows\":%zu,\"total\":%zu}\n", sv->n_recordings,
		      sv->n_recordings);
	reply_rows(sv, id, &lines);
	ts_buf_fini(&lines);
}

static void call(struct server *sv, const json_t *params, const json_t *id)
{
	const char *name = json_string_value(json_object_get(params, "name"));
	const json_t *arguments = json_object_get(params, "arguments");
	const struct ts_verb *verb = name ? ts_mcp_verb(name) : NULL;

	if (name && !strcmp(name, "recordings"))
		call_recordings(sv, arguments, id);
	else if (name && !strcmp(name, ts_verb_diff.name))
		call_diff(sv, arguments, id);
	else if (verb)
		call_verb(sv, verb, arguments, id);
	else
		fail(sv, id, TS_RPC_BAD_PARAMS, name ? "there is no such tool" : "the tool's name is missing");
}

/* ------------------------------------------------------------------------------------------- requests */

static void initialize(struct server *sv, const json_t *params, const json_t *id)
{
	const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
	size_t version = 0;

	if (!wanted) {
		fail(sv, id, TS_RPC_BAD_PARAMS, "protocolVersion is missing");
		return;
	}
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (!strcmp(versions[i].name, wanted))
			version = i;
	}
	sv->has_batches = versions[version].has_batches;
	reply_json(
		sv, id,
		json_pack(
			"{s:s, s:{s:{s:b}}, s:{s:s, s:s}, s:s}", "protocolVersion", versions[version].name, "capabilities",
			"tools", "listChanged", 0, "serverInfo", "name", "tracestub", "version",
			PACKAGE_VERSION, "instructions",
			"Questions to recorded executions. Position k is the state before instruction k. A row's "
			"position is that of the instruction that did it. Unknown values are null, never zero."));
}

static void list_tools(struct server *sv, const json_t *params, const json_t *id)
{
	json_t *tools;

	if (json_object_get(params, "cursor")) {
		fail(sv, id, TS_RPC_BAD_PARAMS, "the list of tools is one page: there is no cursor");
		return;
	}
	tools = ts_mcp_tools(sv->n_recordings > 1);
	reply_json(sv, id, tools ? json_pack("{s:o}", "tools", tools) : NULL);
}

static void handle_request(struct server *sv, const char *method, const json_t *params, const json_t *id)
{
	if (!strcmp(method, "initialize") && sv->is_in_batch)
		fail(sv, id, TS_RPC_INVALID, "initialize stands in no batch");
	else if (!strcmp(method, "initialize"))
		initialize(sv, params, id);
	else if (!strcmp(method, "ping"))
		reply(sv, id, "{}");
	else if (!strcmp(method, "tools/list"))
		list_tools(sv, params, id);
	else if (!strcmp(method, "tools/call"))
		call(sv, params, id);
	else
		fail(sv, id, TS_RPC_NO_METHOD, "there is no such method");
}

/* A message of the client: a request, or a notification, which is never answered. */
static void handle_message(struct server *sv, const json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	const char *method = method_of(message),
		   *version = json_string_value(json_object_get(message, "jsonrpc"));

	if (!json_is_object(message)) {
		fail(sv, NULL, TS_RPC_INVALID, "a message is one JSON object");
	} else if (!id && (!version || strcmp(version, "2.0") || !*method)) {
		fail(sv, NULL, TS_RPC_INVALID, "the message is neither a request nor a notification");
	} else if (!id) {
		return;
	} else if (!json_is_string(id) && !json_is_integer(id)) {
		fail(sv, NULL, TS_RPC_INVALID, "an id is a string or an integer");
	} else if (!version || strcmp(version, "2.0")) {
		fail(sv, id, TS_RPC_INVALID, "jsonrpc is not \"2.0\"");
	} else if (!ts_requests_begin(&sv->requests, id)) {
		return;
	} else if (*method) {
		sv->running = id;
		sv->is_cancelled = false;
		handle_request(sv, method, json_object_get(message, "params"), id);
		sv->running = NULL;
	} else if (!json_object_get(message, "result") && !json_object_get(message, "error")) {
		fail(sv, id, TS_RPC_INVALID, "the method is missing");
	}
}

static void handle_batch(struct server *sv, json_t *batch)
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

static void handle(struct server *sv, json_t *message)
{
	if (json_is_array(message) && json_array_size(message) && sv->has_batches)
		handle_batch(sv, message);
	else
		handle_message(sv, message);
}

/* Read on while the client wants nothing.  Returns false if there is nothing left to read. */
static bool read_on(struct server *sv, struct ts_error *err)
{
	for (size_t i = 0; i < sv->n_recordings; i++) {
		struct ts_mcp_recording *r = &sv->recordings[i];

		if (!r->ask->is_reading)
			continue;
		return ts_model_grow_for(r->model, READ_NS) == TS_ITEM || take_news(r, err);
	}
	return false;
}

/* The next message: one that waits, or one that comes. */
static enum ts_rpc_got next(struct server *sv, json_t **message, struct ts_error *err)
{
	enum ts_rpc_got got;

	*message = ts_requests_take(&sv->requests);
	if (*message)
		return TS_RPC_MESSAGE;
	do {
		got = ts_rpc_read(&sv->rpc, 0, message);
	} while (got == TS_RPC_NOTHING && read_on(sv, err));
	return got == TS_RPC_NOTHING && err->code == TS_OK ? ts_rpc_read(&sv->rpc, -1, message) : got;
}

bool ts_mcp_serve(struct ts_mcp_recording *recordings, size_t n, int in, int out, struct ts_error *err)
{
	struct server sv = { .recordings = recordings, .n_recordings = n };
	json_t *message;

	ts_error_reset(err);
	if (!ts_requests_init(&sv.requests)) {
		ts_requests_fini(&sv.requests);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for requests");
	}
	ts_rpc_init(&sv.rpc, in, out);
	while (!sv.is_broken && next(&sv, &message, err) == TS_RPC_MESSAGE) {
		handle(&sv, message);
		json_decref(message);
	}
	ts_rpc_fini(&sv.rpc);
	ts_requests_fini(&sv.requests);
	if (sv.is_broken)
		ts_fail(err, TS_EIO, TS_NO_OFF, "the client cannot be written to");
	return err->code == TS_OK;
}
