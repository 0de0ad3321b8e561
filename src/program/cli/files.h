/* SPDX-License-Identifier: MIT */
/*
 * Checks of the files, folders and the architecture that options name, before anything is read.
 */
#ifndef TS_FILES_H
#define TS_FILES_H

#include "cli.h"
#include "src/model/model.h"

/* Is @name the name of an architecture, or NULL?  If not, the known names are printed on stderr. */
bool ts_files_is_arch(const char *name);

/*
 * Check the files and folders of @cli, and add those of --image to the model.
 *
 * Returns false after a message if one cannot be used; *status is the status to exit with.
 */
bool ts_files_add(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status);

#endif
