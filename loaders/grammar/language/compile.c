/* SPDX-License-Identifier: MIT */
/*
 * A grammar file: its statements.  pattern.c has the language of patterns.
 */
#include <string.h>

#include "grammar.h"
#include "pattern.h"
#include "scan.h"
#include "src/arch/arch.h"

#define HEAD "tracestub grammar 1 "

/* Copy a word to a field of @size bytes.  Returns false if it is empty or too long. */
static bool take_field(struct grammar_scan *s, struct grammar_word w, char *to, size_t size)
{
	size_t at = (size_t)(w.text - s->text);

	if (!w.len)
		return grammar_scan_fail(s, at, "a word is missing");
	if (w.len >= size)
		return grammar_scan_fail(s, at, "more than %zu characters", size - 1);
	memcpy(to, w.text, w.len);
	to[w.len] = 0;
	return true;
}

static bool take_archs(struct grammar *g, struct grammar_scan *s)
{
	while (grammar_scan_blanks(s)) {
		size_t at = s->at;

		if (g->n_archs == GRAMMAR_MAX_ARCHS)
			return grammar_scan_fail(s, at, "more than %u processors", GRAMMAR_MAX_ARCHS);
		if (!take_field(s, grammar_scan_word(s, ""), g->archs[g->n_archs], sizeof(g->archs[0])))
			return false;
		if (!ts_arch_find(g->archs[g->n_archs]))
			return grammar_scan_fail(s, at, "\"%s\" is not the name of a processor", g->archs[g->n_archs]);
		g->n_archs++;
	}
	return g->n_archs || grammar_scan_fail(s, s->at, "the name of a processor is missing");
}

static bool take_choice(struct grammar_scan *s, const char *const *words, uint8_t *choice)
{
	size_t at;
	struct grammar_word w;

	grammar_scan_blanks(s);
	at = s->at;
	w = grammar_scan_word(s, "");
	for (uint8_t i = 0; words[i]; i++) {
		if (grammar_word_is(w, words[i])) {
			*choice = i;
			return true;
		}
	}
	return grammar_scan_fail(s, at, "\"%.*s\" is not one of the words that may be here", (int)w.len,
				 w.text);
}

static bool take_missing(struct grammar *g, struct grammar_scan *s)
{
	static const char *const words[] = { "unchanged", "unknown", "zero", NULL };

	return take_choice(s, words, &g->missing);
}

/* *is_second gets which of two words it is. */
static bool take_either(struct grammar_scan *s, const char *first, const char *second, bool *is_second)
{
	const char *const words[] = { first, second, NULL };
	uint8_t choice = 0;
	bool done = take_choice(s, words, &choice);

	*is_second = choice == 1;
	return done;
}

static bool take_size(struct grammar *g, struct grammar_scan *s)
{
	return take_either(s, "shown", "insn", &g->is_sized_by_insn);
}

static bool take_lists(struct grammar *g, struct grammar_scan *s)
{
	return take_either(s, "some", "all", &g->is_complete);
}

static bool take_changes(struct grammar *g, struct grammar_scan *s)
{
	return take_either(s, "some", "all", &g->has_all_changes);
}

static bool take_last(struct grammar *g, struct grammar_scan *s)
{
	return take_either(s, "closed", "open", &g->is_open_end);
}

static bool take_number(struct grammar_scan *s, unsigned max, unsigned *n)
{
	size_t at;
	struct grammar_word w;

	grammar_scan_blanks(s);
	at = s->at;
	w = grammar_scan_word(s, "");
	*n = 0;
	for (size_t i = 0; i < w.len; i++) {
		if (w.text[i] < '0' || w.text[i] > '9')
			return grammar_scan_fail(s, at, "not a decimal number");
		*n = *n * 10 + (unsigned)(w.text[i] - '0');
		if (*n > max)
			return grammar_scan_fail(s, at, "a number of at most %u is expected", max);
	}
	return w.len || grammar_scan_fail(s, at, "a number is missing");
}

static bool take_probe(struct grammar *g, struct grammar_scan *s)
{
	return take_number(s, 64, &g->probe_bits) && take_number(s, 100, &g->probe_lines);
}

/* "[ARCH:] NAME=REG ..." or, of "ignore", "NAME ...". */
static bool take_names(struct grammar *g, struct grammar_scan *s, bool is_ignore)
{
	struct grammar_word arch = { s->text, 0 };

	while (grammar_scan_blanks(s)) {
		size_t at = s->at;
		struct grammar_word w = grammar_scan_word(s, "");
		struct grammar_name *name = &g->names[g->n_names];

		if (w.len && w.text[w.len - 1] == ':') {
			arch = (struct grammar_word){ w.text, w.len - 1 };
			continue;
		}
		if (!is_ignore && !memchr(w.text, '=', w.len))
			return grammar_scan_fail(s, at, "NAME=REGISTER is expected");
		if (g->n_names == GRAMMAR_MAX_NAMES)
			return grammar_scan_fail(s, at, "more than %u names", GRAMMAR_MAX_NAMES);
		if (!grammar_text(g, s, at, w.text, w.len, &name->at) ||
		    !grammar_text(g, s, at, arch.text, arch.len, &name->arch))
			return false;
		name->len = (uint32_t)w.len;
		name->arch_len = (uint32_t)arch.len;
		grammar_scan_place(s, at, &name->line, &name->column);
		g->n_names++;
	}
	return true;
}

static bool take_items(struct grammar *g, struct grammar_scan *s)
{
	size_t at;
	unsigned list;
	struct grammar_word w;

	grammar_scan_blanks(s);
	at = s->at;
	w = grammar_scan_word(s, "");
	if (!grammar_list_find(g, s, at, w, &list))
		return false;
	if (g->lists[list].n)
		return grammar_scan_fail(s, at, "the items of \"%.*s\" are listed twice", (int)w.len, w.text);
	return grammar_patterns(g, s, GRAMMAR_ITEM, list);
}

/* ---------------------------------------------------------------------------------------------- statements */

static bool take_summary(struct grammar *g, struct grammar_scan *s)
{
	return take_field(s, grammar_scan_rest(s), g->summary, sizeof(g->summary));
}

static bool take_lacks(struct grammar *g, struct grammar_scan *s)
{
	return take_field(s, grammar_scan_rest(s), g->lacks, sizeof(g->lacks));
}

static bool take_thread(struct grammar *g, struct grammar_scan *s)
{
	return take_field(s, grammar_scan_rest(s), g->thread_word, sizeof(g->thread_word));
}

static bool take_refusal(struct grammar *g, struct grammar_scan *s)
{
	return take_field(s, grammar_scan_rest(s), g->refusal, sizeof(g->refusal));
}

static bool take_sign(struct grammar *g, struct grammar_scan *s)
{
	grammar_scan_blanks(s);
	return grammar_literal(g, s, &g->sign, &g->sign_len);
}

static bool take_begin(struct grammar *g, struct grammar_scan *s)
{
	grammar_scan_blanks(s);
	return grammar_literal(g, s, &g->begin, &g->begin_len);
}

static bool take_name(struct grammar *g, struct grammar_scan *s)
{
	return take_names(g, s, false);
}

static bool take_ignore(struct grammar *g, struct grammar_scan *s)
{
	return take_names(g, s, true);
}

static const struct {
	const char *word;
	bool (*take)(struct grammar *g, struct grammar_scan *s);
} settings[] = {
	{ "arch", take_archs },	  { "begin", take_begin },  { "ignore", take_ignore },   { "items", take_items }, { "lacks", take_lacks },
	{ "changes", take_changes }, { "last-line", take_last }, { "lists", take_lists }, { "missing", take_missing }, { "name", take_name },	{ "probe", take_probe },
	{ "refusal", take_refusal }, { "sign", take_sign }, { "size", take_size },	  { "summary", take_summary }, { "thread", take_thread },
};

static const struct {
	const char *word;
	enum grammar_kind kind;
} kinds[] = {
	{ "step", GRAMMAR_STEP }, { "state", GRAMMAR_STATE },	{ "join", GRAMMAR_JOIN }, { "effect", GRAMMAR_EFFECT }, { "next", GRAMMAR_NEXT },
	{ "code", GRAMMAR_CODE }, { "load", GRAMMAR_LOAD },	{ "unload", GRAMMAR_UNLOAD }, { "gap", GRAMMAR_GAP },
	{ "note", GRAMMAR_NOTE }, { "event", GRAMMAR_EVENT },	{ "undo", GRAMMAR_UNDO }, { "refuse", GRAMMAR_REFUSE },
	{ "prefix", GRAMMAR_PREFIX }, { "skip", GRAMMAR_SKIP }, { "take", GRAMMAR_TAKE },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool take_statement(struct grammar *g, struct grammar_scan *s)
{
	size_t at = s->at;
	struct grammar_word w = grammar_scan_word(s, "");

	for (size_t i = 0; i < COUNT(settings); i++) {
		if (!grammar_word_is(w, settings[i].word))
			continue;
		if (!settings[i].take(g, s))
			return false;
		return !grammar_scan_blanks(s) || grammar_scan_fail(s, s->at, "too many words");
	}
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (grammar_word_is(w, kinds[i].word))
			return grammar_patterns(g, s, kinds[i].kind, 0);
	}
	return grammar_scan_fail(s, at, "\"%.*s\" does not begin a statement", w.len < 40 ? (int)w.len : 40,
				 w.text);
}

static bool take_head(struct grammar *g, struct grammar_scan *s)
{
	if (!grammar_scan_statement(s) || s->end - s->at < strlen(HEAD) ||
	    memcmp(s->text + s->at, HEAD, strlen(HEAD)))
		return grammar_scan_fail(s, s->at, "the first line is not \"" HEAD "NAME\"");
	s->at += strlen(HEAD);
	return take_field(s, grammar_scan_rest(s), g->name, sizeof(g->name));
}

/* A number that is the same for each run of tracestub. */
static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

bool grammar_compile(struct grammar *g, const char *text, size_t len, struct ts_error *err)
{
	struct grammar_scan s = { .text = text, .len = len, .err = err };

	memset(g, 0, sizeof(*g));
	g->probe_lines = 3;
	g->prefix = -1;
	if (len > GRAMMAR_MAX_LEN)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "a grammar of more than %u bytes", GRAMMAR_MAX_LEN);
	if (memchr(text, 0, len))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "not a text: there is a NUL byte in it");
	if (!take_head(g, &s))
		return false;
	while (grammar_scan_statement(&s)) {
		if (!take_statement(g, &s))
			return false;
	}
	g->hash = hash_text(text, len);
	return grammar_patterns_done(g, &s);
}
