/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdlib.h>
#include <string.h>

#include "loaders/kit/joined.h"
#include "loaders/kit/threads.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct ts_source *grammar_parts_init(struct grammar_parts *p, const struct ts_source *src,
					   const struct ts_source *const *others, size_t n, struct ts_error *err)
{
	*p = (struct grammar_parts){ .n = 1 };
	if (!n)
		return src;
	if (n >= THREADS_MAX) {
		ts_fail(err, TS_ELIMIT, TS_NO_OFF, "more than %u files", THREADS_MAX);
		return NULL;
	}
	p->names = calloc(n + 1, sizeof(char *));
	p->ends = calloc(n + 1, sizeof(*p->ends));
	if (!p->names || !p->ends) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to open the files");
		return NULL;
	}
	p->n = 1 + (uint32_t)n;
	for (uint32_t i = 0; i < p->n; i++)
		p->names[i] = base_name(ts_source_name(i ? others[i - 1] : src));
	p->joined = kit_joined_new(src, others, n, p->ends, err);
	return p->joined;
}

void grammar_parts_fini(struct grammar_parts *p)
{
	ts_source_close(p->joined);
	free(p->names);
	free(p->ends);
}

uint32_t grammar_part_at(const struct grammar_parts *p, uint64_t off)
{
	uint32_t i = 0;

	while (i + 1 < p->n && off > p->ends[i])
		i++;
	return i;
}

uint64_t grammar_part_begin(const struct grammar_parts *p, uint32_t part)
{
	return part ? p->ends[part - 1] + 1 : 0;
}

bool grammar_part_ends(const struct grammar_parts *p, uint64_t off)
{
	return p->n > 1 && p->ends[grammar_part_at(p, off)] == off;
}
