/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "framing.h"
#include "src/base/error.h"
#include "src/base/text/hex.h"

#define REPLY_MIN 64
#define TOO_MUCH  SIZE_MAX

bool rsp_reply_init(struct rsp_reply *r, size_t packet_size, struct ts_error *err)
{
	assert(packet_size >= REPLY_MIN);
	*r = (struct rsp_reply){ .max_len = packet_size };
	r->data = malloc(packet_size + 1);
	if (!r->data)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for replies of %zu bytes", packet_size);
	return true;
}

void rsp_reply_fini(struct rsp_reply *r)
{
	free(r->data);
	r->data = NULL;
}

void rsp_reply_reset(struct rsp_reply *r)
{
	r->len = 0;
	r->wire_len = 0;
	r->kind = RSP_REPLY_EMPTY;
	r->is_binary = false;
	r->is_full = false;
}

size_t rsp_reply_room(const struct rsp_reply *r)
{
	return r->max_len - r->wire_len;
}

/* Characters of a byte on the wire. */
static size_t wire_cost(uint8_t c)
{
	return rsp_is_escaped(c) ? 2 : 1;
}

static size_t wire_len(const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += wire_cost(bytes[i]);
	return n;
}

/*
 * Add @len bytes that are @cost characters on the wire, and return where to write them.
 *
 * Returns NULL if they do not fit, or if the reply is an error already.
 */
static uint8_t *add(struct rsp_reply *r, size_t len, size_t cost)
{
	uint8_t *p = r->data + r->len;

	assert(r->kind != RSP_REPLY_OK);
	if (r->kind == RSP_REPLY_ERROR)
		return NULL;
	r->kind = RSP_REPLY_DATA;
	if (r->is_full || cost > rsp_reply_room(r)) {
		r->is_full = true;
		return NULL;
	}
	r->len += len;
	r->wire_len += cost;
	return p;
}

void rsp_reply_put(struct rsp_reply *r, const void *text, size_t len)
{
	uint8_t *p = add(r, len, wire_len(text, len));

	if (p && len)
		memcpy(p, text, len);
}

void rsp_reply_putc(struct rsp_reply *r, char c)
{
	rsp_reply_put(r, &c, 1);
}

enum rsp_done rsp_reply_puts(struct rsp_reply *r, const char *text)
{
	rsp_reply_put(r, text, strlen(text));
	return RSP_REPLIED;
}

/* Formats in place; the storage has room for a terminator after the last character. */
enum rsp_done rsp_reply_printf(struct rsp_reply *r, const char *fmt, ...)
{
	char *p = (char *)r->data + r->len;
	size_t room = r->max_len - r->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p, room + 1, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	if ((size_t)n > room)
		add(r, 0, TOO_MUCH);
	else
		add(r, (size_t)n, wire_len((uint8_t *)p, (size_t)n));
	return RSP_REPLIED;
}

enum rsp_done rsp_reply_num(struct rsp_reply *r, uint64_t value)
{
	char digits[16];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)ts_hex_char((unsigned)value);
		value >>= 4;
	} while (value);
	rsp_reply_put(r, digits + n, sizeof(digits) - n);
	return RSP_REPLIED;
}

static void put_id(struct rsp_reply *r, int64_t id)
{
	if (id == RSP_TID_ALL)
		rsp_reply_puts(r, "-1");
	else
		rsp_reply_num(r, (uint64_t)id);
}

void rsp_reply_tid(struct rsp_reply *r, struct rsp_tid tid)
{
	if (tid.has_pid) {
		rsp_reply_putc(r, 'p');
		put_id(r, tid.pid);
		rsp_reply_putc(r, '.');
	}
	put_id(r, tid.tid);
}

/* Make room for two characters for each byte. */
static uint8_t *add_pairs(struct rsp_reply *r, size_t len)
{
	size_t n;

	if (__builtin_mul_overflow(len, (size_t)2, &n))
		n = TOO_MUCH;
	return add(r, n, n);
}

static uint8_t *put_pairs(uint8_t *p, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*p++ = ts_hex_char(bytes[i] >> 4);
		*p++ = ts_hex_char(bytes[i]);
	}
	return p;
}

enum rsp_done rsp_reply_hex(struct rsp_reply *r, const void *bytes, size_t len)
{
	uint8_t *p = add_pairs(r, len);

	if (p)
		put_pairs(p, bytes, len);
	return RSP_REPLIED;
}

void rsp_reply_register(struct rsp_reply *r, uint32_t regnum, const void *bytes, size_t len)
{
	unsigned n_digits = 2; /* lldb does not accept a single one */
	uint8_t *p;

	assert(len <= 8);
	while (n_digits < 8 && regnum >> 4 * n_digits)
		n_digits++;
	p = add(r, n_digits + 1 + 2 * len + 1, n_digits + 1 + 2 * len + 1);
	if (!p)
		return;
	while (n_digits)
		*p++ = ts_hex_char(regnum >> 4 * --n_digits);
	*p++ = ':';
	p = put_pairs(p, bytes, len);
	*p = ';';
}

void rsp_reply_hex_text(struct rsp_reply *r, const char *text)
{
	rsp_reply_hex(r, text, strlen(text));
}

void rsp_reply_unknown(struct rsp_reply *r, size_t len)
{
	uint8_t *p = add_pairs(r, len);

	if (p)
		memset(p, 'x', 2 * len);
}

size_t rsp_reply_fit(const struct rsp_reply *r, const void *bytes, size_t len)
{
	const uint8_t *src = bytes;
	size_t room = rsp_reply_room(r);
	size_t n = 0;

	while (n < len && wire_cost(src[n]) <= room)
		room -= wire_cost(src[n++]);
	return n;
}

size_t rsp_reply_binary(struct rsp_reply *r, const void *bytes, size_t len)
{
	size_t n = rsp_reply_fit(r, bytes, len);

	rsp_reply_put(r, bytes, n);
	r->is_binary = r->kind == RSP_REPLY_DATA;
	return n;
}

void rsp_reply_ok(struct rsp_reply *r)
{
	assert(r->kind == RSP_REPLY_EMPTY);
	rsp_reply_puts(r, "OK");
	r->kind = RSP_REPLY_OK;
}

enum rsp_done rsp_reply_error(struct rsp_reply *r, uint8_t number)
{
	rsp_reply_reset(r);
	rsp_reply_printf(r, "E%02x", number);
	r->kind = RSP_REPLY_ERROR;
	return RSP_REPLIED;
}

static bool is_shown(char c)
{
	return c >= ' ' && c <= '~';
}

/* gdb shows the text as received: it must have neither escapes nor control characters. */
static bool is_plain(char c)
{
	return is_shown(c) && !rsp_is_escaped((uint8_t)c);
}

bool rsp_reply_is_plain(const char *text)
{
	while (is_plain(*text))
		text++;
	return !*text;
}

/* Replace the characters that the client would not show as they are. */
static void clean(char *text, enum rsp_error_style style)
{
	for (; *text; text++) {
		if (style == RSP_ERROR_HEX ? !is_shown(*text) : !is_plain(*text))
			*text = '?';
	}
}

/* Truncate @text to @max characters. */
static void cut(char *text, size_t max)
{
	if (strlen(text) > max)
		text[max] = '\0';
}

enum rsp_done rsp_reply_error_text(struct rsp_reply *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	clean(text, r->error_style);

	rsp_reply_reset(r);
	switch (r->error_style) {
	case RSP_ERROR_NUMBER:
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	case RSP_ERROR_TEXT:
		rsp_reply_puts(r, "E.");
		cut(text, rsp_reply_room(r));
		rsp_reply_puts(r, text);
		break;
	case RSP_ERROR_HEX:
		rsp_reply_printf(r, "E%02x;", RSP_ERROR_PLAIN);
		cut(text, rsp_reply_room(r) / 2);
		rsp_reply_hex_text(r, text);
		break;
	}
	r->kind = RSP_REPLY_ERROR;
	return RSP_REPLIED;
}

void rsp_reply_finish(struct rsp_reply *r)
{
	if (r->is_full)
		rsp_reply_error_text(r, "the reply does not fit into a packet");
}
