/* SPDX-License-Identifier: MIT */
/*
 * The resident pages of this process, by pagemap of proc(5): those that are in memory or swapped out.
 */
#ifndef TS_RECORD_RESIDENT_H
#define TS_RECORD_RESIDENT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define TS_RESIDENT_PAGE 4096u
#define TS_RESIDENT_N 512u /* pages that are read at once, at most */

/* Open pagemap; the caller closes the descriptor.  Returns -1 if it cannot be opened. */
static inline int ts_resident_open(void)
{
	return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* Read the entries of @n pages from @at on.  If they cannot be read, all pages are reported as resident. */
static inline void ts_resident_read(int fd, const uint8_t *at, uint64_t n, uint64_t entries[TS_RESIDENT_N])
{
	off_t off = (off_t)((uintptr_t)at / TS_RESIDENT_PAGE * 8);

	if (fd < 0 || pread(fd, entries, n * 8, off) != (ssize_t)(n * 8))
		memset(entries, 0xff, TS_RESIDENT_N * sizeof(*entries));
}

/* Returns true if bit 63 (present) or bit 62 (swapped) of the entry is set. */
static inline bool ts_resident_is(uint64_t entry)
{
	return entry >> 62 != 0;
}

#endif
