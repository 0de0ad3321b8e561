/* SPDX-License-Identifier: MIT */
#include "put.h"

#include <endian.h>
#include <string.h>

#include "names.h"
#include "src/base/bytes.h"
#include "src/base/text/hex.h"

/* The longest value of a register, or of an access that is a number. */
#define MAX_VALUE 64u

/* The size of a larger access is unknown. */
#define MAX_ACCESS 65536u

const struct regmap_slot *grammar_find_register(const struct grammar_matcher *m, char prefix)
{
	static const struct regmap_slot none = { .kind = REGMAP_NONE };
	uint8_t name[REGMAP_MAX_NAME] = { (uint8_t)prefix };
	uint64_t key[2];

	if (m->name.len + (prefix != 0) > REGMAP_MAX_NAME)
		return &none;
	if (!prefix) {
		regmap_key((const uint8_t *)m->name.text, m->name.len, key);
		return regmap_find_key(m->map, key);
	}
	memcpy(name + 1, m->name.text, m->name.len);
	return regmap_find(m->map, name, m->name.len + 1);
}

/* ------------------------------------------------------------------------------------------------- values */

/*
 * The number with these digits as @len bytes, the lowest first.  Returns false if a digit is none, or the number
 * does not fit.
 */
static bool read_number(const struct grammar_digits *d, uint8_t bytes[MAX_VALUE], size_t len)
{
	const struct grammar_span *span = &d->span;
	const uint64_t number = htole64(d->number);
	size_t at = 0;

	if (__builtin_expect(d->is_plain && len <= 8, 1)) {
		memcpy(bytes, &number, sizeof(number));
		return len == 8 || !(d->number >> 8 * len);
	}
	memset(bytes, 0, len);
	for (size_t i = span->len; i-- > 0;) {
		int digit = ts_hex_digit((uint8_t)span->text[i]);

		if (span->text[i] == '_' || span->text[i] == ' ')
			continue;
		if (digit < 0 || (at / 2 >= len && digit))
			return false;
		if (at / 2 < len)
			bytes[at / 2] |= (uint8_t)(digit << 4 * (at % 2));
		at++;
	}
	return true;
}

static size_t count_digits(const struct grammar_digits *d)
{
	const struct grammar_span *span = &d->span;
	size_t n = 0;

	for (size_t i = 0; i < span->len; i++)
		n += span->text[i] != '_' && span->text[i] != ' ';
	return n;
}

/* Are the digits those of a value, and not those that writers put for an unknown one? */
static bool digits_are_hex(const struct grammar_digits *d)
{
	return ts_hex_digit((uint8_t)d->span.text[0]) >= 0;
}

/* A register whose value is not known from here. */
static void put_unknown(struct grammar_matcher *m, const struct regmap_slot *slot)
{
	if (m->time == GRAMMAR_AFTER)
		ts_steps_effect(m->out, TS_FX_REG_WRITE, slot->off, slot->extend ? slot->extend : slot->len);
}

static void put_value(struct grammar_matcher *m, const struct regmap_slot *slot, uint32_t len)
{
	bool is_after = m->time == GRAMMAR_AFTER;
	uint32_t wide = is_after && slot->extend > len ? slot->extend : len;
	uint32_t off = slot->off;
	uint8_t bytes[MAX_VALUE];

	if (wide > MAX_VALUE || !read_number(&m->value, bytes, len)) {
		m->line->n_bad += digits_are_hex(&m->value);
		put_unknown(m, slot);
		return;
	}
	memset(bytes + len, 0, wide - len);
	if (m->is_big) {
		ts_reverse_bytes(bytes, wide);
		off -= slot->extend && is_after ? wide - len : 0;
	}
	m->line->n_regs++;
	ts_steps_value(m->out, is_after ? TS_FX_REG_WRITE : TS_FX_REG_READ, off, bytes, wide);
}

static void put_pc(struct grammar_matcher *m)
{
	uint8_t bytes[MAX_VALUE];
	uint64_t pc;

	if (!read_number(&m->value, bytes, sizeof(pc)))
		return;
	memcpy(&pc, bytes, sizeof(pc));
	grammar_put_pc(m, le64toh(pc));
}

void grammar_put_unusual(struct grammar_matcher *m)
{
	const struct regmap_slot *slot = m->slot;
	uint32_t len = slot->len;

	if (slot->kind == REGMAP_PC) {
		put_pc(m);
		return;
	}
	if (slot->kind != REGMAP_REG && slot->kind != REGMAP_FLAGS) {
		bool is_unknown = slot->kind == REGMAP_NONE && !grammar_ignores(m->g, m->name.text, m->name.len);

		if (is_unknown && !m->line->n_unknown++)
			m->line->unknown = m->name;
		return;
	}
	if (m->is_unknown) {
		put_unknown(m, slot);
		return;
	}
	/* a single-precision number in a register that has room for a double */
	if (slot->feature == m->narrow && len == 8 && m->value.span.len == 8) {
		put_unknown(m, slot);
		len = 4;
	}
	put_value(m, slot, len);
}

/* ------------------------------------------------------------------------------------------------- memory */

static enum ts_effect_kind access_kind(const struct grammar_matcher *m)
{
	return m->access == GRAMMAR_READ || m->access == GRAMMAR_BY_INSN ? TS_FX_READ : TS_FX_WRITE;
}

static void put_access(struct grammar_matcher *m, const uint8_t *bytes, uint64_t len)
{
	struct ts_effect *e;

	if (m->address > m->mask || (len && len - 1 > m->mask - m->address)) {
		m->line->n_bad++;
		return;
	}
	e = bytes ? ts_steps_value(m->out, access_kind(m), m->address, bytes, (uint32_t)len)
		  : ts_steps_effect(m->out, access_kind(m), m->address, len);
	if (!e)
		return;
	e->is_hidden = m->access == GRAMMAR_ACCESS;
	e->is_inferred = m->access == GRAMMAR_BY_INSN; /* until grammar_insn_complete() */
}

/* Bytes in the order of memory, of any number. */
static void put_bytes(struct grammar_matcher *m)
{
	size_t len = m->bytes.span.len / 2;
	struct ts_effect *e;
	uint8_t *to;

	if (m->bytes.span.len % 2 || !len || len - 1 > m->mask - m->address || m->address > m->mask) {
		m->line->n_bad++;
		return;
	}
	if (!ts_steps_room(m->out, 1, (uint32_t)len))
		return;
	to = m->out->data + m->out->n_data;
	if (ts_hex_bytes(m->bytes.span.text, 2 * len, to, len) < len) {
		m->line->n_bad += digits_are_hex(&m->bytes);
		put_access(m, NULL, len);
		return;
	}
	e = ts_steps_effect(m->out, access_kind(m), m->address, len);
	if (!e)
		return;
	e->is_hidden = m->access == GRAMMAR_ACCESS;
	e->data = m->out->n_data;
	m->out->n_data += (uint32_t)len;
}

/* A number as it is in memory, of the size that is said, or that of its digits. */
static void put_number(struct grammar_matcher *m, uint32_t has)
{
	size_t digits = count_digits(&m->bytes);
	uint64_t len = has & HAS_SIZE ? m->size : (digits + 1) / 2;
	uint8_t bytes[MAX_VALUE];

	if (m->order == GRAMMAR_LOADED) { /* the instruction says how much of it was loaded */
		put_access(m, NULL, 0);
		return;
	}
	if (!len || len > MAX_VALUE || !read_number(&m->bytes, bytes, len)) {
		m->line->n_bad += digits_are_hex(&m->bytes);
		put_access(m, NULL, len <= MAX_VALUE ? len : 0);
		return;
	}
	if (m->is_big)
		ts_reverse_bytes(bytes, len);
	put_access(m, bytes, len);
}

/* ------------------------------------------------------------------------------------------------- picture */

static bool take_address(struct grammar_matcher *m)
{
	const char *first = m->p;

	m->address = 0;
	for (; m->p < m->end && ts_hex_digit((uint8_t)*m->p) >= 0; m->p++)
		m->address = m->address << 4 | (uint64_t)ts_hex_digit((uint8_t)*m->p);
	return m->p > first && m->p - first <= 16;
}

bool grammar_take_picture(struct grammar_matcher *m)
{
	size_t n = 0;

	while (m->p < m->end && *m->p == ' ')
		m->p++;
	if (!take_address(m))
		return false;
	m->bytes.span.text = m->p;
	while (m->p < m->end && n < 32) {
		if (*m->p != ' ' && *m->p != '_' && ts_hex_digit((uint8_t)*m->p) < 0 && *m->p != '.' && *m->p != '#')
			return false;
		n += *m->p != ' ' && *m->p != '_';
		m->p++;
	}
	m->bytes.span.len = (size_t)(m->p - m->bytes.span.text);
	return n == 32;
}

/* The picture's 32 digits, two for each byte, the byte that is the rightmost first. */
static void picture_pairs(const struct grammar_span *span, char pairs[32])
{
	unsigned n = 0;

	for (size_t at = span->len; at-- > 0 && n < 32;) {
		char c = span->text[at];

		if (c == ' ' || c == '_')
			continue;
		pairs[n ^ 1] = c;
		n++;
	}
}

static void put_picture(struct grammar_matcher *m)
{
	const uint64_t base = m->address;
	char pairs[32];

	memset(pairs, '.', sizeof(pairs));
	picture_pairs(&m->bytes.span, pairs);
	for (unsigned i = 0; i < 16; i++) {
		const char *pair = pairs + 2 * i;
		int high, low;
		uint8_t byte;

		if (pair[0] == '.')
			continue;
		high = ts_hex_digit((uint8_t)pair[0]);
		low = ts_hex_digit((uint8_t)pair[1]);
		byte = (uint8_t)((unsigned)high << 4 | (unsigned)low);
		m->address = base + i;
		put_access(m, high < 0 || low < 0 ? NULL : &byte, 1);
	}
}

/* -------------------------------------------------------------------------------------------------- items */

void grammar_put_access(struct grammar_matcher *m, uint32_t has)
{
	m->line->n_accesses++;
	if (has & HAS_PICTURE)
		put_picture(m);
	else if (!(has & HAS_BYTES))
		put_access(m, NULL, has & HAS_SIZE && m->size <= MAX_ACCESS ? m->size : 0);
	else if (m->order == GRAMMAR_MEMORY)
		put_bytes(m);
	else
		put_number(m, has);
}

void grammar_put_item(struct grammar_matcher *m)
{
	uint32_t has = m->line->has;

	if (m->is_unused)
		return;
	if (has & HAS_REG && has & HAS_VALUE)
		grammar_put_register(m);
	if (has & HAS_ADDRESS)
		grammar_put_access(m, has);
}

/* --------------------------------------------------------------------------------------------------- code */

bool grammar_put_code(struct grammar_matcher *m, uint8_t order, const struct grammar_digits *group)
{
	struct grammar_line *l = m->line;
	size_t len = (group->span.len + 1) / 2;
	uint8_t bytes[MAX_VALUE];

	if (order == GRAMMAR_HEAD && group->is_plain && !group->number)
		return true; /* nothing is known of it */
	if (order == GRAMMAR_HEAD && m->set->arch->is_fixed_insn) {
		len = m->set->arch->min_insn_len;
		l->is_head = false;
	} else if (order != GRAMMAR_HEAD && group->span.len % 2) {
		return false;
	}
	if (len > GRAMMAR_MAX_CODE - l->n_code || !read_number(group, bytes, len))
		return false;
	if (order == GRAMMAR_MEMORY || (order == GRAMMAR_NUMBER && m->is_code_big))
		ts_reverse_bytes(bytes, len);
	memcpy(l->code + l->n_code, bytes, len);
	l->n_code += (uint8_t)len;
	return true;
}
