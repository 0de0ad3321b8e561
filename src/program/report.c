/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "src/base/log.h"

enum ts_status ts_report_failure(const char *file, const struct ts_error *err)
{
	char text[TS_WARNING_LINE_LEN];

	ts_error_format(err, file, text, sizeof(text));
	fprintf(stderr, "%s%s\n", file ? "" : "tracestub: ", text);
	return !file && err->code == TS_EUSAGE ? TS_STATUS_USAGE : TS_STATUS_FAILED;
}

void ts_report_progress(const char *file, const struct ts_timeline *tl, bool is_done)
{
	static time_t last;
	static bool is_shown;
	time_t now = time(NULL);

	if (is_done && is_shown) {
		fputs("\r\033[K", stderr);
	} else if (!is_done && last && now != last && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r%s: %" PRIu64 " instructions read", file, ts_timeline_n_read(tl));
		is_shown = true;
	}
	last = now;
}

unsigned ts_report_n_warnings(const struct ts_timeline *tl)
{
	return tl->rec->n_warnings + (tl->damage.code != TS_OK);
}

void ts_report_warning(const struct ts_timeline *tl, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN])
{
	const struct ts_warning *w = &tl->rec->warnings[i];

	if (i == tl->rec->n_warnings) {
		ts_error_format(&tl->damage, file, line, TS_WARNING_LINE_LEN);
	} else if (w->count > 1) {
		snprintf(line, TS_WARNING_LINE_LEN, "%s: %s (%" PRIu64 " times)", file, w->text, w->count);
	} else {
		snprintf(line, TS_WARNING_LINE_LEN, "%s: %s", file, w->text);
	}
}

void ts_report_warnings(const struct ts_timeline *tl, const char *file)
{
	for (unsigned i = 0; i < ts_report_n_warnings(tl); i++) {
		char line[TS_WARNING_LINE_LEN];

		ts_report_warning(tl, file, i, line);
		ts_log(TS_LOG_WARN, "%s", line);
	}
}
