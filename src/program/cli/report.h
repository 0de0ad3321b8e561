/* SPDX-License-Identifier: MIT */
/*
 * What people see on stderr: failures, and warnings about a recording.
 */
#ifndef TS_REPORT_H
#define TS_REPORT_H

#include <stdbool.h>

#include "cli.h"
#include "src/query/query.h"

/*
 * Print what is wrong with @file; NULL: the command line or the system is at fault, not a file.
 *
 * Returns the status to exit with.
 */
enum ts_status ts_report_failure(const char *file, const struct ts_error *err);

/* How many warnings there are about a recording, with its damage; the @i-th, about trace @file, to @line. */
#define TS_WARNING_LINE_LEN 1024
unsigned ts_report_n_warnings(const struct ts_query *q);
void ts_report_warning(const struct ts_query *q, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN]);

/* Log them all. */
void ts_report_warnings(const struct ts_query *q, const char *file);

#endif
