/* SPDX-License-Identifier: MIT */
/*
 * Handling of an index file that becomes shorter while it is in use.
 */
#ifndef TS_GUARD_H
#define TS_GUARD_H

/*
 * Guard the mapped index file @path.  If the file is truncated, or its disk fails, the process prints a message on
 * stderr and exits with TS_STATUS_FAILED, instead of dying by SIGBUS.
 */
void ts_guard_index(const char *path);

#endif
