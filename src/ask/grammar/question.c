/* SPDX-License-Identifier: MIT */
#include "question.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "marks.h"
#include "number.h"
#include "src/base/similar.h"
#include "src/symbols/meanings.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/ask/verb.h"

/* What is left of a question. */
struct words {
	const char *p; /* at the next word, or at the end */
	size_t len;    /* of the next word; 0 at the end */
	unsigned seen; /* which words were given */
	bool is_value; /* the value of one argument: it has no words of the grammar */
};

/* The words of the grammar, and what a verb must take to have them. */
enum word {
	WORD_IN,
	WORD_IF,
	WORD_AT,
	WORD_THREAD,
	WORD_FIRST,
	WORD_LAST,
	WORD_DEPTH,
	WORD_TREE,
	WORD_MIN,
	WORD_BY,
	WORD_INPUTS,
	WORD_ADDRESSES,
	WORD_CHANGES,
	WORD_PARTIAL,
	WORD_GO,
	WORD_LCOV,
	WORD_DRCOV,
	WORD_EQUAL,
	WORD_TO,
	WORD_MINUS,
	WORD_PROCESS,
	WORD_RING,
	N_WORDS,
};

static const struct {
	const char *text;
	unsigned takes; /* any of these; 0: every verb */
} words_of_grammar[N_WORDS] = {
	[WORD_IN] = { "in", TS_TAKES_RANGE | TS_TAKES_MEMORY },
	[WORD_IF] = { "if", TS_TAKES_COND | TS_TAKES_STATE },
	[WORD_AT] = { "at", TS_TAKES_AT },
	[WORD_THREAD] = { "thread", TS_TAKES_THREAD },
	[WORD_FIRST] = { "first", TS_TAKES_BOUND },
	[WORD_LAST] = { "last", TS_TAKES_BOUND },
	[WORD_DEPTH] = { "depth", TS_TAKES_DEPTH },
	[WORD_TREE] = { "tree", TS_TAKES_TREE },
	[WORD_MIN] = { "min", TS_TAKES_MIN },
	[WORD_BY] = { "by", TS_TAKES_BY },
	[WORD_INPUTS] = { "inputs", TS_TAKES_BRANCH },
	[WORD_ADDRESSES] = { "addresses", TS_TAKES_BRANCH },
	[WORD_CHANGES] = { "--changes", TS_TAKES_CHANGES },
	[WORD_PARTIAL] = { "--partial", 0 },
	[WORD_GO] = { "-go", TS_TAKES_GO },
	[WORD_LCOV] = { "--lcov", TS_TAKES_FILES },
	[WORD_DRCOV] = { "--drcov", TS_TAKES_FILES },
	[WORD_EQUAL] = { "==", TS_TAKES_EQUAL },
	[WORD_TO] = { "to", TS_TAKES_TO },
	[WORD_MINUS] = { "minus", TS_TAKES_MINUS },
	[WORD_PROCESS] = { "process", TS_TAKES_MACHINE },
	[WORD_RING] = { "ring", TS_TAKES_MACHINE },
};

/* ------------------------------------------------------------------------------------------------- words */

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

static void go_to(struct words *w, const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	w->p = p;
	w->len = word_len(p);
}

static void next_word(struct words *w)
{
	go_to(w, w->p + w->len);
}

static bool is_word(const struct words *w, const char *text)
{
	return strlen(text) == w->len && !memcmp(w->p, text, w->len);
}

static bool fail_word(const struct words *w, const char *why, struct ts_error *err)
{
	if (!w->len)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the question ends early: %s", why);
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)(w->len < 200 ? w->len : 200), w->p, why);
}

static bool refuse_word(const struct ts_verb *verb, const char *word, size_t len, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' takes no '%.*s'", verb->name, (int)len, word);
}

static bool fail_verb(const struct words *w, struct ts_error *err)
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
		return fail_word(w, why, err);
	}
	return fail_word(w, w->len ? "is not a question" : "a verb is missing", err);
}

static enum word find_word_called(const char *text, size_t len)
{
	unsigned i = 0;

	while (i < N_WORDS && (strlen(words_of_grammar[i].text) != len || memcmp(words_of_grammar[i].text, text, len)))
		i++;
	return (enum word)i;
}

/* process and ring may be names of functions: they are words where a number follows. */
static enum word find_word(const struct words *w)
{
	enum word word = w->is_value ? N_WORDS : find_word_called(w->p, w->len);
	struct words number = *w;

	if (word != WORD_PROCESS && word != WORD_RING)
		return word;
	next_word(&number);
	return number.len && isdigit((unsigned char)*number.p) ? word : N_WORDS;
}

/* Does a word follow that is not one of the grammar's words that this verb takes? */
static bool has_operand(const struct words *w, const struct ts_verb *verb)
{
	enum word word = find_word(w);

	return w->len && (word == N_WORDS || (words_of_grammar[word].takes &&
					      !(words_of_grammar[word].takes & verb->takes)));
}

/* -------------------------------------------------------------------------------------------- operands */

static bool copy_word(char *to, struct words *w, struct ts_error *err)
{
	if (!w->len || w->len >= TS_MAX_WORD)
		return fail_word(w, w->len ? "is too long" : "a word is missing", err);
	memcpy(to, w->p, w->len);
	to[w->len] = 0;
	next_word(w);
	return true;
}

static bool is_about_code(const struct ts_verb *verb)
{
	return !strcmp(verb->name, "executions") || !strcmp(verb->name, "calls") || !strcmp(verb->name, "next-exec") ||
	       !strcmp(verb->name, "last-exec") || !strcmp(verb->name, "steps") || !strcmp(verb->name, "compares") || !strcmp(verb->name, "coverage");
}

/* Where the word ends, that of parentheses and with @has_angles of angle brackets, too; 0 if one is left open. */
static size_t joined_len(const struct words *w, bool has_angles)
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
static void join_parameters(struct words *w)
{
	size_t n = memmem(w->p, w->len, "operator", strlen("operator")) ? 0 : joined_len(w, true);

	if (!n)
		n = joined_len(w, false);
	if (n)
		w->len = n;
}

/* A function that is called at some places, and was inlined at others: only the calls are rows. */
static void note_inlined(struct ts_question *qn, const struct ts_ask *ask, const struct words *w)
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

static bool parse_what(struct ts_question *qn, const struct ts_ask *ask, struct words *w,
		       struct ts_error *err)
{
	if (!has_operand(w, qn->verb))
		return fail_word(w, w->len ? "stands where a register, an address or a symbol is expected"
					   : "a register, an address or a symbol is expected", err);
	join_parameters(w);
	if (ask->symbols && !is_about_code(qn->verb) && ts_what_may_be_variable(w->p, w->len)) {
		qn->local = w->p;
		qn->local_len = w->len;
	}
	if (!(is_about_code(qn->verb) ? ts_what_parse_code : ts_what_parse)(&qn->what, w->p, w->len,
									    ts_query_regset(ask->q), ask->symbols, err)) {
		if (!qn->local_len || err->code != TS_EUSAGE)
			return false;
		ts_error_reset(err);
		qn->what.kind = TS_WHAT_NONE;
	}
	if (qn->what.kind == TS_WHAT_REG && (qn->verb->operand == TS_OPERAND_MEMORY ||
					     qn->verb->operand == TS_OPERAND_MEMORY_OR_NONE ||
					     qn->verb->operand == TS_OPERAND_CODE_OR_NONE))
		return fail_word(w, "is a register, and registers have no such accesses", err);
	if (qn->what.is_physical && !ts_query_facts(ask->q)->is_physical)
		return fail_word(w, "is a physical address, and only recordings of whole machines have such ones", err);
	if (qn->what.is_physical && !(qn->verb->takes & TS_TAKES_PHYSICAL))
		return fail_word(w, "is a physical address, which only history, accesses, last-X, next-X, memory and strings take", err);
	if (is_about_code(qn->verb))
		note_inlined(qn, ask, w);
	next_word(w);
	return true;
}

/* How many words a PLACE has at most that begins here. */
static unsigned n_place_words(const struct words *w)
{
	static const char *const with_what[] = { "write", "read", "access", "change", "exec" };
	struct words second = *w;

	if (!is_word(w, "next") && !is_word(w, "previous"))
		return 1;
	next_word(&second);
	for (size_t i = 0; i < sizeof(with_what) / sizeof(with_what[0]); i++) {
		if (is_word(&second, with_what[i]))
			return 3;
	}
	return 2;
}

/* Skip a PLACE.  Returns the bytes from its first to its last word. */
static size_t skip_place(struct words *w)
{
	const char *start = w->p, *end = start;

	for (unsigned n = n_place_words(w); n && w->len; n--) {
		end = w->p + w->len;
		next_word(w);
	}
	return (size_t)(end - start);
}

static uint64_t here_of(const struct ts_ask *ask, const struct ts_verb *verb)
{
	if (ask->has_here)
		return ask->here;
	return verb->is_forward ? 0 : ask->n_steps;
}

static bool parse_place(struct ts_ask_place *place, struct ts_ask *ask, struct words *w, uint64_t here,
			struct ts_error *err)
{
	const char *text = w->p;

	if (!w->len)
		return fail_word(w, "a position or another place is missing", err);
	return ts_place_parse(place, ask, text, skip_place(w), here, err);
}

/*
 * One of the places that the question is asked from, seen from @here; TS_NO_POS: that is to be found first.
 */
static bool parse_anchor(struct ts_anchor *anchor, struct ts_ask *ask, const char *text, size_t len,
			 uint64_t here, struct ts_error *err)
{
	anchor->text = text;
	anchor->len = len;
	return ts_place_parse(&anchor->place, ask, text, len, here, err);
}

static bool is_pattern(const struct words *w)
{
	return memchr(w->p, '*', w->len) || memchr(w->p, '?', w->len) || memchr(w->p, '[', w->len);
}

/* Do functions with different parameters have this name?  calls takes them all. */
static bool is_overloaded(const struct ts_ask *ask, const struct words *w)
{
	return ask->symbols && ts_symbols_is_overloaded(ask->symbols, w->p, w->len);
}

/* Is an entry of a procedure linkage table all that is known of the function?  @name gets its name. */
static bool is_linked(const struct ts_ask *ask, const struct words *w, char name[TS_MAX_WORD])
{
	int len = snprintf(name, TS_MAX_WORD, "%.*s", (int)w->len, w->p);
	char linked[TS_MAX_WORD + sizeof(TS_LINKED)];

	if (!ask->symbols || ts_symbols_find(ask->symbols, w->p, w->len) || len >= TS_MAX_WORD)
		return false;
	len = snprintf(linked, sizeof(linked), "%s%s", name, TS_LINKED);
	return ts_symbols_find(ask->symbols, linked, (size_t)len) != NULL;
}

static bool parse_callee(struct ts_question *qn, const struct ts_ask *ask, struct words *w,
			 struct ts_error *err)
{
	if (is_pattern(w) || is_overloaded(ask, w))
		return copy_word(qn->operand, w, err);
	if (is_linked(ask, w, qn->operand)) {
		next_word(w);
		return true;
	}
	*qn->operand = 0;
	if (!parse_what(qn, ask, w, err))
		return false;
	return !qn->what.is_inlined || ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the function was inlined at 0x%" PRIx64 ", and is not called: 'executions 0x%" PRIx64 "' lists when it ran",
					       qn->what.addr, qn->what.addr);
}

/* Names of registers, with or without '$': without it, and a blank apart, to the operand. */
static bool parse_registers(struct ts_question *qn, const struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	size_t len = 0;

	while (has_operand(w, qn->verb)) {
		bool has_sigil = *w->p == '$';
		const char *name = w->p + has_sigil;
		size_t n = w->len - has_sigil;
		struct ts_what what;

		if (!ts_what_register(&what, name, n, ts_query_regset(ask->q)))
			return fail_word(w, "is not a register", err);
		if (len + n + 2 > sizeof(qn->operand))
			return fail_word(w, "is one register too many", err);
		len += (size_t)snprintf(qn->operand + len, sizeof(qn->operand) - len, "%s%.*s", len ? " " : "", (int)n,
					name);
		next_word(w);
	}
	return true;
}

/* A word that makes the question one about another verb. */
static bool take_verb_word(struct ts_question *qn, struct words *w)
{
	for (const struct ts_verb_word *x = qn->verb->words; x && x->word; x++) {
		if (is_word(w, x->word)) {
			qn->verb = x->verb;
			next_word(w);
			return true;
		}
	}
	return false;
}

static bool parse_operand(struct ts_question *qn, struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	const struct ts_verb *verb = qn->verb;
	size_t n;

	if (verb->takes & TS_TAKES_BRANCH && is_word(w, "branch")) {
		qn->is_branch = true;
		next_word(w);
		return true;
	}
	switch (verb->operand) {
	case TS_OPERAND_NONE:
		take_verb_word(qn, w);
		return true;
	case TS_OPERAND_WHAT_OR_NONE:
	case TS_OPERAND_MEMORY_OR_NONE:
		if (!has_operand(w, verb))
			return true;
		/* fallthrough */
	case TS_OPERAND_WHAT:
	case TS_OPERAND_MEMORY:
		return parse_what(qn, ask, w, err);
	case TS_OPERAND_CODE_OR_NONE:
		if (!has_operand(w, verb))
			return true;
		return ts_what_is_line(w->p, w->len, ask->symbols) ? copy_word(qn->operand, w, err) : parse_what(qn, ask, w, err);
	case TS_OPERAND_REGISTERS_OR_NONE:
		return parse_registers(qn, ask, w, err);
	case TS_OPERAND_CALLEE_OR_NONE:
		if (!has_operand(w, verb))
			return true;
		return parse_callee(qn, ask, w, err);
	case TS_OPERAND_VALUE:
		if (!w->len)
			return fail_word(w, "a value is missing", err);
		n = ts_value_parse(&qn->value, w->p, ts_query_regset(ask->q)->arch->is_big_endian, err);
		go_to(w, w->p + n);
		return n != 0;
	case TS_OPERAND_KIND_OR_NONE:
		return !has_operand(w, verb) || copy_word(qn->operand, w, err);
	case TS_OPERAND_PLACE:
		return parse_place(&qn->place, ask, w, here_of(ask, verb), err);
	case TS_OPERAND_NAME:
		if (w->len && !ts_marks_is_name(w->p, w->len))
			return fail_word(w, "cannot be the name of a mark", err);
		return copy_word(qn->operand, w, err);
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------- numbers */

static bool parse_number(struct words *w, uint64_t *value, struct ts_error *err)
{
	bool is_large = false;

	if (!ts_number_parse(w->p, w->len, TS_COMMAS_GROUP, value, &is_large))
		return fail_word(w, !w->len ? "a number is missing" : is_large ? "is too large" : "is not a number",
				 err);
	next_word(w);
	return true;
}

/* The number after "==", which may have a minus. */
static bool parse_equal(struct ts_question *qn, struct words *w, struct ts_error *err)
{
	bool is_negative = w->len > 1 && *w->p == '-';
	struct words number = *w;

	number.p += is_negative;
	number.len -= is_negative;
	if (!parse_number(&number, &qn->equal, err))
		return false;
	if (is_negative)
		qn->equal = -qn->equal;
	qn->has_equal = true;
	next_word(w);
	return true;
}

/* [r][w][x], each at most once. */
static void parse_kinds(struct ts_question *qn, struct words *w)
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
	next_word(w);
}

static bool parse_count(struct ts_question *qn, struct words *w, struct ts_error *err)
{
	if (!has_operand(w, qn->verb))
		return true;
	if (!parse_number(w, &qn->count, err))
		return false;
	return qn->count || ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'0' rows cannot be listed");
}

static bool parse_thread(struct ts_question *qn, const struct ts_ask *ask, struct words *w,
			 struct ts_error *err)
{
	struct words name = *w;
	uint64_t tid;

	if (!parse_number(w, &tid, err))
		return false;
	qn->thread = tid <= INT64_MAX ? ts_names_thread(ask->names, (int64_t)tid) : TS_NO_THREAD;
	return qn->thread != TS_NO_THREAD || fail_word(&name, "is not a thread of this recording", err);
}

static bool parse_machine(struct ts_question *qn, const struct ts_ask *ask, enum word word, struct words *w,
			  struct ts_error *err)
{
	struct words name = *w;
	uint64_t number;

	if (!ts_machine_is_known(ask->q))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%s' is about cr3 and cs, and only recordings of whole machines have them",
			       words_of_grammar[word].text);
	if (!parse_number(w, &number, err))
		return false;
	if (word == WORD_PROCESS && number & 0xfff)
		return fail_word(&name, "is not the address of page tables, as cr3 has it", err);
	if (word == WORD_RING && number > 3)
		return fail_word(&name, "is not a ring: they are 0 to 3", err);
	if (word == WORD_PROCESS) {
		qn->machine.has_process = true;
		qn->machine.process = number;
	} else {
		qn->machine.has_ring = true;
		qn->machine.ring = (unsigned)number;
	}
	return true;
}

static bool parse_bound(struct ts_question *qn, struct words *w, enum ts_bound bound, struct ts_error *err)
{
	struct words number = *w;

	if (qn->bound != TS_BOUND_NONE)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'first' and 'last' stand in one question");
	qn->bound = bound;
	if (!parse_number(w, &qn->n_bound, err))
		return false;
	return qn->n_bound || fail_word(&number, "rows cannot be listed", err);
}

/* ------------------------------------------------------------------------------------------ other words */

static bool parse_cond(struct ts_question *qn, const struct ts_ask *ask, struct words *w,
		       struct ts_error *err)
{
	const char *start = w->p, *end = start;

	for (; has_operand(w, qn->verb); next_word(w))
		end = w->p + w->len;
	if (end == start)
		return fail_word(w, "a condition is missing", err);
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

static bool parse_memory_range(struct ts_question *qn, const struct ts_ask *ask, struct words *w,
			       struct ts_error *err)
{
	struct ts_what what;

	if (!w->len)
		return fail_word(w, "a range of memory is missing", err);
	if (qn->has_memory)
		return fail_word(w, "is a second range of memory", err);
	if (!ts_what_parse(&what, w->p, w->len, ts_query_regset(ask->q), ask->symbols, err))
		return false;
	if (what.kind != TS_WHAT_MEM)
		return fail_word(w, "is not a range of memory", err);
	qn->has_memory = true;
	qn->memory_first = what.addr;
	qn->memory_last = what.last;
	next_word(w);
	return true;
}

static bool fail_range(const struct ts_question *qn, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is %s", (int)qn->range_len, qn->range, why);
}

/* Take the words of A:B: up to the one with the colon that separates, and those of B. */
static bool take_range(struct ts_question *qn, struct words *w, struct ts_error *err)
{
	const char *end = NULL;
	const char *colon = NULL;
	unsigned n = n_place_words(w);

	qn->range = w->p;
	for (; n && w->len; n--) {
		if (n == 1)
			colon = memrchr(w->p, ':', w->len);
		end = w->p + w->len;
		if (colon && colon[1] && colon + 1 < end) {
			struct words b = { .p = colon + 1, .len = (size_t)(end - colon) - 1 };
			unsigned n_b = n_place_words(&b);

			for (; n_b > 1 && w->len; n_b--) {
				next_word(w);
				end = w->p + w->len;
			}
		}
		next_word(w);
	}
	if (!end)
		return fail_word(w, "a range A:B is missing", err);
	qn->has_range = true;
	qn->range_len = (size_t)(end - qn->range);
	return colon || fail_range(qn, "not a range A:B", err);
}

/* Where B begins: after the first colon that is followed by next or previous, else after the last one. */
static const char *find_colon(const struct ts_question *qn)
{
	const char *end = qn->range + qn->range_len;

	for (const char *p = qn->range; p < end; p++) {
		if (*p == ':' && ((size_t)(end - p) > 5 &&
				  (!strncmp(p + 1, "next ", 5) || !strncmp(p + 1, "previous ", 9))))
			return p;
	}
	return memrchr(qn->range, ':', qn->range_len);
}

static bool parse_range(struct ts_question *qn, struct ts_ask *ask, struct ts_error *err)
{
	const char *end = qn->range + qn->range_len, *colon = find_colon(qn);
	const struct ts_anchor *at = &qn->anchors[TS_ANCHOR_AT];
	uint64_t here = at->len && at->place.kind != TS_PLACE_POSITION ? TS_NO_POS : qn->at;

	if (!colon)
		return fail_range(qn, "not a range A:B", err);
	qn->from = 0;
	qn->to = ask->n_steps;
	if (colon > qn->range && !parse_anchor(&qn->anchors[TS_ANCHOR_FROM], ask, qn->range,
					       (size_t)(colon - qn->range), here, err))
		return false;
	return colon + 1 == end ||
	       parse_anchor(&qn->anchors[TS_ANCHOR_TO], ask, colon + 1, (size_t)(end - colon) - 1, here, err);
}

/* A:B of minus, one word. */
static bool parse_minus(struct ts_question *qn, struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	const char *text = w->p, *end = text + w->len, *colon = w->len ? memrchr(text, ':', w->len) : NULL;

	if (!colon)
		return fail_word(w, w->len ? "is not a range A:B" : "a range A:B is missing", err);
	if (qn->has_minus)
		return fail_word(w, "is a second range", err);
	qn->has_minus = true;
	qn->minus_from = 0;
	qn->minus_to = ask->n_steps;
	next_word(w);
	if (colon > text && !parse_anchor(&qn->anchors[TS_ANCHOR_MINUS_FROM], ask, text, (size_t)(colon - text), qn->at, err))
		return false;
	return colon + 1 == end ||
	       parse_anchor(&qn->anchors[TS_ANCHOR_MINUS_TO], ask, colon + 1, (size_t)(end - colon) - 1, qn->at, err);
}

static bool parse_by(struct ts_question *qn, struct words *w, struct ts_error *err)
{
	if (!is_word(w, "address"))
		return fail_word(w, "is not an order: only 'by address' is", err);
	qn->by_address = true;
	next_word(w);
	return true;
}

static bool parse_at(struct ts_question *qn, struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	struct ts_anchor *at = &qn->anchors[TS_ANCHOR_AT];
	const char *text = w->p;

	if (!w->len)
		return fail_word(w, "a position or another place is missing", err);
	if (!parse_anchor(at, ask, text, skip_place(w), qn->at, err))
		return false;
	if (at->place.kind == TS_PLACE_POSITION)
		qn->at = at->place.pos;
	return true;
}

/* Clients of a server name no files that it would write. */
static bool parse_file(char *to, const struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	return ask->may_write_files ? copy_word(to, w, err) :
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "only the command tracestub query writes files of coverage");
}

static bool parse_word(struct ts_question *qn, struct ts_ask *ask, enum word word, struct words *w,
		       struct ts_error *err)
{
	switch (word) {
	case WORD_IN:
		return take_range(qn, w, err);
	case WORD_IF:
		return parse_cond(qn, ask, w, err);
	case WORD_AT:
		return parse_at(qn, ask, w, err);
	case WORD_THREAD:
		return parse_thread(qn, ask, w, err);
	case WORD_FIRST:
		return parse_bound(qn, w, TS_BOUND_FIRST, err);
	case WORD_LAST:
		return parse_bound(qn, w, TS_BOUND_LAST, err);
	case WORD_DEPTH:
		return parse_number(w, &qn->depth, err);
	case WORD_TREE:
		qn->is_tree = true;
		return true;
	case WORD_MIN:
		return parse_number(w, &qn->min, err);
	case WORD_BY:
		return parse_by(qn, w, err);
	case WORD_LCOV:
		return parse_file(qn->lcov, ask, w, err);
	case WORD_DRCOV:
		return parse_file(qn->drcov, ask, w, err);
	case WORD_TO:
		return copy_word(qn->operand, w, err);
	case WORD_MINUS:
		return parse_minus(qn, ask, w, err);
	case WORD_PROCESS:
	case WORD_RING:
		return parse_machine(qn, ask, word, w, err);
	case WORD_EQUAL:
		return parse_equal(qn, w, err);
	case WORD_INPUTS:
		qn->only_inputs = true;
		return true;
	case WORD_ADDRESSES:
		qn->with_addresses = true;
		return true;
	case WORD_CHANGES:
		qn->only_changes = true;
		return true;
	case WORD_PARTIAL:
		qn->is_partial = true;
		return true;
	case WORD_GO:
		qn->goes = true;
		return true;
	case N_WORDS:
		break;
	}
	return false;
}

/* The text of a mark: the rest, if it is no other word. */
static bool take_text(struct ts_question *qn, struct words *w, struct ts_error *err)
{
	size_t len = strlen(w->p);

	while (len && isspace((unsigned char)w->p[len - 1]))
		len--;
	if (len >= sizeof(qn->text))
		return fail_word(w, "begins a text that is too long", err);
	if (memchr(w->p, '\n', len) || memchr(w->p, '\r', len))
		return fail_word(w, "begins a text of several lines", err);
	memcpy(qn->text, w->p, len);
	qn->text[len] = 0;
	go_to(w, w->p + strlen(w->p));
	return true;
}

static bool parse_words(struct ts_question *qn, struct ts_ask *ask, struct words *w, struct ts_error *err)
{
	while (w->len) {
		const struct ts_verb *verb = qn->verb;
		enum word word = find_word(w);
		unsigned takes = word < N_WORDS ? words_of_grammar[word].takes : 0;
		struct words memory = *w;

		if (verb->takes & TS_TAKES_REST && (word == N_WORDS || w->seen >> word & 1))
			return take_text(qn, w, err);
		if (word == N_WORDS && take_verb_word(qn, w))
			continue;
		if (word == N_WORDS)
			return fail_word(w, "is not understood here", err);
		if (takes && !(takes & verb->takes))
			return refuse_word(verb, w->p, w->len, err);
		next_word(&memory);
		if (word == WORD_IN && verb->takes & TS_TAKES_MEMORY && is_word(&memory, "memory")) {
			*w = memory;
			next_word(w);
			if (!parse_memory_range(qn, ask, w, err))
				return false;
			continue;
		}
		if (w->seen >> word & 1)
			return fail_word(w, "is given twice", err);
		w->seen |= 1u << word;
		next_word(w);
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
	struct words w = { 0 };

	init(qn, ask, NULL);
	go_to(&w, text);
	qn->verb = ts_verb_find(w.p, w.len);
	if (!qn->verb)
		return fail_verb(&w, err);
	next_word(&w);
	qn->at = here_of(ask, qn->verb);
	if (!parse_operand(qn, ask, &w, err))
		return false;
	if (qn->verb->takes & TS_TAKES_KINDS)
		parse_kinds(qn, &w);
	if (qn->verb->takes & TS_TAKES_COUNT && !parse_count(qn, &w, err))
		return false;
	return parse_words(qn, ask, &w, err) && (!qn->has_range || parse_range(qn, ask, err));
}

/* -------------------------------------------------------------------------------------------- arguments */

/* A word of the grammar that the verb takes, and what follows it. */
static bool parse_named(struct ts_question *qn, struct ts_ask *ask, const char *name, struct words *w,
			struct ts_error *err)
{
	enum word word = find_word_called(name, strlen(name));

	if (word == N_WORDS || (words_of_grammar[word].takes && !(words_of_grammar[word].takes & qn->verb->takes)))
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
			   struct words *w, struct ts_error *err)
{
	unsigned needed = needed_for(a->kind);

	if (needed && !(qn->verb->takes & needed))
		return refuse_word(qn->verb, w->p, w->len, err);
	switch (a->kind) {
	case TS_ARGUMENT_OPERAND:
		return parse_operand(qn, ask, w, err);
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
	struct words w = { .is_value = true };

	go_to(&w, a->value);
	return parse_argument(qn, ask, a, &w, err) && (!w.len || fail_word(&w, "is not understood here", err));
}

bool ts_question_parse_arguments(struct ts_question *qn, struct ts_ask *ask, const struct ts_verb *verb,
				 const struct ts_argument *arguments, size_t n, struct ts_error *err)
{
	struct ts_argument operand = { .kind = TS_ARGUMENT_OPERAND, .value = "" };

	init(qn, ask, verb);
	qn->at = here_of(ask, verb);
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
	return !qn->has_range || parse_range(qn, ask, err);
}

void ts_question_fini(struct ts_question *qn)
{
	ts_cond_fini(&qn->cond);
}
