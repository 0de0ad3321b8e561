/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <string.h>

#include "src/base/text/hex.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool push(uint64_t *value, unsigned base, unsigned digit)
{
	return !__builtin_mul_overflow(*value, base, value) && !__builtin_add_overflow(*value, digit, value);
}

static bool is_word(char c)
{
	return ts_hex_digit((uint8_t)c) >= 0 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t take_hex(const char *text, size_t len, uint64_t *value, bool *is_large)
{
	size_t i = 2;

	for (; i < len && ts_hex_digit((uint8_t)text[i]) >= 0; i++) {
		if (!push(value, 16, (unsigned)ts_hex_digit((uint8_t)text[i]))) {
			*is_large = true;
			return 0;
		}
	}
	return i > 2 && (i == len || !is_word(text[i])) ? i : 0;
}

/* Do exactly three digits follow the separator at @i? */
static bool is_group(const char *text, size_t len, size_t i)
{
	return i + 3 < len && is_digit(text[i + 1]) && is_digit(text[i + 2]) && is_digit(text[i + 3]) &&
	       (i + 4 == len || !is_digit(text[i + 4]));
}

/* How many digits and separators of groups there are; 0: a group is badly formed. */
static size_t span_decimal(const char *text, size_t len, enum ts_commas commas)
{
	size_t i = 0, first;
	char separator = 0;

	while (i < len && is_digit(text[i]))
		i++;
	first = i;
	while (i < len && (text[i] == '_' || (text[i] == ',' && commas == TS_COMMAS_GROUP))) {
		if (first > 3 || !is_group(text, len, i) || (separator && separator != text[i]))
			return 0;
		separator = text[i];
		i += 4;
	}
	return i;
}

static unsigned suffix_scale(char c)
{
	if (c == 'k' || c == 'K')
		return 1000;
	return c == 'M' ? 1000000 : 0;
}

size_t ts_number_take(const char *text, size_t len, enum ts_commas commas, uint64_t *value, bool *is_large)
{
	size_t n;

	*value = 0;
	*is_large = false;
	if (!len || !is_digit(*text))
		return 0;
	if (len > 2 && *text == '0' && (text[1] | 0x20) == 'x')
		return take_hex(text, len, value, is_large);
	n = span_decimal(text, len, commas);
	for (size_t i = 0; i < n; i++) {
		if (is_digit(text[i]) && !push(value, 10, (unsigned)(text[i] - '0'))) {
			*is_large = true;
			return 0;
		}
	}
	if (n && n < len && suffix_scale(text[n])) {
		if (__builtin_mul_overflow(*value, suffix_scale(text[n]), value)) {
			*is_large = true;
			return 0;
		}
		n++;
	}
	return n < len && is_word(text[n]) ? 0 : n;
}

bool ts_number_parse(const char *text, size_t len, enum ts_commas commas, uint64_t *value, bool *is_large)
{
	size_t n = ts_number_take(text, len, commas, value, is_large);

	return n && n == len;
}

const char *ts_percentage_parse(const char *text, size_t len, struct ts_percentage *share)
{
	static const char malformed[] = "is not a percentage";
	size_t i = 0, point = len;

	*share = (struct ts_percentage){ .scale = 100 };
	if (len < 2 || text[len - 1] != '%')
		return malformed;
	for (; i + 1 < len; i++) {
		if (text[i] == '.' && point == len && i)
			point = i;
		else if (i < 15 && is_digit(text[i]))
			share->part = share->part * 10 + (unsigned)(text[i] - '0');
		else
			return malformed;
		if (i > point)
			share->scale *= 10;
	}
	if (point == i - 1)
		return malformed;
	return share->part > share->scale ? "is more than all of the recording" : NULL;
}

uint64_t ts_percentage_of(const struct ts_percentage *share, uint64_t n)
{
	return (uint64_t)((unsigned __int128)n * share->part / share->scale);
}
