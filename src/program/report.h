/* SPDX-License-Identifier: MIT */
/*
 * What people see on stderr: failures, progress, and warnings about a recording.
 */
#ifndef TS_REPORT_H
#define TS_REPORT_H

#include <stdbool.h>

#include "cli.h"
#include "src/query/query.h"
#include "src/trace/unpack.h"

/*
 * Print what is wrong with @file; NULL: the command line or the system is at fault, not a file.
 *
 * Returns the status to exit with.
 */
enum ts_status ts_report_failure(const char *file, const struct ts_error *err);

/* Show, at most once a second and on a terminal only, how far @file has been read; @is_done wipes it. */
void ts_report_progress(const char *file, uint64_t n_read, bool is_done);

/* The same for a trace that is being unpacked. */
void ts_report_unpacking(const struct ts_unpacking *at);

/* How many warnings there are about a recording, with its damage; the @i-th, about trace @file, to @line. */
#define TS_WARNING_LINE_LEN 1024
unsigned ts_report_n_warnings(const struct ts_query *q);
void ts_report_warning(const struct ts_query *q, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN]);

/* Log them all. */
void ts_report_warnings(const struct ts_query *q, const char *file);

#endif
