/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "src/ask/grammar/question.h"
#include "src/base/text/json_text.h"
#include "src/base/text/suffix.h"
#include "src/query/query.h"

/* Find a recording by its path, or by a unique file name; NULL with a sentence in @out. */
static struct ts_mcp_recording *find(struct ts_mcp_server *sv, const char *name, struct ts_buf *out)
{
	struct ts_mcp_recording *found = NULL;
	size_t n = 0;

	if (!name)
		return &sv->recordings[0];
	for (size_t i = 0; i < sv->n_recordings; i++) {
		struct ts_mcp_recording *r = &sv->recordings[i];

		if (!strcmp(r->path, name))
			return r;
		if (!strcmp(ts_last_name(r->path), name)) {
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

bool ts_mcp_take_news(struct ts_mcp_recording *r, struct ts_error *err)
{
	r->ask->n_steps = ts_query_end(r->ask->q);
	r->ask->is_reading = !ts_query_is_complete(r->ask->q);
	if (!r->has_moved)
		r->ask->here = r->ask->n_steps;
	return !r->refresh || r->refresh(r->user, err);
}

/*
 * Wait until the whole recording has been read.  Returns false if the call was cancelled in the meantime, memory is
 * exhausted, or the rest cannot be read: the client must request an answer about a part.
 */
static bool read_rest(struct ts_mcp_server *sv, struct ts_mcp_recording *r, struct ts_error *err)
{
	bool is_new = r->ask->is_reading, is_left = is_new;

	while (is_left && !sv->is_cancelled) {
		is_left = ts_model_grow_for(r->model, TS_MCP_READ_NS) == TS_ITEM;
		ts_mcp_look(sv);
	}
	/* also if the call was cancelled just then: the next one does not wait */
	if (is_new && !is_left && !ts_mcp_take_news(r, err))
		return false;
	return !sv->is_cancelled && !ts_query_is_abandoned(r->ask->q, err);
}

struct ts_mcp_recording *ts_mcp_recording_of(struct ts_mcp_server *sv, const char *name, bool is_partial, const json_t *id)
{
	struct ts_mcp_recording *r;
	struct ts_error err = { 0 };
	struct ts_buf sentence;

	ts_buf_init(&sentence);
	r = find(sv, name, &sentence);
	if (!r)
		ts_mcp_reply_error(sv, id, ts_buf_text(&sentence));
	ts_buf_fini(&sentence);
	if (!r || is_partial || read_rest(sv, r, &err))
		return r;
	ts_mcp_reply_failure(sv, r, &err, id);
	return NULL;
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
	ts_json_put_text(lines, r->path, strlen(r->path));
	if (ts_query_is_abandoned(r->ask->q, &why)) {
		ts_error_format(&why, NULL, sentence, sizeof(sentence));
		ts_buf_puts(lines, ",\"positions\":null,\"error\":");
		ts_json_put_text(lines, sentence, strlen(sentence));
		ts_buf_puts(lines, "}\n");
	} else if (r->ask->is_reading) {
		ts_buf_puts(lines, ",\"positions\":null}\n");
	} else {
		ts_buf_printf(lines, ",\"positions\":%" PRIu64 "}\n", ts_query_end(r->ask->q));
	}
}

void ts_mcp_list_recordings(struct ts_mcp_server *sv, const json_t *id)
{
	struct ts_buf lines;

	ts_buf_init(&lines);
	for (size_t i = 0; i < sv->n_recordings; i++)
		put_recording(&lines, &sv->recordings[i]);
	ts_buf_printf(&lines, "{\"complete\":true,\"rows\":%zu,\"total\":%zu}\n", sv->n_recordings,
		      sv->n_recordings);
	ts_mcp_reply_rows(sv, id, &lines, false);
	ts_buf_fini(&lines);
}
