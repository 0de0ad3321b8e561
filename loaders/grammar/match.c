/* SPDX-License-Identifier: MIT */
#include "match.h"

#include <string.h>

#include "names.h"
#include "put.h"
#include "src/base/hex.h"

void grammar_matcher_init(struct grammar_matcher *m, const struct grammar *g, const struct regmap *map,
			  const struct ts_regset *set)
{
	*m = (struct grammar_matcher){ .g = g, .map = map, .set = set };
	m->mask = ts_arch_addr_mask(set->arch);
	m->is_big = set->arch->is_big_endian;
	m->is_code_big = m->is_big && set->arch->min_insn_len != 4;
	m->narrow = ts_arch_feature(set->arch, "org.gnu.gdb.riscv.fpu");
}

/* ------------------------------------------------------------------------------------------------- fields */

static const uint8_t digits[256] = {
	['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21, ['6'] = 22, ['7'] = 23,
	['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27, ['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31,
	['A'] = 26, ['B'] = 27, ['C'] = 28, ['D'] = 29, ['E'] = 30, ['F'] = 31,
};

static inline bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static inline void skip_prefix(struct grammar_matcher *m)
{
	if (m->end - m->p > 2 && m->p[0] == '0' && (m->p[1] | 0x20) == 'x')
		m->p += 2;
}

/* A hex number of at most 64 bits.  Returns its number of digits, 0 if there are none or too many. */
static inline unsigned take_hex(struct grammar_matcher *m, uint64_t *n)
{
	const char *first;
	uint64_t v = 0;

	skip_prefix(m);
	first = m->p;
	while (m->p < m->end && digits[(uint8_t)*m->p])
		v = v << 4 | (digits[(uint8_t)*m->p++] & 15);
	*n = v;
	return m->p - first <= 16 ? (unsigned)(m->p - first) : 0;
}

static inline bool take_dec(struct grammar_matcher *m, uint64_t *n)
{
	const char *first = m->p;

	*n = 0;
	while (m->p < m->end && *m->p >= '0' && *m->p <= '9')
		*n = *n * 10 + (uint64_t)(*m->p++ - '0');
	return m->p > first && m->p - first < 19;
}

/* Digits that are separated, or stand for unknown ones. */
static __attribute__((noinline)) void take_odd_digits(struct grammar_matcher *m)
{
	const char *first = m->p;

	while (m->p < m->end && (digits[(uint8_t)*m->p] || *m->p == '_'))
		m->p++;
	while (m->p == first && m->p < m->end && strchr("xX-.#?", *m->p))
		first = ++m->p;
}

/* The digits of a value: hex ones, and those that stand for unknown ones. */
static inline bool take_digits(struct grammar_matcher *m, struct grammar_digits *d)
{
	const char *p, *first;
	uint64_t v = 0;

	skip_prefix(m);
	first = p = m->p;
	while (p < m->end && digits[(uint8_t)*p])
		v = v << 4 | (digits[(uint8_t)*p++] & 15);
	m->p = p;
	d->is_plain = p > first && p - first <= 16;
	if (__builtin_expect(p == first || (p < m->end && *p == '_'), 0)) {
		d->is_plain = false;
		take_odd_digits(m);
	}
	d->number = v;
	d->span = (struct grammar_span){ first, (size_t)(m->p - first) };
	return d->span.len;
}

static inline bool is_literal(const struct grammar_matcher *m, const struct grammar_part *e)
{
	const char *text = m->g->texts + e->at;

	if ((size_t)(m->end - m->p) < e->n || *m->p != *text)
		return false;
	for (unsigned i = 1; i < e->n; i++) {
		if (m->p[i] != text[i])
			return false;
	}
	return true;
}

static inline bool take_blanks(struct grammar_matcher *m)
{
	const char *first = m->p;

	while (m->p < m->end && (*m->p == ' ' || *m->p == '\t'))
		m->p++;
	return m->p > first;
}

static bool take_word(struct grammar_matcher *m)
{
	const char *first = m->p;

	while (m->p < m->end && !strchr(" \t,:;()[]=\"", *m->p))
		m->p++;
	return m->p > first;
}

static inline bool take_reg(struct grammar_matcher *m, const struct grammar_part *e)
{
	m->name.text = m->p;
	while (m->p < m->end && is_name(*m->p))
		m->p++;
	m->name.len = (size_t)(m->p - m->name.text);
	m->time = e->arg;
	if (!m->name.len)
		return false;
	m->slot = grammar_find_register(m, (char)e->n);
	return true;
}

/* A register that the pattern names, not the line. */
static bool set_reg(struct grammar_matcher *m, const struct grammar_part *e)
{
	m->name = (struct grammar_span){ m->g->texts + e->at, e->n };
	m->time = GRAMMAR_AFTER;
	m->slot = regmap_find(m->map, m->name.text, m->name.len);
	return true;
}

static void take_image(struct grammar_matcher *m)
{
	m->line->image = (struct grammar_span){ m->p, 0 };
	while (m->p < m->end && digits[(uint8_t)*m->p])
		m->p++;
	m->line->image.len = (size_t)(m->p - m->line->image.text);
	m->p = m->end;
}

/* Where literal @i of what follows is at or after @p; NULL: nowhere. */
static const char *find_literal(const struct grammar_matcher *m, const struct grammar_follow *f, unsigned i,
				const char *p)
{
	return memmem(p, (size_t)(m->end - p), m->g->texts + f->literals[i].at, f->literals[i].len);
}

static const char *find_last(const struct grammar_matcher *m, const struct grammar_follow *f, const char *p)
{
	const char *last = NULL;

	for (unsigned i = 0; i < f->n; i++) {
		for (const char *at = find_literal(m, f, i, p); at; at = find_literal(m, f, i, at + 1)) {
			if (!last || at > last)
				last = at;
		}
	}
	return last;
}

/* Up to what follows. */
static bool take_text(struct grammar_matcher *m, const struct grammar_part *e, struct grammar_span *span)
{
	const struct grammar_follow *f = &m->g->follows[e->follow];
	const char *from = m->p, *first = NULL;

	if (m->end - from < f->min)
		return false;
	if (f->is_last) {
		first = find_last(m, f, from);
	} else {
		for (unsigned i = 0; i < f->n; i++) {
			const char *at = find_literal(m, f, i, from + f->min);

			if (at && (!first || at < first))
				first = at;
		}
	}
	if (!first && !f->may_end)
		return false;
	m->p = first ? first : m->end;
	*span = (struct grammar_span){ from, (size_t)(m->p - from) };
	return true;
}

/* Groups of digits with a blank between them: 31 ed, f7ff ffc5. */
static bool take_code(struct grammar_matcher *m, const struct grammar_part *e)
{
	struct grammar_digits group;
	size_t len = 0;

	m->line->n_code = 0;
	m->line->is_head = e->arg == GRAMMAR_HEAD;
	for (;;) {
		const char *before = m->p;

		if (len)
			m->p++; /* the blank */
		if (!take_digits(m, &group) || (len && (group.span.len != len || (m->p < m->end && is_name(*m->p)))) ||
		    !grammar_put_code(m, e->arg, &group)) {
			m->p = before;
			return len;
		}
		len = group.span.len;
		if (m->p == m->end || *m->p != ' ' || len > 4)
			return true;
	}
}

/* ---------------------------------------------------------------------------------------------- elements */

static bool match_run(struct grammar_matcher *m, const struct grammar_part *e, const struct grammar_part *end);

static void reset_item(struct grammar_matcher *m)
{
	m->line->has &= ~HAS_ITEM;
	m->is_unused = false;
}

static bool match_item(struct grammar_matcher *m, unsigned list)
{
	const struct grammar *g = m->g;
	uint64_t left = g->items[list][(uint8_t)*m->p];
	const char *from = m->p;

	for (; left; left &= left - 1) {
		const struct grammar_pattern *p = &g->patterns[g->item_patterns[list][__builtin_ctzll(left)]];

		reset_item(m);
		if (match_run(m, &g->parts[p->first], &g->parts[p->first + p->n]) && m->p > from) {
			grammar_put_item(m);
			reset_item(m);
			return true;
		}
		m->p = from;
	}
	reset_item(m);
	return false;
}

static inline bool is_followed(const struct grammar_matcher *m, const struct grammar_follow *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		if ((size_t)(m->end - m->p) >= f->literals[i].len &&
		    !memcmp(m->p, m->g->texts + f->literals[i].at, f->literals[i].len))
			return true;
	}
	return false;
}

/* Items up to what follows; a word that is none is passed over. */
static void match_list(struct grammar_matcher *m, const struct grammar_part *e)
{
	const struct grammar_follow *f = &m->g->follows[e->follow];

	if (m->line->has & (HAS_REG | HAS_ADDRESS)) /* of the line itself */
		grammar_put_item(m);
	reset_item(m);
	while (m->p < m->end && !is_followed(m, f)) {
		if (match_item(m, e->at))
			continue;
		if (*m->p != ' ' && *m->p != '\t' && *m->p != ',') {
			m->line->n_skipped++;
			while (m->p + 1 < m->end && m->p[1] != ' ' && m->p[1] != '\t' && m->p[1] != ',')
				m->p++;
		}
		m->p++;
	}
}

/* A group that may be missing. */
static void match_option(struct grammar_matcher *m, const struct grammar_part *e)
{
	const char *from = m->p;
	const struct grammar_line was = { .has = m->line->has, .says = m->line->says };
	const bool was_unused = m->is_unused;
	uint32_t n = m->out->n_effects;

	if (match_run(m, e + 1, e + 1 + e->n))
		return;
	m->p = from;
	m->line->has = was.has;
	m->line->says = was.says;
	m->is_unused = was_unused;
	ts_steps_rollback(m->out, n);
}

static void say(struct grammar_matcher *m, uint8_t what)
{
	if (what == GRAMMAR_UNUSED)
		m->is_unused = true;
	else
		m->line->says |= what;
}

static bool match_field(struct grammar_matcher *m, const struct grammar_part *e)
{
	struct grammar_line *l = m->line;
	uint64_t ignored;
	unsigned n;

	switch (e->kind) {
	case EL_PC:
		n = take_hex(m, &l->pc);
		l->pc_digits = (uint8_t)n;
		l->has |= HAS_PC;
		return n && l->pc <= m->mask;
	case EL_ADDRESS:
		m->access = e->arg;
		l->has |= HAS_ADDRESS;
		return take_hex(m, &m->address);
	case EL_VALUE:
		l->has |= HAS_VALUE;
		return take_digits(m, &m->value);
	case EL_BYTES:
		m->order = e->arg;
		l->has |= HAS_BYTES;
		return take_digits(m, &m->bytes);
	case EL_PICTURE:
		l->has |= HAS_ADDRESS | HAS_PICTURE;
		m->access = e->arg ? GRAMMAR_WRITE : GRAMMAR_READ;
		return grammar_take_picture(m);
	case EL_REG: l->has |= HAS_REG; return take_reg(m, e);
	case EL_SIZE: l->has |= HAS_SIZE; return take_dec(m, &m->size);
	case EL_THREAD: l->has |= HAS_THREAD; return e->arg ? take_hex(m, &l->thread) : take_dec(m, &l->thread);
	case EL_OFFSET: l->has |= HAS_OFFSET; return take_hex(m, &l->offset);
	case EL_BASE: l->has |= HAS_BASE; return take_hex(m, &l->base);
	case EL_LAST: l->has |= HAS_LAST; return take_hex(m, &l->last);
	case EL_LENGTH: l->has |= HAS_LENGTH; return take_hex(m, &l->length);
	case EL_CODE: l->has |= HAS_CODE; return take_code(m, e);
	case EL_MODULE: l->has |= HAS_MODULE; return take_text(m, e, &l->module);
	case EL_TEXT: l->has |= HAS_TEXT; return take_text(m, e, &l->text);
	case EL_HEX: return take_hex(m, &ignored);
	case EL_DEC: return take_dec(m, &ignored);
	case EL_WORD: return take_word(m);
	case EL_SET: l->has |= HAS_REG; return set_reg(m, e);
	case EL_IMAGE: take_image(m); return true;
	case EL_REST: m->p = m->end; return true;
	default: return false;
	}
}

static bool match_run(struct grammar_matcher *m, const struct grammar_part *e, const struct grammar_part *end)
{
	const struct grammar_part *first = e;

	for (; e < end; e++) {
		bool done = true;

		switch (e->kind) {
		case EL_LITERAL:
			done = is_literal(m, e);
			m->p += done ? e->n : 0;
			break;
		case EL_AHEAD:
			done = is_literal(m, e);
			break;
		case EL_BLANKS: done = take_blanks(m); break;
		case EL_OPTION:
			match_option(m, e);
			e += e->n;
			break;
		case EL_LIST: match_list(m, e); break;
		case EL_SAY: say(m, e->arg); break;
		default: done = match_field(m, e); break;
		}
		if (__builtin_expect(!done, 0)) {
			m->reached = (unsigned)(e - first);
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------- lines */

static bool match_line(struct grammar_matcher *m, const struct grammar_pattern *p)
{
	if (!match_run(m, &m->g->parts[p->first], &m->g->parts[p->first + p->n]))
		return false;
	take_blanks(m);
	m->reached = p->n;
	return m->p == m->end;
}

static void reset_line(struct grammar_line *line, uint32_t has)
{
	line->kind = GRAMMAR_NOISE;
	line->pattern = GRAMMAR_MAX_PATTERNS;
	line->has = has;
	line->says = 0;
	line->image.text = NULL;
	line->n_code = 0;
	line->is_head = line->is_damaged = false;
	line->n_regs = line->n_unknown = line->n_bad = line->n_skipped = 0;
}

/* What may stand before every line.  Returns what fields it has. */
static uint32_t match_prefix(struct grammar_matcher *m)
{
	const struct grammar_pattern *p = &m->g->patterns[m->g->prefix];
	const char *from = m->p;

	reset_line(m->line, 0);
	if (match_run(m, &m->g->parts[p->first], &m->g->parts[p->first + p->n]))
		return m->line->has;
	m->p = from;
	return 0;
}

/* Try the patterns of @left, bits from pattern @first on. */
static bool try_patterns(struct grammar_matcher *m, uint64_t left, unsigned first, const char *from, uint32_t has,
			 bool *is_damaged)
{
	uint32_t n = m->out->n_effects;

	for (; left; left &= left - 1) {
		const struct grammar_pattern *p = &m->g->patterns[first + (unsigned)__builtin_ctzll(left)];

		reset_line(m->line, has);
		m->p = from;
		m->is_unused = false;
		if (__builtin_expect(match_line(m, p), 1)) {
			if (m->line->has & (HAS_REG | HAS_ADDRESS))
				grammar_put_item(m);
			m->line->kind = p->kind;
			m->line->pattern = (uint8_t)(p - m->g->patterns);
			return true;
		}
		ts_steps_rollback(m->out, n);
		*is_damaged |= m->reached >= 2 && (p->kind == GRAMMAR_STEP || p->kind == GRAMMAR_STATE);
	}
	return false;
}

bool grammar_skips(enum grammar_kind kind, bool *is_skipping)
{
	switch (kind) {
	case GRAMMAR_SKIP: *is_skipping = true; break;
	case GRAMMAR_STEP:
	case GRAMMAR_STATE:
	case GRAMMAR_JOIN:
	case GRAMMAR_REFUSE:
	case GRAMMAR_TAKE: *is_skipping = false; break;
	default: break;
	}
	return *is_skipping;
}

void grammar_match(struct grammar_matcher *m, const char *text, size_t len, struct grammar_line *line,
		   struct ts_steps *out)
{
	bool is_damaged = false;
	uint32_t has = 0;

	m->line = line;
	m->out = out;
	m->p = text;
	m->end = text + len;
	if (m->g->prefix >= 0)
		has = match_prefix(m);
	text = m->p;
	for (unsigned half = 0; half < 2 && text < m->end; half++) {
		if (try_patterns(m, m->g->starts[(uint8_t)*text][half], 64 * half, text, has, &is_damaged))
			return;
	}
	reset_line(line, 0);
	m->p = text;
	take_blanks(m);
	if (m->p == m->end)
		line->kind = GRAMMAR_NOTE; /* it is empty */
	line->is_damaged = is_damaged || memchr(text, 0, (size_t)(m->end - text));
}
