/* SPDX-License-Identifier: MIT */
#include "question.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "question_places.h"
#include "words.h"
#include "src/base/text/similar.h"
#include "src/symbols/names.h"
#include "src/ask/verb.h"
#include "src/symbols/process_names.h"
#include "marks.h"
#include "src/symbols/meanings.h"
#include "src/symbols/symbols.h"

/* -------------------------------------------------------------------------------------------- the operand */

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

/* Append @text and the addresses of @all, except the function's own, to the note, if there are any. */
static void note_elsewhere(struct ts_question *qn, const char *text, const struct ts_meanings *all)
{
	char *note = qn->local_note;
	size_t n = strlen(note), room = sizeof(qn->local_note) - 80;
	bool is_begun = false;

	for (unsigned i = 0; i < all->n && i < TS_MAX_MEANINGS && n < room; i++) {
		if (all->items[i].addr == qn->what.addr)
			continue;
		if (!is_begun)
			n += (size_t)snprintf(note + n, room - n, "%s%s", n ? "; " : "", text);
		if (n < room)
			n += (size_t)snprintf(note + n, sizeof(qn->local_note) - n, "%s 0x%" PRIx64, is_begun ? "," : "", all->items[i].addr);
		is_begun = true;
	}
	if (all->n > TS_MAX_MEANINGS && n < room)
		snprintf(note + n, sizeof(qn->local_note) - n, " and %u more", all->n - TS_MAX_MEANINGS);
}

/* Rows of a function are those of its symbol: not where it was inlined, and not of copies that the compiler made. */
static void note_other_code(struct ts_question *qn, const struct ts_ask *ask, const struct ts_words *w)
{
	struct ts_meanings all;

	if (qn->what.is_inlined)
		snprintf(qn->local_note, sizeof(qn->local_note),
			 "the function was inlined at 0x%" PRIx64 ": rows are those of its first instruction there, of which an unrolled loop has more",
			 qn->what.addr);
	if (!ask->symbols || !qn->what.is_function || qn->what.is_inlined || isdigit((unsigned char)*w->p))
		return;
	ts_symbols_mean_inlined(ask->symbols, w->p, w->len, &all);
	note_elsewhere(qn, "where the function was inlined it is not in these rows:", &all);
	ts_symbols_mean_copies(ask->symbols, w->p, w->len, &all);
	note_elsewhere(qn, "copies of it that the compiler made are not in these rows:", &all);
}

/* 'at': a name that is a word of questions. */
static bool is_quoted(const struct ts_words *w)
{
	return w->len > 2 && w->p[0] == '\'' && memchr(w->p + 1, '\'', w->len - 1) == w->p + w->len - 1;
}

/* The value of an argument that is the whole name of a symbol, with what ends other words or makes them patterns. */
static bool take_whole_name(const struct ts_ask *ask, struct ts_words *w)
{
	if (!w->is_value || !ask->symbols || !w->len || !strpbrk(w->p, " \t,:;'\"*?[") ||
	    !ts_symbols_find(ask->symbols, w->p, strlen(w->p)))
		return false;
	w->len = strlen(w->p);
	return true;
}

/* VARIABLE or VARIABLE,LEN. */
static void take_local(struct ts_question *qn, const char *text, size_t len)
{
	const char *comma = memchr(text, ',', len);
	size_t n = comma ? (size_t)(comma - text) : len;
	bool is_large;

	if (!ts_what_may_be_variable(text, n) ||
	    (comma && (!ts_number_parse(comma + 1, len - n - 1, TS_COMMAS_END, &qn->local_take, &is_large) || !qn->local_take)))
		return;
	qn->local = text;
	qn->local_len = n;
}

static bool parse_what(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w,
		       struct ts_error *err)
{
	const char *text;
	bool is_quote;
	size_t len;

	if (!ts_words_have_operand(w, qn->verb))
		return ts_words_fail(w, w->len ? "is not a register, an address or a symbol"
						     : "a register, an address or a symbol is expected", err);
	is_quote = !take_whole_name(ask, w);
	if (is_quote)
		join_parameters(w);
	is_quote = is_quote && is_quoted(w);
	text = w->p + is_quote;
	len = w->len - 2 * (size_t)is_quote;
	if (ask->symbols && !is_about_code(qn->verb))
		take_local(qn, text, len);
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
		note_other_code(qn, ask, w);
	if (qn->what.is_open && qn->verb->operand == TS_OPERAND_CODE_OR_NONE)
		snprintf(qn->local_note, sizeof(qn->local_note),
			 "the end of this function is unknown: rows are those of its first instruction; ADDR:END has all of a range");
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
	if ((!take_whole_name(ask, w) && is_pattern(w)) || is_overloaded(ask, w))
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

/* Parse a word that selects another verb (`hot loops`).  Returns false if the next word is no such word. */
static bool ts_question_verb_word(struct ts_question *qn, struct ts_words *w)
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

/* Parse the operand of @qn's verb, if the verb has one.  Returns false if it is missing, or not understood (TS_EUSAGE). */
static bool ts_question_operand(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err)
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

/* ------------------------------------------------------------------------------------------------ numbers */

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

/* Only executions are asked for: a name means the function that has it, as in other questions about code. */
static void name_code(struct ts_question *qn, const struct ts_ask *ask)
{
	struct ts_error ignored;
	struct ts_what code;

	ts_error_reset(&ignored);
	if (qn->local_len && !qn->local_take && qn->what.is_named && ask->symbols &&
	    ts_what_parse_code(&code, qn->local, qn->local_len, ts_query_regset(ask->q), ask->symbols, &ignored) && code.is_function)
		qn->what = code;
}

/* [r][w][x], each at most once. */
static void parse_kinds(struct ts_question *qn, const struct ts_ask *ask, struct ts_words *w)
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
	if (mask == TS_DID_EXEC)
		name_code(qn, ask);
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
	if (word == TS_WORD_PROCESS && ts_machine_never_runs(ask->q, number))
		return ts_words_fail(&name, "never runs in this recording: 'processes' lists the processes that do", err);
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
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'first' and 'last' exclude each other");
	qn->bound = bound;
	if (!ts_words_number(w, &qn->n_bound, err))
		return false;
	return qn->n_bound || ts_words_fail(&number, "rows cannot be listed", err);
}

/* -------------------------------------------------------------------------------------------- other words */

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
		parse_kinds(qn, ask, &w);
	if (qn->verb->takes & TS_TAKES_COUNT && !parse_count(qn, &w, err))
		return false;
	return parse_words(qn, ask, &w, err) && (!qn->has_range || ts_question_range(qn, ask, err));
}

/* ---------------------------------------------------------------------------------------------- arguments */

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
		parse_kinds(qn, ask, w);
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
