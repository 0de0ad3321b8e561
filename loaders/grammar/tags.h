/* SPDX-License-Identifier: MIT */
/*
 * Tags: lines that tell the thread and the address of a dump of registers.
 *
 * QEMU writes the line "Trace CPU: ... [.../PC/...]" and the dump that belongs to it under two locks
 * (accel/tcg/cpu-exec.c, log_cpu_exec()), so that lines and dumps of other threads may lie between the two.  A dump
 * is that of the thread whose tag has its address.  Where two threads wait at one address, a dump may be either's.
 */
#ifndef LOADERS_GRAMMAR_TAGS_H
#define LOADERS_GRAMMAR_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

#define GRAMMAR_MAX_TAGS 64u

struct ts_point;

/* The last tag of a thread. */
struct grammar_tag {
	uint64_t thread, pc;
	bool is_waiting; /* its dump has not come yet */
	bool is_unsure;  /* another thread waited at the same address */
};

struct grammar_tags {
	struct grammar_tag tags[GRAMMAR_MAX_TAGS]; /* the oldest first */
	unsigned n;
};

/* Most grammars have none. */
static inline void grammar_tags_copy(struct grammar_tags *to, const struct grammar_tags *from)
{
	to->n = from->n;
	for (unsigned i = 0; i < from->n; i++)
		to->tags[i] = from->tags[i];
}

/* The thread's next dump is at @pc. */
void grammar_tags_add(struct grammar_tags *t, uint64_t thread, uint64_t pc);

/*
 * The thread whose dump at @pc has come: *thread gets it, *is_unsure whether it may be another one's.  If only one
 * thread waits, it is that one's, whatever its address: of x86 in real mode dumps have offsets in a segment.
 *
 * Returns false if no thread waits for it.
 */
bool grammar_tags_take(struct grammar_tags *t, uint64_t pc, uint64_t *thread, bool *is_unsure);

/* Their part of a decode point, which tells if it is bad. */
void grammar_tags_point(struct grammar_tags *t, struct ts_point *p);

#endif
