/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/ask/verbs/notes.h"
#include "src/ask/verbs/places.h"
#include "src/ask/calls/abi.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/query/code/insns.h"
#include "src/search/flow.h"

/* Limit on the bytes that are followed together. */
#define MAX_ASKED 4096u

enum column {
	COL_POSITION,
	COL_INSTRUCTION = COL_POSITION + TS_N_PLACE_COLUMNS,
	COL_KIND,
	COL_PLACE,
	COL_VALUE,
	COL_FROM,
};

static const struct ts_column columns[] = {
	TS_PLACE_COLUMNS(COL_POSITION),
	[COL_INSTRUCTION] = { .name = "instruction", .type = TS_COLUMN_TEXT },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_PLACE] = { .name = "place", .type = TS_COLUMN_TEXT },
	[COL_VALUE] = { .name = "value", .type = TS_COLUMN_VALUE },
	[COL_FROM] = { .name = "from", .type = TS_COLUMN_NUMBER },
};

static const char *const kind_names[TS_FLOW_N_KINDS] = {
	[TS_FLOW_ADDRESS] = "address", [TS_FLOW_CALL] = "call",       [TS_FLOW_OUTPUT] = "output",
	[TS_FLOW_BRANCH] = "branch",   [TS_FLOW_COMPARE] = "compare", [TS_FLOW_COPY] = "copy",
	[TS_FLOW_COMPUTE] = "compute", [TS_FLOW_OVERWRITTEN] = "overwritten",
};

struct flows {
	struct ts_rows rows;
	struct ts_flow *flow;   /* owned */
	struct ts_flow_hop hop; /* whose rows are being made: one for each run of its bytes */
	unsigned told;          /* bits of its mask that have a row */
	bool has_hop;
	struct ts_cell_bytes bytes; /* of the value of a row */
};

/* ----------------------------------------------------------------------------------------------------- rows */

/* A row for the next run of bytes of the hop. */
static bool put_row(struct flows *x, struct ts_row *row, struct ts_error *err)
{
	bool is_written = x->hop.kind == TS_FLOW_COPY || x->hop.kind == TS_FLOW_COMPUTE;
	uint64_t pos = x->hop.pos + is_written;
	struct ts_cell_place place = { .kind = x->hop.loc.kind, .owner = x->hop.loc.owner, .flags = x->hop.loc.mask };
	unsigned first = 0, len = 0, more, n_more;

	ts_mask_run(x->hop.loc.mask, x->told, &first, &len);
	x->told = first + len;
	x->has_hop = x->hop.loc.kind != TS_IN_FLAGS && ts_mask_run(x->hop.loc.mask, x->told, &more, &n_more);
	if (!ts_cell_step(row, COL_POSITION, x->rows.ask, x->hop.pos, TS_NO_THREAD, err))
		return false;
	ts_row_text(row, COL_KIND, kind_names[x->hop.kind]);
	if (x->hop.from != TS_FLOW_BEGIN)
		ts_row_number(row, COL_FROM, x->hop.from);
	place.first = x->hop.loc.base + first;
	place.last = place.first + len - 1;
	ts_cell_place_name(row, COL_PLACE, x->rows.ask, &place);
	return place.kind == TS_IN_FLAGS || ts_cell_place_value(row, COL_VALUE, x->rows.ask, pos, &place, &x->bytes, err);
}

/* The bytes may have been copied to other places, too. */
static void note_open(struct flows *x)
{
	struct ts_query *q = x->rows.ask->q;
	uint64_t n_unknown = ts_flow_n_unknown(x->flow);

	x->rows.is_cut = ts_flow_is_cut(x->flow) || n_unknown;
	if (ts_flow_is_cut(x->flow))
		snprintf(x->rows.note, sizeof(x->rows.note), "more memory came from these bytes than is followed");
	else if (n_unknown && ts_query_has_operands(q))
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "of %" PRIu64 " steps the instruction is not known, or not all that it does: what they compute, compare or use as an address is not listed; "
			 "--exec or --image may have their bytes", n_unknown);
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct flows *x = (struct flows *)rows;

	if (!x->has_hop) {
		enum ts_next got = ts_flow_next(x->flow, &x->hop, budget, &x->rows.at, err);

		note_open(x);
		if (got != TS_ITEM)
			return got;
		x->told = 0;
	}
	return put_row(x, row, err) ? TS_ITEM : TS_FAIL;
}

static void close_flows(struct ts_rows *rows)
{
	ts_flow_close(((struct flows *)rows)->flow);
}

/* ------------------------------------------------------------------------------------------------- opening */

/* The kinds that the question names, as a mask; 0 if it names a kind that does not exist. */
static unsigned kinds_of(const struct ts_question *qn)
{
	for (unsigned i = 0; i < TS_FLOW_N_KINDS; i++) {
		if (!strcmp(qn->operand, kind_names[i]))
			return 1u << i;
	}
	return *qn->operand ? 0 : TS_FLOW_ALL;
}

/* The registers of arguments; returns how many. */
static size_t list_arguments(const struct ts_abi *abi, const struct ts_regset *set, struct ts_location *list)
{
	for (unsigned i = 0; i < abi->n_regs; i++)
		list[i] = (struct ts_location){ .kind = TS_IN_REGS, .base = set->regs[abi->regs[i]].off,
						.mask = ts_mask(0, set->regs[abi->regs[i]].len) };
	return abi->n_regs;
}

static bool open_flow(struct flows *x, const struct ts_question *qn, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(x->rows.ask->q);
	struct ts_location arguments[TS_MAX_ARGUMENTS], *what;
	uint64_t at = qn->anchors[TS_ANCHOR_AT].len || !qn->has_range ? qn->at : qn->from;
	struct ts_flow_question question = { .at = at, .from = at, .to = x->rows.ask->n_steps, .kinds = kinds_of(qn),
					     .arguments = arguments };
	uint32_t thread = ts_ask_thread(x->rows.ask, qn);
	struct ts_abi abi;

	if (qn->has_range) {
		question.from = qn->from > at ? qn->from : at;
		question.to = qn->to < question.to ? qn->to : question.to;
	}
	if (!ts_abi_init(&abi, x->rows.ask))
		return ts_no_memory(err, "flows");
	question.n_arguments = list_arguments(&abi, set, arguments);
	ts_abi_fini(&abi);
	what = ts_what_locations(&qn->what, set, thread, ts_query_process(x->rows.ask->q, thread), &question.n_what);
	if (!what)
		return ts_no_memory(err, "flows");
	question.what = what;
	x->flow = ts_flow_open(x->rows.ask->q, &question, err);
	free(what);
	return x->flow != NULL;
}

static bool is_asked_well(const struct ts_question *qn, struct ts_error *err)
{
	if (!kinds_of(qn))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%.100s' is not a kind; to is followed by address, call, output, branch, compare, copy, compute or overwritten",
			       qn->operand);
	if (qn->what.is_pc)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "flows follows values, not the pc");
	return qn->what.kind != TS_WHAT_MEM || qn->what.last - qn->what.addr < MAX_ASKED ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "flows accepts at most %u bytes of memory", MAX_ASKED);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	if (!is_asked_well(rows->qn, err) || !open_flow((struct flows *)rows, rows->qn, err))
		return false;
	ts_note_undecoded(rows, "bytes are followed as far as the recording says what was read");
	return true;
}

static const struct ts_rows_ops ops = { sizeof(struct flows), begin, next, close_flows };

const struct ts_verb ts_verb_flows = {
	.name = "flows",
	.synopsis = "WHAT [to KIND]",
	.help = "Show where a value went: its copies, results, comparisons, uses as an address, and output.",
	.example = "flows $sp to address first 5",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_WHAT,
	.is_of_moment = true,
	.takes = TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_TO,
	.is_forward = true,
	.rows = &ops,
};
