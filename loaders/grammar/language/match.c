/* SPDX-License-Identifier: MIT */
#include "match.h"

#include <string.h>

#include "put.h"
#include "src/base/text/hex.h"

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

/*
 * A field is read at @p and gives where the text goes on, NULL if it is not there.  Not the matcher's own place is
 * moved, which is in memory, but for what put.c reads.
 */

#define DIGIT 1u
#define NAME  2u /* of registers' names */
#define STOP  4u /* ends a word */
#define ODD   8u /* separates digits of a value, or represents one that is unknown */
#define MORE  16u /* after digits of a value: it goes on */
#define NUMBER (DIGIT | NAME | MORE)

static const uint8_t classes[256] = {
	['0'] = NUMBER, ['1'] = NUMBER, ['2'] = NUMBER, ['3'] = NUMBER, ['4'] = NUMBER, ['5'] = NUMBER, ['6'] = NUMBER,
	['7'] = NUMBER, ['8'] = NUMBER, ['9'] = NUMBER, ['a'] = NUMBER, ['b'] = NUMBER, ['c'] = NUMBER, ['d'] = NUMBER,
	['e'] = NUMBER, ['f'] = NUMBER, ['A'] = NUMBER, ['B'] = NUMBER, ['C'] = NUMBER, ['D'] = NUMBER, ['E'] = NUMBER,
	['F'] = NUMBER, ['g'] = NAME, ['h'] = NAME, ['i'] = NAME, ['j'] = NAME, ['k'] = NAME, ['l'] = NAME, ['m'] = NAME,
	['n'] = NAME, ['o'] = NAME, ['p'] = NAME, ['q'] = NAME, ['r'] = NAME, ['s'] = NAME, ['t'] = NAME, ['u'] = NAME,
	['v'] = NAME, ['w'] = NAME, ['x'] = NAME | ODD | MORE, ['y'] = NAME, ['z'] = NAME, ['G'] = NAME, ['H'] = NAME, ['I'] = NAME,
	['J'] = NAME, ['K'] = NAME, ['L'] = NAME, ['M'] = NAME, ['N'] = NAME, ['O'] = NAME, ['P'] = NAME, ['Q'] = NAME,
	['R'] = NAME, ['S'] = NAME, ['T'] = NAME, ['U'] = NAME, ['V'] = NAME, ['W'] = NAME, ['X'] = NAME | ODD | MORE, ['Y'] = NAME,
	['Z'] = NAME, ['_'] = NAME | ODD | MORE, ['.'] = NAME | ODD, ['-'] = ODD, ['#'] = ODD | MORE, ['?'] = ODD | MORE, [' '] = STOP, ['\t'] = STOP, [','] = STOP, [':'] = STOP, [';'] = STOP,
	['('] = STOP, [')'] = STOP, ['['] = STOP, [']'] = STOP, ['='] = STOP, ['"'] = STOP, [0] = STOP,
};

static inline bool is(char c, uint8_t class)
{
	return classes[(uint8_t)c] & class;
}

static inline const char *skip_prefix(const char *p, const char *end)
{
	return end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' ? p + 2 : p;
}

/*
 * Reads up to 16 hex digits, and counts them.  The buffer has 16 bytes after the line's end; digits there do not count.
 */
static inline uint64_t read_hex(const char *p, const char *end, unsigned *n)
{
	uint64_t v = ts_hex_number(p, n);
	size_t left = (size_t)(end - p);

	if (__builtin_expect(*n > left, 0)) {
		v >>= 4 * (*n - left);
		*n = (unsigned)left;
	}
	return v;
}

/* A hex number of at most 64 bits. */
static inline const char *take_hex(const char *p, const char *end, uint64_t *v)
{
	unsigned n;

	p = skip_prefix(p, end);
	*v = read_hex(p, end, &n);
	p += n;
	return !n || (n == 16 && p < end && is(*p, DIGIT)) ? NULL : p;
}

static inline const char *take_dec(const char *p, const char *end, uint64_t *n)
{
	const char *first = p;
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	*n = v;
	return p > first && p - first < 19 ? p : NULL;
}

/* Digits at @first of which more than 16 may be there, that are separated, or that represent unknown ones. */
static __attribute__((noinline)) const char *take_odd_digits(const char *first, const char *end, struct grammar_digits *d)
{
	const char *p = first;

	while (p < end && is(*p, DIGIT))
		p++;
	d->is_plain = p > first && p - first <= 16;
	if (p == first || (p < end && is(*p, MORE))) {
		d->is_plain = false;
		while (p < end && is(*p, DIGIT | ODD))
			p++;
	}
	d->span.len = (size_t)(p - first);
	return p > first ? p : NULL;
}

/* The digits of a value: hex ones, and those that represent unknown ones. */
static inline const char *take_digits(const char *p, const char *end, struct grammar_digits *d)
{
	unsigned n;

	p = skip_prefix(p, end);
	d->number = read_hex(p, end, &n);
	d->span = (struct grammar_span){ p, n };
	d->is_plain = true;
	if (__builtin_expect(n && !is(p[n], MORE), 1))
		return p + n;
	return take_odd_digits(p, end, d);
}

static inline bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

/* After a group of digits of a number those with a blank before each, and as many digits; "-" represent unknown ones. */
static __attribute__((noinline)) const char *take_more_words(const char *p, const char *end, struct grammar_digits *d)
{
	const size_t n = d->span.len;

	if (*d->span.text == '-' || !p)
		return p;
	while ((size_t)(end - p) > n && *p == ' ') {
		size_t i = 1;

		while (i <= n && (is(p[i], DIGIT) || p[i] == '-'))
			i++;
		if (i <= n || (p + i < end && !is_gap(p[i])))
			break;
		p += i;
		d->is_plain = false;
	}
	d->span.len = (size_t)(p - d->span.text);
	return p;
}

static inline bool is_literal(const struct grammar *g, const char *p, const char *end, const struct grammar_part *e)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !((word ^ e->word) & e->mask) && (size_t)(end - p) >= e->n &&
	       (e->n <= sizeof(word) || !memcmp(p + sizeof(word), g->texts + e->at + sizeof(word), e->n - sizeof(word)));
}

static inline const char *take_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Blanks, at least one. */
static inline const char *take_some_blanks(const char *p, const char *end)
{
	const char *next = take_blanks(p, end);

	return next > p ? next : NULL;
}

static inline const char *take_word(const char *p, const char *end)
{
	const char *first = p;

	while (p < end && !is(*p, STOP))
		p++;
	return p > first ? p : NULL;
}

/*
 * How many of the eight bytes at @p, from the first one on, may be in a name of a register: what NAME says, for all of
 * them at once.
 */
static inline unsigned count_name(const char *p)
{
	const uint64_t each = TS_HEX_EACH;
	uint64_t x, low, lower, digit, letter, other, bad;

	memcpy(&x, p, sizeof(x));
	x = le64toh(x);
	low = x & 0x7f * each;
	lower = low | 0x20 * each;
	digit = (low + (0x80 - '0') * each) & ~(low + (0x7f - '9') * each);
	letter = (lower + (0x80 - 'a') * each) & ~(lower + (0x7f - 'z') * each);
	other = ~((low ^ '_' * each) + 0x7f * each) | ~((low ^ '.' * each) + 0x7f * each);
	bad = (~(digit | letter | other) | x) & 0x80 * each;
	return bad ? (unsigned)__builtin_ctzll(bad) / 8 : 8;
}

/* As take_reg(), for a name that is not the last one of its place in @r. */
static __attribute__((noinline)) const char *look_up_reg(struct grammar_matcher *m, const char *p, const char *end, char prefix,
							  struct grammar_recent *r)
{
	const char *const first = p;
	uint8_t mask[sizeof(r->mask)] = { 0 };

	p += count_name(p);
	while (p < end && is(*p, NAME))
		p++;
	p = p < end ? p : end;
	m->name = (struct grammar_span){ first, (size_t)(p - first) };
	if (p == first)
		return NULL;
	m->slot = grammar_find_register(m, prefix);
	if (m->name.len >= sizeof(mask))
		return p;
	memset(mask, 0xff, m->name.len + 1);
	*r = (struct grammar_recent){ .slot = m->slot, .len = (uint8_t)m->name.len, .prefix = prefix };
	memcpy(&r->text, first, sizeof(r->text));
	memcpy(&r->mask, mask, sizeof(r->mask));
	return p;
}

/* A name of a register, which may have the letter @prefix (0: none) before it. */
static inline const char *take_reg(struct grammar_matcher *m, const char *p, const char *end, char prefix, uint8_t time)
{
	struct grammar_recent *r;
	uint64_t text;

	memcpy(&text, p, sizeof(text));
	r = &m->recent[((uint32_t)le64toh(text) << 8) * UINT32_C(0x9e3779b1) >> 26]; /* of three characters */
	m->time = time;
	if (__builtin_expect((text ^ r->text) & r->mask || r->prefix != prefix || !r->slot || end - p < r->len, 0))
		return look_up_reg(m, p, end, prefix, r);
	m->slot = r->slot;
	m->name = (struct grammar_span){ p, r->len };
	return p + r->len;
}

/* A register that the pattern names, not the line. */
static void set_reg(struct grammar_matcher *m, const struct grammar_part *e)
{
	m->name = (struct grammar_span){ m->g->texts + e->at, e->n };
	m->time = GRAMMAR_AFTER;
	m->slot = regmap_find(m->map, m->name.text, m->name.len);
}

static const char *take_image(struct grammar_matcher *m, const char *p, const char *end)
{
	m->line->image = (struct grammar_span){ p, 0 };
	while (p < end && is(*p, DIGIT))
		p++;
	m->line->image.len = (size_t)(p - m->line->image.text);
	return end;
}

/* Returns the first place at or after @p of literal @i of the follow set; NULL if none is found. */
static const char *find_literal(const struct grammar_matcher *m, const struct grammar_follow *f, unsigned i,
				const char *p)
{
	const char *text = m->g->texts + f->literals[i].at;
	const size_t len = f->literals[i].len;

	while ((size_t)(m->end - p) >= len) {
		p = memchr(p, *text, (size_t)(m->end - p) - len + 1);
		if (!p || len == 1 || !memcmp(p, text, len))
			return p;
		p++;
	}
	return NULL;
}

/* Does one of the literals that follow begin at @p? */
static inline bool is_followed(const struct grammar_matcher *m, const char *p, const struct grammar_follow *f)
{
	const uint8_t c = (uint8_t)*p;

	if (!(f->firsts[c / 64] >> c % 64 & 1))
		return false;
	for (unsigned i = 0; i < f->n; i++) {
		if ((size_t)(m->end - p) >= f->literals[i].len &&
		    !memcmp(p, m->g->texts + f->literals[i].at, f->literals[i].len))
			return true;
	}
	return false;
}

/* Returns the first place at or after @p of one of several literals; NULL if none is found. */
static const char *find_first(const struct grammar_matcher *m, const struct grammar_follow *f, const char *p)
{
	for (; p < m->end; p++) {
		if (is_followed(m, p, f))
			return p;
	}
	return NULL;
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
static const char *take_text(const struct grammar_matcher *m, const char *from, const struct grammar_part *e, struct grammar_span *span)
{
	const struct grammar_follow *f = &m->g->follows[e->follow];
	const char *first = NULL;

	if (m->end - from < f->min)
		return NULL;
	if (f->is_last)
		first = find_last(m, f, from);
	else
		first = f->n == 1 ? find_literal(m, f, 0, from + f->min) : find_first(m, f, from + f->min);
	if (!first && !f->may_end)
		return NULL;
	first = first ? first : m->end;
	*span = (struct grammar_span){ from, (size_t)(first - from) };
	return first;
}

/* Groups of digits with a blank between them: 31 ed, f7ff ffc5. */
static const char *take_code(struct grammar_matcher *m, const char *p, const struct grammar_part *e)
{
	const char *const end = m->end;
	struct grammar_digits group;
	size_t len = 0;

	m->line->n_code = 0;
	m->line->is_head = e->arg == GRAMMAR_HEAD;
	for (;;) {
		const char *next = take_digits(p + (len != 0), end, &group); /* after the blank */

		if (!next || (len && (group.span.len != len || (next < end && is(*next, NAME)))) || !grammar_put_code(m, e->arg, &group))
			return len ? p : NULL;
		p = next;
		len = group.span.len;
		if (p == end || *p != ' ' || len > 4)
			return p;
	}
}

/* ---------------------------------------------------------------------------------------------- elements */

static const char *match_run(struct grammar_matcher *m, const char *p, const struct grammar_part *e, const struct grammar_part *end);

static inline void reset_item(struct grammar_matcher *m)
{
	m->line->has &= ~HAS_ITEM;
	m->is_unused = m->is_unknown = false;
}

/* Passes over @text; NULL if it is not there. */
static inline const char *take_short(const char *p, const char *end, const struct grammar_short *text)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return ((word ^ text->word) & text->mask) || end - p < text->len ? NULL : p + text->len;
}

/* An item of shape GRAMMAR_REG_SHAPE, which is put. */
static inline __attribute__((always_inline)) const char *match_reg(struct grammar_matcher *m, const char *p, const char *end, const struct grammar_item *item)
{
	p = take_short(p, end, &item->before);
	if (p && item->has_blanks)
		p = take_some_blanks(p, end);
	p = p ? take_reg(m, p, end, item->prefix, item->arg) : NULL;
	if (p && item->has_more_blanks)
		p = take_some_blanks(p, end);
	p = p ? take_short(p, end, &item->between) : NULL;
	p = p ? take_digits(p, end, &m->value) : NULL;
	if (p)
		grammar_put_register(m);
	return p;
}

/* One of shape GRAMMAR_ACCESS_SHAPE. */
static __attribute__((noinline)) const char *match_access(struct grammar_matcher *m, const char *p, const char *end, const struct grammar_item *item)
{
	p = take_short(p, end, &item->before);
	p = p ? take_hex(p, end, &m->address) : NULL;
	if (p && item->has_bytes) {
		p = take_short(p, end, &item->between);
		p = p ? take_digits(p, end, &m->bytes) : NULL;
	}
	if (!p)
		return NULL;
	m->access = item->arg;
	m->order = item->order;
	grammar_put_access(m, item->has_bytes ? HAS_BYTES : 0);
	return p;
}

/* An item of another shape, which begins at @from. */
static __attribute__((noinline)) const char *match_any(struct grammar_matcher *m, const char *from, const char *p,
							const struct grammar_item *item)
{
	const struct grammar_part *e = &m->g->parts[item->first];
	const char *next = match_run(m, p, e, e + item->n);

	if (next && next > from)
		grammar_put_item(m);
	reset_item(m);
	return next;
}

/* The next item at @p; NULL if none is there. */
static inline const char *match_item(struct grammar_matcher *m, const char *p, const char *end, const struct grammar_list *list)
{
	const char *from = p;
	uint64_t left;

	if (list->has_blanks) {
		p = take_blanks(p, end);
		if (p == from)
			return NULL;
	}
	left = list->by[0][(uint8_t)p[list->tell[0]]] & list->by[1][(uint8_t)p[list->tell[1]]];
	for (; left; left &= left - 1) {
		const struct grammar_item *item = &list->items[__builtin_ctzll(left)];
		const char *next;

		switch (item->shape) {
		case GRAMMAR_REG_SHAPE: next = match_reg(m, p, end, item); break;
		case GRAMMAR_ACCESS_SHAPE: next = match_access(m, p, end, item); break;
		default: next = match_any(m, from, p, item); break;
		}
		if (next && next > from)
			return next;
	}
	return NULL;
}

/* Skip a word that is not an item. */
static const char *skip_word(struct grammar_matcher *m, const char *p, const char *end)
{
	if (is_gap(*p))
		return p + 1;
	m->line->n_skipped++;
	do
		p++;
	while (p < end && !is_gap(*p));
	return p;
}

/* Items up to what follows. */
static __attribute__((noinline)) const char *match_list(struct grammar_matcher *m, const char *p, const struct grammar_part *e)
{
	const struct grammar_follow *f = &m->g->follows[e->follow];
	const struct grammar_list *list = &m->g->lists[e->at];
	const char *const end = m->end;

	if (m->line->has & (HAS_REG | HAS_ADDRESS)) /* of the line itself */
		grammar_put_item(m);
	reset_item(m);
	while (p < end && !(f->n && is_followed(m, p, f))) {
		const char *next = match_item(m, p, end, list);

		p = next ? next : skip_word(m, p, end);
	}
	return p;
}

/* A group that may be missing. */
static const char *match_option(struct grammar_matcher *m, const char *p, const struct grammar_part *e)
{
	const uint32_t has = m->line->has;
	const uint8_t says = m->line->says;
	const bool was_unused = m->is_unused;
	const uint32_t n = m->out->n_effects;
	const char *next;

	if (e[1].kind == EL_LITERAL && !is_literal(m->g, p, m->end, e + 1))
		return p;
	next = match_run(m, p, e + 1, e + 1 + e->n);
	if (next)
		return next;
	m->line->has = has;
	m->line->says = says;
	m->is_unused = was_unused;
	ts_steps_rollback(m->out, n);
	return p;
}

static void say(struct grammar_matcher *m, uint8_t what)
{
	if (what == GRAMMAR_UNUSED)
		m->is_unused = true;
	else if (what == GRAMMAR_UNKNOWN_VALUE)
		m->is_unknown = true;
	else
		m->line->says |= what;
}

static const char *take_picture(struct grammar_matcher *m, const char *p, const struct grammar_part *e)
{
	m->line->has |= HAS_ADDRESS | HAS_PICTURE;
	if (e->arg == GRAMMAR_PICTURE_AGAIN && !m->pictured)
		return NULL;
	if (e->arg != GRAMMAR_PICTURE_AGAIN)
		m->pictured = 1 + (e->arg == GRAMMAR_PICTURE_WRITE ? GRAMMAR_WRITE : GRAMMAR_READ);
	m->access = m->pictured - 1;
	m->p = p;
	return grammar_take_picture(m) ? m->p : NULL;
}

/* Fields that are rare. */
static __attribute__((noinline)) const char *match_rare(struct grammar_matcher *m, const char *p, const struct grammar_part *e)
{
	struct grammar_line *l = m->line;
	const char *const end = m->end;
	uint64_t ignored;

	switch (e->kind) {
	case EL_PICTURE: return take_picture(m, p, e);
	case EL_SIZE:
		l->has |= HAS_SIZE;
		m->size = e->n;
		return e->n ? p : take_dec(p, end, &m->size);
	case EL_OFFSET: l->has |= HAS_OFFSET; return take_hex(p, end, &l->offset);
	case EL_BASE: l->has |= HAS_BASE; return take_hex(p, end, &l->base);
	case EL_LAST: l->has |= HAS_LAST; return take_hex(p, end, &l->last);
	case EL_LENGTH: l->has |= HAS_LENGTH; return take_hex(p, end, &l->length);
	case EL_MODULE: l->has |= HAS_MODULE; return take_text(m, p, e, &l->module);
	case EL_HEX: return take_hex(p, end, &ignored);
	case EL_SET:
		l->has |= HAS_REG;
		set_reg(m, e);
		return p;
	case EL_IMAGE: return take_image(m, p, end);
	default: return NULL;
	}
}

static inline const char *take_thread(const char *p, const char *end, const struct grammar_part *e, uint64_t *thread)
{
	return e->arg ? take_hex(p, end, thread) : take_dec(p, end, thread);
}

static inline const char *take_pc(struct grammar_line *l, uint64_t mask, const char *p, const char *end)
{
	const char *next = take_hex(p, end, &l->pc);

	l->has |= HAS_PC;
	if (!next || l->pc > mask)
		return NULL;
	l->pc_digits = (uint8_t)(next - skip_prefix(p, end));
	return next;
}

/* Digits of a value, or groups of them. */
static inline const char *take_number(const char *p, const char *end, uint8_t order, struct grammar_digits *d)
{
	const char *next = take_digits(p, end, d);

	return __builtin_expect(order == GRAMMAR_WORDS, 0) ? take_more_words(next, end, d) : next;
}

/* Returns where the text goes on after the elements [@e, @last), NULL if they are not at @p. */
static const char *match_run(struct grammar_matcher *m, const char *p, const struct grammar_part *e, const struct grammar_part *last)
{
	const struct grammar_part *const first = e;
	struct grammar_line *const l = m->line;
	const char *const end = m->end;

	for (; e < last; e++) {
		uint64_t ignored;

		switch (e->kind) {
		case EL_LITERAL: p = is_literal(m->g, p, end, e) ? p + e->n : NULL; break;
		case EL_AHEAD: p = is_literal(m->g, p, end, e) ? p : NULL; break;
		case EL_BLANKS: p = take_some_blanks(p, end); break;
		case EL_OPTION:
			p = match_option(m, p, e);
			e += e->n;
			break;
		case EL_LIST: p = match_list(m, p, e); break;
		case EL_SAY: say(m, e->arg); break;
		case EL_PC: p = take_pc(l, m->mask, p, end); break;
		case EL_ADDRESS:
			m->access = e->arg;
			l->has |= HAS_ADDRESS;
			p = take_hex(p, end, &m->address);
			break;
		case EL_VALUE:
			l->has |= HAS_VALUE;
			p = take_number(p, end, e->arg, &m->value);
			break;
		case EL_BYTES:
			m->order = e->arg;
			l->has |= HAS_BYTES;
			p = take_number(p, end, e->arg, &m->bytes);
			break;
		case EL_REG:
			l->has |= HAS_REG;
			p = take_reg(m, p, end, (char)e->n, e->arg);
			break;
		case EL_THREAD:
			l->has |= HAS_THREAD;
			p = take_thread(p, end, e, &l->thread);
			break;
		case EL_CODE:
			l->has |= HAS_CODE;
			p = take_code(m, p, e);
			break;
		case EL_TEXT:
			l->has |= HAS_TEXT;
			p = take_text(m, p, e, &l->text);
			break;
		case EL_DEC: p = take_dec(p, end, &ignored); break;
		case EL_WORD: p = take_word(p, end); break;
		case EL_REST: p = end; break;
		default: p = match_rare(m, p, e); break;
		}
		if (__builtin_expect(!p, 0)) {
			m->reached = (unsigned)(e - first);
			return NULL;
		}
	}
	return p;
}

/* ------------------------------------------------------------------------------------------------- lines */

static bool match_line(struct grammar_matcher *m, const char *text, const struct grammar_pattern *p)
{
	const char *at = match_run(m, text, &m->g->parts[p->first], &m->g->parts[p->first + p->n]);

	if (!at)
		return false;
	m->reached = p->n;
	return take_blanks(at, m->end) == m->end;
}

static inline void reset_line(struct grammar_line *line, uint32_t has)
{
	line->kind = GRAMMAR_NOISE;
	line->pattern = GRAMMAR_MAX_PATTERNS;
	line->has = has;
	line->says = 0;
	line->image.text = NULL;
	line->n_code = 0;
	line->is_head = line->is_damaged = false;
	line->n_regs = line->n_unknown = line->n_accesses = line->n_bad = line->n_skipped = 0;
}

/* Match the prefix that every line may have.  Returns the fields that it has. */
static uint32_t match_prefix(struct grammar_matcher *m, const char **text)
{
	const struct grammar_pattern *p = &m->g->patterns[m->g->prefix];
	const char *at;

	reset_line(m->line, 0);
	at = match_run(m, *text, &m->g->parts[p->first], &m->g->parts[p->first + p->n]);
	if (!at)
		return 0;
	*text = at;
	return m->line->has;
}

/* Is the line one of the pattern?  It already has the fields @has. */
static inline bool try_pattern(struct grammar_matcher *m, const struct grammar_pattern *p, const char *text, uint32_t has)
{
	const uint32_t n = m->out->n_effects;

	reset_line(m->line, has);
	m->is_unused = m->is_unknown = false;
	if (__builtin_expect(!match_line(m, text, p), 0)) {
		ts_steps_rollback(m->out, n);
		m->is_damaged |= m->reached >= 2 && (p->kind == GRAMMAR_STEP || p->kind == GRAMMAR_STATE);
		return false;
	}
	if (m->line->has & (HAS_REG | HAS_ADDRESS))
		grammar_put_item(m);
	m->line->kind = p->kind;
	m->line->pattern = (uint8_t)(p - m->g->patterns);
	return true;
}

static inline __attribute__((always_inline)) bool try_all(struct grammar_matcher *m, const char *text, uint32_t has)
{
	const struct grammar_pattern *patterns = m->g->patterns;
	const uint64_t *starts = m->g->starts[(uint8_t)*text];

	for (unsigned half = 0; half < 2 && text < m->end; half++, patterns += 64) {
		for (uint64_t left = starts[half]; left; left &= left - 1) {
			if (try_pattern(m, &patterns[__builtin_ctzll(left)], text, has))
				return true;
		}
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

bool grammar_match_thread(const struct grammar_matcher *m, const char *text, size_t len, uint64_t *thread)
{
	const struct grammar *g = m->g;
	const char *const end = text + len;

	for (unsigned half = 0; half < 2 && len; half++) {
		for (uint64_t left = g->starts[(uint8_t)*text][half]; left; left &= left - 1) {
			const struct grammar_pattern *pattern = &g->patterns[64 * half + (unsigned)__builtin_ctzll(left)];
			const struct grammar_part *e = &g->parts[pattern->first], *last = e + pattern->n;
			const char *p = text;

			for (; e < last && e->kind == EL_LITERAL && is_literal(g, p, end, e); e++)
				p += e->n;
			if (pattern->kind == GRAMMAR_STATE && e < last && e->kind == EL_THREAD && take_thread(p, end, e, thread))
				return true;
		}
	}
	return false;
}

/* A line that no pattern matches. */
static __attribute__((noinline)) void take_noise(struct grammar_matcher *m, const char *text)
{
	struct grammar_line *line = m->line;

	reset_line(line, 0);
	if (take_blanks(text, m->end) == m->end)
		line->kind = GRAMMAR_NOTE; /* it is empty */
	line->is_damaged = m->is_damaged || memchr(text, 0, (size_t)(m->end - text));
}

void grammar_match(struct grammar_matcher *m, const char *text, size_t len, struct grammar_line *line,
		   struct ts_steps *out)
{
	const char *const first = text;
	uint32_t has = 0;

	m->line = line;
	m->out = out;
	m->end = text + len;
	m->is_damaged = false;
	if (m->g->prefix >= 0)
		has = match_prefix(m, &text);
	if (__builtin_expect(try_all(m, text, has), 1))
		return;
	/* what may be before every line may look as a line's own beginning does */
	if (text > first && !m->is_damaged && try_all(m, take_blanks(first, m->end), 0))
		return;
	take_noise(m, text);
}
