/* SPDX-License-Identifier: MIT */
/*
 * Bytes as words and numbers.
 */
#ifndef TS_BYTES_H
#define TS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The eight bytes at @p in the machine's own order. */
static inline uint64_t ts_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Copy bytes that another processor reads next, around the caches of this processor if it can.  This avoids fetching the
 * written lines from the other processor's cache, which takes long if the two share no cache.
 */
static inline void ts_copy_away(void *to, const void *from, size_t len)
{
	uint8_t *t = to;
	const uint8_t *f = from;
#ifdef __SSE2__
	size_t head = -(uintptr_t)t % sizeof(__m128i);

	head = head < len ? head : len;
	memcpy(t, f, head);
	t += head;
	f += head;
	for (len -= head; len >= sizeof(__m128i); len -= sizeof(__m128i)) {
		_mm_stream_si128((__m128i *)(void *)t, _mm_loadu_si128((const __m128i *)(const void *)f));
		t += sizeof(__m128i);
		f += sizeof(__m128i);
	}
	_mm_sfence();
#endif
	memcpy(t, f, len);
}

/* The number in @len bytes at @p, 0 to 8. */
static inline uint64_t ts_number(const uint8_t *p, size_t len, bool is_big_endian)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n = n << 8 | p[is_big_endian ? i : len - 1 - i];
	return n;
}

/* Reverse the order of the bytes. */
static inline void ts_reverse_bytes(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len / 2; i++) {
		uint8_t b = bytes[i];

		bytes[i] = bytes[len - 1 - i];
		bytes[len - 1 - i] = b;
	}
}

/* A word with the same number in each byte. */
#define TS_EACH_BYTE(n) ((n) * UINT64_C(0x0101010101010101))

/* The lowest set bit of the result is in the lowest zero byte of @v; the result is 0 if @v has no zero byte. */
static inline uint64_t ts_zero_bytes(uint64_t v)
{
	return (v - TS_EACH_BYTE(1)) & ~v & TS_EACH_BYTE(0x80);
}

#endif
