/* SPDX-License-Identifier: MIT */
/*
 * Names that the user gives the processes of a whole machine: a file of lines "CR3 NAME".  No format of machines records
 * a kernel's own names.
 */
#ifndef TS_SYMBOLS_PROCESS_NAMES_H
#define TS_SYMBOLS_PROCESS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_process_names;

/*
 * Read the list.
 *
 * Returns the names, which the caller frees with ts_process_names_free().
 * Returns NULL if the file cannot be read (TS_EIO).
 * Returns NULL if a line is not "CR3 NAME" or repeats a process (TS_EUSAGE).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_process_names *ts_process_names_read(const char *path, struct ts_error *err);
void ts_process_names_free(struct ts_process_names *names);

/*
 * Returns the name of the process with the page tables at @root, borrowed; NULL if it has none, or if @names
 * is NULL.
 */
const char *ts_process_names_get(const struct ts_process_names *names, uint64_t root);

/* Returns how many processes have the name @text; *root is set to the page tables of the first.  @names may be NULL. */
size_t ts_process_names_find(const struct ts_process_names *names, const char *text, uint64_t *root);

#endif
