/* SPDX-License-Identifier: MIT */
#include "query.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flag_runs.h"
#include "loops.h"
#include "insns.h"
#include "snapshot.h"
#include "replay.h"

/* Registers are kept for positions that are a multiple of this; divides TS_CHUNK_STEPS. */
#define REGS_STEPS (TS_CHUNK_STEPS / 4 < 64 ? TS_CHUNK_STEPS / 4 : 64)

static bool alloc_regs(struct ts_query *q)
{
	size_t len = q->tl->rec->regs.g_len;

	for (unsigned i = 0; i <= N_CACHED_REGS; i++) {
		struct cached_regs *c = i < N_CACHED_REGS ? &q->regs[i] : &q->walk;

		c->data = malloc(2 * len + 1);
		if (!c->data)
			return false;
		c->known = c->data + len;
	}
	return true;
}

bool ts_query_caches_init(struct ts_query *q, struct ts_error *err)
{
	q->reader = NULL;
	q->read = NULL;
	for (unsigned i = 0; i < N_CACHED_CHUNKS; i++) {
		q->chunks[i] = (struct cached_chunk){ .chunk = TS_NO_CHUNK };
		ts_steps_init(&q->chunks[i].steps);
	}
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		q->regs[i] = (struct cached_regs){ .pos = TS_NO_POS };
	q->walk = (struct cached_regs){ .pos = TS_NO_POS };
	q->calls = (struct ts_call_window){ 0 };
	q->insns = NULL;
	q->flag_runs = NULL;
	if (!alloc_regs(q))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for queries");
	q->reader = q->tl->rec->ops->reader(q->tl->rec, err);
	return q->reader;
}

void ts_query_caches_fini(struct ts_query *q)
{
	ts_insns_free(q->insns);
	ts_flag_runs_free(q->flag_runs);
	for (unsigned i = 0; i < N_CACHED_CHUNKS; i++) {
		ts_steps_fini(&q->chunks[i].steps);
		ts_chunk_lines_fini(&q->chunks[i].lines);
	}
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		free(q->regs[i].data);
	free(q->walk.data);
	ts_reader_close(q->reader);
}

/* If memory is exhausted the list stays as it was, and is rebuilt with the next snapshot. */
static bool take_mapped(struct ts_query *q)
{
	if (!q->tl->rec->maps_are_modules ||
	    (q->snap.n_regions == q->n_mapped && q->snap.is_complete == q->is_mapped_whole))
		return true;
	if (!ts_mapped_build(&q->mapped, &q->tl->world, q->snap.n_regions))
		return false;
	q->n_mapped = q->snap.n_regions;
	q->is_mapped_whole = q->snap.is_complete;
	return true;
}

struct ts_query *ts_query_new(struct ts_timeline *tl, struct ts_error *err)
{
	struct ts_query *q = calloc(1, sizeof(*q));

	if (!q) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for queries");
		return NULL;
	}
	q->tl = tl;
	ts_facts_take(&q->facts, tl);
	ts_query_refresh(q);
	if (!take_mapped(q)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the list of modules");
		free(q);
		return NULL;
	}
	if (ts_query_caches_init(q, err))
		return q;
	ts_query_free(q);
	return NULL;
}

void ts_query_free(struct ts_query *q)
{
	if (!q)
		return;
	ts_query_caches_fini(q);
	ts_loops_free(q->loops);
	ts_mapped_fini(&q->mapped);
	free(q);
}

bool ts_query_refresh(struct ts_query *q)
{
	struct ts_snapshot before = q->snap;

	ts_snapshot_take(&q->snap, q->tl);
	take_mapped(q);
	if (q->snap.end == before.end && q->snap.is_complete == before.is_complete)
		return false;
	for (unsigned i = 0; i < N_CACHED_REGS; i++)
		q->regs[i].pos = TS_NO_POS; /* what was unknown may be known */
	q->walk.pos = TS_NO_POS;
	ts_insns_free(q->insns);
	q->insns = NULL;
	ts_flag_runs_refresh(q);
	return true;
}

/* ------------------------------------------------------------------------------------------------ chunks */

bool ts_query_is_sound(const struct ts_query *q, struct ts_error *err)
{
	if (!ts_image_check(&q->tl->rec->memory, err) || !ts_image_check(q->tl->image, err))
		return false;
	if (__builtin_expect(!ts_timeline_is_damaged(q->tl), 1)) {
		if (!q->n_aside)
			ts_timeline_give_back(q->tl);
		return true;
	}
	return ts_fail(err, TS_ECORRUPT, TS_NO_OFF,
		       "the index file is damaged: it was removed, and will be rebuilt when the recording is opened "
		       "again");
}

/* How many steps the chunk has: all but the last are full. */
static uint32_t chunk_len(const struct ts_query *q, uint64_t chunk)
{
	uint64_t left = q->snap.n_indexed - chunk * TS_CHUNK_STEPS;

	return left < TS_CHUNK_STEPS ? (uint32_t)left : TS_CHUNK_STEPS;
}

static bool start_chunk(struct ts_query *q, struct cached_chunk *c, struct ts_error *err)
{
	size_t len;
	const uint8_t *point = ts_timeline_point(q->tl, c->chunk, &len);

	ts_steps_reset(&c->steps);
	if (!q->reader->ops->resume(q->reader, point, len, err))
		return ts_fail_prefix(err, "step %" PRIu64, c->chunk * TS_CHUNK_STEPS);
	q->read = c;
	return true;
}

/* Decode on until the chunk's first @n steps are there. */
static bool decode(struct ts_query *q, struct cached_chunk *c, uint32_t n, struct ts_error *err)
{
	struct ts_steps *b = &c->steps;

	while (b->n_steps < n && !b->is_failed) {
		enum ts_next next = ts_reader_next(q->reader, b, err);

		if (next == TS_ITEM)
			continue;
		if (next == TS_END)
			ts_fail(err, TS_ETRUNC, TS_NO_OFF,
				"the trace has become shorter since it was opened");
		return ts_fail_prefix(err, "step %" PRIu64, c->chunk * TS_CHUNK_STEPS + b->n_steps);
	}
	if (b->is_failed)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the steps of a chunk");
	return true;
}

/* The chunk's place in the cache, empty if it was not there. */
static struct cached_chunk *find_chunk(struct ts_query *q, uint64_t chunk)
{
	struct cached_chunk *c = q->chunks;

	for (unsigned i = 0; i < N_CACHED_CHUNKS && c->chunk != chunk; i++) {
		if (q->chunks[i].chunk == chunk || q->chunks[i].used < c->used)
			c = &q->chunks[i];
	}
	c->used = ++q->clock;
	if (c->chunk == chunk)
		return c;
	if (q->read == c)
		q->read = NULL;
	c->chunk = chunk;
	q->epoch++;
	ts_steps_reset(&c->steps);
	ts_chunk_lines_reset(&c->lines);
	return c;
}

uint64_t ts_query_epoch(const struct ts_query *q)
{
	return q->epoch;
}

const struct ts_steps *ts_query_chunk(struct ts_query *q, uint64_t chunk, uint32_t n_steps,
				      struct ts_error *err)
{
	uint32_t len = chunk_len(q, chunk);
	struct cached_chunk *c = find_chunk(q, chunk);

	assert(chunk * TS_CHUNK_STEPS < q->snap.n_indexed);
	if (n_steps > len)
		n_steps = len;
	if (c->steps.n_steps >= n_steps)
		return ts_query_is_sound(q, err) ? &c->steps : NULL;
	if (q->read != c && c->steps.n_steps)
		n_steps = len; /* chunks are read in turns: decode the rest at once, without a restart */
	if ((q->read == c || start_chunk(q, c, err)) && ts_query_is_sound(q, err) &&
	    decode(q, c, n_steps, err))
		return &c->steps;
	c->chunk = TS_NO_CHUNK;
	c->used = 0;
	q->read = NULL;
	return NULL;
}

const struct ts_step *ts_query_step(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
				    struct ts_error *err)
{
	const struct ts_steps *b;

	assert(pos < q->snap.n_indexed);
	b = ts_query_chunk(q, pos / TS_CHUNK_STEPS, pos % TS_CHUNK_STEPS + 1, err);
	if (!b)
		return NULL;
	*batch = b;
	return &b->steps[pos % TS_CHUNK_STEPS];
}

/* The step whose instruction is the next one of @thread at @pos; TS_NO_POS if there is none. */
static uint64_t pc_step(const struct ts_query *q, uint64_t pos, uint32_t thread)
{
	const struct ts_world *w = &q->tl->world;
	uint64_t step = TS_NO_POS;

	if (q->facts.is_before && pos && thread != ts_query_thread(q, pos))
		step = ts_world_prev_step(w, thread, pos - 1, q->snap.n_indexed);
	return step == TS_NO_POS ? ts_world_next_step(w, thread, pos, q->snap.n_indexed) : step;
}

bool ts_query_pc(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *pc, bool *has_pc,
		 struct ts_error *err)
{
	uint64_t step = pc_step(q, pos, thread);
	const struct ts_steps *b;
	const struct ts_step *s;

	*pc = q->snap.end_pc;
	if (step != TS_NO_POS) {
		s = ts_query_step(q, step, &b, err);
		if (!s)
			return false;
		*pc = s->pc;
	}
	*has_pc = *pc != TS_NO_PC && (step != TS_NO_POS || (q->snap.has_end_pc &&
							    thread == ts_query_thread(q, q->snap.end)));
	return true;
}

/* ---------------------------------------------------------------------------------------------- registers */

/*
 * The next effect of a step on registers of @thread, from ordinal *i on; *whose is the thread of the effects.
 * Returns NULL at the end.
 */
static const struct ts_effect *next_reg_effect(const struct ts_steps *b, const struct ts_step *s,
					       uint32_t thread, uint32_t *i, uint32_t *whose)
{
	while (*i < s->n_effects) {
		const struct ts_effect *e = &b->effects[s->first + (*i)++];

		if (e->kind == TS_FX_THREAD)
			*whose = e->item;
		if (e->kind == TS_FX_FORGET_REGS ||
		    (*whose == thread && (e->kind == TS_FX_REG_WRITE || e->kind == TS_FX_REG_READ)))
			return e;
	}
	return NULL;
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
	uint32_t i = 0, whose = s->thread;
	const struct ts_effect *e;

	while ((e = next_reg_effect(b, s, thread, &i, &whose))) {
		const uint8_t *value = ts_effect_data(b, e);

		if (value) {
			know(data + e->addr, known + e->addr, value, e->len);
		} else if (e->kind != TS_FX_REG_READ) {
			memset(data + e->addr, 0, e->len);
			memset(known + e->addr, TS_LOST, e->len);
		}
	}
}

/*
 * What a step saw before it changed anything was there when it began, whatever was known of it.  A byte that
 * the step has seen or written is passed over from there on: it says nothing more about the state before.
 */
#define TS_PASSED 4

static void pass_over(uint8_t *known, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		known[i] |= TS_PASSED;
}

static void forget_passed(uint8_t *known, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		known[i] &= (uint8_t)~TS_PASSED;
}

/*
 * @n bytes were seen.  Returns true if one that was known differs, or one is seen that nobody knew: that may
 * have changed in a gap.
 */
static bool take_sight(uint8_t *data, uint8_t *known, uint64_t n, const uint8_t *value)
{
	bool is_change = false;

	for (uint64_t i = 0; i < n; i++) {
		if (known[i] & TS_PASSED)
			continue;
		is_change |= known[i] == 1 ? data[i] != value[i] : !known[i];
		data[i] = value[i];
		known[i] = 1 | TS_PASSED;
	}
	return is_change;
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
	const struct ts_effect *e;

	for (uint32_t i = 0, whose = s->thread; (e = next_reg_effect(b, s, thread, &i, &whose));) {
		const uint8_t *value = ts_effect_data(b, e);
		uint32_t n = n_among(e, len);

		if (n && e->kind != TS_FX_REG_READ)
			pass_over(known + e->addr, n);
		else if (n && value)
			take_sight(data + e->addr, known + e->addr, n, value);
	}
	for (uint32_t i = 0, whose = s->thread; (e = next_reg_effect(b, s, thread, &i, &whose));) {
		uint32_t n = n_among(e, len);

		if (n)
			forget_passed(known + e->addr, n);
	}
}

/*
 * The next effect on @n bytes shows what the lost ones among them held, or (@shown is NULL) overwrites them
 * unseen.
 */
static void settle(uint8_t *data, uint8_t *known, size_t n, const uint8_t *shown)
{
	for (size_t i = 0; i < n; i++) {
		if (known[i] != TS_LOST)
			continue;
		known[i] = shown != NULL;
		data[i] = shown ? shown[i] : 0;
	}
}

/* No effect concerned the lost bytes up to the chunk's end: they have the values that they have there. */
static void settle_at_end(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint8_t *data,
			  uint8_t *known, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 1; i + n < len && known[i + n] == known[i];)
			n++;
		if (known[i] == TS_LOST)
			ts_space_at(sp, chunk + 1, addr + i, n, data + i, known + i);
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
		const struct ts_step *s = &b->steps[j];
		uint32_t i = 0, whose = s->thread;
		const struct ts_effect *e;

		while ((e = next_reg_effect(b, s, thread, &i, &whose))) {
			const uint8_t *value = ts_effect_data(b, e);
			uint32_t n = n_among(e, len);

			if (n && (e->kind != TS_FX_REG_READ || value))
				settle(data + e->addr, known + e->addr, n, e->kind == TS_FX_REG_READ ? value : NULL);
		}
	}
	settle_at_end(tl->regs, pos / TS_CHUNK_STEPS, thread * TS_REGS_STRIDE, data, known, len);
}

static void put_pc(const struct ts_timeline *tl, uint64_t pc, bool has_pc, uint8_t *data, uint8_t *known)
{
	const struct ts_regset *set = &tl->rec->regs;
	const struct ts_reg *reg = &set->regs[set->pc];

	memset(known + reg->off, has_pc, reg->len);
	memset(data + reg->off, 0, reg->len);
	if (has_pc)
		ts_arch_put(set->arch, data + reg->off, reg->len, pc);
}

/* The nearest cached registers of the thread at or before @pos in its chunk; NULL if there are none. */
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

/* The registers but the pc: the first @len bytes. */
static bool read_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
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

bool ts_query_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known,
		   struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!read_regs(q, pos, thread, q->tl->rec->regs.g_len, data, known, err) ||
	    !ts_query_pc(q, pos, thread, &pc, &has_pc, err))
		return false;
	put_pc(q->tl, pc, has_pc, data, known);
	return ts_query_is_sound(q, err);
}

bool ts_query_first_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err)
{
	return read_regs(q, pos, thread, len, data, known, err) && ts_query_is_sound(q, err);
}

/* ------------------------------------------------------------------------------------------------ memory */

void ts_replay_start(struct ts_replay *v, uint64_t chunk)
{
	const struct ts_space *sp = v->tl->memory[v->process];

	ts_space_at(sp, chunk, v->addr, v->len, v->data, v->known);
	v->n_layers = ts_space_n_layers(sp, chunk * TS_CHUNK_STEPS);
}

/* Does the effect begin a new layer of the space? */
static bool is_fill(const struct ts_effect *e)
{
	return (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET) && e->len;
}

void ts_replay_take(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(b, e);
	uint64_t lo, hi;
	size_t at, n;

	v->n_layers += is_fill(e);
	if (!ts_replay_overlap(v, e, &lo, &hi))
		return;
	at = (size_t)(lo - v->addr);
	n = (size_t)(hi - lo) + 1;
	if (is_fill(e)) {
		ts_space_base(v->tl->memory[v->process], v->n_layers, lo, n, v->data + at, v->known + at);
	} else if (value) {
		memcpy(v->data + at, value + (lo - e->addr), n);
		memset(v->known + at, 1, n);
	} else if (e->kind == TS_FX_WRITE) {
		memset(v->data + at, 0, n);
		memset(v->known + at, TS_LOST, n);
	}
}

/* The same for the effects of a whole step, with @use for those of the window's process. */
static void each_mem_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s,
			    void (*use)(struct ts_replay *v, const struct ts_steps *b,
					const struct ts_effect *e))
{
	uint32_t process = ts_timeline_process(v->tl, s->thread);

	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (e->kind == TS_FX_THREAD)
			process = ts_timeline_process(v->tl, e->item);
		else if (process == v->process)
			use(v, b, e);
	}
}

/*
 * The bytes of an effect in the window: *at is the first, *n their number.  Returns false if there are none.
 */
static bool find_in_view(const struct ts_replay *v, const struct ts_effect *e, size_t *at, size_t *n)
{
	uint64_t lo, hi;

	if (e->kind == TS_FX_PROTECT || !ts_replay_overlap(v, e, &lo, &hi))
		return false;
	*at = (size_t)(lo - v->addr);
	*n = (size_t)(hi - lo) + 1;
	return true;
}

static void forget_passed_by_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	size_t at, n;

	(void)b;
	if (find_in_view(v, e, &at, &n))
		forget_passed(v->known + at, n);
}

const struct ts_effect *ts_replay_see(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s,
				    uint32_t *thread)
{
	const struct ts_effect *change = NULL;
	uint32_t whose = s->thread;
	bool is_touched = false;
	size_t at, n;

	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		const uint8_t *value = ts_effect_data(b, e);

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if (!find_in_view(v, e, &at, &n) || ts_timeline_process(v->tl, whose) != v->process)
			continue;
		is_touched = true;
		if (e->kind != TS_FX_READ) {
			pass_over(v->known + at, n);
		} else if (value &&
			   take_sight(v->data + at, v->known + at, n, value + (v->addr + at - e->addr)) &&
			   !change) {
			change = e;
			*thread = whose;
		}
	}
	if (is_touched)
		each_mem_effect(v, b, s, forget_passed_by_effect);
	return change;
}

static void settle_by_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(b, e);
	uint64_t lo, hi;

	if (!ts_replay_overlap(v, e, &lo, &hi) || e->kind == TS_FX_PROTECT ||
	    (e->kind == TS_FX_READ && !value))
		return;
	settle(v->data + (lo - v->addr), v->known + (lo - v->addr), (size_t)(hi - lo) + 1,
	       e->kind == TS_FX_READ ? value + (lo - e->addr) : NULL);
}

/* Look ahead from position @pos to the chunk's end for the values of lost bytes. */
static void settle_mem(struct ts_replay *v, const struct ts_steps *b, uint64_t pos)
{
	for (uint32_t i = pos % TS_CHUNK_STEPS; i < b->n_steps && memchr(v->known, TS_LOST, v->len); i++)
		each_mem_effect(v, b, &b->steps[i], settle_by_effect);
	settle_at_end(v->tl->memory[v->process], pos / TS_CHUNK_STEPS, v->addr, v->data, v->known, v->len);
}

/* So few steps are replayed in no time. */
#define FEW_STEPS (TS_CHUNK_STEPS / 32)

/* Carry the window from the chunk's start through its first @n steps. */
static void replay(struct ts_query *q, struct ts_replay *v, uint64_t chunk, const struct ts_steps *b, uint32_t n)
{
	struct cached_chunk *c = find_chunk(q, chunk);

	if (n > FEW_STEPS && b->n_steps == chunk_len(q, chunk) && ts_chunk_lines_know(&c->lines, b, v)) {
		ts_chunk_lines_take(&c->lines, b, n, v);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		each_mem_effect(v, b, &b->steps[i], ts_replay_take);
}

static bool read_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		     uint8_t *data, uint8_t *known, struct ts_error *err)
{
	struct ts_replay v = {
		.tl = q->tl, .process = process, .addr = addr, .len = len, .data = data, .known = known
	};
	uint64_t chunk = pos / TS_CHUNK_STEPS, n = pos % TS_CHUNK_STEPS;
	bool has_step = pos < q->snap.n_indexed;
	const struct ts_steps *b;
	uint32_t thread;

	if (!len)
		return true;
	if (process >= q->tl->n_memory || len - 1 > UINT64_MAX - addr) {
		memset(data, 0, len);
		memset(known, 0, len);
	}
	if (process >= q->tl->n_memory)
		return true;
	if (len - 1 > UINT64_MAX - addr)
		v.len = (size_t)(UINT64_MAX - addr) + 1;
	ts_replay_start(&v, chunk);
	if (!n && !has_step)
		return true;
	b = ts_query_chunk(q, chunk, (uint32_t)n + has_step, err);
	if (!b)
		return false;
	replay(q, &v, chunk, b, (uint32_t)n);
	if (has_step)
		ts_replay_see(&v, b, &b->steps[n], &thread);
	if (!memchr(v.known, TS_LOST, v.len))
		return true;
	b = ts_query_chunk(q, chunk, TS_CHUNK_STEPS, err);
	if (!b)
		return false;
	settle_mem(&v, b, pos);
	return true;
}

bool ts_query_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		  uint8_t *data, uint8_t *known, struct ts_error *err)
{
	return read_mem(q, pos, process, addr, len, data, known, err) && ts_query_is_sound(q, err);
}
