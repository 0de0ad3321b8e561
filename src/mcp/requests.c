/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include <string.h>

#include "src/base/text/json.h"

bool ts_requests_init(struct ts_requests *r)
{
	*r = (struct ts_requests){ .pending = json_object() };
	ts_buf_init(&r->texts);
	return r->pending;
}

void ts_requests_fini(struct ts_requests *r)
{
	ts_buf_fini(&r->texts);
	json_decref(r->pending);
}

/* ------------------------------------------------------------------------------------------- the queue */

bool ts_requests_is_full(const struct ts_requests *r)
{
	return r->n >= TS_REQUESTS_MAX || r->texts.len - r->n_taken >= TS_REQUESTS_MAX_LEN;
}

bool ts_requests_put(struct ts_requests *r, const json_t *message)
{
	if (!ts_requests_expect(r, message))
		return false;
	ts_json_put(&r->texts, message, JSON_COMPACT);
	ts_buf_putc(&r->texts, '\n');
	r->n++;
	return ts_buf_ok(&r->texts);
}

bool ts_requests_take(struct ts_requests *r, json_t **message)
{
	const char *text;
	size_t len;

	*message = NULL;
	if (!r->n)
		return true;
	text = (const char *)r->texts.data + r->n_taken;
	len = (size_t)((const char *)memchr(text, '\n', r->texts.len - r->n_taken) - text);
	*message = json_loadb(text, len, 0, NULL);
	r->n_taken += len + 1;
	r->n--;
	if (r->n_taken > r->texts.len / 2) { /* a move costs less than the texts that were taken since the last one */
		ts_buf_consume(&r->texts, r->n_taken);
		r->n_taken = 0;
	}
	return *message != NULL;
}

/* -------------------------------------------------------------------------------------------- their ids */

/* An id is a string or an integer: its text is the key. */
static bool put_key(struct ts_buf *key, const json_t *id)
{
	ts_buf_init(key);
	if (!json_is_string(id) && !json_is_integer(id))
		return false;
	ts_json_put(key, id, JSON_COMPACT | JSON_ENCODE_ANY);
	ts_buf_text(key);
	return ts_buf_ok(key);
}

/* A request that is expected already stays as it is. */
static bool expect_one(struct ts_requests *r, const json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	struct ts_buf key;
	bool done = true;

	if (put_key(&key, id) && !json_object_get(r->pending, ts_buf_text(&key)))
		done = !json_object_set_new_nocheck(r->pending, ts_buf_text(&key), json_false());
	else
		done = !key.is_failed;
	ts_buf_fini(&key);
	return done;
}

bool ts_requests_expect(struct ts_requests *r, const json_t *message)
{
	bool done = !json_is_object(message) || expect_one(r, message);
	size_t i;
	json_t *part;

	json_array_foreach(message, i, part)
		done = done && expect_one(r, part);
	return done;
}

void ts_requests_cancel(struct ts_requests *r, const json_t *id)
{
	struct ts_buf key;

	if (put_key(&key, id) && json_object_get(r->pending, ts_buf_text(&key)))
		json_object_set_new_nocheck(r->pending, ts_buf_text(&key), json_true());
	ts_buf_fini(&key);
}

bool ts_requests_begin(struct ts_requests *r, const json_t *id)
{
	bool is_cancelled = false;
	struct ts_buf key;

	if (put_key(&key, id)) {
		is_cancelled = json_is_true(json_object_get(r->pending, ts_buf_text(&key)));
		json_object_del(r->pending, ts_buf_text(&key));
	}
	ts_buf_fini(&key);
	return !is_cancelled;
}
