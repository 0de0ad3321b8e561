/* SPDX-License-Identifier: MIT */
/*
 * When all patterns are there: where texts and item lists end, which bytes a line of each pattern may begin
 * with, and what a grammar has.
 */
#include <string.h>

#include "pattern.h"

/* So many characters after an item's first one can be read. */
#define MAX_LATER 8u

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ------------------------------------------------------------------------------------------- what follows */

static bool add_literal(const struct grammar *g, struct grammar_follow *f, uint32_t at, uint32_t len)
{
	uint8_t first = (uint8_t)g->texts[at];

	if (f->n == GRAMMAR_MAX_FOLLOW)
		return false;
	f->firsts[first / 64] |= UINT64_C(1) << first % 64;
	f->literals[f->n].at = at;
	f->literals[f->n++].len = len;
	return true;
}

/*
 * The literals that may come first in parts [@i, @end).  Returns false if something else may, or there are too
 * many; *is_empty: nothing need come.
 */
static bool find_first(const struct grammar *g, unsigned i, unsigned end, struct grammar_follow *f,
		       uint32_t blank, bool *is_empty)
{
	*is_empty = false;
	for (; i < end; i++) {
		const struct grammar_part *p = &g->parts[i];
		bool is_inner_empty;

		switch (p->kind) {
		case EL_AHEAD:
		case EL_LITERAL: return add_literal(g, f, p->at, p->n);
		case EL_BLANKS: return add_literal(g, f, blank, 1);
		case EL_SIZE:
			if (!p->n)
				return false;
			continue;
		case EL_SET:
		case EL_SAY: continue;
		case EL_OPTION:
			if (!find_first(g, i + 1, i + 1 + p->n, f, blank, &is_inner_empty))
				return false;
			i += p->n;
			continue;
		case EL_LIST:
			for (unsigned k = 0; k < g->n_items[p->at]; k++) {
				const struct grammar_pattern *item = &g->patterns[g->item_patterns[p->at][k]];

				if (!find_first(g, item->first, item->first + item->n, f, blank, &is_inner_empty))
					return false;
			}
			continue;
		default: return false;
		}
	}
	*is_empty = true;
	return true;
}

static bool set_follows(struct grammar *g, struct grammar_scan *s, const struct grammar_pattern *pattern,
			uint32_t blank)
{
	unsigned end = pattern->first + pattern->n;

	for (unsigned i = pattern->first; i < end; i++) {
		const struct grammar_part *p = &g->parts[i];
		struct grammar_follow *f;

		if (p->kind != EL_TEXT && p->kind != EL_MODULE && p->kind != EL_LIST)
			continue;
		f = &g->follows[p->follow];
		if (f->min) { /* it ends at a blank */
			add_literal(g, f, blank, 1);
			f->may_end = true;
		} else if (!find_first(g, i + 1, end, f, blank, &f->may_end)) {
			return grammar_scan_fail(s, p->place,
						 "after a text, a module or an item list comes a literal or the end, "
						 "and not one of more than %u literals",
						 GRAMMAR_MAX_FOLLOW);
		}
	}
	return true;
}

/* ------------------------------------------------------------------------------------------- first bytes */

static void add_range(bool set[256], unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++)
		set[i] = true;
}

static void add_bytes(bool set[256], const char *bytes)
{
	for (; *bytes; bytes++)
		set[(uint8_t)*bytes] = true;
}

/* The bytes that a field may begin with. */
static void add_field(bool set[256], uint8_t kind)
{
	switch (kind) {
	case EL_TEXT:
	case EL_MODULE:
	case EL_REST:
	case EL_LIST: add_range(set, 0, 255); break;
	case EL_DEC:
	case EL_SIZE: add_range(set, '0', '9'); break;
	case EL_REG:
	case EL_WORD: add_range(set, '!', 255); break;
	default:
		add_range(set, '0', '9');
		add_range(set, 'a', 'f');
		add_range(set, 'A', 'F');
		add_bytes(set, "xX-_.#?(");
		break;
	}
}

/* The bytes that parts [@i, @end) may begin with.  Returns whether they may be empty. */
static bool add_starts(const struct grammar *g, unsigned i, unsigned end, bool set[256])
{
	for (; i < end; i++) {
		const struct grammar_part *p = &g->parts[i];

		if (p->kind == EL_SAY || p->kind == EL_SET || (p->kind == EL_SIZE && p->n))
			continue;
		if (p->kind == EL_OPTION) {
			add_starts(g, i + 1, i + 1 + p->n, set);
			i += p->n;
			continue;
		}
		if (p->kind == EL_LITERAL || p->kind == EL_AHEAD)
			set[(uint8_t)g->texts[p->at]] = true;
		else if (p->kind == EL_BLANKS)
			add_bytes(set, " \t");
		else
			add_field(set, p->kind);
		if (p->kind != EL_LIST && p->kind != EL_TEXT && p->kind != EL_REST)
			return false;
	}
	return true;
}

/* Do all items of the list begin with blanks? */
static bool begin_with_blanks(const struct grammar *g, unsigned list)
{
	for (unsigned i = 0; i < g->n_items[list]; i++) {
		const struct grammar_pattern *p = &g->patterns[g->item_patterns[list][i]];

		if (g->parts[p->first].kind != EL_BLANKS)
			return false;
	}
	return true;
}

/* The first part of a pattern, without the blanks that all items of a list begin with. */
static unsigned first_part(const struct grammar *g, const struct grammar_pattern *p)
{
	return p->first + (p->kind == GRAMMAR_ITEM && g->has_blanks[p->list]);
}

static void set_starts(struct grammar *g, unsigned ordinal)
{
	const struct grammar_pattern *p = &g->patterns[ordinal];
	bool set[256] = { false };
	unsigned place = 0;

	if (add_starts(g, first_part(g, p), p->first + p->n, set))
		add_range(set, 0, 255);
	if (p->kind == GRAMMAR_ITEM) {
		while (g->item_patterns[p->list][place] != ordinal)
			place++;
	}
	for (unsigned c = 0; c < 256; c++) {
		if (!set[c])
			continue;
		if (p->kind == GRAMMAR_ITEM)
			g->items[p->list][c] |= UINT64_C(1) << place;
		else if (p->kind != GRAMMAR_PREFIX)
			g->starts[c][ordinal / 64] |= UINT64_C(1) << ordinal % 64;
	}
}

/*
 * The bytes that may be @later characters after the first one of the parts [@i, @end): what follows there is a literal
 * up to it, or is anything.
 */
static void add_later(const struct grammar *g, unsigned i, unsigned end, unsigned later, bool set[256])
{
	for (; i < end && g->parts[i].kind == EL_LITERAL; i++) {
		const struct grammar_part *p = &g->parts[i];

		if (later < p->n) {
			set[(uint8_t)g->texts[p->at + later]] = true;
			return;
		}
		later -= p->n;
	}
	add_range(set, 0, 255);
}

/* Items by the character @later after the first one; returns how many tries that leaves, of all characters. */
static unsigned sort_items(const struct grammar *g, unsigned list, unsigned later, uint64_t by[256])
{
	unsigned n = 0;

	memset(by, 0, 256 * sizeof(by[0]));
	for (unsigned i = 0; i < g->n_items[list]; i++) {
		const struct grammar_pattern *p = &g->patterns[g->item_patterns[list][i]];
		bool set[256] = { false };

		add_later(g, first_part(g, p), p->first + p->n, later, set);
		for (unsigned c = 0; c < 256; c++) {
			by[c] |= (uint64_t)set[c] << i;
			n += set[c];
		}
	}
	return n;
}

/* Items may begin with the same character: another one tells them apart. */
static void set_later(struct grammar *g, unsigned list)
{
	unsigned least = sort_items(g, list, 0, g->items_later[list]);

	for (unsigned later = 1; later < MAX_LATER; later++) {
		uint64_t by[256];
		unsigned n = sort_items(g, list, later, by);

		if (n >= least)
			continue;
		least = n;
		g->later[list] = (uint8_t)later;
		memcpy(g->items_later[list], by, sizeof(by));
	}
}

/* Pass over an element of @kind, if it is there. */
static unsigned pass(const struct grammar *g, unsigned i, unsigned end, uint8_t kind)
{
	return i + (i < end && g->parts[i].kind == kind);
}

static enum grammar_shape find_shape(const struct grammar *g, const struct grammar_pattern *p)
{
	unsigned i = first_part(g, p), end = p->first + p->n, at;

	i = pass(g, i, end, EL_LITERAL);
	at = pass(g, i, end, EL_ADDRESS);
	if (at > i && (at == end || (pass(g, at, end, EL_LITERAL) == at + 1 && pass(g, at + 1, end, EL_BYTES) == end && end == at + 2 &&
					    g->parts[at + 1].arg != GRAMMAR_WORDS)))
		return GRAMMAR_ACCESS_SHAPE;
	i = pass(g, i, end, EL_BLANKS);
	at = pass(g, i, end, EL_REG);
	if (at == i)
		return GRAMMAR_ANY_SHAPE;
	at = pass(g, pass(g, at, end, EL_BLANKS), end, EL_LITERAL);
	return at + 1 == end && g->parts[at].kind == EL_VALUE && !g->parts[at].arg ? GRAMMAR_REG_SHAPE : GRAMMAR_ANY_SHAPE;
}

static void set_item_parts(struct grammar *g, unsigned list)
{
	for (unsigned i = 0; i < g->n_items[list]; i++) {
		const struct grammar_pattern *p = &g->patterns[g->item_patterns[list][i]];
		unsigned first = first_part(g, p);

		g->item_parts[list][i] = (struct grammar_item){ .first = (uint16_t)first, .n = (uint16_t)(p->first + p->n - first),
								.shape = (uint8_t)find_shape(g, p) };
	}
}

/* A literal's first bytes as a word, as it is in memory. */
static void set_word(const struct grammar *g, struct grammar_part *p)
{
	static const uint8_t all[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	size_t n = p->n < sizeof(p->word) ? p->n : sizeof(p->word);

	memcpy(&p->word, g->texts + p->at, n);
	memcpy(&p->mask, all, n);
}

/* ------------------------------------------------------------------------------------------------- checks */

static void count_parts(struct grammar *g)
{
	for (unsigned i = 0; i < g->n_parts; i++) {
		const struct grammar_part *p = &g->parts[i];

		g->has_registers |= p->kind == EL_REG || p->kind == EL_SET;
		g->has_reads |= (p->kind == EL_ADDRESS && p->arg == GRAMMAR_READ) ||
				(p->kind == EL_PICTURE && p->arg == GRAMMAR_PICTURE_READ);
		g->has_accesses |= p->kind == EL_ADDRESS || p->kind == EL_PICTURE;
		g->has_thread |= p->kind == EL_THREAD;
		g->has_code |= p->kind == EL_CODE;
	}
}

static bool check_kinds(struct grammar *g, struct grammar_scan *s)
{
	unsigned n_steps = 0, n_states = 0, n_skips = 0;

	for (unsigned i = 0; i < g->n_patterns; i++) {
		n_steps += g->patterns[i].kind == GRAMMAR_STEP;
		n_skips += g->patterns[i].kind == GRAMMAR_SKIP;
		n_states += g->patterns[i].kind == GRAMMAR_STATE || g->patterns[i].kind == GRAMMAR_JOIN;
	}
	g->is_state = n_states;
	g->has_skips = n_skips;
	if (!n_steps && !n_states)
		return grammar_scan_fail(s, s->len, "there is no step and no state in it");
	if (n_steps && n_states)
		return grammar_scan_fail(s, s->len, "a grammar has steps or states, not both");
	for (unsigned i = 0; i < g->n_lists; i++) {
		if (!g->n_items[i])
			return grammar_scan_fail(s, g->lists[i].place, "\"%.*s\" is neither an element nor the name of items",
						 g->lists[i].len < 40 ? (int)g->lists[i].len : 40, g->texts + g->lists[i].at);
	}
	return g->n_archs || grammar_scan_fail(s, s->len, "\"arch\" is missing: the names of processors");
}

bool grammar_patterns_done(struct grammar *g, struct grammar_scan *s)
{
	uint32_t blank;

	if (!grammar_text(g, s, s->len, " ", 1, &blank) || !check_kinds(g, s))
		return false;
	for (unsigned i = 0; i < g->n_lists; i++)
		g->has_blanks[i] = begin_with_blanks(g, i);
	for (unsigned i = 0; i < g->n_patterns; i++) {
		if (!set_follows(g, s, &g->patterns[i], blank))
			return false;
		set_starts(g, i);
	}
	for (unsigned i = 0; i < g->n_lists; i++) {
		set_later(g, i);
		set_item_parts(g, i);
	}
	for (unsigned i = 0; i < g->n_parts; i++) {
		if (g->parts[i].kind == EL_LITERAL || g->parts[i].kind == EL_AHEAD)
			set_word(g, &g->parts[i]);
	}
	count_parts(g);
	return true;
}
