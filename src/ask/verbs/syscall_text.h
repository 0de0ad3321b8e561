/* SPDX-License-Identifier: MIT */
/*
 * A system call as people write it: openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3
 */
#ifndef TS_ASK_SYSCALL_TEXT_H
#define TS_ASK_SYSCALL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/query/query.h"

/*
 * Append the call @h, which Linux calls @name.  Strings and buffers of calls that are known are those of memory just before
 * the call, or if it filled them after it, as far as the recording knows them.  Nothing is appended of other calls.  @error
 * is the name of the error that it returned, NULL for none.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_syscall_text(struct ts_query *q, const struct ts_event_at *h, const char *name, const char *error,
		     struct ts_buf *out, struct ts_error *err);

#endif
