/* SPDX-License-Identifier: MIT */
/*
 * The contents of one range of memory while the effects of a chunk are applied one by one.
 */
#ifndef TS_REPLAY_H
#define TS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

struct ts_timeline;

/* addr + len does not pass the end of the address space, len is not 0, the process has run. */
struct ts_replay {
	const struct ts_timeline *tl; /* borrowed */
	uint32_t process;
	uint64_t addr;
	size_t len;
	uint8_t *data, *known; /* borrowed; the bytes before the next effect, each 0, 1, or TS_LOST (byte_rule.h) */
	uint32_t n_layers;     /* of the process's space, before the next effect */
};

/*
 * Set [*lo, *hi] to the overlap of a memory effect with the window.
 *
 * Returns false if they do not overlap.
 * Returns false if it is not a memory effect.
 */
static inline bool ts_replay_overlap(const struct ts_replay *v, const struct ts_effect *e, uint64_t *lo,
				   uint64_t *hi)
{
	uint64_t last = v->addr + (v->len - 1), e_last = e->addr + (e->len - 1);

	if (e->kind < TS_FX_WRITE || e->kind > TS_FX_FORGET || !e->len)
		return false;
	*lo = v->addr > e->addr ? v->addr : e->addr;
	*hi = last < e_last ? last : e_last;
	return *lo <= *hi;
}

/* May an effect of the step overlap the window? */
static inline bool ts_replay_is_touched(const struct ts_replay *v, const struct ts_steps *b,
				      const struct ts_step *s)
{
	const struct ts_effect *e = b->effects + s->first;
	uint64_t lo, hi;

	for (uint32_t i = 0; i < s->n_effects; i++) {
		if (ts_replay_overlap(v, &e[i], &lo, &hi))
			return true;
	}
	return false;
}

/* Set the window to its contents at the first position of @chunk. */
void ts_replay_start(struct ts_replay *v, uint64_t chunk);

/*
 * Process the next effect.  The caller passes all effects of the window's process, in order, in the window
 * or not.
 */
void ts_replay_take(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e);

/* Process all effects of a step. */
void ts_replay_step(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s);

/*
 * Before step @s is applied: set the bytes that the step read, before it wrote them, to the values that it read.  They had
 * these values when the step began.
 *
 * Returns the first effect whose value contradicts the window, borrowed from @s, with its thread in *thread.
 * Returns NULL if none does.
 */
const struct ts_effect *ts_replay_see(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s,
				    uint32_t *thread);

/* Find the values of lost bytes in the effects from position @pos to the end of the chunk. */
void ts_replay_settle(struct ts_replay *v, const struct ts_steps *b, uint64_t pos);

#endif
