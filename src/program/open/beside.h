/* SPDX-License-Identifier: MIT */
/*
 * The recorded program where the command line does not name it: a file beside the trace, in the current folder,
 * or the copy that was made when it was recorded (kept.h).
 *
 * It is called as the recording calls the program, or as the trace is without its suffixes (run.ucir.gz: run,
 * run.exe), and is used only if its contents are what was executed.
 */
#ifndef TS_BESIDE_H
#define TS_BESIDE_H

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/*
 * Is the program that the command line names the recorded one?  If it is certain that it is another build, a
 * warning says so and cli->exec names none: its lines would be shown for other code.  A warning also says if some
 * of its code differs.
 */
void ts_beside_check(struct ts_cli *cli, struct ts_query *q);

/*
 * Look for the program of the recording @q, as far as it has been read, if @cli names neither it nor a
 * sysroot. On success cli->exec names it, and one line on stderr says so; @cli borrows the path.
 *
 * Returns the path, which the caller frees after @cli; NULL if there is no such file.
 */
char *ts_beside_find(struct ts_cli *cli, struct ts_query *q);

#endif
