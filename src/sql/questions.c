/* SPDX-License-Identifier: MIT */
/* From what the terms leave to questions, one after the other, and to their rows. */
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/query/query.h"
#include "src/symbols/names.h"

/* The words of one question. */
struct words {
	struct ts_argument items[12];
	size_t n;
};

static void add_word(struct words *w, enum ts_argument_kind kind, const char *word, const char *value)
{
	w->items[w->n++] = (struct ts_argument){ .kind = kind, .word = word, .value = value };
}

static const char *value_of(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, char letter)
{
	const char *at = strchr(t->t.arguments, letter);

	return at && *c->n.values[at - t->t.arguments] ? c->n.values[at - t->t.arguments] : NULL;
}

static void add_argument(struct words *w, const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, char letter,
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

static bool is_anything_wanted(const struct ts_sql_cursor *c, const char *name)
{
	return !*c->n.reg || !strcmp(c->n.reg, name);
}

/* The next register and thread.  Returns false after the last one. */
static bool next_register(struct ts_sql_cursor *c, struct words *w)
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

static bool next_process(struct ts_sql_cursor *c, struct words *w)
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

static bool next_of_each(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct words *w)
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

static void add_range(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct words *w)
{
	const char *a = value_of(c, t, 'a'), *b = value_of(c, t, 'b');

	if (t->t.range) {
		add_word(w, TS_ARGUMENT_WORD, "in", t->t.range);
	} else if (a || b) {
		snprintf(c->words[3], sizeof(c->words[3]), "%.200s:%.200s", a ? a : "", b ? b : "");
		add_word(w, TS_ARGUMENT_WORD, "in", c->words[3]);
	} else if (ts_sql_has_positions(t) && (c->n.from || c->n.to < c->ask->n_steps)) {
		snprintf(c->words[3], sizeof(c->words[3]), "%" PRIu64 ":%" PRIu64, c->n.from, c->n.to);
		add_word(w, TS_ARGUMENT_WORD, "in", c->words[3]);
	}
}

static void add_operand(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct words *w)
{
	const char *what = value_of(c, t, 'w'), *len = value_of(c, t, 'l');

	if (what && len) {
		snprintf(c->words[0], sizeof(c->words[0]), "%.200s,%.100s", what, len);
		what = c->words[0];
	}
	if (t->t.has_address || (t->t.has_pc && c->n.has_addresses))
		what = "0x0"; /* its range is put in afterwards */
	if (!what && *c->n.operand)
		what = c->n.operand;
	if (what)
		add_word(w, TS_ARGUMENT_OPERAND, NULL, what);
	if (c->n.depth < UINT64_MAX) {
		snprintf(c->words[4], sizeof(c->words[4]), "%" PRIu64, c->n.depth);
		add_word(w, TS_ARGUMENT_WORD, "depth", c->words[4]);
	}
}

/* May a row of the recording satisfy the terms? */
static bool may_have_rows(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, const struct ts_sql_recording *r)
{
	bool has_positions = !t->t.range && ts_sql_has_positions(t);

	if (c->n.is_empty || (c->n.has_recording && r != c->n.recording))
		return false;
	if (c->n.has_thread && ts_names_thread(r->ask->names, c->n.tid) == TS_NO_THREAD)
		return false;
	return !has_positions || (c->n.from < c->n.to && c->n.from < r->ask->n_steps);
}

/* The next recording that may have rows.  Returns false after the last one. */
static bool next_recording(struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
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

static void set_addresses(struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);
	uint64_t last = c->n.last < mask ? c->n.last : mask;
	bool is_wider = t->t.has_address && c->n.has_addresses;

	c->qn.what = (struct ts_what){ .kind = TS_WHAT_MEM, .addr = c->n.first - (is_wider && c->n.first), .last = last };
	if (is_wider)
		c->qn.what.last = mask - last < WIDER ? mask : last + WIDER;
}

static bool make_question(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct words *w, struct ts_error *err)
{
	c->has_question = true;
	if (!ts_question_parse_arguments(&c->qn, c->ask, t->t.verb, w->items, w->n, err))
		return false;
	if (t->t.has_address || (t->t.has_pc && c->n.has_addresses))
		set_addresses(c, t);
	if (c->qn.count == TS_NO_LIMIT)
		c->qn.count = TS_NO_LIMIT - 1; /* all rows: without a number hot has 20 */
	return true;
}

/* Would the question decode more than may be?  The index says nothing of these verbs without WHAT. */
static bool is_scan(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	bool decodes = (!strcmp(c->qn.verb->name, "steps") || !strcmp(c->qn.verb->name, "compares")) &&
		       c->qn.what.kind == TS_WHAT_NONE && !*c->qn.operand;
	uint64_t to = c->qn.to < c->ask->n_steps ? c->qn.to : c->ask->n_steps;

	decodes |= t->t.has_address && !c->n.has_addresses;
	return decodes && !t->s->options.may_scan && to > c->qn.from && to - c->qn.from > TS_SQL_MAX_SCAN;
}

/* Are the rows as many as the steps of the question, and nothing is wanted of them? */
static bool is_counted(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	return t->t.is_each_step && !c->used && !c->n.has_thread && c->qn.what.kind == TS_WHAT_NONE &&
	       !*c->qn.operand;
}

static int fail(const struct ts_sql_vtab *t, const struct ts_error *err)
{
	struct ts_sql_vtab *vtab = (struct ts_sql_vtab *)t;

	vtab->s->err = *err;
	sqlite3_free(vtab->base.zErrMsg);
	vtab->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return err->code == TS_ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

int ts_sql_fail_in(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct ts_error *err)
{
	if (c->in && ts_sql_n_own(t->s))
		ts_fail_prefix(err, "%s", c->in->name);
	return fail(t, err);
}

bool ts_sql_is_stopped(const struct ts_sql_vtab *t)
{
	return t->s->options.is_stopped && t->s->options.is_stopped(t->s->options.user);
}

void ts_sql_close_question(struct ts_sql_cursor *c)
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
static uint32_t unwanted_columns(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	uint32_t wanted = 0;

	if (!t->t.columns)
		return ~(uint32_t)c->used;
	for (unsigned i = 0; i < t->t.n_columns; i++) {
		int column = ts_sql_verb_column(t->t.verb, t->t.columns[i].cell);

		if (c->used >> i & 1 && column >= 0)
			wanted |= UINT32_C(1) << column;
	}
	return ~wanted;
}

static bool shows_bytes(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	for (unsigned i = 0; t->t.columns && i < t->t.n_columns; i++) {
		if (t->t.columns[i].from == TS_SQL_BYTES && c->used >> i & 1)
			return true;
	}
	return false;
}

/* Find the places of the question, and open its rows. */
static int open_rows(struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	struct ts_error err = { 0 };
	enum ts_next got = TS_MORE;

	ts_anchors_init(&c->anchors, c->ask, &c->qn);
	while (got == TS_MORE) {
		struct ts_budget budget = { TS_SQL_CHUNKS_A_SLICE };

		if (ts_sql_is_stopped(t))
			return SQLITE_INTERRUPT;
		got = ts_anchors_find(&c->anchors, &budget, &err);
	}
	if (got == TS_FAIL)
		return ts_sql_fail_in(c, t, &err);
	if (is_counted(c, t)) {
		uint64_t to = c->qn.to < c->ask->n_steps ? c->qn.to : c->ask->n_steps;

		c->n_counted = to > c->qn.from ? to - c->qn.from : 0;
		return SQLITE_OK;
	}
	if (is_scan(c, t)) {
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF,
			"%s: decodes %" PRIu64 " M steps; narrow position, or allow it with --scan", t->t.name,
			(c->qn.to - c->qn.from) / 1000000);
		return ts_sql_fail_in(c, t, &err);
	}
	if (ts_machine_names_take(c->ask, &c->qn, &err))
		c->rows = ts_rows_open(t->t.verb->rows, c->ask, &c->qn, c->is_reverse, &err);
	if (!c->rows)
		return ts_sql_fail_in(c, t, &err);
	ts_machine_rows_init(&c->machine, c->ask, &c->qn);
	if (t->t.is_list)
		c->machine.columns = 0; /* its names are of no position */
	c->rows->unwanted = unwanted_columns(c, t);
	if (ts_machine_rows_look(&c->machine))
		c->rows->unwanted &= ~(1u << c->machine.position);
	c->row.keeps_bytes = shows_bytes(c, t);
	return SQLITE_OK;
}

int ts_sql_next_question(struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	struct ts_error err = { 0 };
	struct words w = { .n = 0 };

	ts_sql_close_question(c);
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
	return make_question(c, t, &w, &err) ? open_rows(c, t) : ts_sql_fail_in(c, t, &err);
}
