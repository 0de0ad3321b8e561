/* SPDX-License-Identifier: MIT */
/*
 * From here on this process can use the files of its rules, and nothing else outside of itself.
 */
#ifndef TS_SANDBOX_H
#define TS_SANDBOX_H

#include <stdbool.h>

#include "rules.h"
#include "src/base/error.h"

/*
 * Enter the sandbox, for good: threads made later are in it, other processes cannot be made.  The process
 * must have one thread.  The working directory cannot change any more.
 *
 * Sets *has_landlock to whether the kernel has landlock (landlock(7)).  @rules are copied.
 *
 * Returns true on success.
 * Returns false if this build has none (TS_EUNSUPPORTED), or if the system forbids one (TS_EIO): the process is
 * as it was.
 * Returns false if memory, processes or open files are exhausted (TS_ENOMEM): the process may be unable to open
 * files, and should end.
 */
bool ts_sandbox_enter(const struct ts_sandbox_rules *rules, bool *has_landlock, struct ts_error *err);

#endif
