/* SPDX-License-Identifier: MIT */
/*
 * Warnings about places of a trace.  Each is counted once, even if the place is read several times.
 *
 * A loader has one struct ts_warner for each recording, and passes the place of each oddity: any number that
 * ascends while the trace is read in order, such as a file offset or the ordinal of a record.  A reader that
 * returns to an earlier place does not repeat warnings.
 */
#ifndef LOADERS_KIT_WARN_H
#define LOADERS_KIT_WARN_H

#include <stdint.h>

#include "src/trace/reader.h"

/* The largest number of kinds of warnings about one place.  Further kinds are not counted. */
#define TS_WARNER_KINDS 24

struct ts_warner {
	struct ts_recording *rec;        /* borrowed; receives the warnings */
	uint64_t place;                  /* the last place with a warning */
	uint64_t kinds[TS_WARNER_KINDS]; /* numbers of the kinds of warnings about it */
	unsigned n_kinds;
};

/* @rec is borrowed as long as @w is used. */
void ts_warner_init(struct ts_warner *w, struct ts_recording *rec);

/*
 * Warn about @place, unless there was a warning about a later place, or one of this kind about this place.
 * The kind is @fmt, a literal.
 */
void ts_warn_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As ts_warn_at(), but the kind is the whole sentence: for a place with several warnings of the same form. */
void ts_warn_each_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
