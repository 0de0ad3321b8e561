/* SPDX-License-Identifier: MIT */
/*
 * Reading a recording, with progress and warnings for people.
 */
#ifndef TS_READING_H
#define TS_READING_H

#include "src/model/model.h"
#include "src/program/cli/cli.h"

/*
 * Read the recording to its end or to its damage; for a server, and for a question with --partial, as far as
 * is needed before one may ask.  ^C, except of a server, ends the process: stderr then says what is kept.
 *
 * Returns false if nothing can be served: why was said on stderr, and *status is the status to exit with.
 */
bool ts_read_recording(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status);

/*
 * For a server: read on for some milliseconds.
 *
 * Returns false if the recording has been read; what there is to say about it was said.
 */
bool ts_read_on(struct ts_model *m, const struct ts_cli *cli);

#endif
