/* SPDX-License-Identifier: MIT */
#include "points.h"

#include <stdlib.h>

#include "src/index/index_write.h"

void ts_points_fini(struct ts_points *p)
{
	if (!p->file)
		free(p->offs);
	ts_buf_fini(&p->buf);
	*p = (struct ts_points){ 0 };
}

static bool grow(struct ts_points *p)
{
	size_t cap = p->cap ? p->cap * 2 : 64;
	uint32_t *offs = realloc(p->offs, (cap + 1) * sizeof(*offs));

	if (!offs)
		return false;
	p->offs = offs;
	p->cap = cap;
	return true;
}

bool ts_points_add(struct ts_points *p, const struct ts_buf *point)
{
	if (p->n == p->cap && !grow(p))
		return false;
	p->offs[p->n] = (uint32_t)p->buf.len;
	ts_buf_put(&p->buf, point->data, point->len);
	if (!ts_buf_ok(&p->buf) || p->buf.len > UINT32_MAX)
		return false;
	p->data = p->buf.data;
	p->offs[++p->n] = (uint32_t)p->buf.len;
	return true;
}

const uint8_t *ts_points_get(const struct ts_points *p, size_t i, size_t *len)
{
	uint32_t from, to;

	ts_index_blocks_use(p->file, &p->offs[i], 2 * sizeof(*p->offs));
	from = p->offs[i];
	to = p->offs[i + 1];
	if (__builtin_expect(p->file && (from > to || to > p->len), 0)) {
		ts_index_blocks_note_damage(p->file);
		from = to = 0;
	}
	*len = to - from;
	ts_index_blocks_use(p->file, p->data + from, *len);
	return p->data + from;
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
