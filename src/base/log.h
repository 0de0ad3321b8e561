/* SPDX-License-Identifier: MIT */
/*
 * Levelled lines on stderr.
 *
 *   error  the user must act              warn   unexpected data was ignored (once for each kind, with a count)
 *   info   once a run                     debug  once a packet            trace  below a packet
 *
 * Events of a normal session are logged at debug or below.  The level is the only global state of tracestub.
 */
#ifndef TS_LOG_H
#define TS_LOG_H

#include <stdbool.h>

enum ts_level {
	TS_LOG_ERROR,
	TS_LOG_WARN,
	TS_LOG_INFO,
	TS_LOG_DEBUG,
	TS_LOG_TRACE,
};

/* Write lines up to @level; the default is TS_LOG_WARN. */
void ts_log_set_level(enum ts_level level);
/* Parse a level's name.  Returns false, with *level unchanged, for an unknown name. */
bool ts_log_parse_level(const char *name, enum ts_level *level);

/* Write one line "tracestub: [LEVEL: ]text".  @fmt has no newline. */
void ts_log(enum ts_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
