/* SPDX-License-Identifier: MIT */
/*
 * An opened trace of the command line: its source, its loader, and its model.
 */
#ifndef TS_OPENING_H
#define TS_OPENING_H

#include <stdbool.h>

#include "packed.h"
#include "src/model/model.h"
#include "src/program/cli/cli.h"
#include "src/program/cli/meter.h"
#include "src/query/query.h"

struct ts_loader;
struct ts_part;
struct ts_source;

struct ts_opened {
	struct ts_cli cli;              /* the command line, with the files that are packed with the trace; contents are borrowed */
	struct ts_packed_files packed;  /* the files that are packed with the trace */
	struct ts_source *src;          /* owned */
	struct ts_source **threads;     /* owned; of its other threads, n_threads of them */
	size_t n_threads;
	const struct ts_loader *loader;
	struct ts_model *model;         /* owned */
	struct ts_meter meter;          /* of unpacking */
};

/* Is the format of @cli, if it names one, known?  If not, the formats are listed on stderr. */
bool ts_opening_knows_format(const struct ts_cli *cli);

/* Print a line for each format on stdout: its name, and the tools that write it. */
void ts_opening_list_formats(void);

/*
 * Check, before the sandbox, that no trace of @cli is a folder.
 *
 * Returns false after a message, which describes the folder by its file names, if one is; *status is the status to exit
 * with.
 */
bool ts_opening_is_no_folder(const struct ts_cli *cli, enum ts_status *status);

/*
 * Open the trace cli->trace with the options of @cli, and load its index file; the trace is not read
 * yet (ts_read_recording()).
 *
 * Returns false on failure, after a message; *status is the status to exit with.  The caller must call ts_opened_fini()
 * in both cases.
 */
bool ts_opened_init(struct ts_opened *o, const struct ts_cli *cli, enum ts_status *status);

/*
 * As ts_opened_init(), for the part of --segment; the model stays closed.  The caller frees *part before *o.
 *
 * Returns false after a message if it fails: *part is NULL, and *status the exit status.
 */
bool ts_opened_init_part(struct ts_opened *o, const struct ts_cli *cli, struct ts_part **part, enum ts_status *status);

void ts_opened_fini(struct ts_opened *o);

/* -------------------------------------------------------------------------------------- reading.c */

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

/* --------------------------------------------------------------------------------------- beside.c */

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
 * Returns the path, which the caller frees after @cli.
 * Returns NULL if the file is not found.
 */
char *ts_beside_find(struct ts_cli *cli, struct ts_query *q);

/* -------------------------------------------------------------------------------------- confine.c */

/*
 * Enter the sandbox of the command, before its recording is opened; @socket is the unix socket that is
 * removed at the end, NULL for none.
 *
 * With --no-sandbox, or on a system without the needed features, a warning is printed instead.
 *
 * Returns true if the command may continue.  Returns false after a message if memory or open files are too few for a
 * sandbox.
 */
bool ts_confine(const struct ts_cli *cli, const char *socket);

#endif
