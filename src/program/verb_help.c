/* SPDX-License-Identifier: MIT */
#include "cli_operands.h"

#include <string.h>

#include "src/ask/verb.h"
#include "src/program/open/opening.h"

/* Where sentences begin, and lines end. */
#define HELP_COLUMN 34
#define LINE_WIDTH  80

/* The words that questions have beside those of the synopsis, and the verbs that accept them. */
static const struct {
	unsigned takes;
	const char *word, *text;
} words[] = {
	{ TS_TAKES_RANGE, "in A:B", "rows whose position k has A <= k < B; A or B may be left out" },
	{ TS_TAKES_MINUS, "minus A:B", "without what was executed at these positions" },
	{ TS_TAKES_COND, "if value OP N", "rows whose new value compares with N: == != < <= > >=" },
	{ TS_TAKES_STATE, "if COND", "rows where it holds: $rdi > 5 && *(u32 *)0x404000 != 0" },
	{ TS_TAKES_RESULT, "if result OP N", "calls whose result compares with N" },
	{ TS_TAKES_MACHINE, "process C, ring N", "of a machine: while cr3 has the page tables at C; while code runs in ring N" },
	{ TS_TAKES_THREAD, "thread T", "that thread, by its number in the column thread" },
	{ TS_TAKES_BOUND, "first N, last N", "at most N rows, from the first or up to the last" },
	{ TS_TAKES_AT, "at PLACE", "the position of the question: 1000, 50%, end, a mark, next|previous write WHAT" },
	{ TS_TAKES_CHANGES, "--changes", "no writes of the value that was there" },
	{ TS_TAKES_GO, "-go", "go there (in a session)" },
	{ TS_TAKES_DEPTH, "depth N", "a depth of at most N" },
	{ TS_TAKES_BRANCH, "inputs", "the leaves alone: bytes of input, constants, what was there at the start" },
	{ TS_TAKES_BRANCH, "addresses", "registers of addresses count, too: tables that input chose from" },
	{ TS_TAKES_KINDS, "r, w, x", "reads, writes, executions, or several of them, such as rwx; else rw" },
	{ TS_TAKES_BY, "by address", "instructions instead of functions" },
	{ TS_TAKES_EQUAL, "== N", "comparisons with this number on one side" },
	{ TS_TAKES_MIN, "min N", "texts of at least N characters" },
	{ TS_TAKES_MEMORY, "in memory ADDR:END", "only there" },
	{ TS_TAKES_TREE, "tree", "indented by depth" },
	{ TS_TAKES_TO, "to KIND", "rows of one kind: copy compute compare branch address call output overwritten" },
};

/* The sentence in lines of at most 80 characters; the first one is at @column already. */
static void put_lines(FILE *out, const char *text, size_t column)
{
	for (size_t at = column; *text;) {
		size_t len = strcspn(text, " ");

		if (at > column && at + 1 + len > LINE_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			at += (size_t)fprintf(out, " ");
		}
		at += (size_t)fprintf(out, "%.*s", (int)len, text);
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}

/* The same after a line that is at @at. */
static void put_wrapped(FILE *out, const char *text, size_t at, size_t column)
{
	if (at + 2 > column)
		fputc('\n', out);
	fprintf(out, "%*s", (int)(at + 2 > column ? column : column - at), "");
	put_lines(out, text, column);
}

static size_t put_words(FILE *out, const struct ts_verb *verb)
{
	return (size_t)fprintf(out, "  %s%s%s", verb->name, *verb->synopsis ? " " : "", verb->synopsis);
}

void ts_verb_help_list(FILE *out)
{
	size_t n;
	const struct ts_verb *const *verbs = ts_verbs(&n);

	for (size_t i = 0; i < n; i++)
		put_wrapped(out, verbs[i]->help, put_words(out, verbs[i]), HELP_COLUMN);
	fputs("'tracestub help VERB' says more; 'man 7 tracestub-queries' says all\n", out);
}

static void put_page(const struct ts_verb *verb)
{
	char columns[512] = "";
	size_t len = 0;

	printf("usage:\n  tracestub query TRACE %s%s%s\n\n", verb->name, *verb->synopsis ? " " : "", verb->synopsis);
	put_lines(stdout, verb->help, 0);
	for (unsigned i = 0; i < verb->n_columns; i++)
		len += (size_t)snprintf(columns + len, sizeof(columns) - len, "%s%s", i ? " " : "", verb->columns[i].name);
	put_wrapped(stdout, columns, (size_t)printf("\ncolumns:") - 1, 10);
	for (size_t i = 0, n = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!(verb->takes & words[i].takes))
			continue;
		printf("%s", n++ ? "" : "\nwords:\n");
		put_wrapped(stdout, words[i].text, (size_t)printf("  %s", words[i].word), 24);
	}
	printf("\nexample:\n  tracestub query TRACE '%s'\n", verb->example);
}

bool ts_verb_help_print(const char *name)
{
	const struct ts_verb *verb = ts_verb_find(name, strlen(name));
	bool is_formats = !strcmp(name, "formats");

	if (verb)
		put_page(verb);
	if (is_formats)
		ts_opening_list_formats();
	return verb || is_formats;
}
