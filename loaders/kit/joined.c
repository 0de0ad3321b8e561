/* SPDX-License-Identifier: MIT */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

struct joined {
	struct ts_source base;
	const struct ts_source **parts; /* the array is owned, the sources are borrowed; of a dup they are owned */
	uint64_t *ends;                 /* owned; of the newline after each part */
	size_t n;
	bool is_dup;
};

/* The part that has the byte at @off. */
static size_t find_part(const struct joined *j, uint64_t off)
{
	size_t i = 0;

	while (off > j->ends[i])
		i++;
	return i;
}

/* Up to the end of one part, or the newline after it. */
static bool read_part(const struct joined *j, uint64_t off, uint8_t *data, size_t len, size_t *got, struct ts_error *err)
{
	size_t i = find_part(j, off);
	uint64_t left = j->ends[i] - off;

	*got = 1;
	if (!left) {
		*data = '\n';
		return true;
	}
	return ts_source_read(j->parts[i], off - (i ? j->ends[i - 1] + 1 : 0), data, left < len ? (size_t)left : len, got,
			      err);
}

static bool read_joined(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			struct ts_error *err)
{
	const struct joined *j = (const struct joined *)src;
	size_t n = 1;

	for (*got = 0; *got < len && off + *got < src->len && n; *got += n) {
		if (!read_part(j, off + *got, data + *got, len - *got, &n, err)) {
			*got += n;
			return false;
		}
	}
	return true;
}

static void close_joined(struct ts_source *src)
{
	struct joined *j = (struct joined *)src;

	for (size_t i = 0; j->is_dup && i < j->n; i++)
		ts_source_close((struct ts_source *)j->parts[i]);
	free(j->parts);
	free(j->ends);
}

static bool is_unchanged(const struct ts_source *src)
{
	const struct joined *j = (const struct joined *)src;

	for (size_t i = 0; i < j->n; i++) {
		if (!ts_source_is_unchanged(j->parts[i]))
			return false;
	}
	return true;
}

static struct ts_source *dup_joined(const struct ts_source *src, struct ts_error *err);

static const struct ts_source_ops ops = {
	.read = read_joined,
	.dup = dup_joined,
	.close = close_joined,
	.is_unchanged = is_unchanged,
};

/* Room for @n parts.  Returns NULL if memory is exhausted. */
static struct joined *make(size_t n, uint64_t len, const char *name, struct ts_error *err)
{
	struct joined *j = calloc(1, sizeof(*j));

	if (!j) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to open the files");
		return NULL;
	}
	j->parts = calloc(n, sizeof(struct ts_source *));
	j->ends = calloc(n, sizeof(*j->ends));
	if (ts_source_init(&j->base, &ops, len, name, err) &&
	    ((j->parts && j->ends) ||
	     ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to open the files")))
		return j;
	ts_source_close(&j->base);
	return NULL;
}

static struct ts_source *dup_joined(const struct ts_source *src, struct ts_error *err)
{
	const struct joined *from = (const struct joined *)src;
	struct joined *to = make(from->n, src->len, ts_source_name(src), err);

	if (!to)
		return NULL;
	memcpy(to->ends, from->ends, from->n * sizeof(*to->ends));
	to->is_dup = true;
	for (; to->n < from->n; to->n++) {
		to->parts[to->n] = ts_source_dup(from->parts[to->n], err);
		if (!to->parts[to->n]) {
			ts_source_close(&to->base);
			return NULL;
		}
	}
	return &to->base;
}

struct ts_source *kit_joined_new(const struct ts_source *first, const struct ts_source *const *others, size_t n,
				 uint64_t *ends, struct ts_error *err)
{
	struct joined *j;
	uint64_t len = 0;

	for (size_t i = 0; i <= n; i++) {
		uint64_t part = ts_source_len(i ? others[i - 1] : first);

		if (part >= INT64_MAX - len) {
			ts_fail(err, TS_ELIMIT, TS_NO_OFF, "the files together have more than 2^63 bytes");
			return NULL;
		}
		ends[i] = len + part;
		len += part + 1;
	}
	j = make(n + 1, len, ts_source_name(first), err);
	if (!j)
		return NULL;
	for (; j->n <= n; j->n++) {
		j->parts[j->n] = j->n ? others[j->n - 1] : first;
		j->ends[j->n] = ends[j->n];
	}
	ts_source_take_times(&j->base, first);
	return &j->base;
}
