/* SPDX-License-Identifier: MIT */
/*
 * What people see on stderr of long work: on a terminal one line that changes, elsewhere a line a second.
 * What takes less than a second shows nothing, and --quiet shows nothing at all.
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
	int64_t last_ns;           /* when it was shown last, or begun */
	struct ts_progress begun;
};

/* The time between two lines: the environment's TRACESTUB_PROGRESS, in seconds; @usual_s if it is not set. */
int64_t ts_meter_interval_ns(int64_t usual_s);

/*
 * Of @doing ("reading") something with @file, counted in @unit ("instructions"); all three are borrowed until
 * the meter is no longer used.  The environment's TRACESTUB_PROGRESS is the number of seconds between two
 * lines.
 */
void ts_meter_init(struct ts_meter *m, const struct ts_cli *cli, const char *file, const char *doing,
		   const char *unit);

/* So much is done: the share @share (0 to 1, or TS_NO_SHARE), @n units.  Printed if it is time. */
void ts_meter_show(struct ts_meter *m, double share, uint64_t n);

/* Wipe the line: the work is over, or something else is to be printed. */
void ts_meter_clear(struct ts_meter *m);

#endif
