/* SPDX-License-Identifier: MIT */
/*
 * The connection of `tracestub gdb` and `tracestub lldb` to their server, through the process that started both.
 *
 * The server is in a sandbox, the debugger is not, and gdb lets its server use the user's files.  The relay is outside
 * the sandbox, and forwards only the packets that protocol/wire/guard.h permits.
 */
#ifndef TS_RELAY_H
#define TS_RELAY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "src/base/error.h"

struct ts_relay;

/*
 * Listen at the unix socket @front for debuggers; the server listens at the unix socket @back.
 *
 * Returns the relay, to be freed with ts_relay_free(), which removes @front.  Returns NULL and fills @err if the system
 * refuses (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
struct ts_relay *ts_relay_new(const char *front, const char *back, struct ts_error *err);

/*
 * Relay until the child process @pid has ended.  The caller must have blocked SIGCHLD and installed a handler; @waiting
 * is the signal mask, without SIGCHLD, while the relay is idle.
 *
 * Returns the status of waitpid(2).
 */
int ts_relay_run(struct ts_relay *r, pid_t pid, const sigset_t *waiting);

void ts_relay_free(struct ts_relay *r);

#endif
