/* SPDX-License-Identifier: MIT */
/*
 * Search for the recorded program if the command line does not name it: a file beside the trace, in the current folder,
 * or the copy from the time of the recording (kept.h).
 *
 * Its name is the program's name in the recording, or the trace's name without suffixes (run.ucir.gz: run,
 * run.exe).  It is used only if its contents agree with the recording.
 */
#ifndef TS_BESIDE_H
#define TS_BESIDE_H

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/*
 * Check that the program of the command line is the recorded one.  If it is certainly another build, a warning is
 * printed and cli->exec is cleared, because its lines belong to other code.  If some of its code differs, a warning is
 * printed, too.
 */
void ts_beside_check(struct ts_cli *cli, struct ts_query *q);

/*
 * Search for the program of the recording @q, as far as it has been read, if @cli names neither it nor a
 * sysroot.  On success cli->exec names it, and one line on stderr reports it; @cli borrows the path.
 *
 * Returns the path, which the caller frees after @cli; NULL if there is no such file.
 */
char *ts_beside_find(struct ts_cli *cli, struct ts_query *q);

#endif
