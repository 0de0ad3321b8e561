/* SPDX-License-Identifier: MIT */
/*
 * The events of a picture: system calls, signals, and other facts that have a position and a name.
 */
#ifndef TS_PLOT_TIMELINE_MARKS_H
#define TS_PLOT_TIMELINE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "labels.h"
#include "src/ask/verb.h"

struct ts_timeline_mark {
	uint64_t pos;
	uint64_t n;     /* the number of its events; pos and label are those of the first one */
	uint32_t label;
};

enum ts_mark_kind {
	TS_MARK_SYSCALL,
	TS_MARK_SIGNAL,
	TS_MARK_FAULT,
	TS_MARK_INTERRUPT,
	TS_MARK_GAP,
	TS_MARK_MODULE,
	TS_MARK_THREAD_START,
	TS_MARK_THREAD_END,
	TS_MARK_EXIT,
	TS_N_MARK_KINDS,
};

struct ts_mark_list {
	struct ts_timeline_mark *items; /* owned; by position */
	size_t n, cap;
};

/* All zero: empty. */
struct ts_timeline_marks {
	struct ts_mark_list kinds[TS_N_MARK_KINDS];
	bool is_failed; /* memory was exhausted */
};

/* Returns the name of a kind for people, a literal: "system calls". */
const char *ts_mark_kind_name(enum ts_mark_kind kind);

/*
 * Collect the events of steps [@from, @to), at most @max marks of each kind.  If there are more events of a
 * kind, neighbouring events share a mark.
 *
 * Returns false if memory is exhausted.  The caller calls ts_timeline_marks_fini() in both cases.
 */
bool ts_timeline_marks_take(struct ts_timeline_marks *m, struct ts_labels *labels, const struct ts_ask *ask,
			    uint64_t from, uint64_t to, size_t max);
void ts_timeline_marks_fini(struct ts_timeline_marks *m);

#endif
