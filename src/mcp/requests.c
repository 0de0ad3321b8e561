/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include "src/base/json.h"

/* More taken items than that are removed from the list when they are half of it. */
#define MAX_TAKEN 64u

bool ts_requests_init(struct ts_requests *r)
{
	*r = (struct ts_requests){ .list = json_array(), .pending = json_object() };
	return r->list && r->pending;
}

void ts_requests_fini(struct ts_requests *r)
{
	json_decref(r->list);
	json_decref(r->pending);
}

/* ------------------------------------------------------------------------------------------- the queue */

/* If memory is exhausted, the list stays as it is. */
static void drop_taken(struct ts_requests *r)
{
	size_t n = json_array_size(r->list);
	json_t *rest = json_array();
	bool done = rest != NULL;

	for (size_t i = r->n_taken; done && i < n; i++)
		done = !json_array_append(rest, json_array_get(r->list, i));
	if (done) {
		json_decref(r->list);
		r->list = rest;
		r->n_taken = 0;
	} else {
		json_decref(rest);
	}
}

bool ts_requests_is_full(const struct ts_requests *r)
{
	return json_array_size(r->list) - r->n_taken >= TS_REQUESTS_MAX || r->len >= TS_REQUESTS_MAX_LEN;
}

/* A message waits as text: as values it takes up to eighty times as much memory. */
bool ts_requests_put(struct ts_requests *r, const json_t *message)
{
	bool done = ts_requests_expect(r, message);
	json_t *text = NULL;
	struct ts_buf buf;

	ts_buf_init(&buf);
	if (done)
		ts_json_put(&buf, message, JSON_COMPACT);
	if (done && ts_buf_ok(&buf))
		text = json_stringn_nocheck((const char *)buf.data, buf.len);
	r->len += text ? buf.len : 0;
	done = text && !json_array_append_new(r->list, text);
	ts_buf_fini(&buf);
	return done;
}

bool ts_requests_take(struct ts_requests *r, json_t **message)
{
	const json_t *text = json_array_get(r->list, r->n_taken);

	*message = NULL;
	if (!text)
		return true;
	*message = json_loadb(json_string_value(text), json_string_length(text), 0, NULL);
	r->len -= json_string_length(text);
	json_array_set_new(r->list, r->n_taken++, json_null());
	if (r->n_taken == json_array_size(r->list) ||
	    (r->n_taken > MAX_TAKEN && r->n_taken > json_array_size(r->list) / 2))
		drop_taken(r);
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
