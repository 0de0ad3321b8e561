/* SPDX-License-Identifier: MIT */
/*
 * What options name besides the trace: files, folders and an architecture, checked before anything is read.
 */
#ifndef TS_FILES_H
#define TS_FILES_H

#include "cli.h"
#include "src/model/model.h"

/* Is it the name of an architecture, or NULL?  If not, the names are said on stderr. */
bool ts_files_is_arch(const char *name);

/*
 * Check the files and folders of @cli, and add those of --image to the model.
 *
 * Returns false if one cannot be used: what is wrong was said on stderr, and *status is the status to exit
 * with.
 */
bool ts_files_add(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status);

#endif
