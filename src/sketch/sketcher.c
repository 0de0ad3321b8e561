/* SPDX-License-Identifier: MIT */
#include "sketcher.h"

#include <stdlib.h>
#include <string.h>

#include "grams.h"
#include "shorts.h"
#include "src/base/collections/buf.h"

/* Bytes before and after a change that share a window with it. */
#define REACH (TS_GRAM_LEN - 1)

/* After a chunk with more ranges that start afresh no block is kept. */
#define MAX_DROPS 64u

/* The number of unknown written bytes that are searched at once, and the number of such searches in a chunk. */
#define LOSS_LEN   256u
#define MAX_LOSSES 256u

/* The maximum number of bytes that a chunk maps or unmaps and that are followed. */
#define MAX_CLEARED (UINT64_C(1) << 18)

/* It starts afresh, or unknown bytes were written there. */
struct drop {
	uint32_t process;
	uint64_t first, last;
};

struct ts_sketcher {
	const struct ts_recording *rec;  /* borrowed */
	struct ts_blocks blocks;
	struct ts_grams *grams;          /* owned */
	struct ts_shorts shorts;
	uint64_t n_steps;                /* of the segment */
	struct ts_buf wild;              /* its wild chunks: uint16_t each */
	/* of the chunk */
	bool is_wild;
	struct drop drops[MAX_DROPS];    /* ranges of which the steps do not determine what they hold */
	unsigned n_drops;                /* more than MAX_DROPS: all memory */
	unsigned n_losses;               /* that have been looked for */
	uint64_t n_cleared;              /* bytes that were mapped or unmapped and are followed */
	const struct ts_steps *steps;    /* borrowed */
	/* of the step */
	uint32_t step, effect;           /* its ordinal in the chunk, and that of the effect in it */
	bool has_written;
	uint64_t read_first, read_last;  /* around all that it read; first > last: nothing */
	bool is_failed;
};

struct ts_sketcher *ts_sketcher_new(const struct ts_recording *rec, ts_blocks_read *read, void *user)
{
	struct ts_sketcher *sk = calloc(1, sizeof(*sk));

	if (!sk)
		return NULL;
	sk->rec = rec;
	ts_blocks_init(&sk->blocks, read, user);
	sk->grams = ts_grams_new();
	if (ts_shorts_init(&sk->shorts) && sk->grams)
		return sk;
	ts_sketcher_free(sk);
	return NULL;
}

void ts_sketcher_free(struct ts_sketcher *sk)
{
	if (!sk)
		return;
	ts_blocks_fini(&sk->blocks);
	ts_grams_free(sk->grams);
	ts_shorts_fini(&sk->shorts);
	ts_buf_fini(&sk->wild);
	free(sk);
}

/* ------------------------------------------------------------------------------------------------ windows */

/*
 * @len bytes around a change, also of other blocks.  What lies beyond an end of the address space is at its
 * other end.
 */
static void peek(struct ts_sketcher *sk, uint32_t process, uint64_t addr, unsigned len, uint8_t *data,
		 bool *known)
{
	for (unsigned n; len; addr += n, data += n, known += n, len -= n) {
		unsigned off = addr % TS_BLOCK_LEN;
		const struct ts_block *b = ts_blocks_get(&sk->blocks, process, addr);

		n = len < TS_BLOCK_LEN - off ? len : TS_BLOCK_LEN - off;
		if (!b) {
			sk->is_failed = true;
			return;
		}
		memcpy(data, b->data + off, n);
		for (unsigned i = 0; i < n; i++)
			known[i] = ts_block_knows(b, off + i, 1);
	}
}

/* The same where not all is in one block, and known. */
static __attribute__((noinline)) void note_partly(struct ts_sketcher *sk, uint32_t process, uint64_t addr,
						  unsigned len)
{
	uint8_t data[TS_BLOCK_LEN + 2 * REACH];
	bool known[TS_BLOCK_LEN + 2 * REACH];

	peek(sk, process, addr - REACH, len + 2 * REACH, data, known);
	for (unsigned i = 0; !sk->is_failed && i < len + REACH; i++) {
		if (known[i] && known[i + 1] && known[i + 2] && known[i + 3])
			ts_grams_note(sk->grams, data + i);
		if (i >= REACH - 1 && known[i] && known[i + 1])
			ts_shorts_note_pair(&sk->shorts, data + i);
	}
}

/* Bytes [s, e] of the block were changed: note them, and the windows that have one of them. */
static inline void note(struct ts_sketcher *sk, const struct ts_block *b, unsigned s, unsigned e)
{
	unsigned len = e - s + 1;

	for (unsigned i = s; i <= e; i++)
		ts_shorts_note_byte(&sk->shorts, b->data[i]);
	if (s < REACH || e + REACH >= TS_BLOCK_LEN || !ts_block_knows(b, s - REACH, len + 2 * REACH)) {
		note_partly(sk, b->process, b->addr + s, len);
		return;
	}
	for (unsigned i = s - REACH; i <= e; i++)
		ts_grams_note(sk->grams, b->data + i);
	for (unsigned i = s - 1; i <= e; i++)
		ts_shorts_note_pair(&sk->shorts, b->data + i);
}

/* ------------------------------------------------------------------------------------------------ effects */

/* A part of an access that lies in one block, and the bytes of it that are not what the block held. */
struct part {
	struct ts_block *block;
	unsigned off, len;
	unsigned s, e; /* of the block; s > e: none */
};

static inline bool differs(const struct ts_block *b, unsigned off, const uint8_t *data, unsigned i)
{
	return b->data[off + i] != data[i] || !(b->known[(off + i) / 64] >> (off + i) % 64 & 1);
}

static inline void compare(struct part *p, const uint8_t *data)
{
	const struct ts_block *b = p->block;
	unsigned first = 0, last = p->len;

	p->s = 1;
	p->e = 0;
	if (ts_block_knows(b, p->off, p->len) && !memcmp(b->data + p->off, data, p->len))
		return;
	while (first < last && !differs(b, p->off, data, first))
		first++;
	while (last > first && !differs(b, p->off, data, last - 1))
		last--;
	p->s = p->off + first;
	p->e = p->off + last - 1;
}

/*
 * A read shows what memory did not hold, at [@first, @last].  It was so when the step began: with what the
 * step wrote before, or read before this, windows may have existed that are not noted.
 */
static void see_other(struct ts_sketcher *sk, uint64_t first, uint64_t last)
{
	sk->is_wild |= sk->has_written || (first <= sk->read_last && last >= sk->read_first);
}

/* Memory is @data now (or, @is_read, when the step began). */
static void take_access(struct ts_sketcher *sk, uint32_t process, uint64_t addr, const uint8_t *data,
			uint64_t len, bool is_read)
{
	for (struct part p; len; addr += p.len, data += p.len, len -= p.len) {
		p.block = ts_blocks_get(&sk->blocks, process, addr);
		p.off = addr % TS_BLOCK_LEN;
		p.len = len < TS_BLOCK_LEN - p.off ? (unsigned)len : TS_BLOCK_LEN - p.off;
		if (!p.block) {
			sk->is_failed = true;
			return;
		}
		compare(&p, data);
		if (p.s > p.e)
			continue;
		if (is_read)
			see_other(sk, p.block->addr + p.s, p.block->addr + p.e);
		memcpy(p.block->data + p.s, data + (p.s - p.off), p.e - p.s + 1);
		ts_block_know(p.block, p.s, p.e);
		note(sk, p.block, p.s, p.e);
	}
}

/* Record that the range lost its contents, and that the steps do not show the new ones. */
static void drop(struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	if (sk->n_drops < MAX_DROPS)
		sk->drops[sk->n_drops] = (struct drop){ process, e->addr, e->addr + (e->len - 1) };
	sk->n_drops += sk->n_drops <= MAX_DROPS;
	sk->is_wild = true;
}

/* ------------------------------------------------------------------------- unknown bytes that are written */

static void forget(struct ts_sketcher *sk, uint32_t process, uint64_t addr)
{
	struct ts_block *b = ts_blocks_get(&sk->blocks, process, addr);

	if (b)
		ts_block_forget(b, addr % TS_BLOCK_LEN, addr % TS_BLOCK_LEN);
	else
		sk->is_failed = true;
}

/* Bytes that are lost at @addr, and what comes next of each. */
struct loss {
	uint32_t process;
	uint64_t addr;
	size_t len, n_open; /* bytes; those of which nothing has come yet */
	uint8_t data[LOSS_LEN], known[LOSS_LEN];
	bool is_open[LOSS_LEN];
};

/* A read shows what was written; after anything else that can be seen no more. */
static void settle(struct loss *l, const struct ts_steps *b, const struct ts_effect *e)
{
	uint64_t last = l->addr + (l->len - 1), e_last = e->addr + (e->len - 1);
	const uint8_t *value = ts_effect_data(b, e);

	if (!ts_effect_touches(e, l->addr, last) || (e->kind == TS_FX_READ && !value))
		return;
	for (size_t i = e->addr > l->addr ? (size_t)(e->addr - l->addr) : 0; i < l->len && l->addr + i <= e_last; i++) {
		if (!l->is_open[i])
			continue;
		l->is_open[i] = false;
		l->known[i] = e->kind == TS_FX_READ;
		l->data[i] = l->known[i] ? value[l->addr + i - e->addr] : 0;
		l->n_open--;
	}
}

/*
 * By the effects that follow the one that is being taken, up to the end of the chunk; what they leave open it
 * holds there.
 */
static void look_for(const struct ts_sketcher *sk, struct loss *l)
{
	const struct ts_steps *b = sk->steps;
	uint32_t process = l->process, k = sk->effect + 1;

	ts_blocks_look_ahead(&sk->blocks, l->process, l->addr, l->len, l->data, l->known);
	memset(l->is_open, 1, l->len);
	l->n_open = l->len;
	for (uint32_t i = sk->step; i < b->n_steps && l->n_open; i++, k = 0) {
		const struct ts_step *s = &b->steps[i];

		if (i != sk->step)
			process = sk->rec->threads[s->thread].process;
		for (; k < s->n_effects; k++) {
			const struct ts_effect *e = &b->effects[s->first + k];

			if (e->kind == TS_FX_THREAD)
				process = sk->rec->threads[e->item].process;
			else if (process == l->process)
				settle(l, b, e);
		}
	}
}

/* Memory is what comes next of it: a window with a byte of which nothing comes is none. */
static void lose_part(struct ts_sketcher *sk, uint32_t process, uint64_t addr, size_t len)
{
	struct loss l = { .process = process, .addr = addr, .len = len };

	look_for(sk, &l);
	for (size_t i = 0; i < len; i++)
		forget(sk, process, addr + i);
	for (size_t i = 0, end; i < len; i = end + 1) {
		for (end = i; end < len && l.known[end];)
			end++;
		take_access(sk, process, addr + i, l.data + i, end - i, false);
	}
}

static void lose(struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	uint64_t n_parts = (e->len - 1) / LOSS_LEN + 1;

	if (sk->is_wild || n_parts > MAX_LOSSES - sk->n_losses) {
		drop(sk, process, e);
		return;
	}
	sk->n_losses += (unsigned)n_parts;
	for (uint64_t at = 0, n; at < e->len; at += n) {
		n = e->len - at < LOSS_LEN ? e->len - at : LOSS_LEN;
		lose_part(sk, process, e->addr + at, (size_t)n);
	}
}

/* ------------------------------------------------------------------------------------------------- maps */

/* Is the range not too much to be followed, with those before it in the chunk? */
static bool may_clear(struct ts_sketcher *sk, const struct ts_effect *e)
{
	if (sk->is_wild || e->len > MAX_CLEARED - sk->n_cleared)
		return false;
	sk->n_cleared += e->len;
	return true;
}

/* Does an effect after the one that is being taken touch what it touches, up to the end of the chunk? */
static bool is_touched_again(const struct ts_sketcher *sk, const struct ts_effect *e)
{
	const struct ts_steps *b = sk->steps;

	for (uint32_t i = sk->step, k = sk->effect + 1; i < b->n_steps; i++, k = 0) {
		for (; k < b->steps[i].n_effects; k++) {
			const struct ts_effect *next = &b->effects[b->steps[i].first + k];

			if (next->kind >= TS_FX_WRITE && next->kind <= TS_FX_FORGET && next->len &&
			    next->addr <= e->addr + (e->len - 1) && next->addr + (next->len - 1) >= e->addr)
				return true;
		}
	}
	return false;
}

/* Is nothing of it known at the start of the next chunk? */
static bool stays_unknown(const struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	uint8_t data[LOSS_LEN], known[LOSS_LEN];

	for (uint64_t at = 0, n; at < e->len; at += n) {
		n = e->len - at < LOSS_LEN ? e->len - at : LOSS_LEN;
		ts_blocks_look_ahead(&sk->blocks, process, e->addr + at, (size_t)n, data, known);
		if (memchr(known, 1, (size_t)n))
			return false;
	}
	return true;
}

/* Unmapped memory is unknown, unless it is seen later. */
static void unmap(struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	if (!may_clear(sk, e))
		drop(sk, process, e);
	else if (is_touched_again(sk, e) || !stays_unknown(sk, process, e))
		lose(sk, process, e);
	else if (!ts_blocks_clear(&sk->blocks, process, e->addr, e->addr + (e->len - 1), false))
		sk->is_failed = true;
}

/* All windows in what is zeros now are those at its ends. */
static void map(struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	unsigned len = e->len < TS_BLOCK_LEN ? (unsigned)e->len : TS_BLOCK_LEN;

	if (sk->steps->maps[e->item].fill != TS_FILL_ZERO || !may_clear(sk, e)) {
		drop(sk, process, e);
		return;
	}
	if (!ts_blocks_clear(&sk->blocks, process, e->addr, e->addr + (e->len - 1), true)) {
		sk->is_failed = true;
		return;
	}
	ts_shorts_note_byte(&sk->shorts, 0);
	note_partly(sk, process, e->addr, len);
	note_partly(sk, process, e->addr + (e->len - len), len);
}

/* ------------------------------------------------------------------------------------------------- chunks */

static void take_other(struct ts_sketcher *sk, uint32_t process, const struct ts_effect *e)
{
	if (e->kind == TS_FX_WRITE)
		lose(sk, process, e);
	else if (e->kind == TS_FX_MAP)
		map(sk, process, e);
	else if (e->kind == TS_FX_UNMAP)
		unmap(sk, process, e);
	else
		drop(sk, process, e);
}

static inline void take_effect(struct ts_sketcher *sk, uint32_t process, const struct ts_steps *b,
			       const struct ts_effect *e)
{
	const uint8_t *data;

	if (!ts_effect_is_on_memory(e))
		return;
	data = e->kind <= TS_FX_READ ? ts_effect_data(b, e) : NULL;
	if (data)
		take_access(sk, process, e->addr, data, e->len, e->kind == TS_FX_READ);
	else if (e->kind != TS_FX_READ)
		take_other(sk, process, e);
	sk->has_written |= e->kind != TS_FX_READ;
	if (e->kind == TS_FX_READ && data) {
		sk->read_first = e->addr < sk->read_first ? e->addr : sk->read_first;
		sk->read_last = e->addr + (e->len - 1) > sk->read_last ? e->addr + (e->len - 1) : sk->read_last;
	}
}

static void end_chunk(struct ts_sketcher *sk, uint64_t chunk)
{
	uint16_t number = (uint16_t)(chunk % TS_SEGMENT_CHUNKS);

	ts_shorts_end_chunk(&sk->shorts, number);
	if (sk->is_wild)
		ts_buf_put(&sk->wild, &number, sizeof(number));
	if (sk->n_drops > MAX_DROPS)
		ts_blocks_drop_all(&sk->blocks);
	for (unsigned i = 0; i < sk->n_drops && sk->n_drops <= MAX_DROPS; i++)
		ts_blocks_drop(&sk->blocks, sk->drops[i].process, sk->drops[i].first, sk->drops[i].last);
	sk->n_drops = sk->n_losses = 0;
	sk->n_cleared = 0;
	sk->is_wild = false;
}

bool ts_sketcher_take(struct ts_sketcher *sk, uint64_t chunk, const struct ts_steps *b)
{
	ts_grams_begin_group(sk->grams, (unsigned)(chunk % TS_SEGMENT_CHUNKS / TS_SKETCH_GROUP));
	ts_shorts_begin_chunk(&sk->shorts, (unsigned)(chunk % TS_SEGMENT_CHUNKS));
	ts_blocks_begin_chunk(&sk->blocks, chunk);
	sk->steps = b;
	for (uint32_t i = 0; i < b->n_steps; i++) {
		const struct ts_step *s = &b->steps[i];
		uint32_t process = sk->rec->threads[s->thread].process;

		sk->step = i;
		sk->has_written = false;
		sk->read_first = UINT64_MAX;
		sk->read_last = 0;
		for (uint32_t k = 0; k < s->n_effects; k++) {
			const struct ts_effect *e = &b->effects[s->first + k];

			sk->effect = k;
			if (e->kind == TS_FX_THREAD)
				process = sk->rec->threads[e->item].process;
			else
				take_effect(sk, process, b, e);
		}
	}
	sk->n_steps += b->n_steps;
	end_chunk(sk, chunk);
	return !sk->is_failed;
}

void ts_sketcher_drop(struct ts_sketcher *sk, uint32_t process, uint64_t first, uint64_t last)
{
	ts_blocks_drop(&sk->blocks, process, first, last);
}

bool ts_sketcher_seal(struct ts_sketcher *sk, struct ts_sketch *s)
{
	if (!ts_buf_ok(&sk->wild) || !ts_grams_seal(sk->grams, sk->n_steps, s))
		return false;
	if (!ts_shorts_seal(&sk->shorts, s)) {
		ts_sketch_fini(s);
		return false;
	}
	s->wild = (uint16_t *)(void *)sk->wild.data;
	s->n_wild = sk->wild.len / sizeof(*s->wild);
	ts_buf_init(&sk->wild);
	sk->n_steps = 0;
	return true;
}
