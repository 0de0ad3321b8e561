/* SPDX-License-Identifier: MIT */
/*
 * A system call in strace's form: openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3
 */
#ifndef TS_ASK_SYSCALL_TEXT_H
#define TS_ASK_SYSCALL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/query/query.h"

/*
 * Append the call @h, Linux's call @name.  The contents of strings and buffers are those before the call, or those after it
 * for buffers that the call fills, as far as they are known.  Nothing is appended for a call without a known signature.
 * @error is the name of the returned error, NULL for none.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_syscall_text(struct ts_query *q, const struct ts_event_at *h, const char *name, const char *error,
		     struct ts_buf *out, struct ts_error *err);

#endif
