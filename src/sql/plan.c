/* SPDX-License-Identifier: MIT */
/*
 * Which terms of WHERE narrow the question, written down as words: "history: reg= position> columns 7f"; and read again.
 * A term only ever narrows; SQLite checks each row again.
 */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "src/ask/grammar/listed.h"
#include "src/ask/grammar/number.h"
#include "src/query/query.h"
#include "src/symbols/meanings.h"
#include "src/symbols/symbols.h"

#define MAX_TERMS 32u

/* Including hidden columns. */
static const char *column_name(const struct ts_sql_vtab *t, unsigned i)
{
	if (i >= t->n_columns)
		return ts_sql_argument_name(t->t.arguments[i - t->n_columns]);
	if (i < ts_sql_n_own(t->s))
		return "recording";
	i -= ts_sql_n_own(t->s);
	return t->t.columns ? t->t.columns[i].name : t->t.verb->columns[i].name;
}

int ts_sql_verb_column(const struct ts_verb *verb, const char *name)
{
	for (unsigned i = 0; name && i < verb->n_columns; i++) {
		if (!strcmp(verb->columns[i].name, name))
			return (int)i;
	}
	return -1;
}

bool ts_sql_is_recording(const struct ts_sql_vtab *t, int column)
{
	return column >= 0 && (unsigned)column < ts_sql_n_own(t->s);
}

static bool is_named(const struct ts_sql_vtab *t, int column, const char *name)
{
	return column >= 0 && !strcmp(column_name(t, (unsigned)column), name);
}

/* ------------------------------------------------------------------------------------------------ the plan */

const struct ts_sql_operator *ts_sql_operator(unsigned char op)
{
	static const struct ts_sql_operator operators[] = {
		{ SQLITE_INDEX_CONSTRAINT_EQ, '=', "=" }, { SQLITE_INDEX_CONSTRAINT_GT, '>', ">" },
		{ SQLITE_INDEX_CONSTRAINT_GE, ']', ">=" }, { SQLITE_INDEX_CONSTRAINT_LT, '<', "<" },
		{ SQLITE_INDEX_CONSTRAINT_LE, '[', "<=" }, { SQLITE_INDEX_CONSTRAINT_GLOB, '~', "GLOB" },
	};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (operators[i].op == op)
			return &operators[i];
	}
	return NULL;
}

static bool is_comparison(unsigned char op)
{
	return op != SQLITE_INDEX_CONSTRAINT_GLOB && ts_sql_operator(op);
}

const struct ts_sql_recording *ts_sql_find_recording(const struct ts_sql *s, const char *name)
{
	for (size_t i = 0; name && i < s->n; i++) {
		if (!strcmp(s->recordings[i].name, name))
			return &s->recordings[i];
	}
	return NULL;
}

bool ts_sql_has_positions(const struct ts_sql_vtab *t)
{
	return t->t.verb->takes & TS_TAKES_RANGE && !t->t.range && ts_sql_verb_column(t->t.verb, "position") >= 0 &&
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

static bool takes_operand(const struct ts_sql_vtab *t, int column, unsigned char op)
{
	if (!t->t.operand || !is_named(t, column, t->t.operand))
		return false;
	return op == SQLITE_INDEX_CONSTRAINT_EQ || (op == SQLITE_INDEX_CONSTRAINT_GLOB && !strcmp(t->t.operand, "callee"));
}

/* Does the term narrow the question?  *gain gets by how much, roughly. */
static bool takes_term(const struct ts_sql_vtab *t, int column, unsigned char op, double *gain)
{
	bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

	*gain = is_equal ? 1e6 : 10;
	if (takes_operand(t, column, op)) {
		*gain = 100;
		return true;
	}
	if (!is_comparison(op))
		return false;
	if (ts_sql_is_recording(t, column))
		return is_equal && !t->t.is_list;
	if (is_named(t, column, "position"))
		return ts_sql_has_positions(t);
	if (is_named(t, column, "address"))
		return t->t.has_address;
	if (is_named(t, column, "pc"))
		return t->t.has_pc && has_one_process(t->s);
	*gain = 10;
	if (is_named(t, column, "depth") && t->t.verb->takes & TS_TAKES_DEPTH && !strchr(t->t.arguments, 'd'))
		return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
	if (is_named(t, column, "function") && t->t.has_pc)
		return is_equal && t->s->n == 1 && has_one_process(t->s);
	return is_equal && ((is_named(t, column, "thread") && t->t.verb->takes & TS_TAKES_THREAD) ||
			    (is_named(t, column, "reg") && t->t.each == TS_SQL_EACH_REGISTER));
}

/* Do the rows come in the order of their positions? */
static bool is_ordered(const struct ts_sql_vtab *t, bool has_reg)
{
	if (t->s->n > 1 || !ts_sql_has_positions(t) || !strcmp(t->t.verb->name, "stack") || !strcmp(t->t.verb->name, "why"))
		return false;
	switch (t->t.each) {
	case TS_SQL_ONCE: return true;
	case TS_SQL_EACH_PROCESS: return has_one_process(t->s);
	case TS_SQL_EACH_REGISTER: return has_reg && ts_query_n_threads(t->s->recordings->ask->q) == 1;
	}
	return false;
}

/* Versions before do not leave out what the table has skipped. */
#define OMITS_OFFSET 3039000

/* Is the term about positions, and exact: has it a number that does not change? */
static bool is_exact(const struct ts_sql_vtab *t, sqlite3_index_info *info, int i)
{
	sqlite3_value *value = NULL;

	return is_named(t, info->aConstraint[i].iColumn, "position") && is_comparison(info->aConstraint[i].op) &&
	       info->aConstraint[i].usable && sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && value &&
	       sqlite3_value_type(value) == SQLITE_INTEGER;
}

/*
 * The term of OFFSET, if its rows need not be made: each position has one, in order, and no other term leaves rows out.
 * -1: none.
 */
static int skipped_rows(const struct ts_sql_vtab *t, sqlite3_index_info *info)
{
	int offset = -1;

	/* SQLite 3.40 skips the rows of OFFSET once for each part of a UNION ALL */
	if (!t->t.is_each_step || t->s->n > 1 || t->s->n_selects != 1 || sqlite3_libversion_number() < OMITS_OFFSET ||
	    (info->nOrderBy && !info->orderByConsumed))
		return -1;
	for (int i = 0; i < info->nConstraint; i++) {
		unsigned char op = info->aConstraint[i].op;

		if (op == SQLITE_INDEX_CONSTRAINT_OFFSET && info->aConstraint[i].usable)
			offset = i;
		else if (op != SQLITE_INDEX_CONSTRAINT_LIMIT && !is_exact(t, info, i))
			return -1;
	}
	return offset;
}

int ts_sql_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct ts_sql_vtab *t = (struct ts_sql_vtab *)vtab;
	sqlite3_str *plan = sqlite3_str_new(t->s->db);
	bool has_reg = false;
	double cost = t->t.is_list ? 1e5 : 1e9;
	int n = 0, offset;

	sqlite3_str_appendf(plan, "%s:", t->t.verb->name);
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		bool is_argument = column >= (int)t->n_columns;
		double gain = 1e3;

		if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT || info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET)
			continue; /* SQLite counts rows: those that it needs are made, and no others */
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
		sqlite3_str_appendf(plan, " %s%c", column_name(t, (unsigned)column),
				    ts_sql_operator(info->aConstraint[i].op)->sign);
	}
	if (info->nOrderBy == 1 && is_named(t, info->aOrderBy[0].iColumn, "position") && is_ordered(t, has_reg)) {
		info->orderByConsumed = !info->aOrderBy[0].desc || t->t.verb->is_reversible;
		info->idxNum = info->orderByConsumed && info->aOrderBy[0].desc;
	}
	offset = skipped_rows(t, info);
	if (offset >= 0 && n < (int)MAX_TERMS) {
		info->aConstraintUsage[offset].argvIndex = ++n;
		info->aConstraintUsage[offset].omit = 1;
		sqlite3_str_appendf(plan, " rows+");
	}
	sqlite3_str_appendf(plan, " columns 0x%llx", (unsigned long long)info->colUsed);
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	info->estimatedCost = cost < 1 ? 1 : cost;
	if (!t->t.is_list)
		info->estimatedRows = cost < 1 ? 1 : (sqlite3_int64)cost;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --------------------------------------------------------------------------------------- from terms to words */

/* [*from, *to] is narrowed by the term; signed 64-bit numbers are the unsigned ones bit for bit if @is_address. */
static void narrow(struct ts_sql_terms *n, char op, sqlite3_value *value, bool is_address, uint64_t *first, uint64_t *last)
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

static void take_value(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, unsigned column, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	unsigned i = column - t->n_columns;

	if (i < TS_SQL_MAX_ARGUMENTS && text)
		snprintf(c->n.values[i], sizeof(c->n.values[i]), "%s", text);
}

/* A word of a question, as it is: no pattern, nothing that ends it. */
static bool is_plain(const char *text)
{
	return *text && strlen(text) < TS_SQL_MAX_WORD / 2 &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@:~")];
}

/* The name that the column has for calls of the function @name, if it is another one; "" if it is not. */
static void other_name(struct ts_symbols *symbols, const char *name, char other[200])
{
	struct ts_meanings all;
	const struct ts_symbol *x = ts_symbols_mean(symbols, name, strlen(name), true, &all), *at;
	bool is_indirect = x && x->is_indirect;
	char linked[TS_SQL_MAX_WORD];

	*other = 0;
	at = x ? ts_symbols_function_at(symbols, x->addr) : NULL;
	if (is_indirect)
		snprintf(other, 200, "that of the function which was chosen (IFUNC)");
	else if (at && strcmp(at->name, name) != 0)
		snprintf(other, 200, "%.90s", at->name);
	snprintf(linked, sizeof(linked), "%s%s", name, TS_LINKED);
	if (ts_symbols_find(symbols, linked, strlen(linked)))
		snprintf(other + strlen(other), 200 - strlen(other), "%s%.90s", *other ? ", " : "", linked);
}

/* A search for a library's function by its name would miss calls for which the column has another name. */
static void hint_at_names(struct ts_sql *s, const char *name)
{
	char other[200] = "";

	for (size_t i = 0; i < s->n && !*other; i++) {
		if (s->recordings[i].ask->symbols)
			other_name(s->recordings[i].ask->symbols, name, other);
	}
	if (*other)
		snprintf(s->hint, sizeof(s->hint), "calls of '%.90s' may have another name in the column callee (%s): FROM call('%.90s') has all of them",
			 name, other, name);
}

/* SQLite alone checks an operand that is not taken. */
static void take_operand(struct ts_sql_terms *n, const struct ts_sql_vtab *t, char op, const char *text)
{
	if (!text || *n->operand)
		return;
	if (!strcmp(t->t.operand, "kind")) {
		if (ts_listed_is_name(text, strlen(text)))
			snprintf(n->operand, sizeof(n->operand), "%s", text);
	} else if (op == '=') {
		if (!is_plain(text))
			return;
		/* as a pattern: a name that no function has is no mistake */
		snprintf(n->operand, sizeof(n->operand), "[%c]%s", *text, text + 1);
		hint_at_names(t->s, text);
	} else if (strlen(text) < sizeof(n->operand) && strpbrk(text, "*?") && !strpbrk(text, "[]\\ \"'")) {
		snprintf(n->operand, sizeof(n->operand), "%s", text);
	}
}

static void take_depth(struct ts_sql_terms *n, char op, sqlite3_value *value)
{
	sqlite3_int64 v = sqlite3_value_int64(value) - (op == '<');

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	n->is_empty |= v < 1;
	if (v >= 1 && (uint64_t)v < n->depth)
		n->depth = (uint64_t)v;
}

/* Narrow [n->first, n->last] to the functions @name.  Does nothing if they are unknown. */
static void narrow_function(struct ts_sql_terms *n, const struct ts_ask *ask, const char *name)
{
	uint64_t first = UINT64_MAX, last = 0;
	const struct ts_symbol *x;

	for (size_t i = 0; name && ask->symbols && (x = ts_symbols_get(ask->symbols, i)); i++) {
		if (!x->is_function || strcmp(x->name, name) != 0)
			continue;
		if (!x->len || x->is_open)
			return; /* where it ends is not known */
		first = x->addr < first ? x->addr : first;
		last = x->addr + (x->len - 1) > last ? x->addr + (x->len - 1) : last;
	}
	if (first > last)
		return;
	n->has_addresses = true;
	n->first = first > n->first ? first : n->first;
	n->last = last < n->last ? last : n->last;
	n->is_empty |= n->first > n->last;
}

static void take_term(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, const char *term, size_t len, sqlite3_value *value)
{
	char op = term[len - 1];
	unsigned column = 0;
	uint64_t last;

	if (op == '+') {
		c->n.n_skipped = sqlite3_value_int64(value) > 0 ? (uint64_t)sqlite3_value_int64(value) : 0;
		return;
	}
	while (column < t->n_columns + t->n_arguments &&
	       (strlen(column_name(t, column)) != len - 1 || memcmp(column_name(t, column), term, len - 1) != 0))
		column++;
	if (column >= t->n_columns) {
		take_value(c, t, column, value);
	} else if (ts_sql_is_recording(t, (int)column)) {
		c->n.has_recording = true;
		c->n.recording = ts_sql_find_recording(t->s, (const char *)sqlite3_value_text(value));
	} else if (is_named(t, (int)column, "position")) {
		last = c->n.to - 1;
		narrow(&c->n, op, value, false, &c->n.from, &last);
		c->n.to = last < UINT64_MAX ? last + 1 : last;
	} else if (t->t.operand && is_named(t, (int)column, t->t.operand)) {
		take_operand(&c->n, t, op, (const char *)sqlite3_value_text(value));
	} else if (is_named(t, (int)column, "depth")) {
		take_depth(&c->n, op, value);
	} else if (is_named(t, (int)column, "function")) {
		narrow_function(&c->n, t->s->recordings->ask, (const char *)sqlite3_value_text(value));
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

void ts_sql_take_plan(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, const char *plan, sqlite3_value **values, int n)
{
	const char *p = strchr(plan, ':') + 1;
	bool is_large;

	c->n = (struct ts_sql_terms){ .to = most_steps(t->s), .last = UINT64_MAX, .depth = UINT64_MAX };
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
