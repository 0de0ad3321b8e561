/* SPDX-License-Identifier: MIT */
/*
 * The sandbox: the process can use the files of its rules, and nothing else outside itself.
 */
#ifndef TS_SANDBOX_H
#define TS_SANDBOX_H

#include <stdbool.h>

#include "rules.h"
#include "src/base/error.h"

/*
 * Enter the sandbox permanently.  Threads that are created later are inside, too; processes cannot be created.  The
 * calling process must have one thread.  Its working directory cannot change any more.
 *
 * Sets *has_landlock to whether the kernel has landlock (landlock(7)).  @rules are copied.
 *
 * Returns true on success.
 * Returns false if this build has no sandbox (TS_EUNSUPPORTED), or if the system forbids it (TS_EIO): the process is
 * unchanged.
 * Returns false if memory, processes or open files are exhausted (TS_ENOMEM): the process may be unable to open
 * files, and should exit.
 */
bool ts_sandbox_enter(const struct ts_sandbox_rules *rules, bool *has_landlock, struct ts_error *err);

#endif
