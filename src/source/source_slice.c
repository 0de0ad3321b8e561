/* SPDX-License-Identifier: MIT */
#include "source_slice.h"

#include <stdlib.h>

struct part {
	struct ts_source base;
	struct ts_source *src; /* owned */
	uint64_t off;
};

static bool read_part(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		      struct ts_error *err)
{
	const struct part *p = (const struct part *)src;

	return ts_source_read(p->src, p->off + off, data, len, got, err);
}

static struct ts_source *dup_part(const struct ts_source *src, struct ts_error *err)
{
	const struct part *p = (const struct part *)src;
	struct ts_source *inner = ts_source_dup(p->src, err);

	return inner ? ts_part_open(inner, p->off, src->len, src->name, err) : NULL;
}

static bool next_data_of_part(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end)
{
	const struct part *p = (const struct part *)src;

	if (!ts_source_next_data(p->src, p->off + off, first, end))
		return false;
	*first -= p->off;
	*end -= p->off;
	return true;
}

static bool is_part_unchanged(const struct ts_source *src)
{
	return ts_source_is_unchanged(((const struct part *)src)->src);
}

static void close_part(struct ts_source *src)
{
	ts_source_close(((struct part *)src)->src);
}

struct ts_source *ts_part_open(struct ts_source *src, uint64_t off, uint64_t len, const char *name,
			       struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_part, .dup = dup_part, .close = close_part,
						  .next_data = next_data_of_part,
						  .is_unchanged = is_part_unchanged };
	struct part *p = calloc(1, sizeof(*p));

	if (!p) {
		ts_source_close(src);
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: it is not opened");
		return NULL;
	}
	p->src = src;
	p->off = off;
	if (!ts_source_init(&p->base, &ops, len, name, err)) {
		ts_source_close(&p->base);
		return NULL;
	}
	ts_source_take_times(&p->base, src);
	p->base.is_fleeting = src->is_fleeting;
	return &p->base;
}
