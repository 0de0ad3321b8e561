/* SPDX-License-Identifier: MIT */
/*
 * A trace that the command line names, opened: its bytes, the loader that understands them, and its model.
 */
#ifndef TS_OPENING_H
#define TS_OPENING_H

#include <stdbool.h>

#include "packed.h"
#include "src/model/model.h"
#include "src/program/cli/cli.h"
#include "src/program/cli/meter.h"

struct ts_loader;
struct ts_part;
struct ts_source;

struct ts_opened {
	struct ts_cli cli;              /* as given, but for what is packed with the trace; its contents are borrowed */
	struct ts_packed_files packed;  /* what was packed with it */
	struct ts_source *src;          /* owned */
	struct ts_source **threads;     /* owned; of its other threads, n_threads of them */
	size_t n_threads;
	const struct ts_loader *loader;
	struct ts_model *model;         /* owned */
	struct ts_meter meter;          /* of unpacking */
};

/* Is the format that @cli names, if it does, one of ours?  If not stderr lists them. */
bool ts_opening_knows_format(const struct ts_cli *cli);

/* Print a line for each format on stdout: its name, and the tools that write it. */
void ts_opening_list_formats(void);

/*
 * Is no trace that @cli names a folder?  Looks at the names of files in it, before the sandbox.
 *
 * Returns false if one is: what it is was said on stderr, and *status is the status to exit with.
 */
bool ts_opening_is_no_folder(const struct ts_cli *cli, enum ts_status *status);

/*
 * Open the trace cli->trace by the options of @cli, and take in its index file; nothing of the trace is read
 * yet (reading.h).
 *
 * Returns false on failure: why was said on stderr, and *status is the status to exit with.  Either way @o
 * needs ts_opened_fini().
 */
bool ts_opened_init(struct ts_opened *o, const struct ts_cli *cli, enum ts_status *status);

/* The same for one part of it, which --segment names; the model stays closed.  The caller frees @part first (NULL on failure). */
bool ts_opened_init_part(struct ts_opened *o, const struct ts_cli *cli, struct ts_part **part, enum ts_status *status);

void ts_opened_fini(struct ts_opened *o);

#endif
