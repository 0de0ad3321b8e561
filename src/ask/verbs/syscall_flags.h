/* SPDX-License-Identifier: MIT */
/*
 * Flags of Linux's system calls by their names: O_RDONLY|O_CLOEXEC
 */
#ifndef TS_ASK_SYSCALL_FLAGS_H
#define TS_ASK_SYSCALL_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/buf.h"

/*
 * Append the argument @value of a call on processor @arch.  @kind: o flags of open, p protection of memory, m flags of mmap,
 * a what access asks for, A flags of calls that end with "at", S where lseek counts from, F a command of fcntl, n a family
 * of addresses, t a type of sockets, e permissions.  Bits without a name are a number: PROT_READ|0x40.
 *
 * Returns false, and appends nothing, if it is none of these, or if its numbers are others on that processor.
 */
bool ts_syscall_put_flags(const struct ts_arch *arch, char kind, uint64_t value, struct ts_buf *out);

/* Returns true if open with these flags on processor @arch creates a file, whose permissions are its next argument. */
bool ts_syscall_creates(const struct ts_arch *arch, uint64_t flags);

#endif
