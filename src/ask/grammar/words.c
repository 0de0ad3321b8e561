/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <ctype.h>
#include <string.h>

#include "number.h"
#include "question.h"
#include "src/ask/verb.h"

static const struct {
	const char *text;
	unsigned takes; /* any of these; 0: every verb */
} words_of_grammar[TS_N_WORDS] = {
	[TS_WORD_IN] = { "in", TS_TAKES_RANGE | TS_TAKES_MEMORY },
	[TS_WORD_IF] = { "if", TS_TAKES_COND | TS_TAKES_STATE },
	[TS_WORD_AT] = { "at", TS_TAKES_AT },
	[TS_WORD_THREAD] = { "thread", TS_TAKES_THREAD },
	[TS_WORD_FIRST] = { "first", TS_TAKES_BOUND },
	[TS_WORD_LAST] = { "last", TS_TAKES_BOUND },
	[TS_WORD_DEPTH] = { "depth", TS_TAKES_DEPTH },
	[TS_WORD_TREE] = { "tree", TS_TAKES_TREE },
	[TS_WORD_MIN] = { "min", TS_TAKES_MIN },
	[TS_WORD_BY] = { "by", TS_TAKES_BY },
	[TS_WORD_INPUTS] = { "inputs", TS_TAKES_BRANCH },
	[TS_WORD_ADDRESSES] = { "addresses", TS_TAKES_BRANCH },
	[TS_WORD_CHANGES] = { "--changes", TS_TAKES_CHANGES },
	[TS_WORD_PARTIAL] = { "--partial", 0 },
	[TS_WORD_GO] = { "-go", TS_TAKES_GO },
	[TS_WORD_LCOV] = { "--lcov", TS_TAKES_FILES },
	[TS_WORD_DRCOV] = { "--drcov", TS_TAKES_FILES },
	[TS_WORD_EQUAL] = { "==", TS_TAKES_EQUAL },
	[TS_WORD_TO] = { "to", TS_TAKES_TO },
	[TS_WORD_MINUS] = { "minus", TS_TAKES_MINUS },
	[TS_WORD_PROCESS] = { "process", TS_TAKES_MACHINE },
	[TS_WORD_RING] = { "ring", TS_TAKES_MACHINE },
};

/* A word ends at a blank; one that begins with a quote, at the next quote. */
static size_t word_len(const char *p)
{
	size_t n = *p == '"' ? 1 : !strncmp(p, "u16\"", 4) ? 4 : 0;
	bool is_quoted = n != 0;

	for (; p[n]; n++) {
		if (is_quoted && p[n] == '\\' && p[n + 1])
			n++;
		else if (is_quoted && p[n] == '"')
			is_quoted = false;
		else if (!is_quoted && isspace((unsigned char)p[n]))
			break;
	}
	return n;
}

void ts_words_go_to(struct ts_words *w, const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	w->p = p;
	w->len = word_len(p);
}

void ts_words_next(struct ts_words *w)
{
	ts_words_go_to(w, w->p + w->len);
}

bool ts_words_is(const struct ts_words *w, const char *text)
{
	return strlen(text) == w->len && !memcmp(w->p, text, w->len);
}

bool ts_words_fail(const struct ts_words *w, const char *why, struct ts_error *err)
{
	if (!w->len)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the question ends early: %s", why);
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)(w->len < 200 ? w->len : 200), w->p, why);
}

enum ts_word ts_word_named(const char *text, size_t len)
{
	unsigned i = 0;

	while (i < TS_N_WORDS && (strlen(words_of_grammar[i].text) != len || memcmp(words_of_grammar[i].text, text, len)))
		i++;
	return (enum ts_word)i;
}

const char *ts_word_text(enum ts_word word)
{
	return words_of_grammar[word].text;
}

bool ts_word_is_taken(enum ts_word word, const struct ts_verb *verb)
{
	return !words_of_grammar[word].takes || words_of_grammar[word].takes & verb->takes;
}

/* May the word be the name of a process?  After a symbol `process` a word of the grammar follows, or the kinds of accesses. */
static bool is_name(const struct ts_words *w)
{
	return ts_word_named(w->p, w->len) == TS_N_WORDS && (w->len > 3 || strspn(w->p, "rwx") < w->len);
}

/* process and ring may be names of functions: they are words where a number follows, or the name of a process. */
enum ts_word ts_words_find(const struct ts_words *w)
{
	enum ts_word word = w->is_value ? TS_N_WORDS : ts_word_named(w->p, w->len);
	struct ts_words after = *w;

	if (word != TS_WORD_PROCESS && word != TS_WORD_RING)
		return word;
	ts_words_next(&after);
	return after.len && (isdigit((unsigned char)*after.p) || (word == TS_WORD_PROCESS && is_name(&after))) ? word : TS_N_WORDS;
}

bool ts_words_have_operand(const struct ts_words *w, const struct ts_verb *verb)
{
	enum ts_word word = ts_words_find(w);

	return w->len && (word == TS_N_WORDS || !ts_word_is_taken(word, verb));
}

bool ts_words_copy(char *to, struct ts_words *w, struct ts_error *err)
{
	if (!w->len || w->len >= TS_MAX_WORD)
		return ts_words_fail(w, w->len ? "is too long" : "a word is missing", err);
	memcpy(to, w->p, w->len);
	to[w->len] = 0;
	ts_words_next(w);
	return true;
}

bool ts_words_number(struct ts_words *w, uint64_t *value, struct ts_error *err)
{
	bool is_large = false;

	if (!ts_number_parse(w->p, w->len, TS_COMMAS_GROUP, value, &is_large))
		return ts_words_fail(w, !w->len ? "a number is missing" : is_large ? "is too large" : "is not a number",
				     err);
	ts_words_next(w);
	return true;
}
