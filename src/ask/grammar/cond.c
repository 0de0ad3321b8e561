/* SPDX-License-Identifier: MIT */
#include "cond.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "src/agent/ax.h"
#include "src/base/text/hex.h"

/* The rest of the condition, and all of it for messages. */
struct text {
	const char *p, *end;
	const char *all;
	int all_len;
};

static void skip_blanks(struct text *t)
{
	while (t->p < t->end && isspace((unsigned char)*t->p))
		t->p++;
}

static bool take(struct text *t, const char *word)
{
	size_t len = strlen(word);

	skip_blanks(t);
	if ((size_t)(t->end - t->p) < len || memcmp(t->p, word, len))
		return false;
	t->p += len;
	return true;
}

static bool misunderstood(const struct text *t, const char *why, struct ts_error *err)
{
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'if %.*s': %s", t->all_len, t->all, why);
}

static bool parse_compare(struct text *t, struct ts_term *term, struct ts_error *err)
{
	/* the longer ones first */
	static const struct {
		const char *word;
		enum ts_compare compare;
	} words[] = { { "==", TS_COMPARE_EQ }, { "!=", TS_COMPARE_NE }, { "<=", TS_COMPARE_LE },
		      { ">=", TS_COMPARE_GE }, { "<", TS_COMPARE_LT },	{ ">", TS_COMPARE_GT } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (take(t, words[i].word)) {
			term->compare = words[i].compare;
			return true;
		}
	}
	return misunderstood(t, "one of == != < <= > >= is missing", err);
}

static bool parse_number(struct text *t, struct ts_term *term, struct ts_error *err)
{
	bool is_negative = take(t, "-"), is_large;
	size_t n;

	skip_blanks(t);
	n = ts_number_take(t->p, (size_t)(t->end - t->p), TS_COMMAS_GROUP, &term->number, &is_large);
	if (!n || (is_negative && term->number > (uint64_t)INT64_MAX + 1))
		return misunderstood(t, is_large || n ? "the number is too large" : "a number is missing", err);
	t->p += n;
	if (is_negative) {
		term->number = 0 - term->number;
		term->is_signed = true;
	}
	return true;
}

/* A name: letters, digits and '_'. */
static size_t name_len(const struct text *t)
{
	size_t n = 0;

	while (t->p + n < t->end && (isalnum((unsigned char)t->p[n]) || t->p[n] == '_'))
		n++;
	return n;
}

static bool parse_register(struct text *t, struct ts_term *term, const struct ts_regset *regs,
			   struct ts_error *err)
{
	size_t n = name_len(t);

	if (!ts_what_register(&term->place, t->p, n, regs))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'$%.*s' is not a register of this recording",
			       (int)n, t->p);
	if (term->place.len > 8)
		return misunderstood(t, "registers of more than 64 bits cannot be compared", err);
	term->kind = TS_TERM_REG;
	t->p += n;
	return true;
}

/* An address, up to a blank or a comparison. */
static size_t address_len(const struct text *t)
{
	size_t n = 0;

	while (t->p + n < t->end && !isspace((unsigned char)t->p[n]) && !strchr("=!<>&|", t->p[n]))
		n++;
	return n;
}

/* $REG, or in parentheses $REG + NUMBER: the address of @len bytes. */
static bool parse_base(struct text *t, struct ts_term *term, unsigned len, const struct ts_regset *regs,
		       struct ts_error *err)
{
	bool has_parentheses = take(t, "("), is_negative = false, is_large;
	uint64_t offset = 0;
	size_t n;

	if (!take(t, "$") || !parse_register(t, term, regs, err))
		return false;
	term->base = term->place;
	if (has_parentheses && (take(t, "+") || (is_negative = take(t, "-")))) {
		skip_blanks(t);
		n = ts_number_take(t->p, (size_t)(t->end - t->p), TS_COMMAS_GROUP, &offset, &is_large);
		if (!n)
			return misunderstood(t, "a number is missing", err);
		t->p += n;
	}
	if (term->base.is_flag || (has_parentheses && !take(t, ")")))
		return misunderstood(t, "memory is *(TYPE *)ADDR, *(TYPE *)$REG or *(TYPE *)($REG + N)", err);
	offset = is_negative ? 0 - offset : offset;
	term->place = (struct ts_what){ .kind = TS_WHAT_MEM, .addr = offset, .last = offset + len - 1 };
	term->has_base = true;
	term->kind = TS_TERM_MEM;
	return true;
}

/* Parse the text after "*(": TYPE *)ADDR */
static bool parse_memory(struct text *t, struct ts_term *term, const struct ts_regset *regs,
			 struct ts_symbols *symbols, struct ts_error *err)
{
	static const struct {
		const char *word;
		unsigned len;
		bool is_signed;
	} types[] = { { "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false }, { "u64", 8, false },
		      { "i8", 1, true },  { "i16", 2, true },  { "i32", 4, true },  { "i64", 8, true } };
	unsigned len = 0;
	size_t n;

	skip_blanks(t);
	n = name_len(t);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (n == strlen(types[i].word) && !memcmp(t->p, types[i].word, n)) {
			len = types[i].len;
			term->is_signed = types[i].is_signed;
		}
	}
	if (!len)
		return misunderstood(t, "the types are u8 u16 u32 u64 i8 i16 i32 i64", err);
	t->p += n;
	if (!take(t, "*") || !take(t, ")"))
		return misunderstood(t, "memory is *(TYPE *)ADDR", err);
	skip_blanks(t);
	if (t->p < t->end && (*t->p == '$' || *t->p == '('))
		return parse_base(t, term, len, regs, err);
	n = address_len(t);
	if (!ts_what_parse(&term->place, t->p, n, regs, symbols, err))
		return false;
	if (term->place.kind != TS_WHAT_MEM || term->place.is_physical || memchr(t->p, ',', n) || memchr(t->p, ':', n) ||
	    __builtin_add_overflow(term->place.addr, len - 1, &term->place.last))
		return misunderstood(t, "memory is *(TYPE *)ADDR", err);
	t->p += n;
	term->kind = TS_TERM_MEM;
	return true;
}

/* Parse the text after "agent": HEX, or HEX@ADDR */
static bool parse_agent(struct text *t, struct ts_term *term, struct ts_error *err)
{
	enum ts_ax_error error = TS_AX_NO_MEMORY;
	bool is_large;
	uint8_t *code;
	size_t n = 0;

	skip_blanks(t);
	while (t->p + n < t->end && isxdigit((unsigned char)t->p[n]))
		n++;
	code = malloc(n / 2 + 1);
	for (size_t i = 0; code && i < n / 2; i++)
		code[i] = (uint8_t)(ts_hex_digit((uint8_t)t->p[2 * i]) << 4 |
				    ts_hex_digit((uint8_t)t->p[2 * i + 1]));
	if (code)
		term->agent = ts_ax_new(code, n / 2, &error);
	free(code);
	if (!term->agent || n % 2)
		return misunderstood(t, n % 2 ? "a digit of the expression is missing" : ts_ax_error_text(error),
				     err);
	t->p += n;
	term->kind = TS_TERM_AGENT;
	term->has_addr = take(t, "@");
	n = term->has_addr ? ts_number_take(t->p, (size_t)(t->end - t->p), TS_COMMAS_END, &term->addr,
						&is_large) : 0;
	if (term->has_addr && !n)
		return misunderstood(t, "'@' is followed by the address at which the expression is evaluated", err);
	t->p += n;
	return true;
}

static bool parse_term(struct text *t, struct ts_term *term, const struct ts_regset *regs,
		       struct ts_symbols *symbols, struct ts_error *err)
{
	skip_blanks(t);
	if (name_len(t) == 5 && take(t, "agent"))
		return parse_agent(t, term, err);
	if (name_len(t) == 5 && take(t, "value")) {
		term->kind = TS_TERM_VALUE;
	} else if (name_len(t) == 6 && take(t, "result")) {
		term->kind = TS_TERM_RESULT;
	} else if (take(t, "$")) {
		if (!parse_register(t, term, regs, err))
			return false;
	} else if (take(t, "*") && take(t, "(")) {
		if (!parse_memory(t, term, regs, symbols, err))
			return false;
	} else {
		return misunderstood(t,
				     "it compares value, result, $REG or *(TYPE *)ADDR with a number; variables are "
				     "for gdb: ts calls FUNCTION if ...",
				     err);
	}
	return parse_compare(t, term, err) && parse_number(t, term, err);
}

void ts_cond_fini(struct ts_cond *cond)
{
	for (unsigned i = 0; i < cond->n; i++)
		ts_ax_free(cond->terms[i].agent);
	cond->n = 0;
}

bool ts_cond_parse(struct ts_cond *cond, const char *text, size_t len, const struct ts_regset *regs,
		   struct ts_symbols *symbols, struct ts_error *err)
{
	struct text t = { .p = text, .end = text + len, .all = text, .all_len = (int)len };
	bool goes_on = true;

	*cond = (struct ts_cond){ 0 };
	while (goes_on) {
		struct ts_term *term = &cond->terms[cond->n];

		if (cond->n == TS_MAX_TERMS)
			return misunderstood(&t, "it is too long", err);
		cond->n++;
		if (!parse_term(&t, term, regs, symbols, err))
			return false;
		cond->has_addresses |= term->has_addr;
		cond->has_result |= term->kind == TS_TERM_RESULT;
		goes_on = take(&t, "&&");
		if (!goes_on) {
			term->ends_and = true;
			goes_on = take(&t, "||");
		}
	}
	skip_blanks(&t);
	if (t.p < t.end)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is not expected after the condition",
			       (int)(t.end - t.p), t.p);
	cond->is_about_value = cond->terms[0].kind == TS_TERM_VALUE;
	for (unsigned i = 0; i < cond->n; i++) {
		if (cond->is_about_value ? cond->n > 1 : cond->terms[i].kind == TS_TERM_VALUE)
			return misunderstood(&t, "value is compared once, with one number", err);
	}
	return true;
}

static bool compares(enum ts_compare compare, bool is_less, bool is_same)
{
	switch (compare) {
	case TS_COMPARE_EQ:
		return is_same;
	case TS_COMPARE_NE:
		return !is_same;
	case TS_COMPARE_LT:
		return is_less;
	case TS_COMPARE_LE:
		return is_less || is_same;
	case TS_COMPARE_GT:
		return !is_less && !is_same;
	case TS_COMPARE_GE:
		break;
	}
	return !is_less;
}

bool ts_term_holds(const struct ts_term *term, uint64_t value, unsigned bits)
{
	unsigned shift = 64 - bits;
	int64_t extended;

	if (term->kind == TS_TERM_RESULT && term->number > INT64_MAX && bits == 64 && value <= UINT32_MAX)
		shift = 32;
	extended = (int64_t)(value << shift) >> shift;
	if (!term->is_signed)
		return compares(term->compare, value < term->number, value == term->number);
	return compares(term->compare, extended < (int64_t)term->number, extended == (int64_t)term->number);
}
