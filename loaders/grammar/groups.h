/* SPDX-License-Identifier: MIT */
/*
 * What a group of lines tells beside its accesses, of steps and of states: its thread, sizes, events.
 */
#ifndef LOADERS_GRAMMAR_GROUPS_H
#define LOADERS_GRAMMAR_GROUPS_H

#include "reader_parts.h"

/* gdb needs thread ids above 0; text traces count from 0. */
static inline uint64_t grammar_tid(const struct grammar_head *head)
{
	return (head->line.has & HAS_THREAD ? head->line.thread : 0) + 1;
}

/*
 * The slow path of grammar_find_thread(): the thread is not that of the previous group.  Returns as grammar_find_thread()
 * does.
 */
bool grammar_look_up_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err);

/*
 * Set *thread to the ordinal of a group's thread, which is added if it is new.
 *
 * Returns false if there are too many threads (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
static inline bool grammar_find_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread,
				       struct ts_error *err)
{
	const struct ts_recording *rec = &r->log->base;

	*thread = r->thread;
	return (r->thread < rec->n_threads && (!(head->line.has & HAS_THREAD) || rec->threads[r->thread].tid == grammar_tid(head))) ||
	       grammar_look_up_thread(r, head, thread, err);
}

/*
 * Complete the accesses of the open step whose size is unknown: the first byte is accessed, and the bytes
 * after it may have been written.  @mask is the mask of addresses.
 */
void grammar_append_sizes(struct ts_steps *out, uint64_t mask);

/* Append an event of @kind with @text to the open step. */
void grammar_append_event(struct ts_steps *out, enum ts_event_kind kind, const char *text);

#endif
