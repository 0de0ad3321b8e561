/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "src/base/text/hex.h"
#include "src/base/text/utf8.h"

static size_t word_len(const char *text)
{
	size_t n = 0;

	while (text[n] && !isspace((unsigned char)text[n]))
		n++;
	return n;
}

static size_t misunderstood(const char *text, const char *why, struct ts_error *err)
{
	ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' %s", (int)word_len(text), text, why);
	return 0;
}

static bool put_byte(struct ts_value *v, uint8_t byte, uint8_t mask)
{
	if (v->len == TS_MAX_VALUE)
		return false;
	v->bytes[v->len] = byte;
	v->mask[v->len++] = mask;
	return true;
}

/* ------------------------------------------------------------------------------------------- bytes in hex */

static bool is_byte(const char *text)
{
	bool is_any = text[0] == '?' && text[1] == '?';

	return word_len(text) == 2 && (is_any || (ts_hex_digit((uint8_t)text[0]) >= 0 && ts_hex_digit((uint8_t)text[1]) >= 0));
}

/* How what was typed can be asked for: bytes one by one, a number with its type, a text in quotation marks. */
static size_t suggest(const char *text, struct ts_error *err)
{
	bool has_prefix = text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *digits = text + (has_prefix ? 2 : 0);
	size_t len = word_len(digits), n = 0;
	char apart[3 * 8 + 1] = "", letters[3 * 16 + 1] = "";

	while (n < len && ts_hex_digit((uint8_t)digits[n]) >= 0)
		n++;
	if (len && n == len && len <= 16 && has_prefix)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is not a value: a number has its type, u%u:0x%.*s",
			       (int)word_len(text), text, len <= 2 ? 8 : len <= 4 ? 16 : len <= 8 ? 32 : 64, (int)len, digits);
	if (len > 2 && n == len && !(len & 1) && len <= 16) {
		for (size_t i = 0; i < len; i += 2)
			snprintf(apart + 3 * i / 2, 4, "%.2s%s", digits + i, i + 2 < len ? " " : "");
		for (size_t i = 0; i < len; i++)
			snprintf(letters + 3 * i, 4, "%02x%s", (unsigned char)digits[i], i + 1 < len ? " " : "");
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'%.*s' is not a value: bytes in hex have two digits each, %s; a text has quotation marks, \"%.*s\" is %s",
			       (int)len, text, apart, (int)len, text, letters);
	}
	return misunderstood(text, "is not a value: bytes in hex have two digits each, 61 62; a number has its type, "
				   "u32:97; a text has quotation marks, \"ab\"", err);
}

static size_t parse_bytes(struct ts_value *v, const char *text, struct ts_error *err)
{
	const char *p = text;
	size_t n = 0;
	bool has_known = false;

	while (is_byte(p)) {
		uint8_t mask = *p != '?';
		uint8_t byte = mask ? (uint8_t)(ts_hex_digit((uint8_t)p[0]) << 4 | ts_hex_digit((uint8_t)p[1])) : 0;

		if (!put_byte(v, byte, mask))
			return misunderstood(text, "begins a value that is too long", err);
		has_known |= mask;
		p += 2;
		n = (size_t)(p - text);
		while (isspace((unsigned char)*p))
			p++;
	}
	if (!n)
		return suggest(text, err);
	return has_known ? n : misunderstood(text, "is any byte: a value has at least one that is known", err);
}

/* ------------------------------------------------------------------------------------------------ strings */

/* "\u00e9", "\U0001f600": @n digits of a code point. */
static size_t take_code_point(const char *text, size_t n, uint32_t *c)
{
	*c = 0;
	for (size_t i = 0; i < n; i++) {
		if (ts_hex_digit((uint8_t)text[2 + i]) < 0)
			return 0;
		*c = *c << 4 | (uint32_t)ts_hex_digit((uint8_t)text[2 + i]);
	}
	return *c < 0xd800 || (*c >= 0xe000 && *c < 0x110000) ? n + 2 : 0;
}

/*
 * A character or an escape.  Returns how many bytes of the text it is, 0 if it is badly formed; *is_code is set for a code
 * point, and not for a byte.
 */
static size_t take_char(const char *text, uint32_t *c, bool *is_code)
{
	static const char names[] = "abefnrtv\\\"'?", codes[] = "\a\b\x1b\f\n\r\t\v\\\"'?";
	const char *name;
	size_t n = 1;

	*is_code = false;
	*c = (uint8_t)*text;
	if (*text != '\\')
		return *text != 0;
	*is_code = text[1] == 'u' || text[1] == 'U';
	if (*is_code)
		return take_code_point(text, text[1] == 'u' ? 4 : 8, c);
	name = text[1] ? strchr(names, text[1]) : NULL;
	if (name) {
		*c = (uint8_t)codes[name - names];
		return 2;
	}
	*c = 0;
	if (text[1] == 'x') {
		for (n = 2; n < 4 && ts_hex_digit((uint8_t)text[n]) >= 0; n++)
			*c = *c << 4 | (uint32_t)ts_hex_digit((uint8_t)text[n]);
		return n > 2 ? n : 0;
	}
	for (n = 1; n < 4 && text[n] >= '0' && text[n] <= '7'; n++)
		*c = *c << 3 | (uint32_t)(text[n] - '0');
	return n > 1 && *c < 256 ? n : 0;
}

static bool put_unit(struct ts_value *v, uint32_t unit)
{
	return put_byte(v, (uint8_t)unit, 1) && put_byte(v, (uint8_t)(unit >> 8), 1);
}

static bool put_utf16(struct ts_value *v, uint32_t c)
{
	if (c < 0x10000)
		return put_unit(v, c);
	c -= 0x10000;
	return put_unit(v, 0xd800 | c >> 10) && put_unit(v, 0xdc00 | (c & 0x3ff));
}

static bool put_utf8(struct ts_value *v, uint32_t c)
{
	unsigned n = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t leads[] = { 0, 0xc0, 0xe0, 0xf0 };
	bool done = put_byte(v, (uint8_t)(leads[n] | c >> 6 * n), 1);

	while (done && n--)
		done = put_byte(v, (uint8_t)(0x80 | (c >> 6 * n & 0x3f)), 1);
	return done;
}

static bool put_char(struct ts_value *v, uint32_t c, bool is_code, bool is_utf16)
{
	if (is_utf16)
		return put_utf16(v, c);
	return is_code ? put_utf8(v, c) : put_byte(v, (uint8_t)c, 1);
}

/* From the opening quote at @text[@at]. */
static size_t parse_string(struct ts_value *v, const char *text, size_t at, bool is_utf16,
			   struct ts_error *err)
{
	const char *p = text + at + 1;

	while (*p != '"') {
		uint32_t c;
		bool is_code = false;
		size_t n = is_utf16 && (uint8_t)*p >= 0x80 ? ts_utf8_take(p, strnlen(p, 4), &c) : take_char(p, &c, &is_code);

		if (!n)
			return misunderstood(text, *p ? "has a character that is not understood"
						      : "has no quote at its end", err);
		if (!put_char(v, c, is_code, is_utf16))
			return misunderstood(text, "begins a value that is too long", err);
		p += n;
	}
	if (p[1] && !isspace((unsigned char)p[1]))
		return misunderstood(p, "is not expected after a text", err);
	return v->len ? (size_t)(p - text) + 1 : misunderstood(text, "is empty", err);
}

/* ------------------------------------------------------------------------------------------------ numbers */

static void put_number(struct ts_value *v, uint64_t number, unsigned len, bool is_big_endian)
{
	for (unsigned i = 0; i < len; i++)
		put_byte(v, (uint8_t)(number >> 8 * (is_big_endian ? len - 1 - i : i)), 1);
}

static size_t parse_float(struct ts_value *v, const char *text, size_t at, unsigned bits, bool is_big_endian,
			  struct ts_error *err)
{
	size_t len = word_len(text);
	char *end;
	double d;
	float f = 0;
	uint64_t raw = 0;

	errno = 0;
	if (bits == 32)
		d = f = strtof(text + at, &end);
	else
		d = strtod(text + at, &end);
	if (at == len || end != text + len)
		return misunderstood(text, "has no floating-point number", err);
	if (errno == ERANGE && (d > 1 || d < -1))
		return misunderstood(text, "has a number that is too large", err);
	if (bits == 32) {
		memcpy(&raw, &f, sizeof(f));
		raw = (uint32_t)(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? raw >> 32 : raw);
	} else {
		memcpy(&raw, &d, sizeof(d));
	}
	put_number(v, raw, bits / 8, is_big_endian);
	return len;
}

static size_t parse_integer(struct ts_value *v, const char *text, size_t at, bool is_signed, unsigned bits,
			    bool is_big_endian, struct ts_error *err)
{
	size_t len = word_len(text);
	bool is_negative = is_signed && text[at] == '-', is_large = false;
	uint64_t number, max = UINT64_MAX >> (64 - bits);

	at += is_negative;
	if (!ts_number_parse(text + at, len - at, TS_COMMAS_GROUP, &number, &is_large))
		return misunderstood(text, is_large ? "has a number that is too large" : "has no number", err);
	if (is_signed)
		max = (max >> 1) + is_negative;
	if (number > max)
		return misunderstood(text, "has a number that is too large", err);
	put_number(v, is_negative ? 0 - number : number, bits / 8, is_big_endian);
	return len;
}

/* "u16:", "f64:": the type before the colon.  Returns its length with the colon, 0 if it is not a type. */
static size_t take_type(const char *text, char *kind, unsigned *bits)
{
	char *end;

	if (!*text || !strchr("uif", *text) || !isdigit((unsigned char)text[1]))
		return 0;
	*kind = *text;
	*bits = (unsigned)strtoul(text + 1, &end, 10);
	if (*end != ':' || (*bits != 32 && *bits != 64 && (*kind == 'f' || (*bits != 8 && *bits != 16))))
		return 0;
	return (size_t)(end - text) + 1;
}

size_t ts_value_parse(struct ts_value *v, const char *text, bool is_big_endian, struct ts_error *err)
{
	unsigned bits;
	size_t n;
	char kind;

	v->len = 0;
	if (*text == '"')
		return parse_string(v, text, 0, false, err);
	if (!strncmp(text, "u16\"", 4))
		return parse_string(v, text, 3, true, err);
	n = take_type(text, &kind, &bits);
	if (!n)
		return parse_bytes(v, text, err);
	if (kind == 'f')
		return parse_float(v, text, n, bits, is_big_endian, err);
	return parse_integer(v, text, n, kind == 'i', bits, is_big_endian, err);
}

bool ts_value_is(const struct ts_value *v, const uint8_t *data, const uint8_t *known)
{
	for (uint32_t i = 0; i < v->len; i++) {
		if (v->mask[i] && (!known[i] || data[i] != v->bytes[i]))
			return false;
	}
	return true;
}

bool ts_value_agrees(const struct ts_value *v, uint64_t addr, const uint8_t *data, uint64_t first,
		     uint64_t last)
{
	uint64_t lo = first > addr ? first : addr, hi = addr + (v->len - 1);

	if (hi > last)
		hi = last;
	for (uint64_t a = lo;; a++) {
		if (v->mask[a - addr] && v->bytes[a - addr] != data[a - first])
			return false;
		if (a == hi)
			return true;
	}
}
