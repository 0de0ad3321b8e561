/* SPDX-License-Identifier: MIT */
/*
 * A reader of groups of lines, with the functions that steps (step_reader.c) and states (state_reader.c) share.
 */
#ifndef LOADERS_GRAMMAR_READER_H
#define LOADERS_GRAMMAR_READER_H

#include "fill.h"
#include "later.h"
#include "lines.h"
#include "loaders/kit/threads.h"
#include "log.h"

struct grammar_reader {
	struct ts_reader base;
	struct grammar_log *log; /* borrowed */
	struct grammar_lines lines;
	struct grammar_fill fill;
	struct grammar_later later;
	struct threads threads;
	struct grammar_files files;
	struct ts_steps nothing; /* a state that lists no registers */
	struct grammar_place at; /* of states: the position where the reader is */
	struct grammar_place next; /* the one that is being read */
	uint32_t thread;         /* of the last group */
	uint32_t part;           /* of states: its file */
	bool is_lost;            /* of states: a line after the last group was lost */
	struct grammar_module modules[GRAMMAR_MAX_MODULES];
	unsigned n_modules;
};

/* gdb wants ids above 0, text traces count from 0. */
static inline uint64_t grammar_tid(const struct grammar_head *head)
{
	return (head->line.has & HAS_THREAD ? head->line.thread : 0) + 1;
}

/* As grammar_find_thread(), where it is not the thread of the group before. */
bool grammar_look_up_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err);

/* The thread of a group, which is added if it is new.  Returns false if there are too many, or memory is exhausted. */
static inline bool grammar_find_thread(struct grammar_reader *r, const struct grammar_head *head, uint32_t *thread,
				       struct ts_error *err)
{
	const struct ts_recording *rec = &r->log->base;

	*thread = r->thread;
	return (r->thread < rec->n_threads && (!(head->line.has & HAS_THREAD) || rec->threads[r->thread].tid == grammar_tid(head))) ||
	       grammar_look_up_thread(r, head, thread, err);
}

/* Append the accesses of the open step whose size is unknown: the first byte is accessed, the bytes after it may be written. */
void grammar_tell_sizes(struct ts_steps *out, uint64_t mask);

void grammar_tell_event(struct ts_steps *out, enum ts_event_kind kind, const char *text);

/* Append the next step; as struct ts_reader_ops has it. */
enum ts_next grammar_next_step(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);
enum ts_next grammar_next_state(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err);

/* Read ahead what is known at position 0, into the log.  Return false if the file cannot be read, or memory is exhausted. */
bool grammar_start_steps(struct grammar_reader *r, struct ts_error *err);
bool grammar_start_states(struct grammar_reader *r, struct ts_error *err);

#endif
