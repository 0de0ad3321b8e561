/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/ask/verbs/cells.h"
#include "src/ask/verbs/accesses/hits.h"
#include "src/ask/grammar/question.h"

/* Bytes of a hit that are compared at a time: a longer change is several rows. */
#define WINDOW 64u

enum column {
	COL_POSITION,
	COL_THREAD,
	COL_PC,
	COL_FUNCTION,
	COL_ADDRESS,
	COL_LENGTH,
	COL_OLD,
	COL_NEW,
};

static const struct ts_column columns[] = {
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_THREAD] = { .name = "thread", .type = TS_COLUMN_NUMBER },
	[COL_PC] = { .name = "pc", .type = TS_COLUMN_ADDR },
	[COL_FUNCTION] = { .name = "function", .type = TS_COLUMN_TEXT },
	[COL_ADDRESS] = { .name = "address", .type = TS_COLUMN_ADDR },
	[COL_LENGTH] = { .name = "length", .type = TS_COLUMN_NUMBER },
	[COL_OLD] = { .name = "old", .type = TS_COLUMN_VALUE, .is_kept = true },
	[COL_NEW] = { .name = "new", .type = TS_COLUMN_VALUE, .is_kept = true },
};

struct unexplained {
	struct ts_rows rows;
	struct ts_what what;   /* all of memory */
	struct ts_hits *hits;  /* owned; one for each process */
	size_t *next;          /* owned; the next hit of each */
	uint32_t n_processes;
	uint64_t chunk, end_chunk; /* the one whose hits are shown, and where they end */
	bool is_taken;         /* the hits of the chunk were listed */
	uint64_t from, to;     /* positions */
	/* the hit that is being compared; is_over: none is */
	struct ts_hit hit;
	uint32_t process;
	bool is_over;
	uint64_t window;       /* the address from which on it is compared, */
	size_t len, at;        /* how many bytes, and the next of them */
	uint8_t old[2 * WINDOW], new[2 * WINDOW]; /* values, then which are known */
	bool is_changed[WINDOW];                  /* bytes that changed without a reason */
};

/* The earliest hit that has not been shown, of any process; NULL after the chunk's last one. */
static const struct ts_hit *next_hit(struct unexplained *x, uint32_t *process)
{
	const struct ts_hit *best = NULL;

	for (uint32_t i = 0; i < x->n_processes; i++) {
		const struct ts_hits *h = &x->hits[i];

		while (x->next[i] < h->n && h->items[x->next[i]].kind != TS_HIT_UNEXPLAINED)
			x->next[i]++;
		if (x->next[i] < h->n && (!best || h->items[x->next[i]].pos < best->pos)) {
			best = &h->items[x->next[i]];
			*process = i;
		}
	}
	if (best)
		x->next[*process]++;
	return best;
}

/* Remove the bytes from the window that the step's own effects changed. */
static void drop_explained(struct unexplained *x, const struct ts_steps *b, const struct ts_step *st)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	enum ts_writer_kind writer;
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (!ts_effect_writes_memory(e, &writer) || e->is_inferred ||
		    ts_query_process(x->rows.ask->q, all.thread) != x->process)
			continue;
		for (size_t k = 0; k < x->len; k++)
			x->is_changed[k] &= x->window + k - e->addr >= e->len;
	}
}

/* Compare the next bytes of the hit.  Returns false if the trace cannot be read. */
static bool compare(struct unexplained *x, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	uint64_t left = x->hit.last - x->window;
	const struct ts_steps *b;
	const struct ts_step *st;

	x->len = left < WINDOW ? (size_t)left + 1 : WINDOW;
	x->at = 0;
	if (!ts_query_mem(q, x->hit.pos, x->process, x->window, x->len, x->old, x->old + WINDOW, err) ||
	    !ts_query_mem(q, x->hit.pos + 1, x->process, x->window, x->len, x->new, x->new + WINDOW, err))
		return false;
	for (size_t i = 0; i < x->len; i++)
		x->is_changed[i] = x->new[WINDOW + i] && (!x->old[WINDOW + i] || x->old[i] != x->new[i]);
	st = ts_query_step(q, x->hit.pos, &b, err);
	if (st)
		drop_explained(x, b, st);
	return st != NULL;
}

static void put_row(const struct unexplained *x, size_t at, size_t len, struct ts_row *row)
{
	bool is_big = ts_query_regset(x->rows.ask->q)->arch->is_big_endian;
	bool is_number = len == 1 || len == 2 || len == 4 || len == 8;

	ts_row_number(row, COL_POSITION, x->hit.pos);
	ts_cell_thread(row, COL_THREAD, x->rows.ask, x->hit.thread);
	ts_row_pc(row, COL_PC, x->hit.pc);
	ts_cell_function(row, COL_FUNCTION, x->rows.ask, x->hit.pc);
	ts_cell_addr(row, COL_ADDRESS, x->window + at, ts_query_facts(x->rows.ask->q)->is_physical);
	ts_row_number(row, COL_LENGTH, len);
	ts_row_value(row, COL_OLD, x->old + at, x->old + WINDOW + at, len, is_number, is_big);
	ts_row_value(row, COL_NEW, x->new + at, x->new + WINDOW + at, len, is_number, is_big);
}

/* The next row of the hit.  Returns TS_END if it has no more. */
static enum ts_next take_hit(struct unexplained *x, struct ts_row *row, struct ts_error *err)
{
	while (!x->is_over) {
		size_t first = x->at;

		while (first < x->len && !x->is_changed[first])
			first++;
		for (x->at = first; x->at < x->len && x->is_changed[x->at];)
			x->at++;
		if (x->at > first) {
			put_row(x, first, x->at - first, row);
			return TS_ITEM;
		}
		x->is_over = x->hit.last - x->window < x->len;
		x->window += x->len;
		if (!x->is_over && !compare(x, err))
			return TS_FAIL;
	}
	return TS_END;
}

/* Begin with the next hit that matches the question.  Returns TS_END after the chunk's last one. */
static enum ts_next next_hit_of_chunk(struct unexplained *x, struct ts_error *err)
{
	const struct ts_hit *hit;

	while ((hit = next_hit(x, &x->process))) {
		if (hit->pos < x->from || hit->pos >= x->to ||
		    (x->rows.qn->thread != TS_NO_THREAD && hit->thread != x->rows.qn->thread))
			continue;
		x->hit = *hit;
		x->window = hit->first;
		x->is_over = false;
		return compare(x, err) ? TS_ITEM : TS_FAIL;
	}
	return TS_END;
}

/* List the hits of the chunk.  Returns false if the trace cannot be read, or memory is exhausted. */
static bool take_chunk(struct unexplained *x, struct ts_error *err)
{
	for (uint32_t i = 0; i < x->n_processes; i++) {
		if (!ts_hits_take(&x->hits[i], x->chunk, err))
			return false;
		x->next[i] = 0;
	}
	x->is_taken = true;
	return true;
}

static void end(struct unexplained *x)
{
	const struct ts_facts *facts = ts_query_facts(x->rows.ask->q);

	if (facts->is_physical)
		snprintf(x->rows.note, sizeof(x->rows.note), "addresses are physical");
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct unexplained *x = (struct unexplained *)rows;

	for (; x->chunk < x->end_chunk; x->chunk++, x->is_taken = false) {
		enum ts_next got;

		if (!x->is_taken && !ts_budget_take(budget))
			return TS_MORE;
		rows->at = x->chunk * TS_CHUNK_STEPS;
		if (!x->is_taken && !take_chunk(x, err))
			return TS_FAIL;
		do {
			got = take_hit(x, row, err);
			if (got != TS_END)
				return got;
			got = next_hit_of_chunk(x, err);
		} while (got == TS_ITEM);
		if (got == TS_FAIL)
			return got;
	}
	end(x);
	return TS_END;
}

static void close_unexplained(struct ts_rows *rows)
{
	struct unexplained *x = (struct unexplained *)rows;

	for (uint32_t i = 0; x->hits && i < x->n_processes; i++)
		ts_hits_fini(&x->hits[i]);
	free(x->hits);
	free(x->next);
}

/* Find the next chunk that may have rows: the index has counted an unexplained or inferred change in it. */
static void set_chunks(struct unexplained *x)
{
	struct ts_index_stats stats;

	ts_query_stats(x->rows.ask->q, &stats);
	x->from = x->rows.qn->from;
	x->to = x->rows.qn->to < x->rows.ask->n_steps ? x->rows.qn->to : x->rows.ask->n_steps;
	x->chunk = x->from / TS_CHUNK_STEPS;
	/* an unexplained change of a chunk's first step belongs to the row of the previous step */
	x->end_chunk = x->to > x->from ? x->to / TS_CHUNK_STEPS + 1 : x->chunk;
	if (!stats.n_unexplained && !stats.n_inferred && !ts_query_n_events(x->rows.ask->q, TS_EV_GAP))
		x->end_chunk = x->chunk;
}

static bool open_hits(struct unexplained *x, struct ts_error *err)
{
	x->n_processes = ts_query_n_processes(x->rows.ask->q);
	x->hits = calloc(x->n_processes + 1, sizeof(*x->hits));
	x->next = calloc(x->n_processes + 1, sizeof(*x->next));
	if (!x->hits || !x->next)
		return ts_no_memory(err, "a question");
	for (uint32_t i = 0; i < x->n_processes; i++) {
		struct ts_hits *h = &x->hits[i];

		h->q = x->rows.ask->q;
		h->what = &x->what;
		h->end = TS_NO_POS;
		h->process = i;
		h->kinds = 1u << TS_HIT_WRITE | 1u << TS_HIT_UNEXPLAINED;
		if (!ts_hits_init(h, err))
			return false;
	}
	return true;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct unexplained *x = (struct unexplained *)rows;

	rows->at = rows->qn->from;
	x->is_over = true;
	x->what = (struct ts_what){ .kind = TS_WHAT_MEM, .last = UINT64_MAX };
	set_chunks(x);
	return open_hits(x, err);
}

static const struct ts_rows_ops ops = { sizeof(struct unexplained), begin, next, close_unexplained };

const struct ts_verb ts_verb_unexplained = {
	.name = "unexplained",
	.synopsis = "",
	.help = "List the changes of memory that nothing in the recording made.",
	.example = "unexplained first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT,
	.rows = &ops,
};
