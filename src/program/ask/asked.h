/* SPDX-License-Identifier: MIT */
/*
 * A recording that is asked together with others: opened, read, and with its symbols and marks.
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
 * Open the trace cli->trace by the options of @cli, and read it.
 *
 * Returns false on failure: why was said on stderr, and *status is the status to exit with.  Either way @a needs
 * ts_asked_fini().
 */
bool ts_asked_init(struct ts_asked *a, const struct ts_cli *cli, enum ts_status *status);
void ts_asked_fini(struct ts_asked *a);

#endif
