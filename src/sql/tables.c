/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <stdio.h>
#include <string.h>

#include "src/ask/verbs/verbs.h"

#define CELL(column)        { (column), TS_SQL_CELL, (column), 0 }
#define ITEM(n, list, i)    { (n), TS_SQL_ITEM, (list), (i) }
#define ITEM_TEXT(n, list, i) { (n), TS_SQL_ITEM_TEXT, (list), (i) }

static const struct ts_sql_column step_columns[] = {
	CELL("position"), CELL("thread"), CELL("pc"),	  CELL("module"), CELL("offset"),      CELL("function"),
	CELL("file"),	  CELL("line"),	  CELL("length"), CELL("bytes"),  CELL("instruction"),
};

static const struct ts_sql_column reg_columns[] = {
	CELL("position"), CELL("thread"), CELL("pc"), { "reg", TS_SQL_REGISTER, NULL, 0 }, CELL("old"), CELL("new"),
	CELL("kind"),
};

static const struct ts_sql_column mem_columns[] = {
	CELL("position"), CELL("thread"), CELL("pc"), CELL("address"), CELL("length"), CELL("old"), CELL("new"),
	{ "old_bytes", TS_SQL_BYTES, "old", 0 }, { "new_bytes", TS_SQL_BYTES, "new", 0 }, CELL("kind"),
};

static const struct ts_sql_column call_columns[] = {
	CELL("position"), CELL("begin"), CELL("end"), CELL("kind"), CELL("thread"), CELL("depth"), CELL("pc"),
	CELL("caller"), CELL("address"), CELL("callee"),
	ITEM("arg0", "arguments", 0), ITEM("arg1", "arguments", 1), ITEM("arg2", "arguments", 2),
	ITEM("arg3", "arguments", 3), ITEM("arg4", "arguments", 4), ITEM("arg5", "arguments", 5), CELL("result"),
	ITEM_TEXT("text0", "texts", 0), ITEM_TEXT("text1", "texts", 1), ITEM_TEXT("text2", "texts", 2),
	ITEM_TEXT("text3", "texts", 3), ITEM_TEXT("text4", "texts", 4), ITEM_TEXT("text5", "texts", 5),
};

static const struct ts_sql_column event_columns[] = {
	CELL("position"), CELL("thread"), CELL("kind"), CELL("name"), { "nr", TS_SQL_NUMBER, NULL, 0 },
	ITEM("arg0", "arguments", 0), ITEM("arg1", "arguments", 1), ITEM("arg2", "arguments", 2),
	ITEM("arg3", "arguments", 3), ITEM("arg4", "arguments", 4), ITEM("arg5", "arguments", 5), CELL("result"),
	CELL("error"), CELL("text"),
};

static const struct ts_sql_column branch_columns[] = {
	CELL("position"), CELL("thread"), CELL("pc"), CELL("function"), CELL("instruction"), CELL("taken"),
	CELL("target"), CELL("left"), CELL("right"), CELL("count"),
};

static const struct ts_sql_table tables[] = {
	{ .name = "step", .verb = &ts_verb_steps, TS_COLUMNS(step_columns), .arguments = "", .has_pc = true,
	  .is_each_step = true },
	{ .name = "reg_write", .verb = &ts_verb_history, TS_COLUMNS(reg_columns), .arguments = "", .each = TS_SQL_EACH_REGISTER },
	{ .name = "mem_write", .verb = &ts_verb_history, TS_COLUMNS(mem_columns), .arguments = "",
	  .each = TS_SQL_EACH_PROCESS, .has_address = true },
	{ .name = "mem_read", .verb = &ts_verb_accesses, TS_COLUMNS(mem_columns), .arguments = "", .kinds = "r",
	  .each = TS_SQL_EACH_PROCESS, .has_address = true },
	{ .name = "call", .verb = &ts_verb_calls, TS_COLUMNS(call_columns), .arguments = "w", .operand = "callee" },
	{ .name = "event", .verb = &ts_verb_events, TS_COLUMNS(event_columns), .arguments = "", .operand = "kind" },
	{ .name = "branch", .verb = &ts_verb_compares, TS_COLUMNS(branch_columns), .arguments = "", .has_pc = true },
	{ .name = "thread", .verb = &ts_verb_threads, .arguments = "", .range = "0:end" },
	{ .name = "process", .verb = &ts_verb_processes, .arguments = "", .range = "0:end" },
	{ .name = "module", .verb = &ts_verb_modules, .arguments = "", .range = "0:end", .each = TS_SQL_EACH_PROCESS },
	{ .name = "map", .verb = &ts_verb_maps, .arguments = "", .range = "0:end", .each = TS_SQL_EACH_PROCESS },
	{ .name = "mark", .verb = &ts_verb_marks, .arguments = "" },
	{ .name = "symbol", .verb = &ts_sql_symbols, .arguments = "", .is_list = true },
	{ .name = "line", .verb = &ts_sql_lines, .arguments = "", .is_list = true },
	{ .name = "meta", .verb = &ts_sql_meta, .arguments = "", .is_list = true },
};

const struct ts_sql_table *ts_sql_tables(size_t *n)
{
	*n = sizeof(tables) / sizeof(tables[0]);
	return tables;
}

/* ---------------------------------------------------------------------------------------------- functions */

/* Verbs whose functions have other arguments than their words would give. */
static const struct {
	const char *verb, *arguments;
} special[] = {
	{ "memory", "wlt" }, { "registers", "tw" }, { "strings", "mwab" }, { "compares", "weab" }, { "flows", "wt" },
	{ "threads", "tab" }, { "processes", "tab" }, { "modules", "tab" }, { "maps", "tab" },
};

/* Does the verb do something, or show where a session is? */
static bool is_command(const struct ts_verb *verb)
{
	static const char *const names[] = { "when", "goto", "back", "forward", "mark", "unmark", "marks" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(verb->name, names[i]))
			return true;
	}
	return false;
}

/* what, kinds, the range, the position, the depth: those that the verb takes. */
static void make_arguments(const struct ts_verb *verb, char *letters)
{
	if (verb->operand != TS_OPERAND_NONE)
		*letters++ = 'w';
	if (verb->takes & TS_TAKES_KINDS)
		*letters++ = 'k';
	if (verb->takes & TS_TAKES_RANGE) {
		*letters++ = 'a';
		*letters++ = 'b';
	}
	if (verb->takes & TS_TAKES_AT)
		*letters++ = 't';
	if (verb->takes & TS_TAKES_DEPTH)
		*letters++ = 'd';
	*letters = 0;
}

static const char *arguments_of(const struct ts_verb *verb, char letters[12])
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (!strcmp(special[i].verb, verb->name))
			return special[i].arguments;
	}
	make_arguments(verb, letters);
	return letters;
}

/* The @i-th of the words by which a question becomes one about another verb: blocks(), loops(). */
static bool word_function(size_t i, struct ts_sql_table *t, char name[64], char *letters)
{
	size_t n, at = 0;
	const struct ts_verb *const *verbs = ts_verbs(&n);

	for (size_t k = 0; k < n; k++) {
		for (const struct ts_verb_word *w = verbs[k]->words; w && w->word; w++) {
			if (at++ < i)
				continue;
			snprintf(name, 64, "%s", w->word);
			*t = (struct ts_sql_table){ .name = name, .verb = w->verb, .arguments = arguments_of(w->verb, letters) };
			return true;
		}
	}
	return false;
}

bool ts_sql_function(size_t i, struct ts_sql_table *t, char name[64])
{
	static char letters[12];
	size_t n;
	const struct ts_verb *const *verbs = ts_verbs(&n);
	size_t at = 0;

	for (size_t k = 0; k < n; k++) {
		if (is_command(verbs[k]) || at++ < i)
			continue;
		for (at = 0; verbs[k]->name[at] && at < 63; at++)
			name[at] = (char)(verbs[k]->name[at] == '-' ? '_' : verbs[k]->name[at]);
		name[at] = 0;
		*t = (struct ts_sql_table){ .name = name, .verb = verbs[k], .arguments = arguments_of(verbs[k], letters) };
		return true;
	}
	return word_function(i - at, t, name, letters);
}

const char *ts_sql_argument_name(char letter)
{
	switch (letter) {
	case 'w': return "what";
	case 'l': return "size";
	case 'k': return "kinds";
	case 'm': return "min";
	case 'e': return "equal";
	case 'a': return "from_position";
	case 'b': return "to_position";
	case 't': return "at_position";
	default: return "max_depth";
	}
}

void ts_sql_declare(const struct ts_sql *s, const struct ts_sql_table *t, struct ts_buf *out)
{
	ts_buf_printf(out, "CREATE TABLE %s(%s", t->name, ts_sql_n_own(s) ? "\"recording\", " : "");
	for (unsigned i = 0; i < (t->columns ? t->n_columns : t->verb->n_columns); i++)
		ts_buf_printf(out, "%s\"%s\"", i ? ", " : "", t->columns ? t->columns[i].name : t->verb->columns[i].name);
	for (const char *c = t->arguments; *c; c++)
		ts_buf_printf(out, ", \"%s\" HIDDEN", ts_sql_argument_name(*c));
	ts_buf_puts(out, ")");
}
