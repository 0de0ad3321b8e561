/* SPDX-License-Identifier: MIT */
/*
 * The system calls that a sandboxed process may make, by numbers and arguments.
 *
 * A call that is not on its list fails with EPERM.  A call of another system-call table (x32, int 0x80) ends the process.
 */
#ifndef TS_SANDBOX_FILTER_H
#define TS_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A BPF program for seccomp(2). */
struct ts_filter {
	uint32_t len; /* bytes */
	struct sock_filter code[BPF_MAXINSNS];
};

/*
 * Make the filter for @process.  If memory is exhausted, libseccomp omits rules or crashes.  Therefore the caller must
 * be a process that does nothing else, and the filter is made twice and used only if both results are equal.
 *
 * Returns false if memory is exhausted.
 * Returns false if no pipe can be made.
 * Returns false if libseccomp is too old for the kernel.
 */
bool ts_filter_make(struct ts_filter *f, pid_t process);

/*
 * Also refuse the calls that were needed to enter the sandbox: sendmsg(2), which passed a descriptor and could name an
 * address, landlock's calls, and seccomp(2).
 *
 * Returns false with errno if the kernel refuses.
 */
bool ts_filter_finish(void);

#endif
