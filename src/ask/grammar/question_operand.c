/* SPDX-License-Identifier: MIT */
#include "question_operand.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marks.h"
#include "question.h"
#include "question_places.h"
#include "words.h"
#include "src/ask/verb.h"
#include "src/symbols/meanings.h"
#include "src/symbols/symbols.h"

static bool is_about_code(const struct ts_verb *verb)
{
	return !strcmp(verb->name, "executions") || !strcmp(verb->name, "calls") || !strcmp(verb->name, "next-exec") ||
	       !strcmp(verb->name, "last-exec") || !strcmp(verb->name, "steps") || !strcmp(verb->name, "compares") || !strcmp(verb->name, "coverage");
}

/* Where the word ends, that of parentheses and with @has_angles of angle brackets, too; 0 if one is left open. */
static size_t joined_len(const struct ts_words *w, bool has_angles)
{
	unsigned depth = 0;
	size_t i = 0;

	for (; w->p[i] && (depth || i < w->len || !isspace((unsigned char)w->p[i])); i++) {
		depth += w->p[i] == '(' || (has_angles && w->p[i] == '<');
		depth -= depth && (w->p[i] == ')' || (has_angles && w->p[i] == '>'));
	}
	return depth ? 0 : i;
}

/* The blanks in f(int, char), and in map<int, char>::find, do not end the word; operator< opens nothing. */
static void join_parameters(struct ts_words *w)
{
	size_t n = memmem(w->p, w->len, "operator", strlen("operator")) ? 0 : joined_len(w, true);

	if (!n)
		n = joined_len(w, false);
	if (n)
		w->len = n;
}

/* A function that is called at some places, and was inlined at others: only the calls are rows. */
static void note_inlined(struct ts_question *qn, const struct ts_ask *ask, const struct ts_words *w)
{
	struct ts_meanings all;
	size_t n;

	if (qn->what.is_inlined)
		snprintf(qn->local_note, sizeof(qn->local_note),
			 "the function was inlined at 0x%" PRIx64 ": rows are those of its first instruction there, of which an unrolled loop has more",
			 qn->what.addr);
	if (!ask->symbols || !qn->what.is_function || qn->what.is_inlined || isdigit((unsigned char)*w->p))
		return;
	ts_symbols_mean_inlined(ask->symbols, w->p, w->len, &all);
	if (!all.n)
		return;
	n = (size_t)snprintf(qn->local_note, sizeof(qn->local_note), "where the function was inlined it is not in these rows:");
	for (unsigned i = 0; i < all.n && i < TS_MAX_MEANINGS && n < sizeof(qn->local_note) - 80; i++)
		n += (size_t)snprintf(qn->local_note + n, sizeof(qn->local_note) - n, "%s 0x%" PRIx64, i ? "," : "", all.items[i].addr);
	if (all.n > TS_MAX_MEANINGS)
		snprintf(qn->local_note + n, sizeof(qn->local_note) - n, " and %u more", all.n - TS_MAX_MEANINGS);
}

/* 'at': a name that is a word of questions. */
static bool is_quoted(const struct ts_words *w)
{
	return w->len > 2 && w->p[0] == '\'' && memchr(w->p + 1, '\'', w->len - 1) == w->p + w->len - 1;
}

static bool parse_what(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
		       struct ts_error *err)
{
	const char *text;
	size_t len;

	if (!ts_words_have_operand(w, qn->verb))
		return ts_words_fail(w, w->len ? "stands where a register, an address or a symbol is expected"
						     : "a register, an address or a symbol is expected", err);
	join_parameters(w);
	text = w->p + is_quoted(w);
	len = w->len - 2 * (size_t)is_quoted(w);
	if (ask->symbols && !is_about_code(qn->verb) && ts_what_may_be_variable(text, len)) {
		qn->local = text;
		qn->local_len = len;
	}
	if (!(is_about_code(qn->verb) ? ts_what_parse_code : ts_what_parse)(&qn->what, text, len,
									    ts_query_regset(ask->q), ask->symbols, err)) {
		if (!qn->local_len || err->code != TS_EUSAGE)
			return false;
		ts_error_reset(err);
		qn->what.kind = TS_WHAT_NONE;
	}
	if (qn->what.kind == TS_WHAT_REG && (qn->verb->operand == TS_OPERAND_MEMORY ||
					     qn->verb->operand == TS_OPERAND_MEMORY_OR_NONE ||
					     qn->verb->operand == TS_OPERAND_CODE_OR_NONE))
		return ts_words_fail(w, "is a register, and registers have no such accesses", err);
	if (qn->what.is_physical && !ts_query_facts(ask->q)->is_physical)
		return ts_words_fail(w, "is a physical address, and only recordings of whole machines have such ones", err);
	if (qn->what.is_physical && !(qn->verb->takes & TS_TAKES_PHYSICAL))
		return ts_words_fail(w, "is a physical address, which only history, accesses, last-X, next-X, memory and strings take", err);
	if (is_about_code(qn->verb))
		note_inlined(qn, ask, w);
	ts_words_next(w);
	return true;
}

static bool is_pattern(const struct ts_words *w)
{
	return memchr(w->p, '*', w->len) || memchr(w->p, '?', w->len) || memchr(w->p, '[', w->len);
}

/* Do functions with different parameters have this name?  calls takes them all. */
static bool is_overloaded(const struct ts_ask *ask, const struct ts_words *w)
{
	return ask->symbols && ts_symbols_is_overloaded(ask->symbols, w->p, w->len);
}

/* Is an entry of a procedure linkage table all that is known of the function?  @name gets its name. */
static bool is_linked(const struct ts_ask *ask, const struct ts_words *w, char name[TS_MAX_WORD])
{
	int len = snprintf(name, TS_MAX_WORD, "%.*s", (int)w->len, w->p);
	char linked[TS_MAX_WORD + sizeof(TS_LINKED)];

	if (!ask->symbols || ts_symbols_find(ask->symbols, w->p, w->len) || len >= TS_MAX_WORD)
		return false;
	len = snprintf(linked, sizeof(linked), "%s%s", name, TS_LINKED);
	return ts_symbols_find(ask->symbols, linked, (size_t)len) != NULL;
}

static bool parse_callee(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
			 struct ts_error *err)
{
	if (is_pattern(w) || is_overloaded(ask, w))
		return ts_words_copy(qn->operand, w, err);
	if (is_linked(ask, w, qn->operand)) {
		ts_words_next(w);
		return true;
	}
	*qn->operand = 0;
	if (!parse_what(qn, ask, w, err))
		return false;
	return !qn->what.is_inlined || ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the function was inlined at 0x%" PRIx64 ", and is not called: 'executions 0x%" PRIx64 "' lists when it ran",
					       qn->what.addr, qn->what.addr);
}

/* Names of registers, with or without '$': without it, and a blank apart, to the operand. */
static bool parse_registers(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	size_t len = 0;

	while (ts_words_have_operand(w, qn->verb)) {
		bool has_sigil = *w->p == '$';
		const char *name = w->p + has_sigil;
		size_t n = w->len - has_sigil;
		struct ts_what what;

		if (!ts_what_register(&what, name, n, ts_query_regset(ask->q)))
			return ts_words_fail(w, "is not a register", err);
		if (len + n + 2 > sizeof(qn->operand))
			return ts_words_fail(w, "is one register too many", err);
		len += (size_t)snprintf(qn->operand + len, sizeof(qn->operand) - len, "%s%.*s", len ? " " : "", (int)n,
					name);
		ts_words_next(w);
	}
	return true;
}

bool ts_question_verb_word(struct ts_question *qn, struct ts_words *w)
{
	for (const struct ts_verb_word *x = qn->verb->words; x && x->word; x++) {
		if (ts_words_is(w, x->word)) {
			qn->verb = x->verb;
			ts_words_next(w);
			return true;
		}
	}
	return false;
}

bool ts_question_operand(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	const struct ts_verb *verb = qn->verb;
	size_t n;

	if (verb->takes & TS_TAKES_BRANCH && ts_words_is(w, "branch")) {
		qn->is_branch = true;
		ts_words_next(w);
		return true;
	}
	switch (verb->operand) {
	case TS_OPERAND_NONE:
		ts_question_verb_word(qn, w);
		return true;
	case TS_OPERAND_WHAT_OR_NONE:
	case TS_OPERAND_MEMORY_OR_NONE:
		if (!ts_words_have_operand(w, verb))
			return true;
		/* fallthrough */
	case TS_OPERAND_WHAT:
	case TS_OPERAND_MEMORY:
		return parse_what(qn, ask, w, err);
	case TS_OPERAND_CODE_OR_NONE:
		if (!ts_words_have_operand(w, verb))
			return true;
		return ts_what_is_line(w->p, w->len, ask->symbols) ? ts_words_copy(qn->operand, w, err) : parse_what(qn, ask, w, err);
	case TS_OPERAND_REGISTERS_OR_NONE:
		return parse_registers(qn, ask, w, err);
	case TS_OPERAND_CALLEE_OR_NONE:
		if (!ts_words_have_operand(w, verb))
			return true;
		return parse_callee(qn, ask, w, err);
	case TS_OPERAND_VALUE:
		if (!w->len)
			return ts_words_fail(w, "a value is missing", err);
		n = ts_value_parse(&qn->value, w->p, ts_query_regset(ask->q)->arch->is_big_endian, err);
		ts_words_go_to(w, w->p + n);
		return n != 0;
	case TS_OPERAND_KIND_OR_NONE:
		return !ts_words_have_operand(w, verb) || ts_words_copy(qn->operand, w, err);
	case TS_OPERAND_PLACE:
		return ts_question_place(&qn->place, ask, w, ts_question_here(ask, verb), err);
	case TS_OPERAND_NAME:
		if (w->len && !ts_marks_is_name(w->p, w->len))
			return ts_words_fail(w, "cannot be the name of a mark", err);
		return ts_words_copy(qn->operand, w, err);
	}
	return false;
}
