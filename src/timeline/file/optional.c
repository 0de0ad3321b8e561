/* SPDX-License-Identifier: MIT */
/*
 * What the optional sections learn while a recording is read: each gets all chunks, in order, and needs nothing
 * of what the builder makes of them.  So whichever thread has nothing else to do gives them the next chunk
 * (ts_feed_set_pass()), the builder at the latest when it takes that chunk in.
 */
#include "src/timeline/builder.h"
#include "section.h"

/* Also on a thread that decodes. */
static bool give_chunk(void *user, const struct ts_steps *chunk)
{
	struct ts_timeline *tl = user;
	uint64_t pos = tl->builder->n_given;

	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i]->take && ts_builder_n_owners(tl, i) &&
		    !tl->sections[i]->take(tl, pos, chunk))
			return false;
	}
	tl->builder->n_given = pos + chunk->n_steps;
	return true;
}

void ts_builder_begin_giving(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;

	bd->is_begun = true;
	bd->first_chunk = bd->n_chunks;
	bd->n_given = bd->n_steps;
	ts_feed_set_pass(bd->feed, give_chunk, tl);
	ts_builder_let_give(tl);
}

void ts_builder_let_give(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;

	if (tl->is_read_whole)
		ts_feed_allow_pass(bd->feed, (bd->n_sealed + 1) * TS_SEGMENT_CHUNKS - bd->first_chunk);
}

void ts_builder_stop_giving(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;

	ts_feed_stop_threads(bd->feed);
	if (ts_feed_n_passed(bd->feed) == bd->n_chunks - bd->first_chunk)
		return;
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i]->take)
			tl->lacks |= UINT32_C(1) << i;
	}
}

bool ts_builder_seal_optional(struct ts_timeline *tl, uint64_t segment, bool is_copy)
{
	for (unsigned i = 0; tl->sections[i]; i++) {
		if (tl->sections[i]->seal && ts_builder_n_owners(tl, i) &&
		    !tl->sections[i]->seal(tl, segment, is_copy))
			return false;
	}
	return true;
}
