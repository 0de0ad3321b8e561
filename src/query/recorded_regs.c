/* SPDX-License-Identifier: MIT */
/*
 * The recorded registers of a thread at a position: from the index, and from the effects of the steps since the beginning
 * of the chunk.
 */
#include "recorded_regs.h"

#include <string.h>

#include "chunks.h"
#include "src/query/code/byte_rule.h"
#include "snapshot.h"

/* Registers are kept for positions that are a multiple of this; divides TS_CHUNK_STEPS. */
#define REGS_STEPS (TS_CHUNK_STEPS / 4 < 64 ? TS_CHUNK_STEPS / 4 : 64)

/* The next of @all that is on registers of @thread; NULL at the end. */
static inline const struct ts_effect *next_reg_effect(struct ts_step_effects *all, uint32_t thread)
{
	const struct ts_effect *e = ts_step_effects_next(all);

	while (e && e->kind != TS_FX_FORGET_REGS && (all->thread != thread || e->kind > TS_FX_REG_READ))
		e = ts_step_effects_next(all);
	return e;
}

/* @len bytes are known; most registers have 8. */
static inline void know(uint8_t *data, uint8_t *known, const uint8_t *value, size_t len)
{
	if (len == 8) {
		memcpy(data, value, 8);
		memset(known, 1, 8);
	} else {
		memcpy(data, value, len);
		memset(known, 1, len);
	}
}

static void replay_regs(const struct ts_steps *b, const struct ts_step *s, uint32_t thread, uint8_t *data,
			uint8_t *known)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = next_reg_effect(&all, thread))) {
		const uint8_t *value = ts_effect_data(b, e);

		if (value) {
			know(data + e->addr, known + e->addr, value, e->len);
		} else if (e->kind != TS_FX_REG_READ) {
			memset(data + e->addr, 0, e->len);
			memset(known + e->addr, TS_LOST, e->len);
		}
	}
}

/* How many bytes of the effect are among the first @len of the registers. */
static uint32_t n_among(const struct ts_effect *e, uint32_t len)
{
	uint64_t left = e->addr < len ? len - e->addr : 0;

	return e->len < left ? (uint32_t)e->len : (uint32_t)left;
}

/* The first @len bytes of the registers of @thread before the step: add what the step saw. */
static void see_regs(const struct ts_steps *b, const struct ts_step *s, uint32_t thread, uint32_t len,
		     uint8_t *data, uint8_t *known)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = next_reg_effect(&all, thread))) {
		const uint8_t *value = ts_effect_data(b, e);
		uint32_t n = n_among(e, len);

		if (n && e->kind != TS_FX_REG_READ)
			ts_known_pass(known + e->addr, n);
		else if (n && value)
			ts_known_see(data + e->addr, known + e->addr, n, value);
	}
	all = ts_step_effects(b, s);
	while ((e = next_reg_effect(&all, thread))) {
		uint32_t n = n_among(e, len);

		if (n)
			ts_known_end_step(known + e->addr, n);
	}
}

/*
 * Look ahead from position @pos to the chunk's end for the values of lost registers among the first @len
 * bytes.
 */
static void settle_regs(const struct ts_timeline *tl, const struct ts_steps *b, uint64_t pos, uint32_t thread,
			uint32_t len, uint8_t *data, uint8_t *known)
{
	for (uint32_t j = pos % TS_CHUNK_STEPS; j < b->n_steps && memchr(known, TS_LOST, len); j++) {
		struct ts_step_effects all = ts_step_effects(b, &b->steps[j]);
		const struct ts_effect *e;

		while ((e = next_reg_effect(&all, thread))) {
			const uint8_t *value = ts_effect_data(b, e);
			uint32_t n = n_among(e, len);

			if (n && (e->kind != TS_FX_REG_READ || value))
				ts_known_settle(data + e->addr, known + e->addr, n, e->kind == TS_FX_REG_READ ? value : NULL);
		}
	}
	ts_known_settle_at_end(tl->regs, pos / TS_CHUNK_STEPS, thread * TS_REGS_STRIDE, data, known, len);
}

void ts_recorded_put_pc(const struct ts_query *q, uint64_t pc, bool has_pc, uint8_t *data, uint8_t *known)
{
	const struct ts_regset *set = &q->tl->rec->regs;
	const struct ts_reg *reg = &set->regs[set->pc];

	memset(known + reg->off, has_pc, reg->len);
	memset(data + reg->off, 0, reg->len);
	if (has_pc)
		ts_arch_put(set->arch, data + reg->off, reg->len, pc);
}

/* The nearest cached registers of the thread at or before @pos in its chunk; NULL if none is found. */
static struct cached_regs *nearest_regs(struct ts_query *q, uint64_t pos, uint32_t thread)
{
	struct cached_regs *best = NULL;

	for (unsigned i = 0; i < N_CACHED_REGS; i++) {
		struct cached_regs *c = &q->regs[i];

		if (c->pos <= pos && c->pos / TS_CHUNK_STEPS == pos / TS_CHUNK_STEPS && c->thread == thread &&
		    (!best || c->pos > best->pos))
			best = c;
	}
	return best;
}

/*
 * The least recently used entry of the cache, with the state at @from, or at the start of the chunk if @from
 * is NULL.
 */
static struct cached_regs *copy_regs(struct ts_query *q, const struct cached_regs *from, uint64_t chunk,
				     uint32_t thread)
{
	struct cached_regs *c = q->regs;
	uint32_t len = q->tl->rec->regs.g_len;

	for (unsigned i = 1; i < N_CACHED_REGS; i++) {
		if (q->regs[i].used < c->used)
			c = &q->regs[i];
	}
	if (from && from != c) {
		memcpy(c->data, from->data, 2 * (size_t)len); /* known lies after it */
		c->pos = from->pos;
	} else if (!from) {
		ts_space_at(q->tl->regs, chunk, thread * TS_REGS_STRIDE, len, c->data, c->known);
		c->pos = chunk * TS_CHUNK_STEPS;
	}
	c->thread = thread;
	return c;
}

/*
 * Registers of a thread at @pos, a multiple of REGS_STEPS, from the cache or added to it: from there any
 * position is near, in both directions.
 *
 * Returns NULL if the trace cannot be read any more.
 */
static const struct cached_regs *regs_below(struct ts_query *q, uint64_t pos, uint32_t thread,
					    struct ts_error *err)
{
	struct cached_regs *c = nearest_regs(q, pos, thread);
	const struct ts_steps *b = NULL;

	if (!c || c->pos < pos)
		c = copy_regs(q, c, pos / TS_CHUNK_STEPS, thread);
	if (c->pos < pos) {
		b = ts_query_chunk(q, pos / TS_CHUNK_STEPS, pos % TS_CHUNK_STEPS, err);
		if (!b)
			return NULL;
	}
	for (; c->pos < pos; c->pos++)
		replay_regs(b, &b->steps[c->pos % TS_CHUNK_STEPS], thread, c->data, c->known);
	c->used = ++q->clock;
	return c;
}

/* Is what the last question left as near as anything in the cache? */
static bool is_walk_near(const struct ts_query *q, uint64_t pos, uint32_t thread)
{
	const struct cached_regs *w = &q->walk;

	return w->thread == thread && w->pos <= pos && w->pos >= pos - pos % REGS_STEPS;
}

bool ts_recorded_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
		      uint8_t *known, struct ts_error *err)
{
	const struct ts_timeline *tl = q->tl;
	struct cached_regs *w = &q->walk;
	uint64_t chunk = pos / TS_CHUNK_STEPS;
	uint32_t n = pos % TS_CHUNK_STEPS;
	const struct ts_steps *b = NULL;
	bool has_step = pos < q->snap.n_indexed;

	if (!is_walk_near(q, pos, thread)) {
		const struct cached_regs *c = regs_below(q, pos - pos % REGS_STEPS, thread, err);

		w->pos = TS_NO_POS;
		if (!c)
			return false;
		memcpy(w->data, c->data, 2 * (size_t)tl->rec->regs.g_len); /* known lies after it */
		w->pos = c->pos;
		w->thread = thread;
	}
	if (w->pos < pos || has_step) {
		b = ts_query_chunk(q, chunk, n + has_step, err);
		if (!b)
			return false;
	}
	for (; w->pos < pos; w->pos++)
		replay_regs(b, &b->steps[n - (pos - w->pos)], thread, w->data, w->known);
	memcpy(data, w->data, len);
	memcpy(known, w->known, len);
	if (has_step)
		see_regs(b, &b->steps[n], thread, len, data, known);
	if (memchr(known, TS_LOST, len)) {
		b = ts_query_chunk(q, chunk, TS_CHUNK_STEPS, err);
		if (!b)
			return false;
		settle_regs(tl, b, pos, thread, len, data, known);
	}
	return true;
}

/* Does the step read a value that is not in the registers? */
static bool contradicts(const struct ts_steps *b, const struct ts_step *s, uint32_t thread, const uint8_t *data,
			const uint8_t *known)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = next_reg_effect(&all, thread))) {
		const uint8_t *value = e->kind == TS_FX_REG_READ ? ts_effect_data(b, e) : NULL;

		if (e->kind == TS_FX_FORGET_REGS || (value && (memchr(known + e->addr, 0, e->len) ||
							       memcmp(data + e->addr, value, e->len) != 0)))
			return true;
	}
	return false;
}

/* Add what the step did to the registers.  Returns false if that is not known. */
static bool follow_step(const struct ts_steps *b, const struct ts_step *s, uint32_t thread, uint8_t *data, uint8_t *known)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = next_reg_effect(&all, thread))) {
		const uint8_t *value = ts_effect_data(b, e);

		if (!value && e->kind != TS_FX_REG_READ)
			return false;
		if (value)
			know(data + e->addr, known + e->addr, value, e->len);
	}
	return true;
}

bool ts_query_regs_follow(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known)
{
	const struct cached_chunk *c = ts_query_cached_chunk(q, pos / TS_CHUNK_STEPS);
	const struct ts_steps *b = &c->steps;
	uint32_t i = pos % TS_CHUNK_STEPS;
	const struct ts_step *s = b->steps + (i + 2 <= b->n_steps ? i : 0);

	if (i + 2 > b->n_steps || s[0].thread != thread || s[1].thread != thread ||
	    !follow_step(b, s, thread, data, known) || contradicts(b, s + 1, thread, data, known))
		return false;
	ts_recorded_put_pc(q, s[1].pc, s[1].pc != TS_NO_PC, data, known);
	return true;
}
