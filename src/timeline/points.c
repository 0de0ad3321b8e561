/* SPDX-License-Identifier: MIT */
#include "points.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "src/base/collections/vec.h"
#include "src/index/index_write.h"

/* Shorter points are stored as they are: packing one takes some microseconds. */
#ifndef TS_POINTS_MIN_PACKED
#define TS_POINTS_MIN_PACKED 512u
#endif

/* A longer point is not unpacked: an index file does not decide how much memory is taken. */
#define MAX_LEN (UINT64_C(64) << 20)

/* What each begins with. */
enum form {
	PLAIN,
	PACKED,
};

void ts_points_fini(struct ts_points *p)
{
	if (!p->file)
		free(p->offs);
	ts_buf_fini(&p->buf);
	*p = (struct ts_points){ 0 };
}

/* ------------------------------------------------------------------------------------------------- adding */

void ts_points_packer_fini(struct ts_points_packer *packer)
{
	ZSTD_freeCCtx(packer->zstd);
	ts_buf_fini(&packer->last);
	*packer = (struct ts_points_packer){ 0 };
}

/* Append @point as a frame of zstd.  Returns false if memory is exhausted. */
static bool put_packed(struct ts_buf *b, struct ts_points_packer *packer, bool has_last, const struct ts_buf *point)
{
	size_t room = ZSTD_compressBound(point->len), n;
	uint8_t *to;

	if (!packer->zstd) {
		packer->zstd = ZSTD_createCCtx();
		if (!packer->zstd)
			return false;
		ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, 1);
	}
	if (has_last)
		ZSTD_CCtx_refPrefix(packer->zstd, packer->last.data, packer->last.len);
	ts_buf_put(b, &(uint8_t){ PACKED }, 1);
	to = ts_buf_room(b, room);
	if (!to)
		return false;
	n = ZSTD_compress2(packer->zstd, to, room, point->data, point->len);
	if (ZSTD_isError(n))
		return false;
	b->len += n;
	return true;
}

static bool put_point(struct ts_points *p, struct ts_points_packer *packer, const struct ts_buf *point)
{
	if (point->len >= TS_POINTS_MIN_PACKED)
		return put_packed(&p->buf, packer, p->n % TS_POINTS_GROUP, point);
	ts_buf_put(&p->buf, &(uint8_t){ PLAIN }, 1);
	ts_buf_put(&p->buf, point->data, point->len);
	return true;
}

bool ts_points_add(struct ts_points *p, struct ts_points_packer *packer, const struct ts_buf *point)
{
	if (!ts_vec_reserve(&p->offs, p->n, &p->cap, 2, sizeof(*p->offs)))
		return false;
	p->offs[p->n] = (uint32_t)p->buf.len;
	if (!put_point(p, packer, point) || !ts_buf_ok(&p->buf) || p->buf.len > UINT32_MAX)
		return false;
	p->data = p->buf.data;
	p->offs[++p->n] = (uint32_t)p->buf.len;
	ts_buf_reset(&packer->last);
	ts_buf_put(&packer->last, point->data, point->len);
	return ts_buf_ok(&packer->last);
}

/* ------------------------------------------------------------------------------------------------ getting */

void ts_points_unpacker_fini(struct ts_points_unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	ts_buf_fini(&u->point);
	ts_buf_fini(&u->last);
	*u = (struct ts_points_unpacker){ 0 };
}

/* The stored bytes of the @i-th point.  Returns NULL if the file is damaged there. */
static const uint8_t *stored(const struct ts_points *p, size_t i, size_t *len)
{
	uint32_t from, to;

	ts_index_blocks_use(p->file, &p->offs[i], 2 * sizeof(*p->offs));
	from = p->offs[i];
	to = p->offs[i + 1];
	if (__builtin_expect(p->file && (from >= to || to > p->len), 0)) {
		ts_index_blocks_note_damage(p->file);
		return NULL;
	}
	*len = to - from;
	return ts_index_blocks_use(p->file, p->data + from, *len) ? p->data + from : NULL;
}

/* Unpack a frame, whose dictionary is u->point if @has_last, to u->point.  Returns false if it is not one. */
static bool unpack(struct ts_points_unpacker *u, bool has_last, const uint8_t *frame, size_t len)
{
	unsigned long long n = ZSTD_getFrameContentSize(frame, len);
	struct ts_buf last = u->last;
	uint8_t *to;

	if (!n || n > MAX_LEN)
		return false;
	u->last = u->point;
	u->point = last;
	ts_buf_reset(&u->point);
	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	to = u->zstd ? ts_buf_room(&u->point, n) : NULL;
	if (!to)
		return false;
	if (has_last)
		ZSTD_DCtx_refPrefix(u->zstd, u->last.data, u->last.len);
	u->point.len = n;
	return ZSTD_decompressDCtx(u->zstd, to, n, frame, len) == n;
}

/* The @i-th point to u->point, to which its predecessor was unpacked before if it needs one. */
static bool take(const struct ts_points *p, size_t i, struct ts_points_unpacker *u)
{
	size_t len;
	const uint8_t *s = stored(p, i, &len);

	if (!s)
		return false;
	if (*s == PACKED)
		return unpack(u, i % TS_POINTS_GROUP, s + 1, len - 1);
	ts_buf_reset(&u->point);
	ts_buf_put(&u->point, s + 1, len - 1);
	return ts_buf_ok(&u->point);
}

/* Does the @i-th point need no other one? */
static bool is_apart(const struct ts_points *p, size_t i)
{
	size_t len;
	const uint8_t *s = i % TS_POINTS_GROUP ? stored(p, i, &len) : NULL;

	return !s || *s != PACKED;
}

/* Is the point before that of @chunk in u->point? */
static bool has_previous(const struct ts_points_unpacker *u, uint64_t chunk)
{
	return u->has_point && u->chunk + 1 == chunk;
}

/* All points from the last one that is there, or needs no other one, up to the @i-th.  Returns false as take() does. */
static bool take_up_to(const struct ts_points *p, size_t i, uint64_t chunk, struct ts_points_unpacker *u)
{
	size_t from = i;

	while (!is_apart(p, from) && !has_previous(u, chunk - (i - from)))
		from--;
	u->has_point = false;
	for (; from <= i; from++) {
		if (!take(p, from, u))
			return false;
	}
	u->has_point = true;
	u->chunk = chunk;
	return true;
}

const uint8_t *ts_points_get(const struct ts_points *p, size_t i, uint64_t chunk, struct ts_points_unpacker *u,
			     size_t *len)
{
	const uint8_t *s = stored(p, i, len);

	if (!s)
		return NULL;
	if (*s == PLAIN) {
		--*len;
		return s + 1;
	}
	if (!(u->has_point && u->chunk == chunk) && !take_up_to(p, i, chunk, u)) {
		if (u->zstd && ts_buf_ok(&u->point))
			ts_index_blocks_note_damage(p->file); /* it is not for lack of memory */
		return NULL;
	}
	*len = u->point.len;
	return u->point.data;
}

size_t ts_points_mem(const struct ts_points *p)
{
	size_t len = p->file ? p->len : p->buf.len;

	return p->n ? len + p->n * sizeof(*p->offs) : 0;
}

void ts_points_save(const struct ts_points *p, struct ts_index_file *f)
{
	ts_index_put_packed(f, p->offs, p->n + 1, sizeof(*p->offs));
	ts_index_put_packed(f, p->data, p->offs[p->n], 1);
}

bool ts_points_load(struct ts_points *p, struct ts_index_arrays *a)
{
	size_t n_offs, len;
	uint32_t *offs = ts_index_take_unread(a, sizeof(*offs), &n_offs);
	const uint8_t *data = ts_index_take_unread(a, 1, &len);

	if (a->is_bad || n_offs < 2)
		return false;
	ts_points_fini(p);
	*p = (struct ts_points){ .offs = offs, .data = data, .n = n_offs - 1, .len = len, .file = a->blocks };
	return true;
}
