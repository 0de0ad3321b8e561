/* SPDX-License-Identifier: MIT */
#include "args.h"

#include <string.h>

#include "src/base/collections/buf.h"
#include "src/base/text/hex.h"

void rsp_args_fail(struct rsp_args *a)
{
	a->is_bad = true;
	a->left = 0;
}

static void skip(struct rsp_args *a, size_t len)
{
	a->p += len;
	a->left -= len;
}

int rsp_args_peek(const struct rsp_args *a)
{
	return a->left ? *a->p : -1;
}

bool rsp_args_accept(struct rsp_args *a, char c)
{
	if (rsp_args_peek(a) != (uint8_t)c)
		return false;
	skip(a, 1);
	return true;
}

bool rsp_args_accept_word(struct rsp_args *a, const char *word)
{
	size_t len = strlen(word);

	if (a->left < len || memcmp(a->p, word, len) != 0)
		return false;
	skip(a, len);
	return true;
}

void rsp_args_expect(struct rsp_args *a, char c)
{
	if (!rsp_args_accept(a, c))
		rsp_args_fail(a);
}

bool rsp_args_switch(struct rsp_args *a)
{
	bool is_on = rsp_args_accept(a, '1');

	if (!is_on)
		rsp_args_expect(a, '0');
	return is_on;
}

static int peek_digit(const struct rsp_args *a)
{
	return a->left ? ts_hex_digit(*a->p) : -1;
}

/* A number of at most @max; 0 after a failure. */
static uint64_t take_number(struct rsp_args *a, uint64_t max)
{
	uint64_t value = 0;

	if (peek_digit(a) < 0) {
		rsp_args_fail(a);
		return 0;
	}
	while (peek_digit(a) >= 0) {
		uint64_t digit = (uint64_t)peek_digit(a);

		if (value > (max - digit) / 16) {
			rsp_args_fail(a);
			return 0;
		}
		value = value * 16 + digit;
		skip(a, 1);
	}
	return value;
}

uint64_t rsp_args_u64(struct rsp_args *a)
{
	return take_number(a, UINT64_MAX);
}

uint32_t rsp_args_u32(struct rsp_args *a)
{
	return (uint32_t)take_number(a, UINT32_MAX);
}

int64_t rsp_args_i64(struct rsp_args *a)
{
	if (rsp_args_accept(a, '-'))
		return (int64_t)-take_number(a, (uint64_t)INT64_MAX + 1);
	return (int64_t)take_number(a, INT64_MAX);
}

uint8_t rsp_args_u8(struct rsp_args *a)
{
	int high, low;

	if (a->left < 2) {
		rsp_args_fail(a);
		return 0;
	}
	high = ts_hex_digit(a->p[0]);
	low = ts_hex_digit(a->p[1]);
	if (high < 0 || low < 0) {
		rsp_args_fail(a);
		return 0;
	}
	skip(a, 2);
	return (uint8_t)(high << 4 | low);
}

/* A process or thread number, or -1. */
static int64_t take_id(struct rsp_args *a)
{
	int64_t id = rsp_args_i64(a);

	if (id < RSP_TID_ALL)
		rsp_args_fail(a);
	return id;
}

struct rsp_tid rsp_args_tid(struct rsp_args *a)
{
	struct rsp_tid t = { RSP_TID_ANY, RSP_TID_ANY, false };

	t.has_pid = rsp_args_accept(a, 'p');
	if (t.has_pid) {
		t.pid = take_id(a);
		t.tid = rsp_args_accept(a, '.') ? take_id(a) : RSP_TID_ALL;
	} else {
		t.tid = take_id(a);
	}
	if (t.pid == RSP_TID_ALL && t.tid != RSP_TID_ALL)
		rsp_args_fail(a);
	return rsp_args_ok(a) ? t : (struct rsp_tid){ RSP_TID_ANY, RSP_TID_ANY, false };
}

static size_t count_digits(const struct rsp_args *a)
{
	size_t n = 0;

	while (n < a->left && ts_hex_digit(a->p[n]) >= 0)
		n++;
	return n;
}

size_t rsp_args_hex_len(const struct rsp_args *a)
{
	return count_digits(a) / 2;
}

size_t rsp_args_hex(struct rsp_args *a, uint8_t *bytes, size_t max)
{
	size_t n_digits = count_digits(a);

	if (n_digits % 2 || n_digits / 2 > max) {
		rsp_args_fail(a);
		return 0;
	}
	for (size_t i = 0; i < n_digits / 2; i++)
		bytes[i] = rsp_args_u8(a);
	return n_digits / 2;
}

void rsp_args_hex_buf(struct rsp_args *a, struct ts_buf *bytes)
{
	size_t len = rsp_args_hex_len(a);
	uint8_t *room = ts_buf_room(bytes, len);

	if (!room) {
		rsp_args_fail(a);
		return;
	}
	bytes->len += rsp_args_hex(a, room, len);
}

const uint8_t *rsp_args_until(struct rsp_args *a, const char *stops, size_t *len)
{
	const uint8_t *start = a->p;

	*len = 0;
	while (a->left && (!*a->p || !strchr(stops, *a->p))) {
		skip(a, 1);
		++*len;
	}
	return start;
}

const uint8_t *rsp_args_rest(struct rsp_args *a, size_t *len)
{
	const uint8_t *start = a->p;

	*len = a->left;
	skip(a, a->left);
	return start;
}
