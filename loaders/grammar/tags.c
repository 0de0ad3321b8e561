/* SPDX-License-Identifier: MIT */
#include "tags.h"

#include <string.h>

#include "src/trace/point.h"

static void drop(struct grammar_tags *t, unsigned i)
{
	memmove(&t->tags[i], &t->tags[i + 1], (t->n - i - 1) * sizeof(t->tags[0]));
	t->n--;
}

void grammar_tags_add(struct grammar_tags *t, uint64_t thread, uint64_t pc)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (t->tags[i].thread == thread) {
			drop(t, i);
			break;
		}
	}
	if (t->n == GRAMMAR_MAX_TAGS)
		drop(t, 0);
	t->tags[t->n++] = (struct grammar_tag){ .thread = thread, .pc = pc, .is_waiting = true };
}

/*
 * The newest tag that waits for a dump at @pc, as a dump mostly follows its tag; NULL if none does.  Tags of several
 * are unsure.
 */
static struct grammar_tag *find(struct grammar_tags *t, uint64_t pc)
{
	struct grammar_tag *newest = NULL;

	for (unsigned i = 0; i < t->n; i++) {
		struct grammar_tag *tag = &t->tags[i];

		if (!tag->is_waiting || tag->pc != pc)
			continue;
		if (newest)
			newest->is_unsure = tag->is_unsure = true;
		newest = tag;
	}
	return newest;
}

/* The tag that waits, if only one does. */
static struct grammar_tag *find_only(struct grammar_tags *t)
{
	struct grammar_tag *only = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->tags[i].is_waiting) {
			only = &t->tags[i];
			n++;
		}
	}
	return n == 1 ? only : NULL;
}

bool grammar_tags_take(struct grammar_tags *t, uint64_t pc, uint64_t *thread, bool *is_unsure)
{
	struct grammar_tag *tag = find(t, pc);

	if (!tag)
		tag = find_only(t);
	if (!tag)
		return false;
	tag->is_waiting = false;
	*thread = tag->thread;
	*is_unsure = tag->is_unsure;
	return true;
}

void grammar_tags_point(struct grammar_tags *t, struct ts_point *p)
{
	TS_POINT(p, t->n, GRAMMAR_MAX_TAGS);
	for (unsigned i = 0; i < t->n; i++) {
		TS_POINT(p, t->tags[i].thread, UINT64_MAX);
		TS_POINT(p, t->tags[i].pc, UINT64_MAX);
		TS_POINT(p, t->tags[i].is_waiting, 1);
		TS_POINT(p, t->tags[i].is_unsure, 1);
	}
}
