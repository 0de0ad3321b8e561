/* SPDX-License-Identifier: MIT */
/*
 * The broker: a process that opens files for a sandboxed process.
 */
#ifndef TS_SANDBOX_BROKER_H
#define TS_SANDBOX_BROKER_H

#include <sys/types.h>

#include "rules.h"

/* Can this process read the memory of process @pid? */
bool ts_broker_can_read(pid_t pid);

/*
 * Answer the notifications of @fd (seccomp_unotify(2)) by @rules, until the last process of that filter has
 * ended.
 */
void ts_broker_run(int fd, const struct ts_sandbox_rules *rules);

#endif
