/* SPDX-License-Identifier: MIT */
/*
 * The context of questions about a recording: names of threads, symbols, marks.
 */
#ifndef TS_ASKER_H
#define TS_ASKER_H

#include <stdbool.h>

#include "src/ask/grammar/marks.h"
#include "src/ask/verb.h"
#include "src/program/cli/cli.h"
#include "src/program/open/opening.h"
#include "src/query/local_files.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"

struct ts_asker {
	const struct ts_cli *cli; /* borrowed */
	struct ts_ask ask;
	struct ts_names names;
	struct ts_local_files local;
	char kept[2 * PATH_MAX]; /* the folder of the copies */
	struct ts_symbols *symbols; /* owned */
	struct ts_marks *marks;     /* owned */
};

/*
 * Prepare questions about @q with the options of @cli (both borrowed).
 *
 * Returns false if a file with symbols cannot be read.
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller must call ts_asker_fini() in both cases.
 */
bool ts_asker_init(struct ts_asker *a, struct ts_query *q, const struct ts_cli *cli, struct ts_error *err);
void ts_asker_fini(struct ts_asker *a);

/*
 * After more of the recording has been read: add the names of new threads, and the symbols of new modules.
 *
 * If it fails, earlier names and symbols are kept.
 *
 * Returns false if a file with symbols cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_asker_refresh(struct ts_asker *a, struct ts_error *err);

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
