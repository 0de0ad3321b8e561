/* SPDX-License-Identifier: MIT */
/*
 * The virtual table over the rows of a verb.
 *
 * xBestIndex writes down which terms of WHERE it takes as words: "history: reg= position> columns 7f".  A term only ever
 * narrows the question; SQLite checks each row again.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/anchors.h"
#include "src/ask/grammar/number.h"
#include "src/symbols/names.h"
#include "src/ask/grammar/question.h"
#include "src/query/query.h"

#define MAX_ARGUMENTS 8u
#define MAX_TERMS     32u
#define MAX_WORD      512u

/* What a cursor may do before it asks whether the statement is to end. */
#define CHUNKS_A_SLICE 16u

struct table {
	sqlite3_vtab base; /* first */
	struct ts_sql *s;
	struct ts_sql_table t; /* its texts are the module's */
	unsigned n_columns, n_arguments; /* with those before the table's own */
};

/* What the terms of WHERE leave of the question. */
struct narrowed {
	uint64_t from, to;       /* positions: from <= k < to */
	uint64_t first, last;    /* addresses, both inclusive */
	bool has_addresses;
	bool is_empty;           /* no row can satisfy the terms */
	bool has_thread;
	int64_t tid;
	char values[MAX_ARGUMENTS][MAX_WORD]; /* of the arguments; "": not given */
	char reg[MAX_WORD];      /* "": all of them */
	bool has_recording;
	const struct ts_sql_recording *recording; /* NULL: one that there is not */
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	size_t recording;         /* the next one of them */
	const struct ts_sql_recording *in; /* that is asked */
	struct ts_ask *ask;       /* its */
	struct narrowed n;
	uint64_t used;            /* columns that the statement needs */
	bool is_reverse;
	uint32_t each;            /* the next one of the questions */
	char reg[MAX_WORD];       /* that the question is about */
	struct ts_question qn;
	bool has_question;
	struct ts_anchors anchors;
	struct ts_rows *rows;     /* owned; NULL: no question is open */
	struct ts_row row;
	bool is_over;
	char words[8][MAX_WORD];  /* of the question, which refers to them */
};

/* ------------------------------------------------------------------------------------------------- columns */

static const char *column_name(const struct table *t, unsigned i)
{
	if (i >= t->n_columns)
		return ts_sql_argument_name(t->t.arguments[i - t->n_columns]);
	if (i < ts_sql_n_own(t->s))
		return "recording";
	i -= ts_sql_n_own(t->s);
	return t->t.columns ? t->t.columns[i].name : t->t.verb->columns[i].name;
}

/* The verb's column of this name; -1: it has none. */
static int verb_column(const struct ts_verb *verb, const char *name)
{
	for (unsigned i = 0; name && i < verb->n_columns; i++) {
		if (!strcmp(verb->columns[i].name, name))
			return (int)i;
	}
	return -1;
}

/* Is it the column `recording`? */
static bool is_own(const struct table *t, int column)
{
	return column >= 0 && (unsigned)column < ts_sql_n_own(t->s);
}

static bool is_named(const struct table *t, int column, const char *name)
{
	return column >= 0 && !strcmp(column_name(t, (unsigned)column), name);
}

/* ------------------------------------------------------------------------------------------------ the plan */

static bool is_comparison(unsigned char op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	       op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

static const char *op_text(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_GT: return ">";
	case SQLITE_INDEX_CONSTRAINT_GE: return "]";
	case SQLITE_INDEX_CONSTRAINT_LT: return "<";
	case SQLITE_INDEX_CONSTRAINT_LE: return "[";
	default: return "=";
	}
}

/* Is `in A:B` of the verb about the column position alone?  Of flows it says where they begin, too. */
static bool has_range_of_positions(const struct table *t)
{
	return t->t.verb->takes & TS_TAKES_RANGE && !t->t.range && verb_column(t->t.verb, "position") >= 0 &&
	       strcmp(t->t.verb->name, "find") != 0 && strcmp(t->t.verb->name, "flows") != 0;
}

/* Have all recordings one process each? */
static bool has_one_process(const struct ts_sql *s)
{
	size_t i = 0;

	while (i < s->n && ts_query_n_processes(s->recordings[i].ask->q) == 1)
		i++;
	return i == s->n;
}

/* Does the term narrow the question?  *gain gets by how much, roughly. */
static bool takes_term(const struct table *t, int column, unsigned char op, double *gain)
{
	bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

	*gain = is_equal ? 1e6 : 10;
	if (!is_comparison(op))
		return false;
	if (is_own(t, column))
		return is_equal;
	if (is_named(t, column, "position"))
		return has_range_of_positions(t);
	if (is_named(t, column, "address"))
		return t->t.has_address;
	if (is_named(t, column, "pc"))
		return t->t.has_pc && has_one_process(t->s);
	*gain = 10;
	return is_equal && ((is_named(t, column, "thread") && t->t.verb->takes & TS_TAKES_THREAD) ||
			    (is_named(t, column, "reg") && t->t.each == TS_SQL_EACH_REGISTER));
}

/* Do the rows come in the order of their positions? */
static bool is_ordered(const struct table *t, bool has_reg)
{
	if (t->s->n > 1 || !has_range_of_positions(t) || !strcmp(t->t.verb->name, "stack") || !strcmp(t->t.verb->name, "why"))
		return false;
	switch (t->t.each) {
	case TS_SQL_ONCE: return true;
	case TS_SQL_EACH_PROCESS: return has_one_process(t->s);
	case TS_SQL_EACH_REGISTER: return has_reg && ts_query_n_threads(t->s->recordings->ask->q) == 1;
	}
	return false;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct table *t = (struct table *)vtab;
	sqlite3_str *plan = sqlite3_str_new(t->s->db);
	bool has_reg = false;
	double cost = 1e9;
	int n = 0;

	sqlite3_str_appendf(plan, "%s:", t->t.verb->name);
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		bool is_argument = column >= (int)t->n_columns;
		double gain = 1e3;

		if (is_argument && !info->aConstraint[i].usable) {
			sqlite3_free(sqlite3_str_finish(plan));
			return SQLITE_CONSTRAINT; /* a function's argument comes from a table that is read before it */
		}
		if (!info->aConstraint[i].usable || n == (int)MAX_TERMS ||
		    !(is_argument ? info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ
				  : takes_term(t, column, info->aConstraint[i].op, &gain)))
			continue;
		info->aConstraintUsage[i].argvIndex = ++n;
		info->aConstraintUsage[i].omit = is_argument;
		has_reg |= is_named(t, column, "reg");
		cost /= gain;
		sqlite3_str_appendf(plan, " %s%s", column_name(t, (unsigned)column),
				    op_text(info->aConstraint[i].op));
	}
	sqlite3_str_appendf(plan, " columns 0x%llx", (unsigned long long)info->colUsed);
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	info->estimatedCost = cost < 1 ? 1 : cost;
	info->estimatedRows = cost < 1 ? 1 : (sqlite3_int64)cost;
	if (info->nOrderBy == 1 && is_named(t, info->aOrderBy[0].iColumn, "position") && is_ordered(t, has_reg)) {
		info->orderByConsumed = !info->aOrderBy[0].desc || t->t.verb->is_reversible;
		info->idxNum = info->orderByConsumed && info->aOrderBy[0].desc;
	}
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --------------------------------------------------------------------------------------- from terms to words */

/* [*from, *to] is narrowed by the term; signed 64-bit numbers are the unsigned ones bit for bit if @is_address. */
static void narrow(struct narrowed *n, char op, sqlite3_value *value, bool is_address, uint64_t *first, uint64_t *last)
{
	sqlite3_int64 v = sqlite3_value_int64(value);
	uint64_t u = (uint64_t)v;

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return; /* SQLite compares by its own rules */
	if (is_address && v < 0 && op != '=')
		return; /* unsigned order is another one than SQLite's */
	if (!is_address && v < 0) {
		n->is_empty |= op == '=' || op == '<' || op == '[';
		return;
	}
	if (is_address && (op == '>' || op == ']') && *last > INT64_MAX)
		*last = INT64_MAX; /* those above are negative */
	if (op == '=' || op == '[')
		*last = u < *last ? u : *last;
	if (op == '=' || op == ']')
		*first = u > *first ? u : *first;
	if (op == '>') {
		n->is_empty |= u == UINT64_MAX;
		*first = u + 1 > *first ? u + 1 : *first;
	}
	if (op == '<') {
		n->is_empty |= !u;
		*last = u && u - 1 < *last ? u - 1 : *last;
	}
	n->is_empty |= *first > *last;
}

static void take_value(struct cursor *c, const struct table *t, unsigned column, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	unsigned i = column - t->n_columns;

	if (i < MAX_ARGUMENTS && text)
		snprintf(c->n.values[i], sizeof(c->n.values[i]), "%s", text);
}

static void take_term(struct cursor *c, const struct table *t, const char *term, size_t len, sqlite3_value *value)
{
	char op = term[len - 1];
	unsigned column = 0;
	uint64_t last;

	while (column < t->n_columns + t->n_arguments &&
	       (strlen(column_name(t, column)) != len - 1 || memcmp(column_name(t, column), term, len - 1) != 0))
		column++;
	if (column >= t->n_columns) {
		take_value(c, t, column, value);
	} else if (is_own(t, (int)column)) {
		c->n.has_recording = true;
		c->n.recording = ts_sql_find_recording(t->s, (const char *)sqlite3_value_text(value));
	} else if (is_named(t, (int)column, "position")) {
		last = c->n.to - 1;
		narrow(&c->n, op, value, false, &c->n.from, &last);
		c->n.to = last < UINT64_MAX ? last + 1 : last;
	} else if (is_named(t, (int)column, "thread")) {
		c->n.is_empty |= sqlite3_value_type(value) != SQLITE_INTEGER;
		c->n.has_thread = true;
		c->n.tid = sqlite3_value_int64(value);
	} else if (is_named(t, (int)column, "reg")) {
		const char *text = (const char *)sqlite3_value_text(value);

		c->n.is_empty |= !text || !*text;
		snprintf(c->n.reg, sizeof(c->n.reg), "%s", text ? text : "");
	} else {
		c->n.has_addresses = true;
		narrow(&c->n, op, value, true, &c->n.first, &c->n.last);
	}
}

static uint64_t most_steps(const struct ts_sql *s)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->n; i++)
		most = s->recordings[i].ask->n_steps > most ? s->recordings[i].ask->n_steps : most;
	return most;
}

static void take_plan(struct cursor *c, const struct table *t, const char *plan, sqlite3_value **values, int n)
{
	const char *p = strchr(plan, ':') + 1;
	bool is_large;

	c->n = (struct narrowed){ .to = most_steps(t->s), .last = UINT64_MAX };
	for (int i = 0; i < n; i++) {
		size_t len;

		p += strspn(p, " ");
		len = strcspn(p, " ");
		take_term(c, t, p, len, values[i]);
		p += len;
	}
	p = strstr(p, "columns ");
	if (!p || !ts_number_parse(p + strlen("columns "), strlen(p + strlen("columns ")), TS_COMMAS_END, &c->used, &is_large))
		c->used = UINT64_MAX;
	else
		c->used >>= ts_sql_n_own(t->s);
}

/* ----------------------------------------------------------------------------------------------- questions */

/* The words of one question. */
struct words {
	struct ts_argument items[12];
	size_t n;
};

static void add_word(struct words *w, enum ts_argument_kind kind, const char *word, const char *value)
{
	w->items[w->n++] = (struct ts_argument){ .kind = kind, .word = word, .value = value };
}

static const char *value_of(const struct cursor *c, const struct table *t, char letter)
{
	const char *at = strchr(t->t.arguments, letter);

	return at && *c->n.values[at - t->t.arguments] ? c->n.values[at - t->t.arguments] : NULL;
}

static void add_argument(struct words *w, const struct cursor *c, const struct table *t, char letter,
			 enum ts_argument_kind kind, const char *word)
{
	const char *value = value_of(c, t, letter);

	if (value)
		add_word(w, kind, word, value);
}

/* The position at which the question is asked about a process; TS_NO_POS: the process has no steps. */
static uint64_t position_of(const struct ts_query *q, uint32_t process)
{
	uint64_t pos = TS_NO_POS;

	for (uint32_t i = 0; i < ts_query_n_threads(q) && pos == TS_NO_POS; i++) {
		if (ts_query_process(q, i) == process)
			pos = ts_query_next_step(q, i, 0);
	}
	return pos;
}

static bool is_anything_wanted(const struct cursor *c, const char *name)
{
	return !*c->n.reg || !strcmp(c->n.reg, name);
}

/* The next register and thread.  Returns false after the last one. */
static bool next_register(struct cursor *c, struct words *w)
{
	const struct ts_ask *ask = c->ask;
	const struct ts_regset *set = ts_query_regset(ask->q);
	uint32_t n_regs = *c->n.reg ? 1 : set->n_regs;

	for (; c->each < n_regs * ts_query_n_threads(ask->q); c->each++) {
		uint32_t thread = c->each / n_regs, reg = c->each % n_regs;
		const char *name = *c->n.reg ? c->n.reg : set->regs[reg].name;
		struct ts_what what;

		if ((!*c->n.reg && (int)reg == set->pc) || !is_anything_wanted(c, name) ||
		    !ts_what_register(&what, name, strlen(name), set) ||
		    (c->n.has_thread && c->n.tid != ask->names->tids[thread]))
			continue;
		snprintf(c->reg, sizeof(c->reg), "%s", name);
		snprintf(c->words[0], sizeof(c->words[0]), "$%.500s", name);
		snprintf(c->words[1], sizeof(c->words[1]), "%" PRId64, ask->names->tids[thread]);
		add_word(w, TS_ARGUMENT_OPERAND, NULL, c->words[0]);
		add_word(w, TS_ARGUMENT_WORD, "thread", c->words[1]);
		c->each++;
		return true;
	}
	return false;
}

static bool next_process(struct cursor *c, struct words *w)
{
	uint64_t pos = TS_NO_POS;

	while (c->each < ts_query_n_processes(c->ask->q) && pos == TS_NO_POS)
		pos = position_of(c->ask->q, c->each++);
	if (pos == TS_NO_POS)
		return false;
	snprintf(c->words[1], sizeof(c->words[1]), "%" PRIu64, pos);
	add_word(w, TS_ARGUMENT_WORD, "at", c->words[1]);
	return true;
}

static bool next_of_each(struct cursor *c, const struct table *t, struct words *w)
{
	if (t->t.each == TS_SQL_EACH_REGISTER)
		return next_register(c, w);
	if (c->n.has_thread && t->t.verb->takes & TS_TAKES_THREAD && strcmp(t->t.verb->name, "threads") != 0) {
		snprintf(c->words[2], sizeof(c->words[2]), "%" PRId64, c->n.tid);
		add_word(w, TS_ARGUMENT_WORD, "thread", c->words[2]);
	}
	if (t->t.each == TS_SQL_EACH_PROCESS)
		return next_process(c, w);
	return !c->each++;
}

static void add_range(struct cursor *c, const struct table *t, struct words *w)
{
	const char *a = value_of(c, t, 'a'), *b = value_of(c, t, 'b');

	if (t->t.range) {
		add_word(w, TS_ARGUMENT_WORD, "in", t->t.range);
	} else if (a || b) {
		snprintf(c->words[3], sizeof(c->words[3]), "%.200s:%.200s", a ? a : "", b ? b : "");
		add_word(w, TS_ARGUMENT_WORD, "in", c->words[3]);
	} else if (has_range_of_positions(t) && (c->n.from || c->n.to < c->ask->n_steps)) {
		snprintf(c->words[3], sizeof(c->words[3]), "%" PRIu64 ":%" PRIu64, c->n.from, c->n.to);
		add_word(w, TS_ARGUMENT_WORD, "in", c->words[3]);
	}
}

static void add_operand(struct cursor *c, const struct table *t, struct words *w)
{
	const char *what = value_of(c, t, 'w'), *len = value_of(c, t, 'l');

	if (what && len) {
		snprintf(c->words[0], sizeof(c->words[0]), "%.200s,%.100s", what, len);
		what = c->words[0];
	}
	if (t->t.has_address || (t->t.has_pc && c->n.has_addresses))
		what = "0x0"; /* its range is put in afterwards */
	if (what)
		add_word(w, TS_ARGUMENT_OPERAND, NULL, what);
}

/* May a row of the recording satisfy the terms? */
static bool may_have_rows(const struct cursor *c, const struct table *t, const struct ts_sql_recording *r)
{
	bool has_positions = !t->t.range && has_range_of_positions(t);

	if (c->n.is_empty || (c->n.has_recording && r != c->n.recording))
		return false;
	if (c->n.has_thread && ts_names_thread(r->ask->names, c->n.tid) == TS_NO_THREAD)
		return false;
	return !has_positions || (c->n.from < c->n.to && c->n.from < r->ask->n_steps);
}

/* The next recording that may have rows.  Returns false after the last one. */
static bool next_recording(struct cursor *c, const struct table *t)
{
	const struct ts_sql_recording *r = NULL;

	while (c->recording < t->s->n && !r) {
		r = &t->s->recordings[c->recording++];
		if (!may_have_rows(c, t, r))
			r = NULL;
	}
	if (!r)
		return false;
	c->in = r;
	c->ask = r->ask;
	c->each = 0;
	return true;
}

/*
 * A row is a part of WHAT: so that it is all that the step touched, WHAT is wider than the terms ask for.  What begins
 * before the first byte is cut there and is no row, by SQLite's own check; what ends at the last one may be cut
 * (complete_row()).
 */
#define WIDER 64u

static void set_addresses(struct cursor *c, const struct table *t)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);
	uint64_t last = c->n.last < mask ? c->n.last : mask;
	bool is_wider = t->t.has_address && c->n.has_addresses;

	c->qn.what = (struct ts_what){ .kind = TS_WHAT_MEM, .addr = c->n.first - (is_wider && c->n.first), .last = last };
	if (is_wider)
		c->qn.what.last = mask - last < WIDER ? mask : last + WIDER;
}

static bool make_question(struct cursor *c, const struct table *t, struct words *w, struct ts_error *err)
{
	c->has_question = true;
	if (!ts_question_parse_arguments(&c->qn, c->ask, t->t.verb, w->items, w->n, err))
		return false;
	if (t->t.has_address || (t->t.has_pc && c->n.has_addresses))
		set_addresses(c, t);
	return true;
}

/* Would the question decode more than may be?  The index tells nothing of these verbs without WHAT. */
static bool is_scan(const struct cursor *c, const struct table *t)
{
	bool decodes = c->qn.verb->operand == TS_OPERAND_MEMORY_OR_NONE && c->qn.what.kind == TS_WHAT_NONE &&
		       strcmp(c->qn.verb->name, "strings") != 0;
	uint64_t to = c->qn.to < c->ask->n_steps ? c->qn.to : c->ask->n_steps;

	decodes |= t->t.has_address && !c->n.has_addresses;
	return decodes && !t->s->options.may_scan && to > c->qn.from && to - c->qn.from > TS_SQL_MAX_SCAN;
}

static int fail(const struct table *t, const struct ts_error *err)
{
	struct table *vtab = (struct table *)t;

	vtab->s->err = *err;
	sqlite3_free(vtab->base.zErrMsg);
	vtab->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return err->code == TS_ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* The same of one of several recordings: it is named. */
static int fail_in(const struct cursor *c, const struct table *t, struct ts_error *err)
{
	if (c->in && ts_sql_n_own(t->s))
		ts_fail_prefix(err, "%s", c->in->name);
	return fail(t, err);
}

static bool is_stopped(const struct table *t)
{
	return t->s->options.is_stopped && t->s->options.is_stopped(t->s->options.user);
}

static void close_question(struct cursor *c)
{
	ts_rows_close(c->rows);
	c->rows = NULL;
	if (c->has_question) {
		ts_anchors_fini(&c->anchors);
		ts_question_fini(&c->qn);
	}
	c->has_question = false;
}

/* Columns of the verb that no column of the statement shows. */
static uint32_t unwanted_columns(const struct cursor *c, const struct table *t)
{
	uint32_t wanted = 0;

	if (!t->t.columns)
		return ~(uint32_t)c->used;
	for (unsigned i = 0; i < t->t.n_columns; i++) {
		int column = verb_column(t->t.verb, t->t.columns[i].cell);

		if (c->used >> i & 1 && column >= 0)
			wanted |= UINT32_C(1) << column;
	}
	return ~wanted;
}

static bool shows_bytes(const struct cursor *c, const struct table *t)
{
	for (unsigned i = 0; t->t.columns && i < t->t.n_columns; i++) {
		if (t->t.columns[i].from == TS_SQL_BYTES && c->used >> i & 1)
			return true;
	}
	return false;
}

/* Find the places of the question, and open its rows. */
static int open_rows(struct cursor *c, const struct table *t)
{
	struct ts_error err = { 0 };
	enum ts_got got = TS_GOT_PENDING;

	ts_anchors_init(&c->anchors, c->ask, &c->qn);
	while (got == TS_GOT_PENDING) {
		struct ts_budget budget = { CHUNKS_A_SLICE };

		if (is_stopped(t))
			return SQLITE_INTERRUPT;
		got = ts_anchors_find(&c->anchors, &budget, &err);
	}
	if (got == TS_GOT_FAIL)
		return fail_in(c, t, &err);
	if (is_scan(c, t)) {
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF,
			"%s: decodes %" PRIu64 " M steps; narrow position, or allow it with --scan", t->t.name,
			(c->qn.to - c->qn.from) / 1000000);
		return fail_in(c, t, &err);
	}
	c->rows = t->t.verb->open(c->ask, &c->qn, c->is_reverse, &err);
	if (!c->rows)
		return fail_in(c, t, &err);
	c->rows->unwanted = unwanted_columns(c, t);
	c->row.keeps_bytes = shows_bytes(c, t);
	return SQLITE_OK;
}

/* The next of the questions.  After the last one c->is_over holds. */
static int next_question(struct cursor *c, const struct table *t)
{
	struct ts_error err = { 0 };
	struct words w = { .n = 0 };

	close_question(c);
	while (!c->in || !next_of_each(c, t, &w)) {
		if (!next_recording(c, t)) {
			c->is_over = true;
			return SQLITE_OK;
		}
	}
	if (t->t.each != TS_SQL_EACH_REGISTER)
		add_operand(c, t, &w);
	add_range(c, t, &w);
	if (t->t.kinds)
		add_word(&w, TS_ARGUMENT_KINDS, NULL, t->t.kinds);
	add_argument(&w, c, t, 'k', TS_ARGUMENT_KINDS, NULL);
	add_argument(&w, c, t, 'm', TS_ARGUMENT_WORD, "min");
	add_argument(&w, c, t, 'e', TS_ARGUMENT_WORD, "==");
	add_argument(&w, c, t, 't', TS_ARGUMENT_WORD, "at");
	add_argument(&w, c, t, 'd', TS_ARGUMENT_WORD, "depth");
	return make_question(c, t, &w, &err) ? open_rows(c, t) : fail_in(c, t, &err);
}

/* ------------------------------------------------------------------------------------------------ cut rows */

static bool may_be_cut(const struct cursor *c, const struct table *t)
{
	int address = verb_column(t->t.verb, "address"), length = verb_column(t->t.verb, "length");
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);

	return t->t.has_address && c->qn.what.last < mask && c->row.cells[address].kind == TS_CELL_ADDR &&
	       c->row.cells[address].number + (c->row.cells[length].number - 1) == c->qn.what.last;
}

/* The row as it is where WHAT reaches to the end of memory: that of the same step, address and kind. */
static enum ts_got complete_row(struct cursor *c, const struct table *t, struct ts_error *err)
{
	int position = verb_column(t->t.verb, "position"), address = verb_column(t->t.verb, "address");
	int kind = verb_column(t->t.verb, "kind");
	uint64_t pos = c->row.cells[position].number, addr = c->row.cells[address].number;
	struct ts_question qn = c->qn;
	enum ts_got got = TS_GOT_PENDING;
	struct ts_rows *rows;
	char name[32];

	snprintf(name, sizeof(name), "%s", ts_row_get(&c->row, (unsigned)kind));
	qn.what.addr = addr;
	qn.what.last = ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);
	qn.from = pos;
	qn.to = pos + 1;
	rows = t->t.verb->open(c->ask, &qn, false, err);
	while (rows && (got == TS_GOT_PENDING || got == TS_GOT_ROW)) {
		struct ts_budget budget = { CHUNKS_A_SLICE };

		ts_row_reset(&c->row);
		got = rows->ops->next(rows, &c->row, &budget, err);
		if (got == TS_GOT_ROW && c->row.cells[address].number == addr &&
		    !strcmp(ts_row_get(&c->row, (unsigned)kind), name))
			break;
	}
	ts_rows_close(rows);
	return rows ? got : TS_GOT_FAIL;
}

/* -------------------------------------------------------------------------------------------------- cursor */

static int next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct table *t = (const struct table *)cursor->pVtab;

	while (!c->is_over) {
		struct ts_budget budget = { CHUNKS_A_SLICE };
		struct ts_error err = { 0 };
		enum ts_got got;
		int result;

		if (!c->rows) {
			result = next_question(c, t);
			if (result != SQLITE_OK)
				return result;
			continue;
		}
		ts_row_reset(&c->row);
		got = c->rows->ops->next(c->rows, &c->row, &budget, &err);
		if (got == TS_GOT_FAIL || !ts_query_finish_question(c->ask->q, &err))
			return fail_in(c, t, &err);
		if (got == TS_GOT_ROW && may_be_cut(c, t))
			got = complete_row(c, t, &err);
		if (got == TS_GOT_FAIL)
			return fail_in(c, t, &err);
		if (got == TS_GOT_ROW)
			return ts_buf_ok(&c->row.texts) ? SQLITE_OK : SQLITE_NOMEM;
		if (got == TS_GOT_END)
			close_question(c);
		else if (is_stopped(t))
			return SQLITE_INTERRUPT;
	}
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int is_reverse, const char *plan, int n, sqlite3_value **values)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct table *t = (const struct table *)cursor->pVtab;

	close_question(c);
	take_plan(c, t, plan, values, n);
	c->is_reverse = is_reverse;
	c->recording = 0;
	c->in = NULL;
	c->is_over = false;
	return next(cursor);
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct cursor *c = calloc(1, sizeof(*c));

	(void)vtab;
	if (!c)
		return SQLITE_NOMEM;
	ts_row_init(&c->row);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	close_question(c);
	ts_row_fini(&c->row);
	free(c);
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->is_over;
}

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * A number that the same row has whichever terms it was found by: SQLite finds rows of `a OR b` twice, and leaves out those
 * that have the number of one before.
 */
static int get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct table *t = (const struct table *)cursor->pVtab;
	uint64_t hash = mix(mix(UINT64_C(0xcbf29ce484222325), &c->recording, sizeof(c->recording)), c->reg, strlen(c->reg));

	for (unsigned i = 0; i < t->t.verb->n_columns; i++)
		hash = mix(hash, &c->row.cells[i].number, sizeof(c->row.cells[i].number));
	*rowid = (sqlite3_int64)mix(hash, c->row.texts.data, c->row.texts.len);
	return SQLITE_OK;
}

/* -------------------------------------------------------------------------------------------------- values */

/* A text "0x1f" of at most 64 bits. */
static bool get_number(const char *text, size_t len, uint64_t *number)
{
	bool is_large;

	return len >= 3 && len <= 18 && !strncmp(text, "0x", 2) &&
	       ts_number_parse(text, len, TS_COMMAS_END, number, &is_large);
}

/* A number if it is one, else text up to what is meant for people only. */
static void put_text(sqlite3_context *out, const char *text)
{
	size_t len = strcspn(text, "\x1f");
	uint64_t number;

	if (get_number(text, len, &number))
		sqlite3_result_int64(out, (sqlite3_int64)number);
	else
		sqlite3_result_text(out, text, (int)len, SQLITE_TRANSIENT);
}

static const char *item_of(const struct ts_row *row, unsigned column, unsigned item)
{
	const char *text = ts_row_get(row, column);

	if (row->cells[column].kind != TS_CELL_LIST || item >= row->cells[column].number)
		return NULL;
	while (item--)
		text += strlen(text) + 1;
	return text;
}

static void put_list(sqlite3_context *out, const struct ts_row *row, unsigned column)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (unsigned i = 0; i < row->cells[column].number; i++)
		sqlite3_str_appendf(text, "%s%s", i ? ", " : "", item_of(row, column, i));
	sqlite3_result_text(out, sqlite3_str_finish(text), -1, sqlite3_free);
}

static void put_cell(sqlite3_context *out, const struct ts_verb *verb, const struct ts_row *row, unsigned column)
{
	const struct ts_cell *cell = &row->cells[column];

	switch (cell->kind) {
	case TS_CELL_NULL:
	case TS_CELL_UNKNOWN: return;
	case TS_CELL_NUMBER:
	case TS_CELL_ADDR: sqlite3_result_int64(out, (sqlite3_int64)cell->number); return;
	case TS_CELL_SHARE: sqlite3_result_double(out, cell->share); return;
	case TS_CELL_LIST: put_list(out, row, column); return;
	case TS_CELL_TEXT: break;
	}
	if (verb->columns[column].type == TS_COLUMN_VALUE || verb->columns[column].type == TS_COLUMN_AMOUNT)
		put_text(out, ts_row_get(row, column));
	else
		sqlite3_result_text(out, ts_row_get(row, column), -1, SQLITE_TRANSIENT);
}

/* A value as bytes in memory order. */
static void put_bytes(sqlite3_context *out, const struct ts_row *row, unsigned column)
{
	struct ts_buf bytes;

	if (row->cells[column].kind != TS_CELL_TEXT || !ts_row_has_bytes(row, column))
		return;
	ts_buf_init(&bytes);
	ts_row_put_bytes(row, column, &bytes);
	if (ts_buf_ok(&bytes))
		sqlite3_result_text(out, ts_buf_text(&bytes), (int)bytes.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_error_nomem(out);
	ts_buf_fini(&bytes);
}

/* A text without its quotes; an empty one: the argument points to none. */
static void put_item_text(sqlite3_context *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	bool is_quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';

	if (len)
		sqlite3_result_text(out, text + is_quoted, (int)(len - 2 * is_quoted), SQLITE_TRANSIENT);
}

static void put_event_number(sqlite3_context *out, const struct cursor *c, const struct table *t)
{
	static const struct {
		const char *name;
		enum ts_event_kind kind;
	} kinds[] = { { "syscall", TS_EV_SYSCALL }, { "signal", TS_EV_SIGNAL }, { "fault", TS_EV_FAULT },
		      { "exit", TS_EV_EXIT } };
	int position = verb_column(t->t.verb, "position"), kind = verb_column(t->t.verb, "kind");
	const struct ts_row *row = &c->row;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct ts_event_at *h;

		if (row->cells[kind].kind != TS_CELL_TEXT || strcmp(ts_row_get(row, (unsigned)kind), kinds[i].name) != 0)
			continue;
		h = ts_query_prev_event(c->ask->q, kinds[i].kind, row->cells[position].number);
		if (h && h->step == row->cells[position].number && (h->event.kind != TS_EV_EXIT || h->event.has_ret))
			sqlite3_result_int64(out, (sqlite3_int64)h->event.number);
	}
}

static void put_column(sqlite3_context *out, const struct cursor *c, const struct table *t,
		       const struct ts_sql_column *column)
{
	int cell = verb_column(t->t.verb, column->cell);
	const char *item = cell < 0 ? NULL : item_of(&c->row, (unsigned)cell, column->item);

	switch (column->from) {
	case TS_SQL_CELL: put_cell(out, t->t.verb, &c->row, (unsigned)cell); return;
	case TS_SQL_BYTES: put_bytes(out, &c->row, (unsigned)cell); return;
	case TS_SQL_ITEM:
		if (item)
			put_text(out, item);
		return;
	case TS_SQL_ITEM_TEXT: put_item_text(out, item); return;
	case TS_SQL_NUMBER: put_event_number(out, c, t); return;
	case TS_SQL_REGISTER: sqlite3_result_text(out, c->reg, -1, SQLITE_TRANSIENT); return;
	}
}

static int get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct table *t = (const struct table *)cursor->pVtab;

	int own = (int)ts_sql_n_own(t->s);

	if (is_own(t, i)) {
		sqlite3_result_text(out, c->in->name, -1, SQLITE_TRANSIENT);
	} else if (i >= (int)t->n_columns) {
		const char *value = c->n.values[(unsigned)i - t->n_columns];

		if (*value)
			sqlite3_result_text(out, value, -1, SQLITE_TRANSIENT);
	} else if (t->t.columns) {
		put_column(out, c, t, &t->t.columns[i - own]);
	} else {
		put_cell(out, t->t.verb, &c->row, (unsigned)(i - own));
	}
	return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------- modules */

/* What a module is registered with. */
struct source {
	struct ts_sql *s;
	struct ts_sql_table t;
	char name[64], arguments[MAX_ARGUMENTS + 1];
};

static int connect(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **vtab, char **error)
{
	const struct source *from = user;
	struct table *t = calloc(1, sizeof(*t));
	struct ts_buf schema;
	int result = SQLITE_NOMEM;

	(void)db;
	(void)argc;
	(void)argv;
	(void)error;
	if (!t)
		return SQLITE_NOMEM;
	t->s = from->s;
	t->t = from->t;
	t->n_columns = ts_sql_n_own(t->s) + (t->t.columns ? t->t.n_columns : t->t.verb->n_columns);
	t->n_arguments = (unsigned)strlen(t->t.arguments);
	ts_buf_init(&schema);
	ts_sql_declare(t->s, &t->t, &schema);
	if (ts_buf_ok(&schema))
		result = ts_sql_declare_table(t->s, ts_buf_text(&schema));
	ts_buf_fini(&schema);
	if (result == SQLITE_OK)
		*vtab = &t->base;
	else
		free(t);
	return result;
}

static int disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* Without xCreate: the table is there by its name. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = get_column,
	.xRowid = get_rowid,
};

static int add(struct ts_sql *s, const struct ts_sql_table *t)
{
	struct source *from = calloc(1, sizeof(*from));

	if (!from)
		return SQLITE_NOMEM;
	from->s = s;
	from->t = *t;
	snprintf(from->name, sizeof(from->name), "%s", t->name);
	from->t.name = from->name;
	snprintf(from->arguments, sizeof(from->arguments), "%s", t->arguments);
	from->t.arguments = from->arguments;
	return sqlite3_create_module_v2(s->db, from->name, &module, from, free);
}

int ts_sql_add_tables(struct ts_sql *s)
{
	struct ts_sql_table function;
	int result = SQLITE_OK;
	char name[64];
	size_t n;
	const struct ts_sql_table *tables = ts_sql_tables(&n);

	for (size_t i = 0; i < n && result == SQLITE_OK; i++)
		result = add(s, &tables[i]);
	for (size_t i = 0; result == SQLITE_OK && ts_sql_function(i, &function, name); i++)
		result = add(s, &function);
	return result;
}
