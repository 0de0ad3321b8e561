/* SPDX-License-Identifier: MIT */
/*
 * The changes of the world in order of time, to be replayed from an index file.
 *
 * They are the few effects that are neither values nor accesses: maps, modules, events that change something;
 * and which thread runs.  Loading an index applies them as if they had just been read.  Other events, which may
 * be many, lie in the file as they are (event_list.h).
 */
#ifndef TS_JOURNAL_H
#define TS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/trace/step.h"

/* The length of a journal is a multiple of this one: bytes in the same place of such items are alike. */
#define TS_JOURNAL_ITEM 40u

/* Are events of the kind in the journal, because more depends on them than what they are asked for? */
bool ts_journal_has_event(enum ts_event_kind kind);

/*
 * Note an effect on the process of @thread, of the step that leads to position @pos.  A failure stays in
 * @out.
 */
void ts_journal_effect(struct ts_buf *out, uint64_t pos, uint32_t thread, const struct ts_steps *b,
		       const struct ts_effect *e);

/* Note that from position @pos on @thread runs. */
void ts_journal_run(struct ts_buf *out, uint64_t pos, uint32_t thread);

/*
 * One note.  With kind TS_FX_THREAD it tells the thread that runs, else batch has the change as its only
 * effect.
 */
struct ts_note {
	uint64_t pos;
	uint32_t thread;
	enum ts_effect_kind kind;
};

/*
 * The next note in the @len bytes at *@p, which moves past it.  @batch (the caller's) is refilled.
 *
 * Returns false if there is none, or if it cannot be read: then *@p is not the end.
 */
bool ts_journal_next(const uint8_t **p, size_t *len, struct ts_note *note, struct ts_steps *batch);

#endif
