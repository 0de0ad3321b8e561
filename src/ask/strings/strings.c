/* SPDX-License-Identifier: MIT */
/*
 * Each access is examined together with the memory around it, as it is after the step.
 *
 * A text that is written piece by piece is tracked while it grows, and added to the list when something else happens to it: so
 * the cost of a piece is proportional to its length.  The prefixes that it had on the way are added, too.  A prefix is a row
 * only if it is read later, or if it is in memory at the end.
 *
 * A row is returned when no other row can come before it: when no earlier text is growing, and no prefix of an earlier text
 * may become a row.  The index determines when the latter is decided: a prefix can be in memory again only after a change of
 * the text.
 */
#include "src/ask/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/query/code/insn_reads.h"
#include "src/ask/grammar/machine.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "strings_parts.h"

#define MIN_CHARS 4u

/* The number of texts that are skipped, because they are not rows, in the time in which a chunk is decoded. */
#define OLD_A_CHUNK 512u

static bool is_row_before(const void *user, const void *one, const void *other)
{
	const struct ts_texts *texts = user;
	const struct ts_text *a = &texts->items[*(const uint32_t *)one],
			     *b = &texts->items[*(const uint32_t *)other];

	if (a->pos != b->pos)
		return a->pos < b->pos;
	return a->addr != b->addr ? a->addr < b->addr : a->is_wide < b->is_wide;
}

/* The position before which all texts have been found. */
static uint64_t settled(const struct ts_strings *x)
{
	const struct ts_doubt *first = ts_heap_first(&x->doubts);
	uint64_t pos = first && first->pos < x->pos ? first->pos : x->pos;

	if (x->is_over)
		return TS_NO_POS;
	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++) {
		const struct ts_growth *g = &x->growths[i];
		const struct ts_growth_point *points = (const struct ts_growth_point *)g->points.data;

		if (g->is_there && g->points.len && points->pos < pos)
			pos = points->pos;
	}
	return pos;
}

/* Scan the steps up to the end of their chunk.  Returns TS_END at the end of the chunk. */
static enum ts_next scan_chunk(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_steps *batch;
	uint64_t end = (x->pos / TS_CHUNK_STEPS + 1) * TS_CHUNK_STEPS;

	if (!ts_query_step_whole(x->rows.ask->q, x->pos, &batch, err))
		return TS_FAIL;
	for (end = end < x->to ? end : x->to; x->pos < end; x->pos++) {
		if (!ts_mirror_pay(&x->mirror, &x->n_looks, budget))
			return TS_MORE;
		if (!ts_strings_look_at_step(x, batch, err))
			return TS_FAIL;
	}
	return TS_END;
}

/* All steps have been scanned. */
static bool end_scan(struct ts_strings *x, struct ts_error *err)
{
	ts_strings_end_old_growths(x, true);
	x->is_over = true;
	if (x->is_failed)
		return ts_no_memory(err, "texts");
	return ts_strings_decide(x, err);
}

/* Scan a chunk, or end the scan.  Returns TS_END when that is done. */
static enum ts_next scan(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got;

	if (x->pos >= x->to)
		return end_scan(x, err) ? TS_END : TS_FAIL;
	if (!ts_budget_take(budget))
		return TS_MORE;
	if (x->pos % TS_CHUNK_STEPS == 0)
		ts_strings_end_old_growths(x, false);
	got = scan_chunk(x, budget, err);
	x->rows.at = x->pos;
	return got != TS_END || ts_strings_decide(x, err) ? got : TS_FAIL;
}

static bool put_row(const struct ts_strings *x, const struct ts_text *t, struct ts_row *row,
		    struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s = ts_query_step(x->rows.ask->q, t->pos, &batch, err);

	if (!s)
		return false;
	ts_row_number(row, 0, t->pos);
	ts_cell_thread(row, 1, x->rows.ask, s->thread);
	ts_row_pc(row, 2, s->pc);
	ts_cell_function(row, 3, x->rows.ask, s->pc);
	ts_row_text(row, 4, t->is_read ? "read" : "write");
	ts_cell_addr(row, 5, t->addr, ts_query_facts(x->rows.ask->q)->is_physical);
	ts_row_number(row, 6, (uint64_t)t->n << t->is_wide);
	ts_row_text(row, 7, t->is_wide ? "utf-16le" : "ascii");
	ts_row_text_len(row, 8, ts_text_chars(&x->texts, t), t->n);
	return ts_cell_virtual(row, 9, x->rows.ask, t->pos, t->addr, err);
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct ts_strings *x = (struct ts_strings *)rows;
	const uint32_t *first;
	uint32_t ordinal;

	for (;;) {
		uint64_t pos = x->is_part && !x->is_over ? x->rows.qn->from : settled(x);
		enum ts_next got;

		if (x->is_part && x->is_over) {
			got = ts_strings_look_before(x, budget, err);
			if (got != TS_END)
				return got;
		}
		first = ts_heap_first(&x->ready);
		if (first && x->texts.items[*first].pos < pos) {
			ts_heap_take(&x->ready, &ordinal);
			if (x->texts.items[ordinal].is_old) {
				if (x->n_before++ % OLD_A_CHUNK == 0 && !ts_budget_take(budget))
					return TS_MORE;
				continue;
			}
			return put_row(x, &x->texts.items[ordinal], row, err) ? TS_ITEM : TS_FAIL;
		}
		rows->is_waiting = pos < x->pos;
		rows->waits_at = pos;
		if (x->is_over)
			return TS_END;
		got = scan(x, budget, err);
		if (got != TS_END)
			return got;
	}
}

static void close_strings(struct ts_rows *rows)
{
	struct ts_strings *x = (struct ts_strings *)rows;

	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++) {
		ts_buf_fini(&x->growths[i].chars);
		ts_buf_fini(&x->growths[i].points);
	}
	ts_mirror_fini(&x->mirror);
	ts_texts_fini(&x->texts);
	ts_heap_fini(&x->ready);
	ts_heap_fini(&x->doubts);
	ts_buf_fini(&x->text);
	free(x->data);
	ts_heap_fini(&x->sorted);
	ts_heap_fini(&x->waiting);
	free(x->ranges);
	free(x->old_texts);
	free(x->values);
}

/* Set the addresses to search.  The note says what the answer lacks. */
static bool take_what(struct ts_strings *x, struct ts_error *err)
{
	const struct ts_facts *facts = ts_query_facts(x->rows.ask->q);
	struct ts_what what;
	const char *lacking;
	bool is_mapped = true;
	size_t n;

	if (x->rows.qn->what.kind == TS_WHAT_MEM) {
		if (!ts_machine_what(x->rows.ask->q, &x->rows.qn->machine, x->rows.qn->at, x->process, &x->rows.qn->what, &what,
				     &is_mapped, x->rows.note, sizeof(x->rows.note), err))
			return false;
		x->first = what.addr;
		x->last = what.last;
		if (!is_mapped)
			x->pos = x->to;
		x->is_part &= is_mapped;
	}
	n = strlen(x->rows.note);
	lacking = ts_query_lacking_reads(x->rows.ask->q);
	if (*lacking)
		snprintf(x->rows.note + n, sizeof(x->rows.note) - n, "%s%s not recorded in this %s recording", n ? "; " : "",
			 lacking, facts->format);
	return true;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct ts_strings *x = (struct ts_strings *)rows;
	const struct ts_question *qn = rows->qn;
	struct ts_ask *ask = rows->ask;

	if (!qn->min)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'min 0' is not a length of a text");
	x->process = ts_ask_process(ask, qn);
	x->last = ts_arch_addr_mask(ts_query_regset(ask->q)->arch);
	x->min = qn->min == TS_NO_LIMIT ? MIN_CHARS : qn->min;
	x->to = qn->to < ask->n_steps ? qn->to : ask->n_steps;
	x->is_part = ts_strings_is_part(x);
	x->pos = x->is_part ? qn->from : 0;
	ts_texts_init(&x->texts);
	ts_heap_init(&x->ready, sizeof(uint32_t), is_row_before, &x->texts);
	ts_heap_init(&x->doubts, sizeof(struct ts_doubt), ts_strings_is_doubt_before, NULL);
	ts_buf_init(&x->text);
	for (unsigned i = 0; i < TS_STRINGS_N_GROWTHS; i++) {
		ts_buf_init(&x->growths[i].chars);
		ts_buf_init(&x->growths[i].points);
	}
	return ts_mirror_init(&x->mirror, ask->q, x->process, err) && take_what(x, err);
}

static const struct ts_rows_ops ops = { sizeof(struct ts_strings), begin, next, close_strings };

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "pc", .type = TS_COLUMN_ADDR },         { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "kind", .type = TS_COLUMN_TEXT },       { .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "length", .type = TS_COLUMN_NUMBER },   { .name = "encoding", .type = TS_COLUMN_TEXT },
	{ .name = "text", .type = TS_COLUMN_TEXT },       { .name = "virtual", .type = TS_COLUMN_ADDR },
};

const struct ts_verb ts_verb_strings = {
	.name = "strings",
	.synopsis = "[WHAT] [min N]",
	.help = "List the texts that were written and read.",
	.example = "strings min 6 first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_MEMORY_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_PHYSICAL | TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_MIN,
	.rows = &ops,
};
