/* SPDX-License-Identifier: MIT */
#include "printed.h"

#include <stdlib.h>
#include <string.h>

/* A longer text is not kept: all texts together are at most some megabytes. */
#define MAX_TEXT 400u

struct text {
	uint8_t *bytes; /* owned */
	uint32_t len;
};

struct ts_printed {
	uint64_t ids[TS_KEPT_GROUPS]; /* 0: no text */
	struct text texts[TS_KEPT_GROUPS];
};

struct ts_printed *ts_printed_new(void)
{
	return calloc(1, sizeof(struct ts_printed));
}

void ts_printed_free(struct ts_printed *p)
{
	for (size_t i = 0; p && i < TS_KEPT_GROUPS; i++)
		free(p->texts[i].bytes);
	free(p);
}

const uint64_t *ts_printed_ids(const struct ts_printed *p)
{
	return p ? p->ids : NULL;
}

bool ts_printed_put(const struct ts_printed *p, uint64_t id, struct ts_buf *out)
{
	size_t i = id % TS_KEPT_GROUPS;

	if (!p || !id || p->ids[i] != id)
		return false;
	ts_buf_put(out, p->texts[i].bytes, p->texts[i].len);
	return true;
}

void ts_printed_keep(struct ts_printed *p, uint64_t id, const uint8_t *text, size_t len)
{
	size_t i = id % TS_KEPT_GROUPS;
	uint8_t *bytes;

	if (!p || !id || !len || len > MAX_TEXT)
		return;
	bytes = malloc(len);
	if (!bytes)
		return;
	memcpy(bytes, text, len);
	free(p->texts[i].bytes);
	p->texts[i] = (struct text){ bytes, (uint32_t)len };
	p->ids[i] = id;
}
