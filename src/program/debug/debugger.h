/* SPDX-License-Identifier: MIT */
/*
 * `tracestub gdb`, `tracestub lldb` and `tracestub dap`: a server of its own in a child process, and the debugger connected to
 * it.
 *
 * They connect through a unix socket in a private directory; both are removed at the end.  Only the child reads
 * the recording, in its sandbox; the debugger is outside.  The server runs in a session of its own: ^C at the
 * terminal reaches the debugger, which forwards it while it waits for the server.
 */
#ifndef TS_DEBUGGER_H
#define TS_DEBUGGER_H

#include <stdbool.h>

#include "serve.h"
#include "src/base/error.h"

enum ts_debugger_kind {
	TS_DEBUGGER_GDB,
	TS_DEBUGGER_LLDB,
	TS_DEBUGGER_DAP, /* gdb as an adapter for editors: it speaks the Debug Adapter Protocol over stdio */
};

struct ts_debugger_options {
	enum ts_debugger_kind kind;
	bool has_sysroot;           /* files come from the server, because the files of this machine are not the recorded ones */
	char **args;                /* more for the debugger, NULL-terminated */

	/*
	 * Called in the child: open the recording, serve it at the unix socket @path until SIGTERM, and call
	 * ready() as soon as clients are served.
	 * Returns the child's exit status, after a message on failure.
	 */
	int (*serve)(void *user, const char *path,
		     void (*ready)(void *ready_user, const struct ts_served *served),
		     void *ready_user);
	void *user;
};

/*
 * Run the debugger to its end.
 *
 * Returns its exit status (128 + signal if one killed it), or the exit status of a server that failed to
 * start; 1, after a message, if gdb has no adapter.
 * Returns -1 with @err if a system call fails (TS_EIO).
 * Returns -1 with @err if memory is exhausted (TS_ENOMEM).
 */
int ts_debugger_run(const struct ts_debugger_options *opt, struct ts_error *err);

#endif
