/* SPDX-License-Identifier: MIT */
/*
 * Who asks questions of a recording, and all that the questions need: names of threads, symbols, marks.
 */
#ifndef TS_ASKER_H
#define TS_ASKER_H

#include <stdbool.h>

#include "src/ask/grammar/marks.h"
#include "src/ask/verb.h"
#include "src/program/cli/cli.h"
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
 * Questions to @q by the options of @cli (both borrowed).
 *
 * Returns false if a file with symbols cannot be read, or memory is exhausted; @a needs ts_asker_fini()
 * either way.
 */
bool ts_asker_init(struct ts_asker *a, struct ts_query *q, const struct ts_cli *cli, struct ts_error *err);
void ts_asker_fini(struct ts_asker *a);

/*
 * More of the recording has been read: new threads get names, and new modules their symbols.
 *
 * Returns false if a file with symbols cannot be read, or memory is exhausted; what was known is kept then.
 */
bool ts_asker_refresh(struct ts_asker *a, struct ts_error *err);

#endif
