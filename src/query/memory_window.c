/* SPDX-License-Identifier: MIT */
#include "memory_window.h"

#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "paging.h"

#define BLOCK_LEN 64u
#define N_BLOCKS  512u /* a power of two */

/* A block of memory at the window's position. */
struct block {
	uint64_t addr;
	uint64_t known; /* a bit a byte: unknown bytes are read again whenever they are asked for */
	uint8_t data[BLOCK_LEN];
};

struct ts_memory_window {
	struct ts_query *q;
	uint32_t process;
	uint64_t pos;                   /* TS_NO_POS: no blocks */
	struct block blocks[N_BLOCKS];
};

struct ts_memory_window *ts_memory_window_new(struct ts_query *q, struct ts_error *err)
{
	struct ts_memory_window *w = calloc(1, sizeof(*w));

	if (!w)
		return ts_no_memory(err, "memory of consecutive positions");
	w->q = q;
	w->pos = TS_NO_POS;
	return w;
}

void ts_memory_window_free(struct ts_memory_window *w)
{
	free(w);
}

static void forget_all(struct ts_memory_window *w)
{
	for (size_t i = 0; i < N_BLOCKS; i++)
		w->blocks[i].known = 0;
}

static struct block *slot_of(struct ts_memory_window *w, uint64_t addr)
{
	return &w->blocks[addr / BLOCK_LEN % N_BLOCKS];
}

/* The bits of @n bytes from byte @at of a block on; @at + @n <= BLOCK_LEN. */
static uint64_t bits_of(unsigned at, size_t n)
{
	return (n == BLOCK_LEN ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
}

/* @n bytes within a block were written; @value is NULL if it is not known what. */
static void write_block(struct ts_memory_window *w, uint64_t addr, size_t n, const uint8_t *value)
{
	struct block *x = slot_of(w, addr);
	unsigned at = (unsigned)(addr % BLOCK_LEN);

	if (!x->known || x->addr != addr - at)
		return;
	if (value) {
		memcpy(x->data + at, value, n);
		x->known |= bits_of(at, n);
	} else {
		x->known &= ~bits_of(at, n);
	}
}

/* @n bytes within a block were read: if they are not those of the block, something unseen wrote them. */
static void see_block(struct ts_memory_window *w, uint64_t addr, size_t n, const uint8_t *value)
{
	struct block *x = slot_of(w, addr);
	unsigned at = (unsigned)(addr % BLOCK_LEN);

	if (value && x->known && x->addr == addr - at && memcmp(x->data + at, value, n) != 0)
		x->known &= ~bits_of(at, n);
}

/* Longer accesses cost more than the blocks are worth. */
#define MAX_ACCESS 4096u

static void each_block(struct ts_memory_window *w, const struct ts_effect *e, const uint8_t *value,
		       void (*use)(struct ts_memory_window *w, uint64_t addr, size_t n, const uint8_t *value))
{
	for (uint64_t i = 0, n; i < e->len; i += n) {
		n = BLOCK_LEN - (e->addr + i) % BLOCK_LEN;
		n = n < e->len - i ? n : e->len - i;
		use(w, e->addr + i, (size_t)n, value ? value + i : NULL);
	}
}

/* Take the effect of a step, or (@is_seen) only what it shows of the memory before the step. */
static void take_effect(struct ts_memory_window *w, const struct ts_steps *b, const struct ts_effect *e, bool is_seen)
{
	if (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET ||
	    (ts_effect_is_on_memory(e) && e->len > MAX_ACCESS))
		forget_all(w);
	else if (e->kind == TS_FX_READ)
		each_block(w, e, ts_effect_data(b, e), see_block);
	else if (e->kind == TS_FX_WRITE && !is_seen)
		each_block(w, e, ts_effect_data(b, e), write_block);
}

static void take_step(struct ts_memory_window *w, const struct ts_steps *b, const struct ts_step *s, bool is_seen)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (e->kind >= TS_FX_WRITE && ts_query_process_of(w->q, all.thread) == w->process)
			take_effect(w, b, e, is_seen);
	}
}

/* Carry the blocks on to the next position, or (@is_seen) take what the step there shows.  Returns false if it is not decoded. */
static bool take_next(struct ts_memory_window *w, uint64_t pos, bool is_seen)
{
	const struct ts_steps *b = &ts_query_cached_chunk(w->q, pos / TS_CHUNK_STEPS)->steps;

	if (pos % TS_CHUNK_STEPS >= b->n_steps)
		return false;
	take_step(w, b, &b->steps[pos % TS_CHUNK_STEPS], is_seen);
	return true;
}

/* From farther away it is cheaper to read the blocks again. */
#define MAX_WAY 64u

/* Carry the blocks on to @pos; those that cannot be are forgotten. */
static void move_to(struct ts_memory_window *w, uint64_t pos, uint32_t process)
{
	bool is_near = process == w->process && w->pos <= pos && pos - w->pos <= MAX_WAY;

	if (is_near && pos == w->pos)
		return;
	while (is_near && w->pos < pos)
		is_near = take_next(w, w->pos++, false);
	if (!is_near || !take_next(w, pos, true))
		forget_all(w);
	w->process = process;
	w->pos = pos;
}

/* The block with @addr, with all bytes of @bits if they are known.  Returns NULL if the trace cannot be read. */
static const struct block *block_of(struct ts_memory_window *w, uint64_t addr, uint64_t bits, struct ts_error *err)
{
	struct block *x = slot_of(w, addr);
	uint8_t known[BLOCK_LEN];

	if (x->addr == addr && !(bits & ~x->known))
		return x;
	x->known = 0;
	x->addr = addr;
	if (!ts_query_mem(w->q, w->pos, w->process, addr, BLOCK_LEN, x->data, known, err))
		return NULL;
	for (unsigned i = 0; i < BLOCK_LEN; i++)
		x->known |= (uint64_t)known[i] << i;
	return x;
}

bool ts_memory_window_read(struct ts_memory_window *w, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
			   uint8_t *data, uint8_t *known, struct ts_error *err)
{
	if (ts_paging_is_known(w->q) || len > BLOCK_LEN || addr > UINT64_MAX - len)
		return ts_virtual_mem(w->q, pos, process, addr, len, data, known, err);
	move_to(w, pos, process);
	for (size_t i = 0, n; i < len; i += n) {
		unsigned at = (unsigned)((addr + i) % BLOCK_LEN);
		const struct block *x;

		n = BLOCK_LEN - at < len - i ? BLOCK_LEN - at : len - i;
		x = block_of(w, addr + i - at, bits_of(at, n), err);
		if (!x)
			return false;
		for (size_t k = 0; k < n; k++) {
			known[i + k] = x->known >> (at + k) & 1;
			data[i + k] = known[i + k] ? x->data[at + k] : 0;
		}
	}
	return true;
}
