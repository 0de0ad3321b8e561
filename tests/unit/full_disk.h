/* SPDX-License-Identifier: MIT */
/*
 * A disk that is full for one file: wrappers of pwrite(), fsync() and rename().
 *
 * A program that uses them is linked with $(full_disk_ldflags).
 */
#ifndef TS_TESTS_FULL_DISK_H
#define TS_TESTS_FULL_DISK_H

#include <stdint.h>

enum full_disk {
	FULL_DISK_WRITES, /* no byte of the file may be written after the first @room */
	FULL_DISK_SYNCS,  /* it is said when the file is synced, as a quota (EDQUOT) */
	FULL_DISK_NAMES,  /* or when it gets its name */
};

/* From now on the file that is at @path (borrowed) then has no room; @room: of FULL_DISK_WRITES. */
void full_disk_start(const char *path, enum full_disk how, uint64_t room);
void full_disk_end(void);

#endif
