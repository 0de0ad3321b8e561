/* SPDX-License-Identifier: MIT */
/*
 * When all patterns are there: where texts and item lists end, which bytes a line of each pattern may begin
 * with, and what a grammar has.
 */
#include <string.h>

#include "pattern.h"

/* This many characters after the first one of an item are readable. */
#define MAX_FAR 8u

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
			for (unsigned k = 0; k < g->lists[p->at].n; k++) {
				const struct grammar_pattern *item = &g->patterns[g->lists[p->at].patterns[k]];

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
						 "a text, a module or an item list must be followed by the end, "
						 "or by one of at most %u literals",
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
static bool begin_with_blanks(const struct grammar *g, const struct grammar_list *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct grammar_pattern *p = &g->patterns[list->patterns[i]];

		if (g->parts[p->first].kind != EL_BLANKS)
			return false;
	}
	return true;
}

/* The first part of a pattern, without the blanks that all items of a list begin with. */
static unsigned first_part(const struct grammar *g, const struct grammar_pattern *p)
{
	return p->first + (p->kind == GRAMMAR_ITEM && g->lists[p->list].has_blanks);
}

static void set_starts(struct grammar *g, unsigned ordinal)
{
	const struct grammar_pattern *p = &g->patterns[ordinal];
	bool set[256] = { false };

	if (add_starts(g, p->first, p->first + p->n, set))
		add_range(set, 0, 255);
	for (unsigned c = 0; c < 256; c++)
		g->starts[c][ordinal / 64] |= (uint64_t)set[c] << ordinal % 64;
}

/* ------------------------------------------------------------------------------------------- telling items */

/* A set of characters, a bit each. */
struct chars {
	uint64_t bits[4];
};

/* The characters that may be @far after the first one of an item of the list. */
static struct chars chars_at(const struct grammar *g, const struct grammar_pattern *item, unsigned far)
{
	unsigned i = first_part(g, item), end = item->first + item->n;
	struct chars chars = { { 0 } };
	bool set[256] = { false };

	for (; i < end && g->parts[i].kind == EL_LITERAL && far >= g->parts[i].n; i++)
		far -= g->parts[i].n;
	if (i < end && g->parts[i].kind == EL_LITERAL)
		set[(uint8_t)g->texts[g->parts[i].at + far]] = true;
	else if (far || add_starts(g, i, end, set))
		add_range(set, 0, 255);
	for (unsigned c = 0; c < 256; c++)
		chars.bits[c / 64] |= (uint64_t)set[c] << c % 64;
	return chars;
}

static unsigned count_common(const struct chars *a, const struct chars *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(a->bits[i] & b->bits[i]);
	return n;
}

/* How many of 256 texts of item @a may be item @b, too, by the characters there. */
static uint64_t count_like(const struct chars *a, const struct chars *b)
{
	return 256 * count_common(a, b) / count_common(a, a);
}

/* How often another item is tried than the one that is there, if two characters are examined. */
static uint64_t count_tries(const struct chars *one, const struct chars *other, unsigned n)
{
	uint64_t tries = 0;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < n; k++) {
			uint64_t like = i == k ? 0 : count_like(&one[i], &one[k]);

			tries += like ? like * count_like(&other[i], &other[k]) : 0;
		}
	}
	return tries;
}

/* The offset of the character that distinguishes items best, beside the one at offset @other. */
static uint8_t find_telling(struct chars at[MAX_FAR][GRAMMAR_MAX_ITEMS], unsigned other, unsigned n)
{
	uint64_t least = UINT64_MAX;
	uint8_t best = 0;

	for (uint8_t far = 0; far < MAX_FAR; far++) {
		uint64_t tries = count_tries(at[other], at[far], n);

		if (tries >= least)
			continue;
		least = tries;
		best = far;
	}
	return best;
}

/* Items may begin with the same characters: two characters distinguish them. */
static void set_tell(const struct grammar *g, struct grammar_list *list)
{
	struct chars at[MAX_FAR][GRAMMAR_MAX_ITEMS];

	for (unsigned far = 0; far < MAX_FAR; far++)
		for (unsigned i = 0; i < list->n; i++)
			at[far][i] = chars_at(g, &g->patterns[list->patterns[i]], far);
	list->tell[0] = find_telling(at, 0, list->n);
	list->tell[1] = find_telling(at, list->tell[0], list->n);
	for (unsigned t = 0; t < 2; t++)
		for (unsigned i = 0; i < list->n; i++)
			for (unsigned w = 0; w < 4; w++)
				for (uint64_t left = at[list->tell[t]][i].bits[w]; left; left &= left - 1)
					list->by[t][64 * w + (unsigned)__builtin_ctzll(left)] |= UINT64_C(1) << i;
}

/* ---------------------------------------------------------------------------------------- shapes of items */

/* A literal's first bytes as a word, as it is in memory. */
static void set_word(const struct grammar *g, struct grammar_part *p)
{
	static const uint8_t all[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	size_t n = p->n < sizeof(p->word) ? p->n : sizeof(p->word);

	memcpy(&p->word, g->texts + p->at, n);
	memcpy(&p->mask, all, n);
}

/* Is part @i, before @end, of @kind? */
static bool is_part(const struct grammar *g, unsigned i, unsigned end, uint8_t kind)
{
	return i < end && g->parts[i].kind == kind;
}

/* Pass over a literal that is short, if one is there. */
static unsigned pass_short(const struct grammar *g, unsigned i, unsigned end, struct grammar_short *text)
{
	const struct grammar_part *p = &g->parts[i];

	*text = (struct grammar_short){ 0 };
	if (!is_part(g, i, end, EL_LITERAL) || p->n > sizeof(p->word))
		return i;
	*text = (struct grammar_short){ p->word, p->mask, (uint8_t)p->n };
	return i + 1;
}

/* Pass over blanks, if they are there. */
static unsigned pass_blanks(const struct grammar *g, unsigned i, unsigned end, bool *is_there)
{
	*is_there = is_part(g, i, end, EL_BLANKS);
	return i + *is_there;
}

/* Are parts [@i, @end) those of GRAMMAR_REG_SHAPE? */
static bool take_reg_shape(const struct grammar *g, unsigned i, unsigned end, struct grammar_item *item)
{
	i = pass_blanks(g, pass_short(g, i, end, &item->before), end, &item->has_blanks);
	if (!is_part(g, i, end, EL_REG))
		return false;
	item->arg = g->parts[i].arg;
	item->prefix = (char)g->parts[i].n;
	i = pass_short(g, pass_blanks(g, i + 1, end, &item->has_more_blanks), end, &item->between);
	return is_part(g, i, end, EL_VALUE) && i + 1 == end && !g->parts[i].arg;
}

/* Are they those of GRAMMAR_ACCESS_SHAPE? */
static bool take_access_shape(const struct grammar *g, unsigned i, unsigned end, struct grammar_item *item)
{
	unsigned bytes;

	i = pass_short(g, i, end, &item->before);
	if (!is_part(g, i, end, EL_ADDRESS))
		return false;
	item->arg = g->parts[i].arg;
	bytes = pass_short(g, i + 1, end, &item->between);
	if (bytes == i + 1)
		return bytes == end;
	item->has_bytes = is_part(g, bytes, end, EL_BYTES);
	item->order = g->parts[bytes].arg;
	return item->has_bytes && bytes + 1 == end && item->order != GRAMMAR_WORDS;
}

static void set_item(const struct grammar *g, const struct grammar_pattern *p, struct grammar_item *item)
{
	const unsigned first = first_part(g, p), end = p->first + p->n;

	*item = (struct grammar_item){ .first = (uint16_t)first, .n = (uint16_t)(end - first) };
	if (take_reg_shape(g, first, end, item))
		item->shape = GRAMMAR_REG_SHAPE;
	else if (take_access_shape(g, first, end, item))
		item->shape = GRAMMAR_ACCESS_SHAPE;
}

static void set_list(const struct grammar *g, struct grammar_list *list)
{
	list->has_blanks = begin_with_blanks(g, list);
	set_tell(g, list);
	for (unsigned i = 0; i < list->n; i++)
		set_item(g, &g->patterns[list->patterns[i]], &list->items[i]);
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
		return grammar_scan_fail(s, s->len, "the grammar has no step and no state");
	if (n_steps && n_states)
		return grammar_scan_fail(s, s->len, "a grammar has steps or states, not both");
	for (unsigned i = 0; i < g->n_lists; i++) {
		if (!g->lists[i].n)
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
	for (unsigned i = 0; i < g->n_parts; i++) {
		if (g->parts[i].kind == EL_LITERAL || g->parts[i].kind == EL_AHEAD)
			set_word(g, &g->parts[i]);
	}
	for (unsigned i = 0; i < g->n_lists; i++)
		set_list(g, &g->lists[i]);
	for (unsigned i = 0; i < g->n_patterns; i++) {
		if (!set_follows(g, s, &g->patterns[i], blank))
			return false;
		if (g->patterns[i].kind != GRAMMAR_ITEM && g->patterns[i].kind != GRAMMAR_PREFIX)
			set_starts(g, i);
	}
	count_parts(g);
	return true;
}
