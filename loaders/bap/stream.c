/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "schema.h"
#include "src/base/bytes.h"

void bap_stream_init(struct bap_stream *s, struct bap *rec)
{
	*s = (struct bap_stream){ .rec = rec, .look = { .rec = rec } };
	ts_window_init(&s->window, rec->src, rec->end);
	bap_stream_seek(s, rec->first, 0);
}

void bap_stream_fini(struct bap_stream *s)
{
	ts_window_fini(&s->window);
}

void bap_stream_seek(struct bap_stream *s, uint64_t off, uint64_t frame)
{
	s->off = off;
	s->n_frames = frame;
	s->opened.len = 0;
	ts_error_reset(&s->failure);
}

static bool fail_cut(const struct bap_stream *s, uint64_t left, const char *what, struct ts_error *err)
{
	return ts_fail(err, TS_ETRUNC, s->off, "frame %" PRIu64 ": %s, but %" PRIu64 " bytes are left%s",
		       s->n_frames, what, left,
		       s->rec->is_closed ? " before the index" : ": the recording was not finished");
}

/* Why a length that @left bytes follow cannot be one. */
static enum ts_next fail_len(const struct bap_stream *s, uint64_t len, uint64_t left, struct ts_error *err)
{
	char text[64];

	if (len && len <= BAP_MAX_FRAME) {
		snprintf(text, sizeof(text), "its length is %" PRIu64 " bytes", len);
		fail_cut(s, left, text, err);
	} else {
		ts_fail(err, TS_ECORRUPT, s->off, "frame %" PRIu64 ": its length is %" PRIu64 " bytes",
			s->n_frames, len);
	}
	return TS_FAIL;
}

/* Give @c the bytes of the next frame, without passing it.  Returns TS_END after the last frame. */
static enum ts_next peek_frame(struct bap_stream *s, struct ts_cursor *c, struct ts_error *err)
{
	uint64_t left = s->rec->end - s->off, len;
	const uint8_t *p;
	size_t got;

	if (!left)
		return TS_END;
	if (left < BAP_LEN_LEN) {
		fail_cut(s, left, "a length has 8 bytes", err);
		return TS_FAIL;
	}
	p = ts_window_at(&s->window, s->off, BAP_LEN_LEN, &got, err);
	if (!p)
		return TS_FAIL;
	len = le64toh(ts_load(p));
	left -= BAP_LEN_LEN;
	if (len - 1 >= BAP_MAX_FRAME || len > left)
		return fail_len(s, len, left, err);
	if (got - BAP_LEN_LEN < len) {
		p = ts_window_need(&s->window, s->off, BAP_LEN_LEN + len, err);
		if (!p)
			return TS_FAIL;
	}
	*c = ts_cursor(p + BAP_LEN_LEN, (size_t)len, s->off + BAP_LEN_LEN, "frame", err);
	return TS_ITEM;
}

/* The kind of frame; 0: an unknown one. */
static unsigned frame_kind(const struct pb_message *m)
{
	unsigned kind = 0;

	for (unsigned i = 1; i <= FRAME_KEY; i++)
		if (pb_has(m, i) && (!kind || m->v[i - 1].p > m->v[kind - 1].p))
			kind = i;
	return kind;
}

/* From a frame @c to the message in it, whose kind goes to *kind. */
static bool open_message(struct ts_cursor *c, unsigned *kind)
{
	struct ts_cursor frame = *c;
	struct pb_message m;

	if (!pb_read(c, &bap_frame, &m))
		return false;
	*kind = frame_kind(&m);
	if (*kind)
		*c = pb_sub(&m, *kind, &frame);
	return true;
}

/*
 * Open a frame as nearly all are: in the window as a whole, and one field, of an instruction.  Returns false
 * for any other, or if it is damaged.
 */
static inline bool open_usual(struct bap_stream *s, struct ts_error *err)
{
	const struct ts_window *w = &s->window;
	struct bap_opened *o = &s->opened;
	uint64_t at = s->off - w->off, left = w->len - at, len, n;
	const uint8_t *start, *p, *body;

	if (at > w->len || left <= BAP_LEN_LEN)
		return false;
	start = w->buf + at;
	p = start + BAP_LEN_LEN;
	len = le64toh(ts_load(start));
	if (len - 1 >= BAP_MAX_FRAME || len > left - BAP_LEN_LEN || *p != (FRAME_STD << 3 | PB_BYTES))
		return false;
	body = pb_get_varint(p + 1, p + len, &n);
	if (!body || n != (size_t)(p + len - body))
		return false;
	s->look.off = o->off = s->off;
	o->len = (size_t)len;
	o->kind = FRAME_STD;
	o->body = ts_cursor(body, (size_t)n, s->off + (uint64_t)(body - start), "frame", err);
	o->has_std = false;
	return true;
}

/* Not in line: the usual way needs no stack. */
static __attribute__((noinline)) enum ts_next open_any(struct bap_stream *s, struct ts_error *err)
{
	struct bap_opened *o = &s->opened;
	enum ts_next next;

	o->len = 0;
	if (s->failure.code != TS_OK) {
		*err = s->failure;
		return TS_FAIL;
	}
	s->look.off = s->off;
	next = peek_frame(s, &o->body, err);
	if (next != TS_ITEM)
		return next;
	o->off = s->off;
	o->has_std = false;
	o->len = o->body.left;
	if (open_message(&o->body, &o->kind))
		return TS_ITEM;
	o->len = 0;
	ts_fail_prefix(err, "frame %" PRIu64, s->n_frames);
	return TS_FAIL;
}

enum ts_next bap_stream_open_next(struct bap_stream *s, struct ts_error *err)
{
	return s->failure.code == TS_OK && open_usual(s, err) ? TS_ITEM : open_any(s, err);
}

/* The bytes field at @p, which has this key; NULL if it is another, or damaged. */
static inline const uint8_t *get_bytes(const uint8_t *p, const uint8_t *end, uint8_t key, struct pb_value *v)
{
	if (end - p < 2 || *p != key)
		return NULL;
	p = pb_get_varint(p + 1, end, &v->n);
	if (!p || v->n > (size_t)(end - p))
		return NULL;
	v->p = p;
	return p + v->n;
}

/*
 * pb_read() of a std frame as nearly all are: address, thread, instruction, and the lists of values, in this
 * order. Returns false for any other, or if it is damaged.
 */
static inline bool read_usual_std(const struct ts_cursor *body, struct pb_message *std)
{
	const uint8_t *p = body->p, *end = p + body->left;

	if (p == end || *p != (STD_ADDRESS << 3 | PB_VARINT))
		return false;
	p = pb_get_varint(p + 1, end, &std->v[STD_ADDRESS - 1].n);
	if (!p || end - p < 2 || *p != (STD_THREAD_ID << 3 | PB_VARINT))
		return false;
	p = pb_get_varint(p + 1, end, &std->v[STD_THREAD_ID - 1].n);
	p = p ? get_bytes(p, end, STD_RAWBYTES << 3 | PB_BYTES, &std->v[STD_RAWBYTES - 1]) : NULL;
	p = p ? get_bytes(p, end, STD_PRE_LIST << 3 | PB_BYTES, &std->v[STD_PRE_LIST - 1]) : NULL;
	p = p ? get_bytes(p, end, STD_POST_LIST << 3 | PB_BYTES, &std->v[STD_POST_LIST - 1]) : NULL;
	if (!p)
		return false;
	std->present = (1u << STD_POST_LIST) - 1;
	std->v[STD_MODE - 1] = (struct pb_value){ 0 };
	p = pb_get_field(p, end, STD_MODE, PB_BYTES, std);
	return p == end;
}

static __attribute__((noinline)) bool read_any_std(const struct ts_cursor *body, struct pb_message *std)
{
	struct ts_cursor c = *body;

	return pb_read(&c, &bap_std, std);
}

const struct pb_message *bap_stream_std(struct bap_stream *s)
{
	struct bap_opened *o = &s->opened;

	if (!o->has_std)
		o->has_std = read_usual_std(&o->body, &o->std) || read_any_std(&o->body, &o->std);
	return o->has_std ? &o->std : NULL;
}
