/* SPDX-License-Identifier: MIT */
#include "pattern.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool grammar_text(struct grammar *g, struct grammar_scan *s, size_t at, const char *text, size_t len,
		  uint32_t *place)
{
	if (GRAMMAR_MAX_TEXTS - g->n_texts < len)
		return grammar_scan_fail(s, at, "the grammar's words have more than %u bytes", GRAMMAR_MAX_TEXTS);
	*place = g->n_texts;
	memcpy(g->texts + g->n_texts, text, len);
	g->n_texts += (uint32_t)len;
	return true;
}

bool grammar_list_find(struct grammar *g, struct grammar_scan *s, size_t at, struct grammar_word name,
		       unsigned *list)
{
	struct grammar_list *n;

	for (unsigned i = 0; i < g->n_lists; i++) {
		n = &g->lists[i];
		if (n->len == name.len && !memcmp(g->texts + n->at, name.text, name.len)) {
			*list = i;
			return true;
		}
	}
	if (!name.len)
		return grammar_scan_fail(s, at, "the name of an item list is missing");
	if (g->n_lists == GRAMMAR_MAX_LISTS)
		return grammar_scan_fail(s, at, "more than %u item lists", GRAMMAR_MAX_LISTS);
	n = &g->lists[g->n_lists];
	n->len = (uint32_t)name.len;
	n->place = (uint32_t)at;
	*list = g->n_lists++;
	return grammar_text(g, s, at, name.text, name.len, &n->at);
}

/* ------------------------------------------------------------------------------------------------ elements */

/* Words of elements, and what may be after ":". */
static const struct {
	const char *word;
	uint8_t kind;
	const char *quals; /* "NAME=ARG NAME=ARG"; the first is the default; "" for none */
} words[] = {
	{ "address", EL_ADDRESS, "read=0 write=1 access=2 insn=3" },
	{ "base", EL_BASE, "" },
	{ "blanks", EL_BLANKS, "" },
	{ "bytes", EL_BYTES, "memory=0 number=1 loaded=3 words=4" },
	{ "code", EL_CODE, "memory=0 number=1 head=2" },
	{ "dec", EL_DEC, "" },
	{ "hex", EL_HEX, "" },
	{ "image", EL_IMAGE, "" },
	{ "last", EL_LAST, "" },
	{ "length", EL_LENGTH, "" },
	{ "module", EL_MODULE, "" },
	{ "offset", EL_OFFSET, "" },
	{ "pc", EL_PC, "" },
	{ "picture", EL_PICTURE, "read=0 write=1 again=2" },
	{ "reg", EL_REG, "after=0 before=1" },
	{ "rest", EL_REST, "" },
	{ "size", EL_SIZE, "" },
	{ "text", EL_TEXT, "" },
	{ "thread", EL_THREAD, "dec=0 hex=1" },
	{ "value", EL_VALUE, "digits=0 words=4" },
	{ "word", EL_WORD, "" },
};

static const struct {
	const char *word;
	uint8_t say;
} says[] = {
	{ "thumb", GRAMMAR_THUMB },		{ "interrupt", GRAMMAR_INTERRUPT }, { "noeffect", GRAMMAR_NO_EFFECT },
	{ "trap", GRAMMAR_TRAP },	    { "unused", GRAMMAR_UNUSED },
	{ "unknown", GRAMMAR_UNKNOWN_VALUE },
};

struct builder {
	struct grammar *g;
	struct grammar_scan *s;
	struct grammar_pattern *pattern;
	size_t begin;      /* of the pattern in the file */
	bool is_before;    /* registers of its list are those before */
	unsigned counts[EL_PICTURE + 1];
};

static struct grammar_part *add_part(struct builder *b, size_t at, uint8_t kind)
{
	struct grammar_part *p = &b->g->parts[b->g->n_parts];

	if (b->g->n_parts == GRAMMAR_MAX_ELEMENTS) {
		grammar_scan_fail(b->s, at, "more than %u elements", GRAMMAR_MAX_ELEMENTS);
		return NULL;
	}
	*p = (struct grammar_part){ .kind = kind, .place = (uint32_t)at };
	b->g->n_parts++;
	b->counts[kind]++;
	return p;
}

bool grammar_literal(struct grammar *g, struct grammar_scan *s, uint32_t *place, uint32_t *len)
{
	size_t begin = s->at++;

	*place = g->n_texts;
	*len = 0;
	if (begin >= s->end || s->text[begin] != '"')
		return grammar_scan_fail(s, begin, "a text in quotes is expected");
	for (; s->at < s->end && s->text[s->at] != '"' && s->text[s->at] != '\n'; s->at++) {
		char c = s->text[s->at];
		uint32_t ignored;

		if (c == '\\' && s->at + 1 < s->end) {
			c = s->text[++s->at];
			if (c != '"' && c != '\\' && c != 't')
				return grammar_scan_fail(s, s->at, "only \\\" \\\\ and \\t are allowed here");
			c = c == 't' ? '\t' : c;
		}
		if (!grammar_text(g, s, s->at, &c, 1, &ignored))
			return false;
		++*len;
	}
	if (s->at >= s->end || s->text[s->at] != '"')
		return grammar_scan_fail(s, begin, "the quote has no end");
	s->at++;
	return *len || grammar_scan_fail(s, begin, "an empty literal");
}

/* "TEXT", or &"TEXT", which is not passed over. */
static bool take_literal(struct builder *b)
{
	bool is_ahead = b->s->text[b->s->at] == '&';
	struct grammar_part *p = add_part(b, b->s->at, is_ahead ? EL_AHEAD : EL_LITERAL);
	uint32_t len;

	b->s->at += is_ahead;
	if (!p || !grammar_literal(b->g, b->s, &p->at, &len))
		return false;
	p->n = (uint16_t)len;
	return true;
}

/* Which of "NAME=ARG ..." is it?  Returns -1 if none. */
static int find_qual(const char *quals, struct grammar_word w)
{
	while (*quals) {
		size_t len = strcspn(quals, "=");

		if (len == w.len && !memcmp(quals, w.text, len))
			return quals[len + 1] - '0';
		quals += len + 2;
		quals += strspn(quals, " ");
	}
	return -1;
}

/* The element is a register that the line does not name. */
static bool set_register(struct builder *b, size_t at, struct grammar_word w, struct grammar_part *p)
{
	p->kind = EL_SET;
	p->n = (uint16_t)w.len;
	return grammar_text(b->g, b->s, at, w.text, w.len, &p->at);
}

/* Parse the qualifiers after an element's ":". */
static bool take_qual(struct builder *b, const char *quals, struct grammar_part *p, uint16_t *min, bool *is_last)
{
	size_t at = b->s->at;
	struct grammar_word w = grammar_scan_word(b->s, ":[]|\"!&");
	int arg = find_qual(quals, w);
	unsigned n = 0;

	for (size_t i = 0; i < w.len && i < 4; i++)
		n = w.text[i] >= '0' && w.text[i] <= '9' ? n * 10 + (unsigned)(w.text[i] - '0') : 10000;
	if (arg >= 0)
		p->arg = (uint8_t)arg;
	else if (p->kind == EL_SIZE && n && n <= 999 && w.len < 4)
		p->n = (uint16_t)n;
	else if (p->kind == EL_REG && w.len == 1)
		p->n = (uint8_t)w.text[0];
	else if (p->kind == EL_REG && w.len && w.len < 16)
		return set_register(b, at, w, p);
	else if ((p->kind == EL_TEXT || p->kind == EL_MODULE) && grammar_word_is(w, "last"))
		*is_last = true;
	else if (p->kind == EL_TEXT && w.len && w.len < 4 && n < 1000)
		*min = (uint16_t)n;
	else
		return grammar_scan_fail(b->s, at, "\"%.*s\" is not allowed after this element",
					 w.len < 40 ? (int)w.len : 40, w.text);
	return true;
}

static bool add_follow(struct builder *b, size_t at, struct grammar_part *p)
{
	if (b->g->n_follows == COUNT(b->g->follows))
		return grammar_scan_fail(b->s, at, "more than %zu texts and lists", COUNT(b->g->follows));
	p->follow = (uint16_t)b->g->n_follows++;
	return true;
}

static bool take_field(struct builder *b, size_t at, uint8_t kind, const char *quals)
{
	struct grammar_part *p = add_part(b, at, kind);
	uint16_t min = 0;
	bool is_last = false;

	if (!p)
		return false;
	if (kind == EL_REG && b->is_before)
		p->arg = GRAMMAR_BEFORE;
	while (b->s->at < b->s->end && b->s->text[b->s->at] == ':') {
		b->s->at++;
		if (!take_qual(b, quals, p, &min, &is_last))
			return false;
	}
	if (kind != EL_TEXT && kind != EL_MODULE)
		return true;
	if (!add_follow(b, at, p))
		return false;
	b->g->follows[p->follow].min = min;
	b->g->follows[p->follow].is_last = is_last;
	return true;
}

static bool take_say(struct builder *b)
{
	size_t at = b->s->at++;
	struct grammar_word w = grammar_scan_word(b->s, "[]|\"!&");
	struct grammar_part *p = add_part(b, at, EL_SAY);

	for (size_t i = 0; p && i < COUNT(says); i++) {
		if (grammar_word_is(w, says[i].word)) {
			p->arg = says[i].say;
			return true;
		}
	}
	return p && grammar_scan_fail(b->s, at, "\"!%.*s\" is not known", w.len < 40 ? (int)w.len : 40, w.text);
}

/* A field, or the name of an item list. */
static bool take_word(struct builder *b)
{
	size_t at = b->s->at;
	struct grammar_word w = grammar_scan_word(b->s, ":[]|\"!&");
	struct grammar_part *p;
	unsigned list;

	for (size_t i = 0; i < COUNT(words); i++) {
		if (grammar_word_is(w, words[i].word))
			return take_field(b, at, words[i].kind, words[i].quals);
	}
	if (b->pattern->kind == GRAMMAR_ITEM)
		return grammar_scan_fail(b->s, at, "\"%.*s\" is not an element", w.len < 40 ? (int)w.len : 40, w.text);
	p = add_part(b, at, EL_LIST);
	if (!p || !add_follow(b, at, p) || !grammar_list_find(b->g, b->s, at, w, &list))
		return false;
	p->at = list;
	return true;
}

/* Elements up to "]", "|" or the end of the statement. */
static bool take_elements(struct builder *b, unsigned depth)
{
	while (grammar_scan_blanks(b->s)) {
		size_t at = b->s->at;
		char c = b->s->text[at];
		bool done;

		if (c == '|' || c == ']')
			return true;
		if (c == '[') {
			uint32_t i = b->g->n_parts;
			struct grammar_part *p = add_part(b, at, EL_OPTION);

			b->s->at++;
			if (depth == GRAMMAR_MAX_NESTING)
				return grammar_scan_fail(b->s, at, "brackets are nested more than %u deep",
							 GRAMMAR_MAX_NESTING);
			if (!p || !take_elements(b, depth + 1))
				return false;
			if (b->s->at >= b->s->end || b->s->text[b->s->at] != ']')
				return grammar_scan_fail(b->s, at, "the bracket is not closed");
			b->s->at++;
			b->g->parts[i].n = (uint16_t)(b->g->n_parts - i - 1);
			continue;
		}
		done = c == '"' || c == '&' ? take_literal(b) : c == '!' ? take_say(b) : take_word(b);
		if (!done)
			return false;
		if (b->s->at == at)
			return grammar_scan_fail(b->s, at, "no element begins with '%c'", c);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------ patterns */

static bool check_pattern(struct builder *b)
{
	const unsigned *n = b->counts;

	if (!b->pattern->n)
		return grammar_scan_fail(b->s, b->begin, "an empty pattern");
	if (n[EL_PC] > 1)
		return grammar_scan_fail(b->s, b->begin, "two pc fields in one line");
	if (b->pattern->kind == GRAMMAR_STEP && !n[EL_PC])
		return grammar_scan_fail(b->s, b->begin, "a step without a pc");
	if (b->pattern->kind == GRAMMAR_CODE && !n[EL_PC] && !n[EL_CODE])
		return grammar_scan_fail(b->s, b->begin, "code without a pc or bytes");
	if (n[EL_REG] > 1 || n[EL_REG] != n[EL_VALUE])
		return grammar_scan_fail(b->s, b->begin, "one reg and one value belong together, others are items");
	if (n[EL_ADDRESS] > 1 || n[EL_BYTES] + n[EL_PICTURE] > 1)
		return grammar_scan_fail(b->s, b->begin, "one address and its bytes belong together, others are items");
	if (!n[EL_ADDRESS] && n[EL_BYTES])
		return grammar_scan_fail(b->s, b->begin, "bytes without an address");
	return true;
}

static bool take_pattern(struct grammar *g, struct grammar_scan *s, enum grammar_kind kind, unsigned list)
{
	struct builder b = { .g = g, .s = s, .begin = s->at };

	if (g->n_patterns == GRAMMAR_MAX_PATTERNS)
		return grammar_scan_fail(s, s->at, "more than %u patterns", GRAMMAR_MAX_PATTERNS);
	b.pattern = &g->patterns[g->n_patterns];
	*b.pattern = (struct grammar_pattern){ .kind = (uint8_t)kind, .list = (uint8_t)list,
					       .first = (uint16_t)g->n_parts,
					       .line = (uint16_t)grammar_scan_line(s, s->at) };
	b.is_before = kind == GRAMMAR_ITEM && g->lists[list].len == strlen("before") &&
		      !memcmp(g->texts + g->lists[list].at, "before", strlen("before"));
	if (!take_elements(&b, 0))
		return false;
	if (s->at < s->end && s->text[s->at] == ']')
		return grammar_scan_fail(s, s->at, "this bracket was not opened");
	b.pattern->n = (uint16_t)(g->n_parts - b.pattern->first);
	if (!check_pattern(&b))
		return false;
	if (kind == GRAMMAR_PREFIX)
		g->prefix = (int)g->n_patterns;
	if (kind == GRAMMAR_ITEM) {
		if (g->lists[list].n == GRAMMAR_MAX_ITEMS)
			return grammar_scan_fail(s, b.begin, "more than %u items", GRAMMAR_MAX_ITEMS);
		g->lists[list].patterns[g->lists[list].n++] = (uint16_t)g->n_patterns;
	}
	g->n_patterns++;
	return true;
}

bool grammar_patterns(struct grammar *g, struct grammar_scan *s, enum grammar_kind kind, unsigned list)
{
	for (;;) {
		grammar_scan_blanks(s);
		if (!take_pattern(g, s, kind, list))
			return false;
		if (!grammar_scan_blanks(s))
			return true;
		s->at++; /* "|" */
	}
}
