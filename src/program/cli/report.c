/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"
#include "src/base/log.h"

enum ts_status ts_report_failure(const char *file, const struct ts_error *err)
{
	char text[TS_WARNING_LINE_LEN];

	ts_error_format(err, file, text, sizeof(text));
	ts_message(stderr, "%s%s", file ? "" : "tracestub: ", text); /* the file's name has any bytes, too */
	return !file && err->code == TS_EUSAGE ? TS_STATUS_USAGE : TS_STATUS_FAILED;
}

unsigned ts_report_n_warnings(const struct ts_query *q)
{
	struct ts_ending ending;
	uint64_t count;
	unsigned n = 0;

	while (ts_query_warning(q, n, &count))
		n++;
	return n + (ts_query_ending(q, &ending) && ending.damage.code != TS_OK);
}

void ts_report_warning(const struct ts_query *q, const char *file, unsigned i,
		       char line[TS_WARNING_LINE_LEN])
{
	struct ts_ending ending;
	uint64_t count;
	const char *text = ts_query_warning(q, i, &count);

	if (!text && ts_query_ending(q, &ending))
		ts_error_format(&ending.damage, file, line, TS_WARNING_LINE_LEN);
	else if (count > 1)
		snprintf(line, TS_WARNING_LINE_LEN, "%s: %s (%" PRIu64 " times)", file, text, count);
	else
		snprintf(line, TS_WARNING_LINE_LEN, "%s: %s", file, text);
}

void ts_report_warnings(const struct ts_query *q, const char *file)
{
	for (unsigned i = 0; i < ts_report_n_warnings(q); i++) {
		char line[TS_WARNING_LINE_LEN];

		ts_report_warning(q, file, i, line);
		ts_log(TS_LOG_WARN, "%s", line);
	}
}
