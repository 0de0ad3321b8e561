/* SPDX-License-Identifier: MIT */
#include "question.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "question_operand.h"
#include "question_places.h"
#include "words.h"
#include "src/base/similar.h"
#include "src/symbols/names.h"
#include "src/ask/verb.h"
#include "src/symbols/process_names.h"

static bool refuse_word(const struct ts_verb *verb, const char *word, size_t len, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' takes no '%.*s'", verb->name, (int)len, word);
}

static bool fail_verb(const struct ts_words *w, struct ts_error *err)
{
	const struct ts_verb *const *verbs;
	char typed[32] = "", why[96];
	size_t n;

	memcpy(typed, w->p, w->len < sizeof(typed) ? w->len : 0);
	verbs = ts_verbs(&n);
	for (size_t i = 0; i < n; i++) {
		if (!ts_is_similar(verbs[i]->name, typed))
			continue;
		snprintf(why, sizeof(why), "is not a question, but '%s' is", verbs[i]->name);
		return ts_words_fail(w, why, err);
	}
	return ts_words_fail(w, w->len ? "is not a question" : "a verb is missing", err);
}

/* ---------------------------------------------------------------------------------------------- numbers */

/* The number after "==", which may have a minus. */
static bool parse_equal(struct ts_question *qn, struct ts_words *w, struct ts_error *err)
{
	bool is_negative = w->len > 1 && *w->p == '-';
	struct ts_words number = *w;

	number.p += is_negative;
	number.len -= is_negative;
	if (!ts_words_number(&number, &qn->equal, err))
		return false;
	if (is_negative)
		qn->equal = -qn->equal;
	qn->has_equal = true;
	ts_words_next(w);
	return true;
}

/* [r][w][x], each at most once. */
static void parse_kinds(struct ts_question *qn, struct ts_words *w)
{
	unsigned mask = 0;

	for (size_t i = 0; i < w->len; i++) {
		unsigned bit = w->p[i] == 'r' ? TS_DID_READ : w->p[i] == 'w' ? TS_DID_WRITE :
			       w->p[i] == 'x' ? TS_DID_EXEC : 0;

		if (!bit || mask & bit)
			return;
		mask |= bit;
	}
	if (!mask)
		return;
	qn->accesses = mask;
	ts_words_next(w);
}

static bool parse_count(struct ts_question *qn, struct ts_words *w, struct ts_error *err)
{
	if (!ts_words_have_operand(w, qn->verb))
		return true;
	if (!ts_words_number(w, &qn->count, err))
		return false;
	return qn->count || ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'0' rows cannot be listed");
}

static bool parse_thread(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
			 struct ts_error *err)
{
	struct ts_words name = *w;
	uint64_t tid;

	if (!ts_words_number(w, &tid, err))
		return false;
	qn->thread = tid <= INT64_MAX ? ts_names_thread(ask->names, (int64_t)tid) : TS_NO_THREAD;
	return qn->thread != TS_NO_THREAD || ts_words_fail(&name, "is not a thread of this recording", err);
}

/* A name of --processes, or the address of page tables. */
static bool parse_process(struct ts_words *w, const struct ts_ask *ask, uint64_t *root, struct ts_error *err)
{
	struct ts_words name = *w;
	char text[TS_MAX_WORD];
	size_t n;

	if (!ask->process_names || !w->len)
		return ts_words_number(w, root, err);
	if (!ts_words_copy(text, w, err))
		return false;
	n = ts_process_names_find(ask->process_names, text, root);
	if (n > 1)
		return ts_words_fail(&name, "is the name of several processes: give the address of one", err);
	if (n)
		return true;
	*w = name;
	if (text[0] < '0' || text[0] > '9')
		return ts_words_fail(&name, "is neither a name of --processes nor the address of page tables", err);
	return ts_words_number(w, root, err);
}

static bool parse_machine(struct ts_question *qn, const struct ts_ask *ask, enum ts_word word, struct ts_words *w,
			  struct ts_error *err)
{
	struct ts_words name = *w;
	uint64_t number;

	if (!ts_machine_is_known(ask->q))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' is about cr3 and cs, and only recordings of whole machines have them",
			       ts_word_text(word));
	if (word == TS_WORD_PROCESS ? !parse_process(w, ask, &number, err) : !ts_words_number(w, &number, err))
		return false;
	if (word == TS_WORD_PROCESS && number & 0xfff)
		return ts_words_fail(&name, "is not the address of page tables, as cr3 has it", err);
	if (word == TS_WORD_RING && number > 3)
		return ts_words_fail(&name, "is not a ring: they are 0 to 3", err);
	if (word == TS_WORD_PROCESS) {
		qn->machine.has_process = true;
		qn->machine.process = number;
	} else {
		qn->machine.has_ring = true;
		qn->machine.ring = (unsigned)number;
	}
	return true;
}

static bool parse_bound(struct ts_question *qn, struct ts_words *w, enum ts_bound bound, struct ts_error *err)
{
	struct ts_words number = *w;

	if (qn->bound != TS_BOUND_NONE)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'first' and 'last' stand in one question");
	qn->bound = bound;
	if (!ts_words_number(w, &qn->n_bound, err))
		return false;
	return qn->n_bound || ts_words_fail(&number, "rows cannot be listed", err);
}

/* ------------------------------------------------------------------------------------------ other words */

static bool parse_cond(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
		       struct ts_error *err)
{
	const char *start = w->p, *end = start;

	for (; ts_words_have_operand(w, qn->verb); ts_words_next(w))
		end = w->p + w->len;
	if (end == start)
		return ts_words_fail(w, "a condition is missing", err);
	if (qn->verb->takes & TS_TAKES_STATE) {
		qn->foreign = start;
		qn->foreign_len = (size_t)(end - start);
	}
	if (!ts_cond_parse(&qn->cond, start, (size_t)(end - start), ts_query_regset(ask->q), ask->symbols,
			   err))
		return false;
	if (qn->cond.has_result && !(qn->verb->takes & TS_TAKES_RESULT))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'if %.*s': only calls have a result; example: calls if result == 0",
			       (int)(end - start), start);
	if (qn->cond.is_about_value ? qn->verb->takes & TS_TAKES_COND : qn->verb->takes & TS_TAKES_STATE) {
		qn->foreign = NULL;
		return true;
	}
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'if %.*s' is not about %s", (int)(end - start), start,
		       qn->verb->takes & TS_TAKES_COND ? "value" : "registers or memory");
}

static bool parse_memory_range(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
			       struct ts_error *err)
{
	struct ts_what what;

	if (!w->len)
		return ts_words_fail(w, "a range of memory is missing", err);
	if (qn->memory.kind != TS_WHAT_NONE)
		return ts_words_fail(w, "is a second range of memory", err);
	if (!ts_what_parse(&what, w->p, w->len, ts_query_regset(ask->q), ask->symbols, err))
		return false;
	if (what.kind != TS_WHAT_MEM)
		return ts_words_fail(w, "is not a range of memory", err);
	qn->memory = what;
	ts_words_next(w);
	return true;
}

static bool parse_by(struct ts_question *qn, struct ts_words *w, struct ts_error *err)
{
	if (!ts_words_is(w, "address"))
		return ts_words_fail(w, "is not an order: only 'by address' is", err);
	qn->by_address = true;
	ts_words_next(w);
	return true;
}

/* Clients of a server name no files that it would write. */
static bool parse_file(char *to, const struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	return ask->may_write_files ? ts_words_copy(to, w, err) :
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "only the command tracestub query writes files of coverage");
}

static bool parse_word(struct ts_question *qn, struct ts_ask *ask, enum ts_word word, struct ts_words *w,
		       struct ts_error *err)
{
	switch (word) {
	case TS_WORD_IN:
		return ts_question_take_range(qn, w, err);
	case TS_WORD_IF:
		return parse_cond(qn, ask, w, err);
	case TS_WORD_AT:
		return ts_question_at(qn, ask, w, err);
	case TS_WORD_THREAD:
		return parse_thread(qn, ask, w, err);
	case TS_WORD_FIRST:
		return parse_bound(qn, w, TS_BOUND_FIRST, err);
	case TS_WORD_LAST:
		return parse_bound(qn, w, TS_BOUND_LAST, err);
	case TS_WORD_DEPTH:
		return ts_words_number(w, &qn->depth, err);
	case TS_WORD_TREE:
		qn->is_tree = true;
		return true;
	case TS_WORD_MIN:
		return ts_words_number(w, &qn->min, err);
	case TS_WORD_BY:
		return parse_by(qn, w, err);
	case TS_WORD_LCOV:
		return parse_file(qn->lcov, ask, w, err);
	case TS_WORD_DRCOV:
		return parse_file(qn->drcov, ask, w, err);
	case TS_WORD_TO:
		return ts_words_copy(qn->operand, w, err);
	case TS_WORD_MINUS:
		return ts_question_minus(qn, ask, w, err);
	case TS_WORD_PROCESS:
	case TS_WORD_RING:
		return parse_machine(qn, ask, word, w, err);
	case TS_WORD_EQUAL:
		return parse_equal(qn, w, err);
	case TS_WORD_INPUTS:
		qn->only_inputs = true;
		return true;
	case TS_WORD_ADDRESSES:
		qn->with_addresses = true;
		return true;
	case TS_WORD_CHANGES:
		qn->only_changes = true;
		return true;
	case TS_WORD_PARTIAL:
		qn->is_partial = true;
		return true;
	case TS_WORD_GO:
		qn->goes = true;
		return true;
	case TS_N_WORDS:
		break;
	}
	return false;
}

/* The text of a mark: the rest, if it is no other word. */
static bool take_text(struct ts_question *qn, struct ts_words *w, struct ts_error *err)
{
	size_t len = strlen(w->p);

	while (len && isspace((unsigned char)w->p[len - 1]))
		len--;
	if (len >= sizeof(qn->text))
		return ts_words_fail(w, "begins a text that is too long", err);
	if (memchr(w->p, '\n', len) || memchr(w->p, '\r', len))
		return ts_words_fail(w, "begins a text of several lines", err);
	memcpy(qn->text, w->p, len);
	qn->text[len] = 0;
	ts_words_go_to(w, w->p + strlen(w->p));
	return true;
}

static bool parse_words(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
{
	while (w->len) {
		const struct ts_verb *verb = qn->verb;
		enum ts_word word = ts_words_find(w);
		struct ts_words memory = *w;

		if (verb->takes & TS_TAKES_REST && (word == TS_N_WORDS || w->seen >> word & 1))
			return take_text(qn, w, err);
		if (word == TS_N_WORDS && ts_question_verb_word(qn, w))
			continue;
		if (word == TS_N_WORDS)
			return ts_words_fail(w, "is not understood here", err);
		if (!ts_word_is_taken(word, verb))
			return refuse_word(verb, w->p, w->len, err);
		ts_words_next(&memory);
		if (word == TS_WORD_IN && verb->takes & TS_TAKES_MEMORY && ts_words_is(&memory, "memory")) {
			*w = memory;
			ts_words_next(w);
			if (!parse_memory_range(qn, ask, w, err))
				return false;
			continue;
		}
		if (w->seen >> word & 1)
			return ts_words_fail(w, "is given twice", err);
		w->seen |= 1u << word;
		ts_words_next(w);
		if (!parse_word(qn, ask, word, w, err))
			return false;
	}
	return true;
}

/* A question about @verb (NULL: not known yet) with none of its words. */
static void init(struct ts_question *qn, const struct ts_ask *ask, const struct ts_verb *verb)
{
	*qn = (struct ts_question){ .verb = verb,
				    .thread = TS_NO_THREAD,
				    .to = ask->n_steps + 1,
				    .depth = TS_NO_LIMIT,
				    .min = TS_NO_LIMIT,
				    .count = TS_NO_LIMIT };
}

bool ts_question_parse(struct ts_question *qn, struct ts_ask *ask, const char *text, struct ts_error *err)
{
	struct ts_words w = { 0 };

	init(qn, ask, NULL);
	ts_words_go_to(&w, text);
	qn->verb = ts_verb_find(w.p, w.len);
	if (!qn->verb)
		return fail_verb(&w, err);
	ts_words_next(&w);
	qn->at = ts_question_here(ask, qn->verb);
	if (!ts_question_operand(qn, ask, &w, err))
		return false;
	if (qn->verb->takes & TS_TAKES_KINDS)
		parse_kinds(qn, &w);
	if (qn->verb->takes & TS_TAKES_COUNT && !parse_count(qn, &w, err))
		return false;
	return parse_words(qn, ask, &w, err) && (!qn->has_range || ts_question_range(qn, ask, err));
}

/* -------------------------------------------------------------------------------------------- arguments */

/* A word of the grammar that the verb takes, and what follows it. */
static bool parse_named(struct ts_question *qn, struct ts_ask *ask, const char *name, struct ts_words *w,
			struct ts_error *err)
{
	enum ts_word word = ts_word_named(name, strlen(name));

	if (word == TS_N_WORDS || !ts_word_is_taken(word, qn->verb))
		return refuse_word(qn->verb, name, strlen(name), err);
	return parse_word(qn, ask, word, w, err);
}

/* What a verb must take to have an argument of the kind; 0: that depends on its word. */
static unsigned needed_for(enum ts_argument_kind kind)
{
	switch (kind) {
	case TS_ARGUMENT_KINDS: return TS_TAKES_KINDS;
	case TS_ARGUMENT_COUNT: return TS_TAKES_COUNT;
	case TS_ARGUMENT_MEMORY: return TS_TAKES_MEMORY;
	case TS_ARGUMENT_TEXT: return TS_TAKES_REST;
	case TS_ARGUMENT_OPERAND:
	case TS_ARGUMENT_WORD: break;
	}
	return 0;
}

static bool parse_argument(struct ts_question *qn, struct ts_ask *ask, const struct ts_argument *a,
			   struct ts_words *w, struct ts_error *err)
{
	unsigned needed = needed_for(a->kind);

	if (needed && !(qn->verb->takes & needed))
		return refuse_word(qn->verb, w->p, w->len, err);
	switch (a->kind) {
	case TS_ARGUMENT_OPERAND:
		return ts_question_operand(qn, ask, w, err);
	case TS_ARGUMENT_KINDS:
		parse_kinds(qn, w);
		return true;
	case TS_ARGUMENT_COUNT:
		return parse_count(qn, w, err);
	case TS_ARGUMENT_MEMORY:
		return parse_memory_range(qn, ask, w, err);
	case TS_ARGUMENT_TEXT:
		return take_text(qn, w, err);
	case TS_ARGUMENT_WORD:
		return parse_named(qn, ask, a->word, w, err);
	}
	return false;
}

static bool parse_whole(struct ts_question *qn, struct ts_ask *ask, const struct ts_argument *a,
			struct ts_error *err)
{
	struct ts_words w = { .is_value = true };

	ts_words_go_to(&w, a->value);
	return parse_argument(qn, ask, a, &w, err) && (!w.len || ts_words_fail(&w, "is not understood here", err));
}

bool ts_question_parse_arguments(struct ts_question *qn, struct ts_ask *ask, const struct ts_verb *verb,
				 const struct ts_argument *arguments, size_t n, struct ts_error *err)
{
	struct ts_argument operand = { .kind = TS_ARGUMENT_OPERAND, .value = "" };

	init(qn, ask, verb);
	qn->at = ts_question_here(ask, verb);
	for (size_t i = 0; i < n; i++) {
		if (arguments[i].kind == TS_ARGUMENT_OPERAND)
			operand = arguments[i];
	}
	if (!parse_whole(qn, ask, &operand, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (arguments[i].kind != TS_ARGUMENT_OPERAND && !parse_whole(qn, ask, &arguments[i], err))
			return false;
	}
	return !qn->has_range || ts_question_range(qn, ask, err);
}

void ts_question_fini(struct ts_question *qn)
{
	ts_cond_fini(&qn->cond);
}
