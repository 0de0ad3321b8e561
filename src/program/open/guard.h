/* SPDX-License-Identifier: MIT */
/*
 * What happens if an index file becomes shorter while it is in use.
 */
#ifndef TS_GUARD_H
#define TS_GUARD_H

/*
 * The index file @path is mapped.  If somebody truncates it, or its disk fails, nothing can be answered any
 * more: the process says so on stderr, and ends with a status of failure, instead of dying by SIGBUS.
 */
void ts_guard_index(const char *path);

#endif
