/* SPDX-License-Identifier: MIT */
/*
 * Levelled lines on stderr.
 *
 *   error  the user must act              warn   the data is odd, ignored (once for each kind, with a count)
 *   info   once a run                     debug  once a packet            trace  below a packet
 *
 * What can happen in a normal session is logged at debug or below.  The level is the only global state of
 * tracestub.
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

/* Show lines up to @level; at start TS_LOG_WARN. */
void ts_log_set_level(enum ts_level level);
/* Parse a level's name.  Returns false and leaves *level for an unknown one. */
bool ts_log_parse_level(const char *name, enum ts_level *level);

/* Write one line "tracestub: [LEVEL: ]text".  @fmt has no newline. */
void ts_log(enum ts_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
