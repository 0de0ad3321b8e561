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
 * Print @err, of any code but TS_OK, about @file.  @file is NULL for an error of the command line or the
 * system.
 *
 * Returns the exit status: TS_STATUS_USAGE for TS_EUSAGE without a file, else that of a failure.
 */
enum ts_status ts_report_failure(const char *file, const struct ts_error *err);

/*
 * ts_report_n_warnings() returns the number of warnings about a recording, including one about its damage.
 * ts_report_warning() writes the @i-th warning to @line, terminated.
 */
#define TS_WARNING_LINE_LEN 1024
unsigned ts_report_n_warnings(const struct ts_query *q);
void ts_report_warning(const struct ts_query *q, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN]);

/* Log all warnings about a recording. */
void ts_report_warnings(const struct ts_query *q, const char *file);

#endif
