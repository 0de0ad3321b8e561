/* SPDX-License-Identifier: MIT */
/*
 * One of several recordings of a command: opened, read, with its symbols and marks.
 */
#ifndef TS_ASKED_H
#define TS_ASKED_H

#include "asker.h"
#include "src/program/cli/cli.h"
#include "src/program/open/opening.h"

struct ts_asked {
	struct ts_opened opened;
	char *program; /* owned; found beside the trace, or NULL */
	struct ts_asker asker;
};

/*
 * Open the trace cli->trace with the options of @cli, and read it.
 *
 * Returns false on failure, after a message; *status is the status to exit with.  The caller must call ts_asked_fini()
 * in both cases.
 */
bool ts_asked_init(struct ts_asked *a, const struct ts_cli *cli, enum ts_status *status);
void ts_asked_fini(struct ts_asked *a);

#endif
