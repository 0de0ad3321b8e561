/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/text/utf8.h"

static const char *const level_names[] = { "error", "warn", "info", "debug", "trace" };

static enum ts_level shown_level = TS_LOG_WARN;

void ts_log_set_level(enum ts_level level)
{
	shown_level = level;
}

bool ts_log_parse_level(const char *name, enum ts_level *level)
{
	for (unsigned i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (!strcmp(name, level_names[i])) {
			*level = (enum ts_level)i;
			return true;
		}
	}
	return false;
}

void ts_log(enum ts_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (level > shown_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ts_utf8_make_shown(line, strlen(line), false); /* names come from a trace, and may have any bytes */
	if (level == TS_LOG_INFO)
		fprintf(stderr, "tracestub: %s\n", line);
	else
		fprintf(stderr, "tracestub: %s: %s\n", level_names[level], line);
}
