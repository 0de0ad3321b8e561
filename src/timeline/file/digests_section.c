/* SPDX-License-Identifier: MIT */
/*
 * The section DGST: a digest for each chunk (digests.h).  No client waits for it: an index without it is as
 * good, and `diff` then compares step by step.
 */
#include "src/timeline/builder.h"
#include "src/timeline/digests.h"
#include "section.h"
#include "src/index/index_write.h"

static bool take(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *chunk)
{
	const uint64_t item = ts_digest(chunk);

	if (!pos)
		ts_digests_fini(&tl->digests);
	return ts_digests_add(&tl->digests, &item, 1);
}

static void save(const struct ts_section_at *at, struct ts_index_file *f)
{
	const struct ts_digests *d = &at->tl->digests;
	size_t first = (size_t)at->segment * TS_SEGMENT_CHUNKS;

	ts_index_put_unread(f, d->items + first, d->n - first, sizeof(*d->items));
}

static bool load(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	uint64_t first = at->segment * TS_SEGMENT_CHUNKS, n_left = at->tl->builder->n_chunks - first;
	struct ts_digests *d = &at->tl->digests;
	size_t n;
	const uint64_t *items = ts_index_take_unread(a, sizeof(*items), &n);

	return !a->is_bad && n == (n_left < TS_SEGMENT_CHUNKS ? n_left : TS_SEGMENT_CHUNKS) && d->n == first &&
	       ts_digests_add_unread(d, items, n, a->blocks);
}

const struct ts_section ts_digests_section = {
	.kind = TS_SECTION_KIND('D', 'G', 'S', 'T'),
	.name = "digests",
	.save = save,
	.load = load,
	.stays_in_memory = true,
	.take = take,
};
