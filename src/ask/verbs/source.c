/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/base/collections/bisect.h"
#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"
#include "src/query/code/insns.h"
#include "src/query/search/scan.h"
#include "src/symbols/source_text.h"
#include "src/symbols/symbols.h"
#include "src/ask/verbs/steps/step_places.h"

/* A gap of at most this many lines without code is shown, too. */
#define MAX_GAP 3u

/* Bytes; a longer function is refused. */
#define MAX_FUNCTION (16u << 20)

/* Limits on the steps of a line that are examined, and on the values that are shown. */
#define MAX_STEPS  32u
#define MAX_VALUES 8u

enum column {
	COL_FILE,
	COL_LINE,
	COL_STEPS,
	COL_POSITION,
	COL_TEXT,
	COL_VALUES,
};

static const struct ts_column columns[] = {
	[COL_FILE] = { .name = "file", .type = TS_COLUMN_TEXT },
	[COL_LINE] = { .name = "line", .type = TS_COLUMN_NUMBER },
	[COL_STEPS] = { .name = "steps", .type = TS_COLUMN_NUMBER },
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_TEXT] = { .name = "text", .type = TS_COLUMN_TEXT },
	[COL_VALUES] = { .name = "values", .type = TS_COLUMN_LIST },
};

/* A contiguous piece of the function's code that belongs to one line. */
struct piece {
	const char *file; /* borrowed; the same pointer for the same file */
	uint32_t line;
	uint64_t first, last;
};

struct source {
	struct ts_rows rows;
	uint32_t process;
	uint64_t first, last;   /* the function */
	struct piece *pieces;   /* owned; by file and line once all are counted */
	size_t n, cap;
	uint64_t *steps;        /* owned; by address, from the function's first on */
	struct ts_executed_at counted;
	bool is_counted;
	uint64_t from;          /* the first position of the pass; TS_NO_POS: none before */
	size_t next;            /* the piece of the next row */
	uint32_t next_line;     /* lines without code before it; 0: none */
	struct ts_source_text *text; /* owned; of the file text_of */
	const char *text_of;
	struct ts_step_places *places; /* owned */
	struct ts_row scratch;
};

/* --------------------------------------------------------------------------------------------- the pieces */

static bool add_piece(struct source *x, const struct ts_code_line *l)
{
	uint64_t last = l->addr + (l->len - 1);

	if (x->n && x->pieces[x->n - 1].file == l->file && x->pieces[x->n - 1].line == l->line &&
	    x->pieces[x->n - 1].last + 1 == l->addr) {
		x->pieces[x->n - 1].last = last;
		return true;
	}
	return TS_PUSH(x->pieces, x->n, x->cap, (struct piece){ .file = l->file, .line = l->line, .first = l->addr, .last = last });
}

/* The lines of the function's code; those of functions that were inlined into it, too. */
static bool find_pieces(struct source *x)
{
	size_t n, at = 0;
	const struct ts_code_line *all = ts_code_lines_all(ts_symbols_lines(x->rows.ask->symbols), &n);

	TS_BISECT(at, n, i, all[i].addr + (all[i].len - 1) < x->first);
	for (; at < n && all[at].addr <= x->last; at++) {
		if (!add_piece(x, &all[at]))
			return false;
	}
	return true;
}

static int by_line(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return strcmp(x->file, y->file) ?: TS_ORDER(x->line, y->line) ?: TS_ORDER(x->first, y->first);
}

static void count(void *user, const struct ts_executed *e)
{
	struct source *x = user;

	if (e->process == x->process && e->pc >= x->first && e->pc <= x->last)
		x->steps[e->pc - x->first] += e->n;
}

/* Returns the largest number of executions of an instruction of the piece. */
static uint64_t steps_of(const struct source *x, const struct piece *p)
{
	uint64_t most = 0;

	for (uint64_t addr = p->first > x->first ? p->first : x->first; addr <= p->last && addr <= x->last; addr++)
		most = x->steps[addr - x->first] > most ? x->steps[addr - x->first] : most;
	return most;
}

/* ----------------------------------------------------------------------------------------------- the pass */

/* The piece's last step in the pass; TS_NO_POS: it did not run there. */
static uint64_t last_run(const struct source *x, const struct piece *p)
{
	uint64_t pos;

	if (x->from == TS_NO_POS || !x->rows.qn->at)
		return TS_NO_POS;
	pos = ts_query_find_execution(x->rows.ask->q, x->process, p->first, p->last, x->rows.qn->at - 1, TS_BACKWARDS);
	return pos != TS_NO_POS && pos >= x->from ? pos : TS_NO_POS;
}

/* Flags and the pc are not shown as values of a line. */
static bool is_value(const char *text)
{
	size_t len = strlen(text);

	return strncmp(text, "$eflags", 7) && strncmp(text, "$rip", 4) && strncmp(text, "$pc", 3) &&
	       !(len > 5 && text[0] == '$' && text[2] == 'F' && text[3] == '=') && strncmp(text, "$rsp", 4);
}

/* Collect the values that the steps of the line wrote, up to @pos. */
static bool put_values(struct source *x, const struct piece *p, uint64_t pos, struct ts_row *row, struct ts_error *err)
{
	uint64_t first = pos;
	unsigned n = 0;

	while (first > x->from && pos - first + 1 < MAX_STEPS &&
	       ts_query_find_execution(x->rows.ask->q, x->process, p->first, p->last, first - 1, TS_BACKWARDS) == first - 1)
		first--;
	ts_row_list(row, COL_VALUES);
	for (; first <= pos && n < MAX_VALUES; first++) {
		const struct ts_decoded *d = ts_query_insn(x->rows.ask->q, first, err);
		const char *text;

		ts_row_reset(&x->scratch);
		if (!d || !ts_step_places_put(x->places, first, d, &x->scratch, 0, 1, err))
			return false;
		text = (const char *)x->scratch.texts.data + x->scratch.cells[1].text;
		for (uint64_t i = 0; x->scratch.cells[1].kind == TS_CELL_LIST && i < x->scratch.cells[1].number; i++) {
			if (is_value(text) && n++ < MAX_VALUES)
				ts_row_list_add(row, COL_VALUES, text);
			text += strlen(text) + 1;
		}
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------- rows */

static void put_line(struct source *x, const char *file, uint32_t line, struct ts_row *row)
{
	const char *text;
	size_t len;

	if (x->text_of != file) {
		ts_source_text_free(x->text);
		x->text = ts_source_text_new(file, x->rows.ask->folders);
		x->text_of = file;
	}
	ts_row_text(row, COL_FILE, ts_last_name(file));
	ts_row_number(row, COL_LINE, line);
	text = ts_source_text_line(x->text, line, &len);
	if (text)
		ts_row_text_len(row, COL_TEXT, text, len);
}

/* All pieces of a line make one row. */
static bool put_row(struct source *x, struct ts_row *row, struct ts_error *err)
{
	const struct piece *p = &x->pieces[x->next], *latest = p;
	uint64_t steps = 0, pos = TS_NO_POS;
	const struct piece *q = p;

	for (; q < x->pieces + x->n && q->file == p->file && q->line == p->line; q++) {
		uint64_t at = last_run(x, q);

		steps = steps_of(x, q) > steps ? steps_of(x, q) : steps;
		if (at != TS_NO_POS && (pos == TS_NO_POS || at > pos)) {
			pos = at;
			latest = q;
		}
	}
	put_line(x, p->file, p->line, row);
	ts_row_number(row, COL_STEPS, steps);
	x->next_line = q < x->pieces + x->n && q->file == p->file && q->line - p->line <= MAX_GAP ? p->line + 1 : 0;
	x->next = (size_t)(q - x->pieces);
	if (pos == TS_NO_POS)
		return true;
	ts_row_number(row, COL_POSITION, pos);
	return put_values(x, latest, pos, row, err);
}

/* Count, and find the pass. */
static enum ts_next prepare(struct source *x, struct ts_budget *budget)
{
	while (!x->is_counted) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		x->is_counted = !ts_query_each_executed(x->rows.ask->q, 0, x->rows.ask->n_steps, &x->counted, count, x);
	}
	qsort(x->pieces, x->n, sizeof(*x->pieces), by_line);
	if (x->rows.qn->at)
		x->from = ts_query_find_execution(x->rows.ask->q, x->process, x->first, x->first, x->rows.qn->at - 1, TS_BACKWARDS);
	return TS_ITEM;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct source *x = (struct source *)rows;
	enum ts_next got = x->is_counted ? TS_ITEM : prepare(x, budget);

	if (got != TS_ITEM)
		return got;
	if (x->next == x->n)
		return TS_END;
	if (!ts_budget_take(budget))
		return TS_MORE;
	if (x->next_line && x->next_line < x->pieces[x->next].line) {
		put_line(x, x->pieces[x->next].file, x->next_line++, row);
		return TS_ITEM;
	}
	return put_row(x, row, err) ? TS_ITEM : TS_FAIL;
}

static void close_source(struct ts_rows *rows)
{
	struct source *x = (struct source *)rows;

	ts_source_text_free(x->text);
	ts_step_places_free(x->places);
	ts_row_fini(&x->scratch);
	free(x->pieces);
	free(x->steps);
}

/* Returns false if the address is in no function that has lines. */
static bool find_function(struct source *x, struct ts_error *err)
{
	uint64_t addr = x->rows.qn->what.addr;
	const struct ts_symbol *s = x->rows.ask->symbols ? ts_symbols_function_at(x->rows.ask->symbols, addr) : NULL;

	if (!s)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "no function is known at 0x%llx; name the program with --exec",
			       (unsigned long long)addr);
	x->first = s->addr;
	x->last = s->addr + (s->len ? s->len - 1 : 0);
	if (x->last - x->first >= MAX_FUNCTION)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%.100s has more than %u bytes of code", s->name, MAX_FUNCTION);
	x->steps = calloc(x->last - x->first + 1, sizeof(*x->steps));
	if (!x->steps || !find_pieces(x))
		return ts_no_memory(err, "lines of the source");
	return x->n || ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "no lines of the source are known of %.100s: the program was built without -g; ask steps, or hot by address",
			       s->name);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct source *x = (struct source *)rows;

	x->from = TS_NO_POS;
	x->process = ts_ask_process(rows->ask, rows->qn);
	ts_row_init(&x->scratch);
	x->places = ts_step_places_new(rows->ask->q, err);
	return x->places && find_function(x, err);
}

static const struct ts_rows_ops ops = { sizeof(struct source), begin, next, close_source };

const struct ts_verb ts_verb_source = {
	.name = "source",
	.synopsis = "FUNCTION [at PLACE]",
	.help = "List the lines of a function with how often each ran.",
	.example = "source main",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_MEMORY,
	.takes = TS_TAKES_BOUND | TS_TAKES_AT,
	.rows = &ops,
};
