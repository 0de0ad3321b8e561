/* SPDX-License-Identifier: MIT */
/*
 * The scan is one pass over the steps.  Matches at position 0 are found in all memory that may be known.  Later matches begin
 * and end only where a step touches memory.
 *
 * For most values the index lists the chunks in which a match can begin.  The other chunks are skipped, unless they change an
 * open match.  In a chunk that is decoded, a sieve rules out most accesses.  The remaining accesses are compared with the part
 * of the value that they overlap.  Where they agree, or end a match, memory is read from the sieve's mirror, or from the state
 * if the mirror could not follow.
 *
 * A row is returned when no other row can come before it and its end is known.  Its end is searched ahead of the scan.  If a
 * range of memory has too many matches, they are not kept, and are found again when their rows are due.
 */
#include "src/ask/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "find_parts.h"
#include "src/base/collections/free_later.h"
#include "src/query/search/find_filter.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"

/* The number of chunks that are skipped in the time in which one is decoded. */
#define PASSED_A_CHUNK 2048u

/*
 * The first PLAIN_STEPS steps (64 chunks) of a longer scan are scanned without sketches, so that early matches are returned
 * soon.  While the sketches are built, one part in PLAIN_SHARE of the work goes to the scan.
 */
#define PLAIN_STEPS (TS_CHUNK_STEPS * TS_CHUNK_STEPS / 16)
#define PLAIN_SHARE 4u

/* Memory reads that may be spent on the ends of matches before anything is scanned. */
#define FIRST_CREDIT 256

/* -------------------------------------------------------------------------------------------- the cursor */

/* Scan the steps up to the end of their chunk.  Returns TS_END at the end of the chunk. */
static enum ts_next scan_chunk(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_steps *batch;
	uint64_t end = (f->pos / TS_CHUNK_STEPS + 1) * TS_CHUNK_STEPS;

	if (!ts_query_step_whole(f->rows.ask->q, f->pos, &batch, err))
		return TS_FAIL;
	end = end < f->rows.ask->n_steps ? end : f->rows.ask->n_steps;
	for (; f->pos < end && !f->n_ranges; f->pos++) {
		bool may;

		if (!ts_find_has_budget(f, budget))
			return TS_MORE;
		if (!ts_find_pass_step(f, batch, f->pos, &may, err) ||
		    (may && !ts_find_look_at_step(f, f->pos, err)))
			return TS_FAIL;
	}
	return TS_END;
}

/*
 * The first chunk >= @chunk that changes an open match.  If the budget is used up, an earlier chunk may be returned.
 */
static uint64_t next_end(struct ts_find *f, uint64_t chunk)
{
	const struct ts_find_wait *first;
	struct ts_find_wait w;

	while ((first = ts_heap_first(&f->waits)) && first->chunk <= chunk && f->n_looks < TS_LOOKS_A_CHUNK) {
		const struct ts_match *m = &f->matches.items[first->item];
		uint64_t last = m->addr + (f->rows.qn->value.len - 1);

		ts_heap_take(&f->waits, &w);
		if (m->end != TS_NO_POS)
			continue;
		w.chunk = ts_query_find_access(f->rows.ask->q, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, f->process, m->addr, last,
					       chunk, TS_FORWARDS);
		f->n_looks += w.item % TS_QUESTIONS_A_LOOK == 0;
		if (w.chunk == TS_NO_CHUNK)
			continue;
		if (w.chunk == chunk) {
			f->is_failed |= !ts_find_add_wait(f, 0, w.item);
			return chunk;
		}
		f->is_failed |= !ts_heap_put(&f->waits, &w);
	}
	return first ? first->chunk : TS_NO_CHUNK;
}

/* Skip chunks in which no match begins or ends.  Returns false if there may be more of them. */
static bool pass_over(struct ts_find *f)
{
	uint64_t chunk = f->pos / TS_CHUNK_STEPS, end = (f->rows.ask->n_steps - 1) / TS_CHUNK_STEPS + 1;
	uint64_t next = next_end(f, chunk);

	if (f->pos % TS_CHUNK_STEPS || next <= chunk)
		return true;
	end = end - chunk < PASSED_A_CHUNK ? end : chunk + PASSED_A_CHUNK;
	next = ts_query_next_begin(f->rows.ask->q, f->probe, chunk, next < end ? next : end);
	if (next == chunk)
		return true;
	ts_mirror_forget(&f->sieve.mirror, 0, UINT64_MAX);
	f->pos = next * TS_CHUNK_STEPS < f->rows.ask->n_steps ? next * TS_CHUNK_STEPS : f->rows.ask->n_steps;
	return false;
}

/* Does the question cover enough of the recording to build the sketches of all of it? */
static bool is_worth_a_pass(const struct ts_find *f)
{
	uint64_t end = f->rows.qn->to < f->rows.ask->n_steps ? f->rows.qn->to : f->rows.ask->n_steps;

	return end > f->start && end - f->start >= f->rows.ask->n_steps / 2;
}

/*
 * Build the sketches, if this is the first question that covers most of the recording.  Meanwhile a part of the budget is left
 * for the scan.
 *
 * Returns false if the trace cannot be read.
 */
static bool need_sketches(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_query *q = f->rows.ask->q;
	enum ts_next need = TS_END;
	uint32_t share = 0;

	if (f->is_sketched ||
	    (f->pos - f->start < PLAIN_STEPS && f->rows.ask->n_steps > PLAIN_STEPS && !ts_query_has_values(q)))
		return true;
	if (f->probe && (!ts_query_is_complete(q) || (!is_worth_a_pass(f) && !ts_query_has_values(q)))) {
		ts_query_probe_free(f->probe);
		f->probe = NULL;
	}
	if (f->probe && budget->left) {
		share = budget->left - (budget->left + f->n_turns++ % PLAIN_SHARE) / PLAIN_SHARE;
		need = ts_query_need_values(q, (uint64_t)share * TS_CHUNK_STEPS, err);
	}
	f->is_sketched = need == TS_END && (budget->left || !f->probe);
	f->rows.n_prepared = need == TS_MORE ? ts_query_n_values_read(q) : 0;
	budget->left -= need == TS_MORE ? share : 0;
	return need != TS_FAIL;
}

/* All steps have been scanned. */
static enum ts_next end_scan(struct ts_find *f, struct ts_error *err)
{
	if (f->is_failed) {
		ts_no_memory(err, "all places of a value");
		return TS_FAIL;
	}
	f->is_over = true;
	return TS_END;
}

/* Continue the scan by some pages, a chunk, or some skipped chunks.  Returns TS_END when that is done. */
static enum ts_next scan(struct ts_find *f, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = TS_END;

	if (f->n_ranges) {
		if (!ts_find_look_at_ranges(f, budget, err))
			return TS_FAIL;
		return f->n_ranges ? TS_MORE : TS_END;
	}
	if (!need_sketches(f, budget, err))
		return TS_FAIL;
	if (f->pos >= f->rows.ask->n_steps || (f->pos >= f->rows.qn->to && !f->matches.standing.n))
		return end_scan(f, err);
	/* memory reads are charged first, so that with a budget of one a chunk is begun only if a step can be scanned */
	if (!ts_find_has_budget(f, budget) || !ts_budget_take(budget))
		return TS_MORE;
	f->ends.credit += TS_LOOKS_A_CHUNK / 4;
	if (!f->probe || !f->is_sketched || pass_over(f))
		got = scan_chunk(f, budget, err);
	return got;
}

/* ------------------------------------------------------------------------------------- the end of a match */

static void spend(struct ts_find *f, unsigned n_looks)
{
	f->n_looks += n_looks;
	f->ends.credit -= n_looks;
}

/* After the effect, may the value no longer be at @addr, because a byte of it differs or is unknown? */
static bool may_break(const struct ts_find *f, uint64_t addr, const struct ts_steps *batch,
		      const struct ts_effect *fx)
{
	uint64_t last = addr + (f->rows.qn->value.len - 1), fx_last = fx->addr + (fx->len - 1);
	const uint8_t *data;

	if (!ts_effect_touches(fx, addr, last))
		return false;
	data = ts_effect_data(batch, fx);
	if (fx->kind > TS_FX_READ || !data)
		return fx->kind != TS_FX_READ;
	return !ts_value_agrees(&f->rows.qn->value, addr, data, fx->addr, fx_last);
}

/*
 * If step @pos ends the match, set *end: to @pos if a read of the step shows that the value was no longer there before it, else
 * to @pos + 1.
 */
static bool look_at_step(struct ts_find *f, uint64_t addr, const struct ts_steps *batch, uint64_t pos,
			 uint64_t *end, struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[pos % TS_CHUNK_STEPS];
	struct ts_step_effects all = ts_step_effects(batch, s);
	const struct ts_effect *fx;
	bool breaks = false;

	while ((fx = ts_step_effects_next(&all)))
		breaks |= ts_query_process(f->rows.ask->q, all.thread) == f->process && may_break(f, addr, batch, fx);
	for (unsigned pass = 0; breaks && pass < 2; pass++) {
		uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];

		spend(f, 1);
		if (!ts_query_mem(f->rows.ask->q, pos + pass, f->process, addr, f->rows.qn->value.len, data, known, err))
			return false;
		if (!ts_value_is(&f->rows.qn->value, data, known)) {
			*end = pos + pass;
			return true;
		}
	}
	return true;
}

static bool look_at_chunk(struct ts_find *f, uint64_t addr, uint64_t chunk, uint64_t pos, uint64_t *end,
			  struct ts_error *err)
{
	uint64_t first = chunk * TS_CHUNK_STEPS, last = first + TS_CHUNK_STEPS;
	const struct ts_steps *batch;

	first = first > pos ? first : pos;
	last = last < f->rows.ask->n_steps ? last : f->rows.ask->n_steps;
	if (first >= last)
		return true;
	spend(f, TS_LOOKS_A_CHUNK);
	if (!ts_query_step_whole(f->rows.ask->q, first, &batch, err))
		return false;
	for (; first < last && *end == TS_NO_POS; first++) {
		if (!look_at_step(f, addr, batch, first, end, err))
			return false;
	}
	return true;
}

/*
 * Search the next chunk that changes the value, which is at @addr at position @pos.  If the end is found,
 * *is_found is set to true and *end to the first position > @pos at which the value is not there, TS_NO_POS
 * if none is found.  Otherwise call again; a later @pos is allowed.
 *
 * Returns false if the trace cannot be read.
 */
static bool look_ahead(struct ts_find *f, uint64_t addr, uint64_t pos, uint64_t *end, bool *is_found,
		       struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, last = addr + (f->rows.qn->value.len - 1);

	if (f->ends.addr != addr)
		f->ends.chunk = 0;
	f->ends.addr = addr;
	chunk = f->ends.chunk > chunk ? f->ends.chunk : chunk;
	chunk = ts_query_find_access(f->rows.ask->q, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, f->process, addr, last, chunk, TS_FORWARDS);
	if (++f->ends.n % TS_QUESTIONS_A_LOOK == 0)
		spend(f, 1);
	*end = TS_NO_POS;
	if (chunk != TS_NO_CHUNK && !look_at_chunk(f, addr, chunk, pos, end, err))
		return false;
	*is_found = chunk == TS_NO_CHUNK || *end != TS_NO_POS;
	f->ends.chunk = chunk == TS_NO_CHUNK || *is_found ? 0 : chunk + 1;
	return true;
}

/* -------------------------------------------------------------------------------------------------- rows */

static bool put_row(const struct ts_find *f, const struct ts_match *m, uint64_t end, struct ts_row *row, struct ts_error *err)
{
	static const char *const kinds[] = { [TS_MATCH_START] = "start",
					     [TS_MATCH_WRITE] = "write",
					     [TS_MATCH_MAP] = "map",
					     [TS_MATCH_UNEXPLAINED] = "unexplained" };

	ts_row_number(row, 0, m->begin);
	if (end != TS_NO_POS)
		ts_row_number(row, 1, end);
	ts_cell_addr(row, 2, m->addr, ts_query_facts(f->rows.ask->q)->is_physical);
	ts_row_number(row, 3, f->rows.qn->value.len);
	ts_row_text(row, 4, kinds[m->kind]);
	if (m->kind == TS_MATCH_START)
		return true;
	ts_row_number(row, 5, m->begin - 1);
	ts_cell_thread(row, 6, f->rows.ask, m->thread);
	ts_row_pc(row, 7, m->pc);
	ts_cell_function(row, 8, f->rows.ask, m->pc);
	return ts_cell_virtual(row, 9, f->rows.ask, m->begin - 1, m->addr, err);
}

/* The match of the next row: it was kept, or found again, or both. */
struct candidate {
	const struct ts_match *kept, *again; /* NULL: it was not */
};

/* Does the match that was kept come before those of the rest? */
static bool is_before(const struct ts_find *f, const struct ts_match *kept, const struct ts_find_rest *r)
{
	uint64_t first = r->is_over ? 0 : r->first;

	if (f->at_again < f->n_again)
		first = f->again[f->at_again].addr;
	return kept->begin < r->pos || (kept->begin == r->pos && kept->addr < first);
}

/*
 * The match that is the next row, if it is known yet that none comes before it.  Returns TS_END if it is
 * not.
 */
static enum ts_next next_match(struct ts_find *f, struct candidate *c, struct ts_budget *budget,
			       struct ts_error *err)
{
	uint64_t settled = f->pos < f->rows.qn->to && !f->is_over ? f->pos : f->rows.qn->to;
	const struct ts_find_rest *r;
	enum ts_next got;

	*c = (struct candidate){ NULL, NULL };
	if (!ts_matches_next(&f->matches, f->rows.qn->from, settled, &c->kept)) {
		ts_no_memory(err, "all places of a value");
		return TS_FAIL;
	}
	while ((r = ts_find_rest(f)) && !(c->kept && is_before(f, c->kept, r))) {
		if (r->pos ? r->pos >= settled : f->n_ranges) {
			c->kept = NULL;
			return TS_END;
		}
		got = ts_find_some_again(f, budget, err);
		if (got == TS_END)
			continue;
		if (got != TS_ITEM)
			return got;
		if (c->kept && is_before(f, c->kept, r))
			break;
		c->again = &f->again[f->at_again];
		if (c->kept && (c->kept->begin != r->pos || c->kept->addr != c->again->addr))
			c->kept = NULL;
		return TS_ITEM;
	}
	return c->kept ? TS_ITEM : TS_END;
}

/* Set *end to the end of the match if it is known, or can be found ahead of the scan.  Otherwise *is_found is false. */
static enum ts_next find_end(struct ts_find *f, const struct candidate *c, uint64_t *end, bool *is_found,
			     struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_match *m = c->kept ? c->kept : c->again;
	uint64_t pos = m->begin;

	/* while ranges must be searched, the effect of the step before them is not known */
	if (c->kept && f->pos > m->begin)
		pos = f->pos - (f->n_ranges > 0);
	*end = m->end;
	*is_found = m->end != TS_NO_POS || (c->kept && f->is_over);
	while (!*is_found && (f->ends.credit > 0 || f->is_over)) {
		if (!ts_find_has_budget(f, budget))
			return TS_MORE;
		if (!look_ahead(f, m->addr, pos, end, is_found, err))
			return TS_FAIL;
	}
	return TS_END;
}

/* Fill the row of the match.  Returns TS_END if the end of the match is not known yet. */
static enum ts_next take_match(struct ts_find *f, const struct candidate *c, struct ts_row *row,
			       struct ts_budget *budget, struct ts_error *err)
{
	uint64_t end;
	bool is_found;
	enum ts_next got = find_end(f, c, &end, &is_found, budget, err);

	if (got != TS_END || !is_found)
		return got;
	if (!put_row(f, c->kept ? c->kept : c->again, end, row, err))
		return TS_FAIL;
	if (c->kept)
		ts_matches_pass(&f->matches);
	f->at_again += c->again != NULL;
	return TS_ITEM;
}

/* Note for the caller the position up to which all matches were found, and the first one that has not been returned. */
static void note_waiting(struct ts_find *f, const struct candidate *c)
{
	const struct ts_find_rest *r = ts_find_rest(f);

	f->rows.at = f->pos;
	f->rows.is_waiting = c->kept || r;
	f->rows.waits_at = r && (!c->kept || r->pos < c->kept->begin) ? r->pos : c->kept ? c->kept->begin : 0;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct ts_find *f = (struct ts_find *)rows;

	for (;;) {
		struct candidate c;
		enum ts_next got = next_match(f, &c, budget, err);

		note_waiting(f, &c);
		if (got == TS_ITEM)
			got = take_match(f, &c, row, budget, err);
		else if (got != TS_END || f->is_over)
			return got;
		if (got == TS_END)
			got = scan(f, budget, err);
		if (got != TS_END)
			return got;
	}
}

static void close_find(struct ts_rows *rows)
{
	struct ts_find *f = (struct ts_find *)rows;

	ts_matches_fini(&f->matches);
	ts_free_later(f->pages, f->n_pages * sizeof(*f->pages));
	free(f->ranges);
	free(f->rests);
	free(f->again);
	ts_sieve_fini(&f->sieve);
	ts_query_probe_free(f->probe);
	ts_heap_fini(&f->waits);
}

static bool is_due_before(const void *user, const void *x, const void *y)
{
	(void)user;
	return ((const struct ts_find_wait *)x)->chunk < ((const struct ts_find_wait *)y)->chunk;
}

/* Set the addresses to search.  For the recording of a machine, the note says what kind of addresses they are. */
static bool take_memory(struct ts_find *f, bool *is_mapped, struct ts_error *err)
{
	const struct ts_question *qn = f->rows.qn;
	const struct ts_query *q = f->rows.ask->q;
	struct ts_what what = qn->memory;

	*is_mapped = true;
	f->first = 0;
	f->last = ts_arch_addr_mask(ts_query_regset(q)->arch);
	if (what.kind == TS_WHAT_MEM) {
		if (!ts_machine_what(f->rows.ask->q, &qn->machine, qn->at, f->process, &qn->memory, &what, is_mapped, f->rows.note,
				     sizeof(f->rows.note), err))
			return false;
		f->first = what.addr;
		f->last = what.last;
	}
	if (ts_query_facts(q)->is_physical && !*f->rows.note)
		snprintf(f->rows.note, sizeof(f->rows.note), "addresses are physical");
	return true;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct ts_find *f = (struct ts_find *)rows;
	const struct ts_question *qn = rows->qn;
	const struct ts_ask *ask = rows->ask;
	bool is_mapped;

	f->process = ts_ask_process(ask, qn);
	if (!take_memory(f, &is_mapped, err))
		return false;
	f->start = f->pos = qn->from ? qn->from - 1 : 0;
	f->rare = ts_find_rare(&qn->value);
	f->probe = ts_query_probe_new(qn->value.bytes, qn->value.mask, qn->value.len);
	f->is_over = !is_mapped;
	ts_heap_init(&f->waits, sizeof(struct ts_find_wait), is_due_before, NULL);
	f->busy_pos = TS_NO_POS;
	f->matches.len = qn->value.len;
	f->ends.credit = FIRST_CREDIT;
	return ts_sieve_init(&f->sieve, ask->q, &qn->value, f->process, err) &&
	       (qn->from || !is_mapped || ts_find_add_range(f, f->first, f->last, false, err));
}

static const struct ts_rows_ops ops = { sizeof(struct ts_find), begin, next, close_find };

static const struct ts_column columns[] = {
	{ .name = "begin", .type = TS_COLUMN_NUMBER },  { .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "address", .type = TS_COLUMN_ADDR },  { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "kind", .type = TS_COLUMN_TEXT },     { .name = "position", .type = TS_COLUMN_NUMBER },
	{ .name = "thread", .type = TS_COLUMN_NUMBER }, { .name = "pc", .type = TS_COLUMN_ADDR },
	{ .name = "function", .type = TS_COLUMN_TEXT }, { .name = "virtual", .type = TS_COLUMN_ADDR },
};

const struct ts_verb ts_verb_find_value = {
	.name = "find",
	.synopsis = "VALUE [in memory ADDR:END]",
	.help = "List the places in memory that held a value, from when to when, and the step that wrote it.",
	.example = "find \"text\" first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_VALUE,
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_MEMORY | TS_TAKES_THREAD,
	.rows = &ops,
};
