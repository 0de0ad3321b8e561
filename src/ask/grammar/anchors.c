/* SPDX-License-Identifier: MIT */
#include "anchors.h"
#include "locals.h"
#include "question.h"

void ts_anchors_init(struct ts_anchors *a, struct ts_ask *ask, struct ts_question *qn)
{
	*a = (struct ts_anchors){ .qn = qn, .ask = ask };
}

void ts_anchors_fini(struct ts_anchors *a)
{
	if (a->is_seeking)
		ts_seek_fini(&a->seek);
	a->is_seeking = false;
}

static uint64_t *position_of(struct ts_question *qn, unsigned kind)
{
	switch (kind) {
	case TS_ANCHOR_AT: return &qn->at;
	case TS_ANCHOR_FROM: return &qn->from;
	case TS_ANCHOR_TO: return &qn->to;
	case TS_ANCHOR_MINUS_FROM: return &qn->minus_from;
	default: return &qn->minus_to;
	}
}

/* Find the next one, if the question has it. */
static enum ts_next find_one(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_anchor *anchor = &a->qn->anchors[a->at];
	uint64_t pos = TS_NO_POS;
	bool is_done;

	if (!anchor->len)
		return TS_ITEM;
	is_done = !a->is_seeking && !ts_seek_init(&a->seek, a->ask, &anchor->place, a->qn->at, err);
	a->is_seeking = true;
	if (!is_done && !ts_seek_run(&a->seek, budget, &pos, err))
		return TS_MORE;
	ts_anchors_fini(a);
	if (err->code == TS_OK && pos == TS_NO_POS)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "there is no place '%.*s'", (int)anchor->len, anchor->text);
	if (err->code != TS_OK)
		return TS_FAIL;
	*position_of(a->qn, a->at) = pos;
	return TS_ITEM;
}

static bool is_range(const struct ts_question *qn, struct ts_error *err)
{
	if (qn->has_minus && qn->minus_from >= qn->minus_to)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the range after 'minus' is %s",
			       qn->minus_from == qn->minus_to ? "empty" : "reversed");
	if (!qn->has_range || qn->from < qn->to)
		return true;
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is %s range", (int)qn->range_len, qn->range,
		       qn->from == qn->to ? "an empty" : "a reversed");
}

enum ts_next ts_anchors_find(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err)
{
	for (; a->at < TS_N_ANCHORS; a->at++) {
		enum ts_next got = find_one(a, budget, err);

		if (got != TS_ITEM)
			return got;
	}
	return is_range(a->qn, err) ? ts_local_find(a->ask, a->qn, budget, err) : TS_FAIL;
}

uint64_t ts_anchors_at(const struct ts_anchors *a)
{
	return a->is_seeking && a->seek.rows ? a->seek.rows->at : a->qn->at;
}

uint64_t ts_anchors_prepared(const struct ts_anchors *a)
{
	return a->is_seeking && a->seek.rows ? a->seek.rows->n_prepared : 0;
}
