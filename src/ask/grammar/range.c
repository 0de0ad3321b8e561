/* SPDX-License-Identifier: MIT */
#include "range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anchors.h"
#include "question.h"

bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err)
{
	struct ts_budget all = { UINT32_MAX };
	struct ts_question *qn;
	struct ts_anchors anchors;
	char question[300];
	enum ts_got got;
	bool done;

	if (strpbrk(text, " \t\n") || snprintf(question, sizeof(question), "coverage in %s", text) >= (int)sizeof(question))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.100s' is not a range A:B", text);
	qn = calloc(1, sizeof(*qn));
	done = qn ? ts_question_parse(qn, ask, question, err) : ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
	if (done) {
		ts_anchors_init(&anchors, ask, qn);
		while ((got = ts_anchors_find(&anchors, &all, err)) == TS_GOT_PENDING)
			all.left = UINT32_MAX;
		done = got == TS_GOT_ROW;
		*from = qn->from;
		*to = qn->to;
		ts_anchors_fini(&anchors);
	}
	if (qn)
		ts_question_fini(qn);
	free(qn);
	return done;
}
