/* SPDX-License-Identifier: MIT */
/*
 * Messages on stderr: failures, and warnings about a recording.
 */
#ifndef TS_REPORT_H
#define TS_REPORT_H

#include <stdbool.h>

#include "cli.h"
#include "src/query/query.h"

/*
 * Print @err about @file; NULL: an error in the command line or the system, not in a file.
 *
 * Returns the status to exit with.
 */
enum ts_status ts_report_failure(const char *file, const struct ts_error *err);

/* The number of warnings about a recording, including its damage; the second function writes the @i-th to @line. */
#define TS_WARNING_LINE_LEN 1024
unsigned ts_report_n_warnings(const struct ts_query *q);
void ts_report_warning(const struct ts_query *q, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN]);

/* Log them all. */
void ts_report_warnings(const struct ts_query *q, const char *file);

#endif
