/* SPDX-License-Identifier: MIT */
#include "cli_commands.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "src/base/text/similar.h"

const struct ts_cli_command ts_cli_commands[TS_N_COMMANDS] = {
	[TS_CMD_SERVE] = { "serve", "COMM TRACE", 2 },
	[TS_CMD_GDB] = { "gdb", "[TRACE [PROG]] [-- GDB-ARGS...]", 0, 2 },
	[TS_CMD_LLDB] = { "lldb", "[TRACE [PROG]] [-- LLDB-ARGS...]", 0, 2 },
	[TS_CMD_DAP] = { "dap", "[TRACE [PROG]] [-- GDB-ARGS...]", 0, 2 },
	[TS_CMD_INFO] = { "info", "TRACE...", 1, INT_MAX },
	[TS_CMD_INDEX] = { "index", "TRACE", 1 },
	[TS_CMD_EXPORT] = { "export", "TRACE -o OUT [--as FORM]", 1 },
	[TS_CMD_QUERY] = { "query", "TRACE VERB ... | TRACE... -- VERB ...", 2 },
	[TS_CMD_SQL] = { "sql", "TRACE... [\"SELECT ...\"] [-f FILE] [--csv|--tsv|--json|--box] [--save OUT.db] [--scan]", 1, 1 },
	[TS_CMD_DIFF] = { "diff", "TRACE TRACE2|--against FOLDER [--only KIND] [--in A:B] [--function PATTERN] [--first N] [--rebase] [--all] [--json]", 1, INT_MAX },
	[TS_CMD_PLOT] = { "plot", "TRACE -o OUT.svg|OUT.html [--in A:B]", 1 },
	[TS_CMD_PACK] = { "pack", "TRACE -o FILE", 1 },
	[TS_CMD_UNPACK] = { "unpack", "FILE -o TRACE", 1 },
	[TS_CMD_MCP] = { "mcp", "TRACE...", 1, INT_MAX },
	[TS_CMD_RECORD] = { "record", "[-o OUT] [--] PROGRAM [ARGS...]", 1, INT_MAX },
};

bool ts_cli_usage_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ts_message(stderr, "tracestub: %s", text);
	fputs("'tracestub --help' explains\n", stderr);
	return false;
}

unsigned ts_cli_command_named(const char *name)
{
	unsigned i = 0;

	while (i < TS_N_COMMANDS && strcmp(ts_cli_commands[i].name, name))
		i++;
	return i;
}

bool ts_cli_find_command(struct ts_cli *cli, const char *name)
{
	unsigned found = ts_cli_command_named(name);

	if (found < TS_N_COMMANDS) {
		cli->command = (enum ts_command)found;
		return true;
	}
	for (unsigned i = 0; i < TS_N_COMMANDS; i++) {
		if (ts_is_similar(ts_cli_commands[i].name, name))
			return ts_cli_usage_error("'%s' is not a command; did you mean '%s'?", name,
						  ts_cli_commands[i].name);
	}
	return ts_cli_usage_error(
		"'%s' is not a command; the commands are serve, gdb, lldb, dap, info, index, export, query, sql, diff, plot, mcp and record",
		name);
}
