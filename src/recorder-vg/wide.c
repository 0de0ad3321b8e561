/* SPDX-License-Identifier: MIT */
/*
 * What libgcc has for numbers of 64 bits on a processor of 32: a compiler for 64-bit programs brings no libgcc of 32 bits,
 * and Valgrind's archives need these functions of it.
 */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest);
int __ctzdi2(uint64_t val);
int __clzdi2(uint64_t val);
int __popcountsi2(uint32_t val);
int __popcountdi2(uint64_t val);

/* The quotient of n / d for n < d << 32, by the processor's own division. */
static uint32_t divide(uint64_t n, uint32_t d, uint32_t *rest)
{
	uint32_t quotient;

	__asm__("divl %4" : "=a"(quotient), "=d"(*rest) : "a"((uint32_t)n), "d"((uint32_t)(n >> 32)), "r"(d) : "cc");
	return quotient;
}

static uint64_t divide_by_word(uint64_t n, uint32_t d, uint64_t *rest)
{
	uint32_t left, high = divide(n >> 32, d, &left), low = divide((uint64_t)left << 32 | (uint32_t)n, d, &left);

	*rest = left;
	return (uint64_t)high << 32 | low;
}

/* The divisor has more than 32 bits: the quotient has fewer, one after the other. */
static uint64_t divide_by_bits(uint64_t n, uint64_t d, uint64_t *rest)
{
	uint64_t quotient = 0;

	for (int i = 31; i >= 0; i--) {
		if (n >> i >= d) {
			n -= d << i;
			quotient |= (uint64_t)1 << i;
		}
	}
	*rest = n;
	return quotient;
}

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
	uint64_t left, quotient = d >> 32 ? divide_by_bits(n, d, &left) : divide_by_word(n, (uint32_t)d, &left);

	if (rest)
		*rest = left;
	return quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
	return __udivmoddi4(n, d, 0);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	__udivmoddi4(n, d, &rest);
	return rest;
}

static uint64_t magnitude(int64_t val)
{
	return val < 0 ? -(uint64_t)val : (uint64_t)val;
}

/* The quotient is cut towards zero; the rest has the sign of @n. */
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest)
{
	uint64_t left, quotient = __udivmoddi4(magnitude(n), magnitude(d), &left);

	*rest = (int64_t)(n < 0 ? -left : left);
	return (int64_t)((n ^ d) < 0 ? -quotient : quotient);
}

int64_t __divdi3(int64_t n, int64_t d)
{
	int64_t rest;

	return __divmoddi4(n, d, &rest);
}

int64_t __moddi3(int64_t n, int64_t d)
{
	int64_t rest;

	__divmoddi4(n, d, &rest);
	return rest;
}

int __ctzdi2(uint64_t val)
{
	return (uint32_t)val ? __builtin_ctz((uint32_t)val) : 32 + __builtin_ctz((uint32_t)(val >> 32));
}

int __clzdi2(uint64_t val)
{
	return val >> 32 ? __builtin_clz((uint32_t)(val >> 32)) : 32 + __builtin_clz((uint32_t)val);
}

int __popcountsi2(uint32_t val)
{
	int n = 0;

	for (; val; val &= val - 1)
		n++;
	return n;
}

int __popcountdi2(uint64_t val)
{
	return __popcountsi2((uint32_t)val) + __popcountsi2((uint32_t)(val >> 32));
}
