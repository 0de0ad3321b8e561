/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <string.h>

#include "src/base/text/json.h"
#include "src/base/text/json_text.h"
#include "tools.h"

void ts_mcp_reply(struct ts_mcp_server *sv, const json_t *id, const char *result)
{
	sv->is_broken |= !ts_rpc_reply(&sv->rpc, id, result);
}

void ts_mcp_fail(struct ts_mcp_server *sv, const json_t *id, enum ts_rpc_error code, const char *text)
{
	sv->is_broken |= !ts_rpc_fail(&sv->rpc, id, code, text);
}

/* Answer with the JSON text in @json, which is freed. */
static void reply_text(struct ts_mcp_server *sv, const json_t *id, struct ts_buf *json)
{
	const char *text = ts_buf_text(json);

	if (ts_buf_ok(json))
		ts_mcp_reply(sv, id, text);
	else
		ts_mcp_fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
	ts_buf_fini(json);
}

void ts_mcp_reply_json(struct ts_mcp_server *sv, const json_t *id, json_t *value)
{
	struct ts_buf json;

	ts_buf_init(&json);
	ts_json_put(&json, value, JSON_COMPACT);
	json_decref(value);
	reply_text(sv, id, &json);
}

/* --------------------------------------------------------------------------------------------- a result */

void ts_mcp_reply_error(struct ts_mcp_server *sv, const json_t *id, const char *sentence)
{
	struct ts_buf out;

	ts_buf_init(&out);
	ts_buf_puts(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
	ts_json_put_text(&out, sentence, strlen(sentence));
	ts_buf_puts(&out, "}],\"isError\":true}");
	reply_text(sv, id, &out);
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

/* Are there rows that are not shown?  An answer may be incomplete for another reason, which its end states. */
static bool has_more(const struct ts_buf *lines)
{
	size_t n_rows;
	json_t *facts = json_loads(end_of(lines, &n_rows), 0, NULL), *total = json_object_get(facts, "total");
	bool is_more = json_is_false(json_object_get(facts, "complete")) &&
		       !json_equal(total, json_object_get(facts, "rows"));

	json_decref(facts);
	return is_more;
}

/* How many of the first @len bytes are whole lines that fit, one at least; *n gets how many lines. */
static size_t fitting(const struct ts_buf *lines, size_t len, uint64_t *n)
{
	size_t end = 0;

	*n = 0;
	while (end < len) {
		const char *newline = memchr(lines->data + end, '\n', len - end);
		size_t next = newline ? (size_t)(newline - (const char *)lines->data) + 1 : len;

		if (*n && next > TS_MCP_BYTES)
			break;
		end = next;
		++*n;
	}
	return end;
}

/* Leave out the rows that do not fit: the end shows that there are more. */
static void shorten(struct ts_buf *lines)
{
	size_t n_rows, len;
	const char *end = end_of(lines, &n_rows);
	json_t *facts = n_rows > TS_MCP_BYTES ? json_loads(end, 0, NULL) : NULL;
	uint64_t n;

	if (!facts)
		return;
	len = fitting(lines, n_rows, &n);
	json_object_set_new(facts, "complete", json_false());
	json_object_set_new(facts, "rows", json_integer((json_int_t)n));
	lines->len = len;
	if (lines->data[len - 1] != '\n')
		ts_buf_putc(lines, '\n');
	ts_json_put(lines, facts, JSON_COMPACT);
	ts_buf_putc(lines, '\n');
	json_decref(facts);
}

void ts_mcp_reply_rows(struct ts_mcp_server *sv, const json_t *id, struct ts_buf *lines, bool is_short)
{
	struct ts_buf text, out;
	size_t len;

	ts_buf_text(lines); /* for the terminating null byte */
	if (is_short && ts_buf_ok(lines))
		shorten(lines);
	ts_buf_text(lines);
	if (!ts_buf_ok(lines)) {
		ts_mcp_fail(sv, id, TS_RPC_INTERNAL, "memory is exhausted");
		return;
	}
	ts_buf_init(&text);
	ts_buf_init(&out);
	put_structure(&text, lines);
	len = text.len;
	if (has_more(lines))
		ts_buf_puts(&text, how_to_go_on);
	ts_buf_puts(&out, "{\"content\":[{\"type\":\"text\",\"text\":");
	ts_json_put_text(&out, (const char *)text.data, text.len);
	ts_buf_puts(&out, "}],\"structuredContent\":");
	ts_buf_put(&out, text.data, len);
	ts_buf_puts(&out, ",\"isError\":false}");
	out.is_failed |= !ts_buf_ok(&text);
	ts_buf_fini(&text);
	reply_text(sv, id, &out);
}

void ts_mcp_reply_row(struct ts_mcp_server *sv, const json_t *id, json_t *row)
{
	struct ts_buf lines;

	ts_buf_init(&lines);
	ts_json_put(&lines, row, JSON_COMPACT);
	ts_buf_puts(&lines, "\n{\"complete\":true,\"rows\":1,\"total\":1}\n");
	json_decref(row);
	ts_mcp_reply_rows(sv, id, &lines, false);
	ts_buf_fini(&lines);
}

/* Between two looks at whether the call was cancelled; less than a millisecond, mostly. */
#define CHUNKS_A_SLICE 4

bool ts_mcp_drive(struct ts_mcp_server *sv, struct ts_answer *a, struct ts_buf *lines, struct ts_error *err)
{
	enum ts_next got;

	do {
		got = ts_answer_run(a, CHUNKS_A_SLICE, lines, lines, err);
		ts_mcp_look(sv);
	} while (got == TS_MORE && !sv->is_cancelled);
	return got == TS_END && !sv->is_cancelled;
}

void ts_mcp_reply_failure(struct ts_mcp_server *sv, const struct ts_mcp_recording *r, const struct ts_error *err,
			  const json_t *id)
{
	char sentence[TS_MAX_WORD];

	if (sv->is_cancelled)
		return;
	ts_error_format(err, err->code == TS_EUSAGE ? NULL : r->path, sentence, sizeof(sentence));
	ts_mcp_reply_error(sv, id, sentence);
}
