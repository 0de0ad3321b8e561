/* SPDX-License-Identifier: MIT */
/*
 * Reading a recording, with progress and warnings for users.
 */
#ifndef TS_READING_H
#define TS_READING_H

#include "src/model/model.h"
#include "src/program/cli/cli.h"

/*
 * Read the recording to its end or to its damage; for a server, and for a question with --partial, only as far as
 * the first question needs.  ^C, except in a server, ends the process with a message about the part that is kept.
 *
 * Returns false after a message if nothing can be served; *status is the status to exit with.
 */
bool ts_read_recording(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status);

/*
 * For a server: continue to read for some milliseconds.
 *
 * Returns false if the recording has been read; its warnings have been printed then.
 */
bool ts_read_on(struct ts_model *m, const struct ts_cli *cli);

#endif
