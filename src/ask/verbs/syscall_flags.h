/* SPDX-License-Identifier: MIT */
/*
 * Names of the flags of Linux's system calls: O_RDONLY|O_CLOEXEC
 */
#ifndef TS_ASK_SYSCALL_FLAGS_H
#define TS_ASK_SYSCALL_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/buf.h"

/*
 * Append the argument @value of a call on processor @arch.  @kind: o flags of open, p memory protection, m flags of mmap,
 * a mode of access(), A flags of calls that end with "at", S whence of lseek, F command of fcntl, n address family,
 * t socket type, e permissions, O bits of open without its mode, D flags of a descriptor, C flags of clone, U operation of
 * futex, V advice of madvise, M change of a signal mask, W options of wait, T mask of statx, R flags of unlinkat, E flags of
 * faccessat2, G flags of getrandom, g a signal.  Bits without a name are appended as a number: PROT_READ|0x40.
 *
 * Returns false, and appends nothing, if @kind is none of these, or if that processor uses other numbers.
 */
bool ts_syscall_put_flags(const struct ts_arch *arch, char kind, uint64_t value, struct ts_buf *out);

/* The kind of the third argument of fcntl(), d a number, x another one; 0 if the command has none. */
char ts_syscall_fcntl_kind(const struct ts_arch *arch, uint64_t command);

/* Returns true if open with these flags on processor @arch creates a file, whose permissions are its next argument. */
bool ts_syscall_creates(const struct ts_arch *arch, uint64_t flags);

#endif
