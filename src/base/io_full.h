/* SPDX-License-Identifier: MIT */
/*
 * Read or write all bytes: interrupted and partial system calls are repeated.
 */
#ifndef TS_IO_FULL_H
#define TS_IO_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read @len bytes at @off of @fd.
 *
 * Returns their number, less only at the end of the file; -1 with errno.
 */
ssize_t ts_read_whole(int fd, void *to, size_t len, uint64_t off);

/* Write @len bytes at the file offset of @fd.  Returns false with errno. */
bool ts_write_whole(int fd, const void *from, size_t len);

/* Write @len bytes at @off.  Returns false with errno. */
bool ts_write_whole_at(int fd, const void *from, size_t len, uint64_t off);

#endif
