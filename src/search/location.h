/* SPDX-License-Identifier: MIT */
/*
 * A set of bytes of a recording's state: of a thread's registers or of a process's memory, or flags of a
 * thread.
 *
 * At most 64 bytes that lie within 64 of each other, so that sets are masks.
 */
#ifndef TS_SEARCH_LOCATION_H
#define TS_SEARCH_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

enum ts_location_kind {
	TS_IN_REGS,
	TS_IN_FLAGS,
	TS_IN_MEMORY,
	TS_IN_PC, /* the address of the thread's next instruction */
};

struct ts_location {
	enum ts_location_kind kind;
	uint32_t owner; /* the thread; the process for memory */
	uint64_t base;  /* REGS: offset in the 'g' layout; MEMORY: address */
	uint64_t mask;  /* bit i: byte base + i; FLAGS: bits of the flags register */
};

/* A mask with bits [@at, @at + @len) set; bits from 64 on are omitted. */
static inline uint64_t ts_mask(uint64_t at, uint64_t len)
{
	if (at >= 64 || !len)
		return 0;
	return (len >= 64 - at ? UINT64_MAX << at : (UINT64_MAX >> (64 - len)) << at);
}

/* The mask of the bytes of @loc that are in [@first, @first + @len), a range in the same space. */
static inline uint64_t ts_location_overlap(const struct ts_location *loc, uint64_t first, uint64_t len)
{
	uint64_t skip;

	if (!len)
		return 0;
	if (first >= loc->base)
		return first - loc->base < 64 ? ts_mask(first - loc->base, len) & loc->mask : 0;
	skip = loc->base - first;
	return skip < len ? ts_mask(0, len - skip) & loc->mask : 0;
}

/*
 * The first run of set bits in @mask from bit @at on: *first is its first bit, *len its length.
 *
 * Returns false if no bit from @at on is set.
 */
static inline bool ts_mask_run(uint64_t mask, unsigned at, unsigned *first, unsigned *len)
{
	uint64_t rest = at < 64 ? mask >> at << at : 0;

	if (!rest)
		return false;
	*first = (unsigned)__builtin_ctzll(rest);
	rest = ~(rest >> *first);
	*len = rest ? (unsigned)__builtin_ctzll(rest) : 64 - *first;
	if (*len > 64 - *first)
		*len = 64 - *first;
	return true;
}

#endif
