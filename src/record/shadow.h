/* SPDX-License-Identifier: MIT */
/*
 * The shadow: a copy of the program's memory with the contents that follow from the recording.
 *
 * The bytes that a load finds are compared with the shadow, so that a change which the recording misses is noticed.  The
 * shadow consists of windows of 1 GiB, which the kernel fills with zeros on the first access.
 */
#ifndef TS_RECORD_SHADOW_H
#define TS_RECORD_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TS_SHADOW_BITS 30
#define TS_SHADOW_MASK ((UINT64_C(1) << TS_SHADOW_BITS) - 1)
#define TS_SHADOW_N_RECENT 8u

/* The windows that were used last: programs alternate between the stack and the heap. */
struct ts_shadow_recent {
	uint64_t next_key; /* the window's number + 1; 0: the entry is empty */
	uint8_t *at;
};

extern struct ts_shadow_recent ts_shadow_recent[TS_SHADOW_N_RECENT];

/* The slow path of ts_shadow_at(): the window is not among the recent ones.  Returns as ts_shadow_at() does. */
uint8_t *ts_shadow_window(uint64_t addr);

/*
 * As ts_shadow_at(), but creates no window; any thread may call it.
 *
 * Returns the bytes at @addr, which are never freed, up to the end of the window.
 * Returns NULL if the window does not exist.
 */
const uint8_t *ts_shadow_peek(uint64_t addr);

/*
 * The number of bytes from @at to the end of the window that contains this address of the recorder.  Returns 0 if no
 * window contains it.
 */
uint64_t ts_shadow_left(const uint8_t *at);

/*
 * Returns the copy of the byte at @addr and of the bytes up to the end of its window, borrowed until
 * ts_shadow_fini().
 * Returns NULL if memory is exhausted.
 */
static inline uint8_t *ts_shadow_at(uint64_t addr)
{
	uint64_t key = addr >> TS_SHADOW_BITS;
	const struct ts_shadow_recent *r = &ts_shadow_recent[key % TS_SHADOW_N_RECENT];

	return r->next_key == key + 1 ? r->at + (addr & TS_SHADOW_MASK) : ts_shadow_window(addr);
}

/* Returns how many of the @len bytes from @addr on are in its window. */
static inline uint64_t ts_shadow_run(uint64_t addr, uint64_t len)
{
	uint64_t left = TS_SHADOW_MASK + 1 - (addr & TS_SHADOW_MASK);

	return len < left ? len : left;
}

/* Are @len bytes the same?  Most accesses are of these lengths, for which a call would cost more than the rest. */
static inline bool ts_shadow_is_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	switch (len) {
	case 8:
		return memcmp(a, b, 8) == 0;
	case 4:
		return memcmp(a, b, 4) == 0;
	case 1:
		return *a == *b;
	default:
		return memcmp(a, b, len) == 0;
	}
}

/* Copy @len bytes, which may lie in several windows. */
void ts_shadow_set(uint64_t addr, const uint8_t *bytes, uint64_t len);

/* Free all windows. */
void ts_shadow_fini(void);

/* Set @len bytes to zero, and free their memory. */
void ts_shadow_clear(uint64_t addr, uint64_t len);

#endif
