/* SPDX-License-Identifier: MIT */
#include "ax_format.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ax_env.h"

/* Larger widths and precisions are refused. */
#define MAX_WIDTH 1000
#define NO_PRECISION (-1)

enum piece_kind {
	PIECE_END,
	PIECE_CHAR,       /* c itself */
	PIECE_CONVERSION, /* of the next argument */
	PIECE_BAD,
};

/* One character or one conversion of a format. */
struct piece {
	enum piece_kind kind;
	char c;         /* the character, or the conversion's letter */
	char flags[8];  /* as for printf */
	int width;
	int precision;
	enum { LEN_INT, LEN_CHAR, LEN_SHORT, LEN_LONG, LEN_64, LEN_SIZE } length;
};

static struct piece bad_piece(void)
{
	return (struct piece){ .kind = PIECE_BAD };
}

/* After a backslash: the escapes that gdb supports. */
static struct piece take_escape(const char **p)
{
	static const char letters[] = "\\abefnrtv\"'";
	static const char values[] = "\\\a\b\033\f\n\r\t\v\"'";
	const char *found = **p ? strchr(letters, **p) : NULL;

	if (!found)
		return bad_piece();
	++*p;
	return (struct piece){ .kind = PIECE_CHAR, .c = values[found - letters] };
}

/* A width or precision; greater than MAX_WIDTH if it is too large. */
static int take_width(const char **p)
{
	int n = 0;

	for (; **p >= '0' && **p <= '9'; ++*p) {
		if (n <= MAX_WIDTH)
			n = n * 10 + (**p - '0');
	}
	return n;
}

static void take_flags(const char **p, struct piece *piece)
{
	size_t n = 0;

	for (; **p && strchr("-+ #0'", **p); ++*p) {
		if (**p != '\'' && !memchr(piece->flags, **p, n))
			piece->flags[n++] = **p;
	}
}

static void take_length(const char **p, struct piece *piece)
{
	switch (**p) {
	case 'h': piece->length = (*p)[1] == 'h' ? LEN_CHAR : LEN_SHORT; break;
	case 'l': piece->length = (*p)[1] == 'l' ? LEN_64 : LEN_LONG; break;
	case 'j': piece->length = LEN_64; break;
	case 'z':
	case 't': piece->length = LEN_SIZE; break;
	default: return;
	}
	*p += piece->length == LEN_CHAR || (piece->length == LEN_64 && **p == 'l') ? 2 : 1;
}

/* After a percent sign. */
static struct piece take_conversion(const char **p)
{
	struct piece piece = { .kind = PIECE_CONVERSION, .precision = NO_PRECISION };

	if (**p == '%') {
		++*p;
		return (struct piece){ .kind = PIECE_CHAR, .c = '%' };
	}
	take_flags(p, &piece);
	piece.width = take_width(p);
	if (**p == '.') {
		++*p;
		piece.precision = take_width(p);
	}
	take_length(p, &piece);
	piece.c = **p;
	if (!piece.c || !strchr("diouxXcsp", piece.c) || piece.width > MAX_WIDTH ||
	    piece.precision > MAX_WIDTH)
		return bad_piece();
	if (strchr("csp", piece.c) && piece.length != LEN_INT)
		return bad_piece();
	++*p;
	return piece;
}

/* The next piece of a terminated format: the one reader for checking and printing. */
static struct piece next_piece(const char **p)
{
	char c = **p;

	if (!c)
		return (struct piece){ .kind = PIECE_END };
	++*p;
	if (c == '\\')
		return take_escape(p);
	if (c == '%')
		return take_conversion(p);
	return (struct piece){ .kind = PIECE_CHAR, .c = c };
}

bool ts_ax_format_check(const uint8_t *format, size_t len, unsigned n_args)
{
	const char *p = (const char *)format;
	unsigned n_used = 0;

	if (!len || memchr(format, '\0', len) != format + len - 1)
		return false;
	for (;;) {
		struct piece piece = next_piece(&p);

		switch (piece.kind) {
		case PIECE_END: return n_used <= n_args;
		case PIECE_BAD: return false;
		case PIECE_CONVERSION: n_used++; break;
		case PIECE_CHAR: break;
		}
	}
}

bool ts_ax_format_has_float(const uint8_t *format, size_t len)
{
	const char *p = (const char *)format, *begin;
	struct piece piece;

	if (!len || format[len - 1])
		return false;
	do {
		begin = p;
		piece = next_piece(&p);
	} while (piece.kind == PIECE_CHAR || piece.kind == PIECE_CONVERSION);
	if (piece.kind != PIECE_BAD || *begin != '%')
		return false;
	p += *p == 'L';
	return *p && strchr("aAeEfFgG", *p);
}

/* Text of bounded length; remembers if text did not fit and was dropped. */
struct text {
	char *chars;
	size_t len;
	size_t max;
	bool is_cut;
};

static void put(struct text *t, const char *chars, size_t len)
{
	size_t room = t->max - t->len;

	if (len > room) {
		len = room;
		t->is_cut = true;
	}
	memcpy(t->chars + t->len, chars, len);
	t->len += len;
}

static void pad(struct text *t, size_t n)
{
	while (n-- && !t->is_cut)
		put(t, " ", 1);
}

/* Put it into the width of the piece. */
static void put_padded(struct text *t, const struct piece *piece, const char *chars, size_t len)
{
	size_t missing = (size_t)piece->width > len ? (size_t)piece->width - len : 0;
	bool is_left = strchr(piece->flags, '-') != NULL;

	if (!is_left)
		pad(t, missing);
	put(t, chars, len);
	if (is_left)
		pad(t, missing);
}

/* The argument truncated to the width of the conversion: long and pointers have the target's width. */
static unsigned bits_of(const struct ts_ax_env *env, const struct piece *piece)
{
	switch (piece->length) {
	case LEN_CHAR: return 8;
	case LEN_SHORT: return 16;
	case LEN_INT: return 32;
	case LEN_LONG:
	case LEN_SIZE: return env->addr_mask > UINT32_MAX ? 64 : 32;
	case LEN_64: return 64;
	}
	return 64;
}

static void put_integer(struct text *t, const struct ts_ax_env *env, const struct piece *piece,
			uint64_t value)
{
	unsigned shift = 64 - bits_of(env, piece);
	bool is_signed = piece->c == 'd' || piece->c == 'i';
	char number[2 * MAX_WIDTH];
	char format[32];
	int n;

	snprintf(format, sizeof format, "%%%s*.*ll%c", piece->flags, piece->c);
	if (is_signed)
		n = snprintf(number, sizeof number, format, piece->width, piece->precision,
			     (long long)(value << shift) >> shift);
	else
		n = snprintf(number, sizeof number, format, piece->width, piece->precision,
			     (unsigned long long)(value << shift) >> shift);
	assert(n >= 0 && (size_t)n < sizeof number);
	put(t, number, (size_t)n);
}

static void put_pointer(struct text *t, const struct ts_ax_env *env, const struct piece *piece,
			uint64_t value)
{
	char number[24];
	int n = snprintf(number, sizeof number, "0x%" PRIx64, value & env->addr_mask);

	if (value & env->addr_mask)
		put_padded(t, piece, number, (size_t)n);
	else
		put_padded(t, piece, "(nil)", 5);
}

/* Read a string of at most @max bytes; *is_known gets whether its end (or @max) was reached. */
static size_t read_string(const struct ts_ax_env *env, uint64_t addr, char *string, size_t max,
			  bool *is_known)
{
	size_t len = 0;

	*is_known = true;
	while (len < max) {
		size_t want = max - len < 64 ? max - len : 64;
		uint64_t from = (addr + len) & env->addr_mask;
		size_t got = env->mem(env->user, from, (uint8_t *)string + len, want);
		const char *end = memchr(string + len, '\0', got);

		if (end)
			return (size_t)(end - string);
		len += got;
		if (got < want) {
			*is_known = false;
			return len;
		}
	}
	return len;
}

static void put_string(struct text *t, const struct ts_ax_env *env, const struct piece *piece, uint64_t addr)
{
	static const char unavailable[] = "<unavailable>";
	char string[TS_AX_MAX_TEXT + sizeof unavailable];
	size_t max = TS_AX_MAX_TEXT + 1; /* one too long, to be truncated */
	size_t len;
	bool is_known;

	if (!(addr & env->addr_mask)) {
		put_padded(t, piece, "(null)", 6);
		return;
	}
	if (piece->precision != NO_PRECISION)
		max = (size_t)piece->precision;
	len = read_string(env, addr, string, max, &is_known);
	if (!is_known) {
		memcpy(string + len, unavailable, sizeof unavailable - 1);
		len += sizeof unavailable - 1;
	}
	put_padded(t, piece, string, len);
}

static void put_argument(struct text *t, const struct ts_ax_env *env, const struct piece *piece,
			 uint64_t value)
{
	char c = (char)value;

	switch (piece->c) {
	case 'c':
		put_padded(t, piece, &c, 1);
		break;
	case 's':
		put_string(t, env, piece, value);
		break;
	case 'p':
		put_pointer(t, env, piece, value);
		break;
	default:
		put_integer(t, env, piece, value);
		break;
	}
}

size_t ts_ax_format(const struct ts_ax_env *env, const char *format, const uint64_t *args, char *text,
		     size_t max)
{
	struct text t = { text, 0, max, false };
	struct piece piece;

	while ((piece = next_piece(&format)).kind != PIECE_END && !t.is_cut) {
		assert(piece.kind != PIECE_BAD);
		if (piece.kind == PIECE_CHAR)
			put(&t, &piece.c, 1);
		else
			put_argument(&t, env, &piece, *args++);
	}
	if (t.is_cut)
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
		memcpy(text + max - 3, "...", 3);
	return t.len;
}
