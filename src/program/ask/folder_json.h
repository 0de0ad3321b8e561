/* SPDX-License-Identifier: MIT */
#ifndef TS_FOLDER_JSON_H
#define TS_FOLDER_JSON_H

#include "src/base/buf.h"
#include "src/program/open/processes.h"

/* Append the recordings of the folder @path as a JSON object.  Returns false if memory is exhausted. */
bool ts_folder_put_json(struct ts_buf *to, const struct ts_processes *all, const char *path);

#endif
