/* SPDX-License-Identifier: MIT */
/*
 * Tags: lines that name the thread and the address of a dump of registers.
 *
 * QEMU writes the line "Trace CPU: ... [.../PC/...]" and the dump that belongs to it under two locks
 * (accel/tcg/cpu-exec.c, log_cpu_exec()), so that lines and dumps of other threads may come between the two.
 * A dump belongs to the thread whose tag has the same address.  If the tags of two threads have this address,
 * the dump may belong to either thread.
 */
#ifndef LOADERS_GRAMMAR_TAGS_H
#define LOADERS_GRAMMAR_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

#define GRAMMAR_MAX_TAGS 64u

struct ts_point;

/* The last tag of a thread. */
struct grammar_tag {
	uint64_t thread, pc;
	bool is_waiting; /* its dump has not been read yet */
	bool is_unsure;  /* another thread had a waiting tag with the same address */
};

struct grammar_tags {
	struct grammar_tag tags[GRAMMAR_MAX_TAGS]; /* the oldest first */
	unsigned n;
};

/* Copy the tags that are used: most grammars have none. */
static inline void grammar_tags_copy(struct grammar_tags *to, const struct grammar_tags *from)
{
	to->n = from->n;
	for (unsigned i = 0; i < from->n; i++)
		to->tags[i] = from->tags[i];
}

/* Add a tag: the next dump of @thread is at @pc. */
void grammar_tags_add(struct grammar_tags *t, uint64_t thread, uint64_t pc);

/*
 * Find the thread of a dump at @pc and remove its tag.  *thread is set to the thread, and *is_unsure to
 * whether the dump may belong to another thread.  If only one tag waits, the dump belongs to it whatever its
 * address: in x86 real mode, dumps have offsets in a segment.
 *
 * Returns false if no tag waits for the dump.
 */
bool grammar_tags_take(struct grammar_tags *t, uint64_t pc, uint64_t *thread, bool *is_unsure);

/* Their part of a decode point, which determines if it is bad. */
void grammar_tags_point(struct grammar_tags *t, struct ts_point *p);

#endif
