/* SPDX-License-Identifier: MIT */
/*
 * Packed recordings: `tracestub pack`, `tracestub unpack`, and what a command does with one
 * (src/trace/pack.h).
 */
#ifndef TS_PROGRAM_PACKED_H
#define TS_PROGRAM_PACKED_H

#include "cli.h"
#include "src/model/model.h"
#include "src/trace/source.h"

/*
 * Take over what was packed with the trace @src, of cli->trace, if it was: its marks, where it has none yet,
 * and its program, as --exec, where the command line names none.  *exec gets the path of the program's copy
 * in the cache directory (owned), which @cli then points to, or NULL.
 *
 * Returns false if the packed recording is damaged (TS_ECORRUPT, TS_ETRUNC, TS_EIO), or memory is exhausted.
 * A copy that cannot be written is a warning.
 */
bool ts_packed_adopt(struct ts_cli *cli, const struct ts_source *src, char **exec, struct ts_error *err);

/* Pack the recording @m, which was read, with its index, its marks and --exec.  Returns the status to exit
 * with. */
enum ts_status ts_run_pack(struct ts_model *m, const struct ts_cli *cli);

/* Write the trace of a packed recording, and its marks.  Returns the status to exit with. */
enum ts_status ts_run_unpack(const struct ts_cli *cli);

#endif
