/* SPDX-License-Identifier: MIT */
#include "point.h"

#include <string.h>

#define MAX_VARINT 10

bool ts_point_fail(struct ts_point *p)
{
	p->left = 0;
	return ts_fail(p->err, TS_ECORRUPT, TS_NO_OFF, "the decode point belongs to another trace");
}

/* Take the next @len bytes; NULL if fewer are left. */
static const uint8_t *take(struct ts_point *p, size_t len)
{
	const uint8_t *bytes = p->p;

	if (!ts_point_ok(p) || len > p->left) {
		ts_point_fail(p);
		return NULL;
	}
	p->p += len;
	p->left -= len;
	return bytes;
}

static void write_number(struct ts_buf *b, uint64_t n)
{
	uint8_t bytes[MAX_VARINT];
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[len++] = (uint8_t)(n | 0x80);
	bytes[len++] = (uint8_t)n;
	ts_buf_put(b, bytes, len);
}

static uint64_t parse_number(struct ts_point *p, uint64_t max)
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
	ts_point_fail(p);
	return 0;
}

uint64_t ts_point_number(struct ts_point *p, uint64_t n, uint64_t max)
{
	if (!p->to)
		return parse_number(p, max);
	write_number(p->to, n);
	return n;
}

uint64_t ts_point_between(struct ts_point *p, uint64_t n, uint64_t min, uint64_t max)
{
	n = ts_point_number(p, n, max);
	if (p->to || n >= min)
		return n;
	ts_point_fail(p);
	return min;
}

void ts_point_flags(struct ts_point *p, bool *const *flags, unsigned n)
{
	uint64_t bits = 0;

	for (unsigned i = 0; p->to && i < n; i++)
		bits |= (uint64_t)*flags[i] << i;
	TS_POINT(p, bits, (UINT64_C(1) << n) - 1);
	for (unsigned i = 0; i < n; i++)
		*flags[i] = bits >> i & 1;
}

uint64_t ts_point_count(struct ts_point *p, uint64_t n, uint64_t max, size_t min_len)
{
	n = ts_point_number(p, n, max);
	if (p->to || n <= p->left / min_len)
		return n;
	ts_point_fail(p);
	return 0;
}

bool ts_point_fixed(struct ts_point *p, void *bytes, size_t len)
{
	const uint8_t *from = p->to ? NULL : take(p, len);

	if (p->to)
		ts_buf_put(p->to, bytes, len);
	else if (from && len)
		memcpy(bytes, from, len);
	return p->to || from;
}

size_t ts_point_bytes(struct ts_point *p, void *bytes, size_t len, size_t max)
{
	TS_POINT(p, len, max);
	return ts_point_fixed(p, bytes, len) ? len : 0;
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
bool ts_point_change(struct ts_point *p, uint8_t *bytes, const uint8_t *base, size_t len)
{
	size_t i = 0, same = 0, n = 0;

	if (!p->to)
		memcpy(bytes, base, len);
	do {
		if (p->to) {
			same = run_len(bytes, base, i, len, true);
			n = run_len(bytes, base, i + same, len, false);
			same = n ? same : 0;
		}
		TS_POINT(p, same, len - i);
		n = ts_point_bytes(p, bytes + i + same, n, len - i - same);
		i += same + n;
	} while (n);
	return ts_point_ok(p) && (!same || ts_point_fail(p));
}

bool ts_point_close(struct ts_point *p)
{
	return p->to || (ts_point_ok(p) && (!p->left || ts_point_fail(p)));
}
