/* SPDX-License-Identifier: MIT */
/*
 * Warnings about places of a trace, each counted once however often the place is read.
 *
 * A loader keeps one struct ts_warner with each recording, and passes the place of each
 * oddity: any number that grows while the trace is read in order, such as a file offset or the ordinal of a
 * record.  Readers that return to an earlier place, or read the same place again, then warn of nothing new.
 */
#ifndef LOADERS_KIT_WARN_H
#define LOADERS_KIT_WARN_H

#include <stdint.h>

#include "src/trace/reader.h"

/* Kinds of warnings about one place; a place with more kinds loses the others. */
#define TS_WARNER_KINDS 24

struct ts_warner {
	struct ts_recording *rec;        /* borrowed; receives the warnings */
	uint64_t place;                  /* the last place with a warning */
	uint64_t kinds[TS_WARNER_KINDS]; /* numbers of the kinds of warnings about it */
	unsigned n_kinds;
};

void ts_warner_init(struct ts_warner *w, struct ts_recording *rec);

/*
 * Warn about @place, unless there was a warning about a later place, or one of this kind about this place.
 * The kind is @fmt, a literal.
 */
void ts_warn_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As ts_warn_at(), but the kind is the sentence itself: a place may name several things of one sort. */
void ts_warn_each_at(struct ts_warner *w, uint64_t place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
