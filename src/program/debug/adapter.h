/* SPDX-License-Identifier: MIT */
/*
 * gdb as a debug adapter: `gdb -i dap`, for editors that speak the Debug Adapter Protocol.  gdb has it since 14,
 * if it was built with Python.
 */
#ifndef TS_ADAPTER_H
#define TS_ADAPTER_H

#include <stdbool.h>

/*
 * Does the program @gdb (a path, or a name in PATH) have an adapter?  The function starts it.
 *
 * Returns false if it has none, or if it cannot be started.
 */
bool ts_adapter_is_in(const char *gdb);

#endif
