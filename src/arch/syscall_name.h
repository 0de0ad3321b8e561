/* SPDX-License-Identifier: MIT */
/*
 * Names of Linux's system calls, by processor.  The tables are libseccomp's.
 */
#ifndef TS_SYSCALL_NAME_H
#define TS_SYSCALL_NAME_H

#include <stddef.h>
#include <stdint.h>

struct ts_arch;

/*
 * The name of system call @number of Linux on @arch; @number is the value in the register of the call's number (MIPS o32: 4000
 * and up).
 *
 * Returns the name, terminated, in @name (at most @size bytes).
 * Returns NULL if it is not known: another processor, a number without a call, memory exhausted.
 */
const char *ts_syscall_name(const struct ts_arch *arch, uint64_t number, char *name, size_t size);

#endif
