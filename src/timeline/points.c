/* SPDX-License-Identifier: MIT */
#include "points.h"

#include <stdlib.h>

#include "src/index/index_file.h"

void ts_points_fini(struct ts_points *p)
{
	if (!p->is_mapped)
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

size_t ts_points_mem(const struct ts_points *p)
{
	return p->n ? p->offs[p->n] + p->n * sizeof(*p->offs) : 0;
}

void ts_points_save(const struct ts_points *p, struct ts_index_file *f)
{
	ts_index_put(f, p->offs, p->n + 1, sizeof(*p->offs));
	ts_index_put(f, p->data, p->offs[p->n], 1);
}

bool ts_points_load(struct ts_points *p, struct ts_index_arrays *a)
{
	size_t n_offs, len;
	uint32_t *offs = ts_index_take(a, sizeof(*offs), &n_offs);
	const uint8_t *data = ts_index_take(a, 1, &len);

	if (a->is_bad || n_offs < 2 || offs[0] || offs[n_offs - 1] != len)
		return false;
	for (size_t i = 1; i < n_offs; i++) {
		if (offs[i - 1] > offs[i])
			return false;
	}
	ts_points_fini(p);
	*p = (struct ts_points){ .offs = offs, .data = data, .n = n_offs - 1, .is_mapped = true };
	return true;
}
