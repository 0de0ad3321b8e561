/* SPDX-License-Identifier: MIT */
#include "buf.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_FIRST 64

void ts_buf_init(struct ts_buf *b)
{
	*b = (struct ts_buf){ 0 };
}

void ts_buf_fini(struct ts_buf *b)
{
	free(b->data);
	ts_buf_init(b);
}

void ts_buf_reset(struct ts_buf *b)
{
	b->len = 0;
	b->is_failed = false;
}

bool ts_buf_ok(const struct ts_buf *b)
{
	return !b->is_failed;
}

static bool grow(struct ts_buf *b, size_t need)
{
	size_t cap = b->cap ? b->cap : BUF_FIRST;
	uint8_t *data;

	while (cap <= need) {
		if (__builtin_mul_overflow(cap, (size_t)2, &cap))
			return false;
	}
	data = realloc(b->data, cap);
	if (!data)
		return false;
	b->data = data;
	b->cap = cap;
	return true;
}

uint8_t *ts_buf_room(struct ts_buf *b, size_t len)
{
	size_t need;

	if (b->is_failed)
		return NULL;
	if (__builtin_add_overflow(b->len, len, &need) || (need >= b->cap && !grow(b, need))) {
		b->is_failed = true;
		return NULL;
	}
	return b->data + b->len;
}

uint8_t *ts_buf_add(struct ts_buf *b, size_t len)
{
	uint8_t *p = ts_buf_room(b, len);

	if (p)
		b->len += len;
	return p;
}

void ts_buf_put(struct ts_buf *b, const void *data, size_t len)
{
	uint8_t *p;

	if (len < b->cap - b->len && !b->is_failed) {
		p = b->data + b->len;
		b->len += len;
	} else {
		p = ts_buf_add(b, len);
	}
	if (p && len)
		memcpy(p, data, len);
}

void ts_buf_puts(struct ts_buf *b, const char *text)
{
	ts_buf_put(b, text, strlen(text));
}

void ts_buf_vprintf(struct ts_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	uint8_t *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	p = ts_buf_room(b, (size_t)n + 1);
	if (!p)
		return;
	vsnprintf((char *)p, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void ts_buf_printf(struct ts_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ts_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void ts_buf_position(struct ts_buf *b, uint64_t pos, uint64_t last)
{
	unsigned share = last ? (unsigned)((unsigned __int128)pos * 10000 / last) : 10000;

	ts_buf_printf(b, "position %" PRIu64 " of %" PRIu64 " (%u.%02u%%)", pos, last, share / 100, share % 100);
}

void ts_buf_hex(struct ts_buf *b, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *src = data;
	size_t n;
	uint8_t *p;

	if (__builtin_mul_overflow(len, (size_t)2, &n)) {
		b->is_failed = true;
		return;
	}
	p = ts_buf_add(b, n);
	if (!p)
		return;
	for (size_t i = 0; i < len; i++) {
		p[2 * i] = (uint8_t)digits[src[i] >> 4];
		p[2 * i + 1] = (uint8_t)digits[src[i] & 15];
	}
}

void ts_buf_consume(struct ts_buf *b, size_t len)
{
	assert(len <= b->len);
	if (!len)
		return;
	memmove(b->data, b->data + len, b->len - len);
	b->len -= len;
}

const char *ts_buf_text(struct ts_buf *b)
{
	if (b->is_failed || !b->data)
		return "";
	b->data[b->len] = '\0';
	return (const char *)b->data;
}
