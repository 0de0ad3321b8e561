/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <stdlib.h>
#include <string.h>

#include "anchors.h"
#include "question.h"

static enum ts_next find_ends(struct ts_ask *ask, struct ts_question *qn, struct ts_error *err)
{
	struct ts_budget budget = { UINT32_MAX };
	struct ts_anchors anchors;
	enum ts_next got;

	ts_anchors_init(&anchors, ask, qn);
	while ((got = ts_anchors_find(&anchors, &budget, err)) == TS_MORE)
		budget.left = UINT32_MAX;
	ts_anchors_fini(&anchors);
	return got;
}

bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err)
{
	const struct ts_argument range = { .kind = TS_ARGUMENT_WORD, .word = "in", .value = text };
	const struct ts_verb *verb = ts_verb_find("steps", strlen("steps")); /* any that takes a range, and nothing else */
	struct ts_question *qn = calloc(1, sizeof(*qn));
	bool done;

	if (!qn)
		return ts_no_memory(err, "a question");
	done = ts_question_parse_arguments(qn, ask, verb, &range, 1, err) && find_ends(ask, qn, err) == TS_ITEM;
	if (done) {
		*from = qn->from;
		*to = qn->to;
	}
	ts_question_fini(qn);
	free(qn);
	return done;
}
