/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/marks.h"
#include "src/ask/grammar/question.h"

enum kind {
	MARK,
	MARKS,
	UNMARK,
};

struct bookmarks {
	struct ts_rows rows;
	size_t n, at;
	bool is_done;
};

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER },
	{ .name = "mark", .type = TS_COLUMN_TEXT },
	{ .name = "text", .type = TS_COLUMN_TEXT },
};

static void put_row(uint64_t pos, const char *name, const char *text, struct ts_row *row)
{
	ts_row_number(row, 0, pos);
	ts_row_text(row, 1, name);
	ts_row_text(row, 2, *text ? text : NULL);
}

/* Set or remove the mark that the question names, and show it. */
static enum ts_next change(struct bookmarks *b, struct ts_row *row, struct ts_error *err)
{
	const struct ts_question *qn = b->rows.qn;
	uint64_t pos = qn->at;
	enum ts_next there;
	bool found, done;

	b->is_done = true;
	if (qn->verb->arg == MARK) {
		done = ts_marks_set(b->rows.ask->marks, qn->operand, pos, qn->text, err);
	} else {
		there = ts_marks_find(b->rows.ask->marks, qn->operand, strlen(qn->operand), &pos, err);
		if (there == TS_END)
			return TS_END;
		done = there == TS_ITEM && ts_marks_remove(b->rows.ask->marks, qn->operand, &found, err);
	}
	if (!done)
		return TS_FAIL;
	put_row(pos, qn->operand, qn->text, row);
	return TS_ITEM;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct bookmarks *b = (struct bookmarks *)rows;
	struct ts_mark mark;

	(void)budget;
	if (b->is_done)
		return TS_END;
	if (b->rows.qn->verb->arg != MARKS)
		return change(b, row, err);
	for (; b->at < b->n; b->at++) {
		mark = ts_marks_get(b->rows.ask->marks, rows->is_reverse ? b->n - 1 - b->at : b->at);
		if (mark.pos < b->rows.qn->from || mark.pos >= b->rows.qn->to)
			continue;
		put_row(mark.pos, mark.name, mark.text, row);
		b->at++;
		return TS_ITEM;
	}
	b->is_done = true;
	return TS_END;
}

static bool check(const struct ts_ask *ask, const struct ts_question *qn, struct ts_error *err)
{
	enum ts_next there;
	uint64_t pos;

	if (!ask->marks)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "marks cannot be kept for this recording");
	if (qn->verb->arg != UNMARK)
		return true;
	there = ts_marks_find(ask->marks, qn->operand, strlen(qn->operand), &pos, err);
	if (there == TS_END)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.100s' is not a mark", qn->operand);
	return there == TS_ITEM;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	rows->at = rows->qn->at;
	return check(rows->ask, rows->qn, err) &&
	       (rows->qn->verb->arg != MARKS || ts_marks_read(rows->ask->marks, &((struct bookmarks *)rows)->n, err));
}

static const struct ts_rows_ops ops = { sizeof(struct bookmarks), begin, next, NULL };

#define MARK_VERB TS_COLUMNS(columns), .rows = &ops

const struct ts_verb ts_verb_mark = {
	.name = "mark",
	.synopsis = "NAME [at PLACE] [TEXT]",
	.help = "Give a position a name, which goto and at take.",
	.example = "mark crash at end the last instruction",
	.operand = TS_OPERAND_NAME,
	.takes = TS_TAKES_AT | TS_TAKES_REST,
	.arg = MARK,
	MARK_VERB,
};

const struct ts_verb ts_verb_marks = {
	.name = "marks",
	.synopsis = "",
	.help = "List the marks.",
	.example = "marks",
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND,
	.is_reversible = true,
	.arg = MARKS,
	MARK_VERB,
};

const struct ts_verb ts_verb_unmark = {
	.name = "unmark",
	.synopsis = "NAME",
	.help = "Remove a mark.",
	.example = "unmark crash",
	.operand = TS_OPERAND_NAME,
	.arg = UNMARK,
	MARK_VERB,
};
