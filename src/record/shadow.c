/* SPDX-License-Identifier: MIT */
#include "shadow.h"

#include <string.h>
#include <sys/mman.h>

#define MAX_WINDOWS 4096u

struct ts_shadow_recent ts_shadow_recent[TS_SHADOW_N_RECENT];

static struct {
	uint64_t key;
	uint8_t *at; /* NULL: free */
} windows[MAX_WINDOWS];
static uint8_t *places[MAX_WINDOWS]; /* of the windows there are */
static unsigned n_windows;

static uint8_t *new_window(void)
{
	void *at = n_windows < MAX_WINDOWS / 2 ? mmap(NULL, TS_SHADOW_MASK + 1, PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) :
						 MAP_FAILED;

	return at == MAP_FAILED ? NULL : at;
}

/* The place of a window, or the free one for it. */
static unsigned find(uint64_t key)
{
	unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15u >> 52);

	while (windows[i].at && windows[i].key != key)
		i = (i + 1) % MAX_WINDOWS;
	return i;
}

const uint8_t *ts_shadow_peek(uint64_t addr)
{
	unsigned i = find(addr >> TS_SHADOW_BITS);

	return windows[i].at ? windows[i].at + (addr & TS_SHADOW_MASK) : NULL;
}

uint64_t ts_shadow_left(const uint8_t *at)
{
	for (unsigned i = 0; i < n_windows; i++) {
		uintptr_t into = (uintptr_t)at - (uintptr_t)places[i];

		if (into <= TS_SHADOW_MASK)
			return TS_SHADOW_MASK + 1 - into;
	}
	return 0;
}

uint8_t *ts_shadow_window(uint64_t addr)
{
	uint64_t key = addr >> TS_SHADOW_BITS;
	unsigned i = find(key);

	if (!windows[i].at) {
		windows[i].key = key;
		windows[i].at = new_window();
		if (!windows[i].at)
			return NULL;
		places[n_windows++] = windows[i].at;
	}
	ts_shadow_recent[key % TS_SHADOW_N_RECENT] = (struct ts_shadow_recent){ key + 1, windows[i].at };
	return windows[i].at + (addr & TS_SHADOW_MASK);
}

void ts_shadow_set(uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	while (len) {
		uint64_t n = ts_shadow_run(addr, len);
		uint8_t *at = ts_shadow_at(addr);

		if (at)
			memcpy(at, bytes, n);
		addr += n;
		bytes += n;
		len -= n;
	}
}

void ts_shadow_clear(uint64_t addr, uint64_t len)
{
	while (len) {
		uint64_t n = ts_shadow_run(addr, len);
		uint8_t *at = ts_shadow_peek(addr) ? ts_shadow_at(addr) : NULL; /* without a copy it is zero */

		if (at && !((addr | n) & 4095))
			madvise(at, n, MADV_DONTNEED);
		else if (at)
			memset(at, 0, n);
		addr += n;
		len -= n;
	}
}

void ts_shadow_fini(void)
{
	for (unsigned i = 0; i < n_windows; i++)
		munmap(places[i], TS_SHADOW_MASK + 1);
	memset(windows, 0, sizeof(windows));
	n_windows = 0;
	memset(ts_shadow_recent, 0, sizeof(ts_shadow_recent));
}
