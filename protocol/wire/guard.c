/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <ctype.h>
#include <string.h>

static bool refuse(struct rsp_guard *g, const char *why)
{
	g->state = RSP_GUARD_BAD;
	g->why = why;
	return false;
}

/* Hold @c back.  An answer's number has few digits. */
static bool hold(struct rsp_guard *g, uint8_t c)
{
	if (g->n_head == RSP_GUARD_HEAD)
		return refuse(g, "a packet that is neither an answer nor a request");
	g->head[g->n_head++] = c;
	return true;
}

static bool take_between(struct rsp_guard *g, uint8_t c)
{
	if (c == '$' || c == '%')
		g->state = RSP_GUARD_FIRST;
	else if (c != '+' && c != '-')
		return refuse(g, "bytes between packets");
	return hold(g, c);
}

/* A byte of a packet: the debugger, too, must take it as one. */
static bool take_body(struct rsp_guard *g, uint8_t c)
{
	if (c == '$')
		return refuse(g, "a packet in a packet");
	g->state = c == '#' ? RSP_GUARD_CHECK_1 : c == '*' ? RSP_GUARD_COUNT : RSP_GUARD_BODY;
	return hold(g, c);
}

static bool take_first(struct rsp_guard *g, uint8_t c)
{
	if (c == '*')
		return refuse(g, "a repetition of nothing");
	if (c != 'F')
		return take_body(g, c);
	g->state = RSP_GUARD_ANSWER;
	return hold(g, c);
}

/*
 * "F", perhaps a sign, hexadecimal digits, also repeated ones: it is an answer when something else follows them, "T" in
 * the answer to QTFrame.
 */
static bool take_answer(struct rsp_guard *g, uint8_t c)
{
	uint8_t last = g->head[g->n_head - 1];
	bool is_digit = isxdigit(c) || (c == '-' && last == 'F' && g->n_head == 2);

	if (is_digit)
		return hold(g, c);
	if (g->n_head > 2 && isxdigit(last) && (c == ',' || c == ';' || c == '#' || c == '*' || c == 'T'))
		return take_body(g, c);
	return refuse(g, "a request to use files of the debugger");
}

/* gdb takes any byte as the count: one that ends a packet would end it here and not there. */
static bool take_count(struct rsp_guard *g, uint8_t c)
{
	if (c < ' ' || c > '~' || c == '#' || c == '$')
		return refuse(g, "a repetition without a count");
	g->state = RSP_GUARD_BODY;
	return hold(g, c);
}

static bool take_check(struct rsp_guard *g, uint8_t c)
{
	if (!isxdigit(c))
		return refuse(g, "a packet without a checksum");
	g->state = g->state == RSP_GUARD_CHECK_1 ? RSP_GUARD_CHECK_2 : RSP_GUARD_BETWEEN;
	return hold(g, c);
}

static bool take_byte(struct rsp_guard *g, uint8_t c)
{
	switch (g->state) {
	case RSP_GUARD_BETWEEN:
		return take_between(g, c);
	case RSP_GUARD_FIRST:
		return take_first(g, c);
	case RSP_GUARD_ANSWER:
		return take_answer(g, c);
	case RSP_GUARD_BODY:
		return take_body(g, c);
	case RSP_GUARD_COUNT:
		return take_count(g, c);
	case RSP_GUARD_CHECK_1:
	case RSP_GUARD_CHECK_2:
		return take_check(g, c);
	case RSP_GUARD_BAD:
		break;
	}
	return false;
}

/* The number of bytes that have no meaning of their own in a packet. */
static size_t count_plain(const uint8_t *from, size_t len)
{
	size_t n = 0;

	while (n < len && from[n] != '$' && from[n] != '#' && from[n] != '*')
		n++;
	return n;
}

static void put(uint8_t *to, size_t *n, const uint8_t *from, size_t len)
{
	memcpy(to + *n, from, len);
	*n += len;
}

bool rsp_guard_take(struct rsp_guard *guard, const uint8_t *from, size_t len, uint8_t *to, size_t *n)
{
	size_t i = 0, plain;

	*n = 0;
	while (i < len) {
		plain = guard->state == RSP_GUARD_BODY ? count_plain(from + i, len - i) : 0;
		put(to, n, from + i, plain);
		i += plain;
		if (i == len)
			break;
		if (!take_byte(guard, from[i++]))
			return false;
		if (guard->state == RSP_GUARD_FIRST || guard->state == RSP_GUARD_ANSWER)
			continue;
		put(to, n, guard->head, guard->n_head);
		guard->n_head = 0;
	}
	return true;
}
