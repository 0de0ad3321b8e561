/* SPDX-License-Identifier: MIT */
/*
 * The events of one kind, in the order of steps.
 *
 * Those of segments that are in an index file lie there, and are verified and checked when they are read:
 * opening a file costs the same for any number of them.  The others are in memory.
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

/* Append an event of @thread; steps do not descend.  Returns false if memory is exhausted. */
bool ts_event_list_add(struct ts_event_list *list, uint64_t step, uint32_t thread, const struct ts_event *ev);

/* Bytes of memory, events in an index file left out. */
uint64_t ts_event_list_mem(const struct ts_event_list *list);

/* How many events are at steps below @step. */
uint64_t ts_event_list_below(const struct ts_event_list *list, uint64_t step);

/*
 * Event @i of the list, which has more.  If the index file turns out to be damaged, an event that says nothing.
 */
const struct ts_event_at *ts_event_list_at(const struct ts_event_list *list, uint64_t i);

/*
 * What is in the list was there before the first step: it is never saved.  Returns false if memory is
 * exhausted.
 */
bool ts_event_list_begin(struct ts_event_list *list);

/* Save those that are in memory, which are of one segment. */
void ts_event_list_save(const struct ts_event_list *list, struct ts_index_file *f);

/*
 * Save all of a complete recording, those of before the first step too.  Such an array is loaded to a list
 * that is empty.
 */
void ts_event_list_save_all(const struct ts_event_list *list, struct ts_index_file *f);

/*
 * Take them from there, in place of those in memory if there are any.  @end_step: where the segment ends;
 * @n_threads: of the recording so far.  Returns false if the array is bad, or memory is exhausted.
 */
bool ts_event_list_load(struct ts_event_list *list, struct ts_index_arrays *a, uint64_t end_step,
			uint32_t n_threads);

/* The same event without what is in its padding, and in the texts after their ends: as files have it. */
void ts_event_clean(struct ts_event *to, const struct ts_event *from);

/* Are the bytes of a struct ts_event at @p such as ts_event_clean() makes?  They need not be aligned. */
bool ts_event_is_valid(const uint8_t *p);

#endif
