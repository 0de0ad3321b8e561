/* SPDX-License-Identifier: MIT */
/*
 * The calls that the kernel takes from a process in the sandbox, by their numbers and arguments.
 *
 * A call that is not on its list fails with EPERM.  A call of another system-call table (x32, int 0x80) ends the process.
 */
#ifndef TS_SANDBOX_FILTER_H
#define TS_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A filter as the kernel takes it. */
struct ts_filter {
	uint32_t len; /* bytes */
	struct sock_filter code[BPF_MAXINSNS];
};

/*
 * Make the filter for @process.  Where its own memory is short libseccomp leaves rules out, or crashes: therefore the
 * caller is a process that does nothing else, the filter is made twice, and used only if both are the same.
 *
 * Returns false if memory is exhausted, if no pipe can be made, or if libseccomp is too old for the kernel.
 */
bool ts_filter_make(struct ts_filter *f, pid_t process);

/*
 * Refuse, beside what the filter of this process refuses, the calls by which the sandbox was entered: sendmsg(2), which
 * handed over a descriptor and could name an address, landlock's, and seccomp(2).
 *
 * Returns false with errno if the kernel does not do it.
 */
bool ts_filter_finish(void);

#endif
