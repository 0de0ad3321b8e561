/* SPDX-License-Identifier: MIT */
/*
 * Progress of long work on stderr: one line that is updated on a terminal, a line each second elsewhere.
 * Nothing is printed in the first second, or with --quiet.
 */
#ifndef TS_METER_H
#define TS_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "src/base/progress.h"

struct ts_meter {
	const char *file, *doing, *unit; /* borrowed */
	bool is_quiet;
	bool is_begun, is_shown;
	int64_t last_ns;           /* the time of the last output, or of the beginning */
	struct ts_progress begun;
};

/* The time between two lines: the environment's TRACESTUB_PROGRESS, in seconds; @usual_s if it is not set. */
int64_t ts_meter_interval_ns(int64_t usual_s);

/*
 * Begin a meter for @doing ("reading") @file, counted in @unit ("instructions"); all three are borrowed until
 * the meter is no longer used.  The environment variable TRACESTUB_PROGRESS is the number of seconds between two
 * lines.
 */
void ts_meter_init(struct ts_meter *m, const struct ts_cli *cli, const char *file, const char *doing,
		   const char *unit);

/* Report progress: the share @share (0 to 1, or TS_NO_SHARE), @n units.  Printed if the interval has passed. */
void ts_meter_show(struct ts_meter *m, double share, uint64_t n);

/* Clear the line at the end of the work, or before other output. */
void ts_meter_clear(struct ts_meter *m);

#endif
