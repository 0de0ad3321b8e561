/* SPDX-License-Identifier: MIT */
/*
 * The events of one kind, in the order of steps.
 *
 * Events of saved segments stay in the index file, and are verified and checked when they are read.  The time to open a
 * file therefore does not depend on their number.  Other events are in memory.
 */
#ifndef TS_EVENT_LIST_H
#define TS_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

struct ts_index_arrays;
struct ts_index_blocks;
struct ts_index_file;

/* Events that follow each other: those of a segment, or what was there before the first step. */
struct ts_event_piece {
	const struct ts_event_at *items; /* owned, if they are in no file */
	size_t n;
	uint64_t first;    /* ordinal of the first one in the list */
	uint64_t end_step; /* all are at steps below it, and not below that of the piece before */
	uint32_t n_threads;           /* of the recording up to there */
	struct ts_index_blocks *file; /* borrowed; the items are mapped from it; NULL: they are in no file */
};

struct ts_event_list {
	struct ts_event_piece *pieces; /* owned */
	size_t n_pieces, cap_pieces;
	struct ts_event_at *items;    /* owned; those that follow the pieces */
	size_t n_items, cap_items;
	uint64_t n; /* all of them */
};

void ts_event_list_fini(struct ts_event_list *list);

/* Append an event of @thread; @step is not below that of the last event.  Returns false if memory is exhausted. */
bool ts_event_list_add(struct ts_event_list *list, uint64_t step, uint32_t thread, const struct ts_event *ev);

/* Bytes of memory in use, without the events in an index file. */
uint64_t ts_event_list_mem(const struct ts_event_list *list);

/* The number of events at steps below @step. */
uint64_t ts_event_list_below(const struct ts_event_list *list, uint64_t step);

/*
 * Returns event @i of the list, which has more than @i events, borrowed until the list grows.  It is empty if the index file
 * is damaged there.
 */
const struct ts_event_at *ts_event_list_at(const struct ts_event_list *list, uint64_t i);

/*
 * End the part of the list that precedes the first step.  This part is never saved.  Returns false if memory is
 * exhausted.
 */
bool ts_event_list_begin(struct ts_event_list *list);

/* Save the events that are in memory.  They must be of one segment. */
void ts_event_list_save(const struct ts_event_list *list, struct ts_index_file *f);

/*
 * Save all events of a complete recording, with those before the first step.  Such an array is loaded into an empty
 * list.
 */
void ts_event_list_save_all(const struct ts_event_list *list, struct ts_index_file *f);

/*
 * Load a segment's events, which replace those in memory.  @end_step is the step at which the segment ends,
 * @n_threads the number of threads of the recording up to there.
 *
 * Returns false if the array is invalid.
 * Returns false if memory is exhausted.
 */
bool ts_event_list_load(struct ts_event_list *list, struct ts_index_arrays *a, uint64_t end_step,
			uint32_t n_threads);

/* Copy an event, with zeros in its padding and after the ends of its texts, as in files. */
void ts_event_clean(struct ts_event *to, const struct ts_event *from);

/* Could ts_event_clean() have made the struct ts_event at @p, which need not be aligned? */
bool ts_event_is_valid(const uint8_t *p);

#endif
