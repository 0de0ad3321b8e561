/* SPDX-License-Identifier: MIT */
/*
 * `tracestub gdb` and `tracestub lldb`: a server of its own in a child process, and the debugger connected to it.
 *
 * They connect by a unix socket in a private directory; both are removed at the end.  The server runs in a
 * session of its own: ^C at the terminal reaches the debugger, which passes it on while it waits for the server.
 */
#ifndef TS_DEBUGGER_H
#define TS_DEBUGGER_H

#include <stdbool.h>

#include "src/arch/arch.h"
#include "src/base/error.h"

struct ts_debugger_options {
	bool is_lldb;               /* else gdb */
	const struct ts_arch *arch; /* of the recording: chooses the gdb */
	const char *exec;           /* the program's file, NULL for none */
	char **args;                /* more for the debugger, NULL-terminated */

	/*
	 * Called in the child: serve at the unix socket @path until SIGTERM and call ready(ready_user, path)
	 * as soon as it listens.  Returns the child's exit status; it has said on stderr what went wrong.
	 */
	int (*serve)(void *user, const char *path, void (*ready)(void *ready_user, const char *path),
		     void *ready_user);
	void *user;
};

/*
 * Run the debugger to its end.
 *
 * Returns its exit status (128 + signal if one killed it), or that of a server that did not come up.
 * Returns -1 and fills @err if the system refuses (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
int ts_debugger_run(const struct ts_debugger_options *opt, struct ts_error *err);

#endif
