/* SPDX-License-Identifier: MIT */
/*
 * The changes of the world in order of time, to be replayed from an index file.
 *
 * They are the effects that are neither values nor accesses, of which a recording has few: maps, modules, events that
 * change the state.  Loading an index applies them as reading the recording does.  Turns of threads (turns.h) and other
 * events (event_list.h), which may be many, are stored separately.
 */
#ifndef TS_JOURNAL_H
#define TS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/trace/step.h"

/* The length of a journal is a multiple of this.  Items of this length have similar bytes at equal offsets. */
#define TS_JOURNAL_ITEM 40u

/* Does the journal have events of the kind, because other state depends on them? */
bool ts_journal_has_event(enum ts_event_kind kind);

/*
 * Note an effect on the process of @thread, by the step that leads to position @pos.  Errors are kept in @out.
 */
void ts_journal_effect(struct ts_buf *out, uint64_t pos, uint32_t thread, const struct ts_steps *b,
		       const struct ts_effect *e);

/* A note.  The batch has the change as its only effect. */
struct ts_note {
	uint64_t pos;
	uint32_t thread;
	enum ts_effect_kind kind;
};

/*
 * Read the next of the @len bytes of notes at *@p, and advance *@p past it.  @batch (the caller's) is refilled.
 *
 * Returns false at the end, or if the note cannot be read: *@p is not at the end then.
 */
bool ts_journal_next(const uint8_t **p, size_t *len, struct ts_note *note, struct ts_steps *batch);

#endif
