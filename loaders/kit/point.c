/* SPDX-License-Identifier: MIT */
#include "point.h"

#include <string.h>

#define MAX_VARINT 10

/* -------------------------------------------------------------------------------------------- to save */

void point_put(struct ts_buf *b, uint64_t n)
{
	uint8_t bytes[MAX_VARINT];
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len++] = (uint8_t)(n | 0x80);
	bytes[len++] = (uint8_t)n;
	ts_buf_put(b, bytes, len);
}

void point_put_fixed(struct ts_buf *b, const void *data, size_t len)
{
	ts_buf_put(b, data, len);
}

void point_put_bytes(struct ts_buf *b, const void *data, size_t len)
{
	point_put(b, len);
	ts_buf_put(b, data, len);
}

/* How many bytes from @i on are the same in both (@is_same) or different. */
static size_t run_len(const uint8_t *a, const uint8_t *b, size_t i, size_t len, bool is_same)
{
	size_t end = i;

	while (end < len && (a[end] == b[end]) == is_same)
		end++;
	return end - i;
}

/* Differences are: bytes to pass over, length, bytes; a length of 0 ends them. */
void point_put_change(struct ts_buf *b, const uint8_t *now, const uint8_t *base, size_t len)
{
	for (size_t i = 0;;) {
		size_t same = run_len(now, base, i, len, true), n = run_len(now, base, i + same, len, false);

		if (!n)
			break;
		point_put(b, same);
		point_put_bytes(b, now + i + same, n);
		i += same + n;
	}
	point_put(b, 0);
	point_put(b, 0);
}

#define END_HAS_PC     1u
#define END_HAS_EXIT   2u
#define END_IS_FAULT   4u
#define END_IS_ASSUMED 8u
#define END_FLAGS      15u

void point_put_end(struct ts_buf *b, const struct ts_end *end)
{
	point_put(b, (end->has_pc ? END_HAS_PC : 0) | (end->has_exit ? END_HAS_EXIT : 0) |
			     (end->is_fault ? END_IS_FAULT : 0) | (end->is_assumed ? END_IS_ASSUMED : 0));
	point_put(b, end->pc);
}

/* ------------------------------------------------------------------------------------------ to resume */

bool point_fail(struct point *p)
{
	p->left = 0;
	return ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "the decode point belongs to another trace");
}

/* Take the next @len bytes; NULL if fewer are left. */
static const uint8_t *take(struct point *p, size_t len)
{
	const uint8_t *bytes = p->p;

	if (!point_ok(p) || len > p->left) {
		point_fail(p);
		return NULL;
	}
	p->p += len;
	p->left -= len;
	return bytes;
}

uint64_t point_get(struct point *p, uint64_t max)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 7 * MAX_VARINT; shift += 7) {
		const uint8_t *byte = take(p, 1);
		uint64_t bits;

		if (!byte)
			return 0;
		bits = *byte & 0x7f;
		if (bits << shift >> shift != bits || (shift && !*byte))
			break;
		n |= bits << shift;
		if (*byte < 0x80 && n <= max)
			return n;
		if (*byte < 0x80)
			break;
	}
	point_fail(p);
	return 0;
}

uint64_t point_get_between(struct point *p, uint64_t min, uint64_t max)
{
	uint64_t n = point_get(p, max);

	if (n >= min)
		return n;
	point_fail(p);
	return min;
}

uint64_t point_get_count(struct point *p, uint64_t max, size_t min_len)
{
	uint64_t n = point_get(p, max);

	if (n <= p->left / min_len)
		return n;
	point_fail(p);
	return 0;
}

bool point_get_fixed(struct point *p, void *to, size_t len)
{
	const uint8_t *bytes = take(p, len);

	if (bytes && len)
		memcpy(to, bytes, len);
	return bytes;
}

const uint8_t *point_get_bytes(struct point *p, size_t max, size_t *len)
{
	const uint8_t *bytes;

	*len = (size_t)point_get(p, max);
	bytes = take(p, *len);
	if (!bytes)
		*len = 0;
	return bytes;
}

bool point_get_change(struct point *p, uint8_t *bytes, size_t len)
{
	for (size_t i = 0;;) {
		size_t same = (size_t)point_get(p, len - i), n;
		const uint8_t *data = point_get_bytes(p, len - i - same, &n);

		if (!data)
			return false;
		if (!n)
			return same ? point_fail(p) : true;
		memcpy(bytes + i + same, data, n);
		i += same + n;
	}
}

void point_get_end(struct point *p, struct ts_end *end)
{
	uint64_t flags = point_get(p, END_FLAGS), pc = point_get(p, UINT64_MAX);

	*end = (struct ts_end){
		.pc = pc,
		.has_pc = flags & END_HAS_PC,
		.has_exit = flags & END_HAS_EXIT,
		.is_fault = flags & END_IS_FAULT,
		.is_assumed = flags & END_IS_ASSUMED,
	};
}

bool point_close(struct point *p)
{
	return point_ok(p) && (!p->left || point_fail(p));
}
