/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cells.h"
#include "verbs.h"
#include "src/symbols/names.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/seek.h"

enum kind {
	WHEN,
	GOTO,
	BACK,
	FORWARD,
};

struct position {
	struct ts_rows rows;
	enum kind kind;
	uint64_t pos;       /* TS_NO_POS: not found yet, or it does not exist */
	struct ts_seek seek;
	bool is_done;
};

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "positions", .type = TS_COLUMN_NUMBER },
	{ .name = "thread", .type = TS_COLUMN_NUMBER },	  { .name = "pc", .type = TS_COLUMN_ADDR },
	{ .name = "function", .type = TS_COLUMN_TEXT },
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool put_row(const struct position *p, struct ts_row *row, struct ts_error *err)
{
	struct ts_ask *ask = p->rows.ask;
	uint32_t thread = ts_query_thread(ask->q, p->pos);
	char name[48];
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(ask->q, p->pos, thread, &pc, &has_pc, err))
		return false;
	ts_row_number(row, 0, p->pos);
	ts_row_number(row, 1, ask->n_steps);
	ts_cell_thread(row, 2, ask, thread);
	if (has_pc) {
		ts_row_addr(row, 3, pc);
		ts_cell_function(row, 4, ask, pc);
	}
	snprintf(name, sizeof(name), "%" PRId64 ".%" PRId64,
		 ask->names->pids[ts_query_process(ask->q, thread)], ask->names->tids[thread]);
	ts_row_text(row, N_COLUMNS, name);
	return true;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct position *p = (struct position *)rows;

	if (p->is_done)
		return TS_END;
	if (p->kind == GOTO) {
		if (!ts_seek_run(&p->seek, budget, &p->pos, err))
			return TS_MORE;
		if (err->code != TS_OK)
			return TS_FAIL;
	}
	p->is_done = true;
	if (p->pos == TS_NO_POS) {
		snprintf(rows->note, sizeof(rows->note), "%s",
			 p->kind == GOTO ? "there is no such place" :
			 p->kind == BACK ? "there is no place to go back to" : "there is no place to go forward to");
		return TS_END;
	}
	rows->at = p->pos;
	if (p->kind != WHEN)
		rows->go = p->pos;
	return put_row(p, row, err) ? TS_ITEM : TS_FAIL;
}

static void close_position(struct ts_rows *rows)
{
	ts_seek_fini(&((struct position *)rows)->seek);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct position *p = (struct position *)rows;
	const struct ts_ask *ask = rows->ask;

	rows->at = rows->qn->at;
	p->kind = (enum kind)rows->qn->verb->arg;
	p->pos = p->kind == WHEN ? rows->qn->at : TS_NO_POS;
	if (p->kind == BACK && ask->at_back)
		p->pos = ask->back[ask->at_back - 1];
	if (p->kind == FORWARD && ask->at_back + 1 < ask->n_back)
		p->pos = ask->back[ask->at_back + 1];
	return p->kind != GOTO || ts_seek_init(&p->seek, rows->ask, &rows->qn->place, rows->qn->at, err);
}

static const struct ts_rows_ops ops = { sizeof(struct position), begin, next, close_position };

#define POSITION_VERB .columns = columns, .n_columns = N_COLUMNS, .is_sentence = true, .rows = &ops

const struct ts_verb ts_verb_when = {
	.name = "when",
	.synopsis = "[at PLACE]",
	.help = "Show the position, its thread and its pc.",
	.example = "when at 50%",
	.takes = TS_TAKES_AT,
	.arg = WHEN,
	POSITION_VERB,
};

const struct ts_verb ts_verb_goto = {
	.name = "goto",
	.synopsis = "PLACE",
	.help = "Go to a position, a mark, a row, or the nearest access, event, call or return.",
	.example = "goto 50%",
	.operand = TS_OPERAND_PLACE,
	.arg = GOTO,
	POSITION_VERB,
};

const struct ts_verb ts_verb_back = {
	.name = "back",
	.synopsis = "",
	.help = "Go back to where the last goto started.",
	.example = "back",
	.arg = BACK,
	POSITION_VERB,
};

const struct ts_verb ts_verb_forward = {
	.name = "forward",
	.synopsis = "",
	.help = "Go forward again, after back.",
	.example = "forward",
	.arg = FORWARD,
	POSITION_VERB,
};

void ts_ask_move(struct ts_ask *ask, const struct ts_verb *verb, uint64_t pos)
{
	if (verb == &ts_verb_back) {
		if (ask->n_back == ask->at_back)
			ask->back[ask->n_back++] = ask->here;
		ask->at_back--;
	} else if (verb == &ts_verb_forward) {
		ask->at_back++;
	} else if (pos != ask->here) {
		if (ask->at_back == TS_MAX_BACK)
			memmove(ask->back, ask->back + 1, --ask->at_back * sizeof(*ask->back));
		ask->back[ask->at_back++] = ask->here;
		ask->n_back = ask->at_back;
	}
	ask->here = pos;
}
