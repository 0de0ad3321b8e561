/* SPDX-License-Identifier: MIT */
/*
 * Passing blocks: between two full blocks nothing but the lengths of blocks and their threads decides where a decode
 * point is.
 */
#include "reader_parts.h"

#include <endian.h>
#include <string.h>

#include "src/base/bytes.h"

/* Is it a thread that this reader has met? */
static bool is_met(const struct x64dbg_reader *r, uint32_t tid)
{
	uint32_t i = 0;

	while (i < r->n_threads && r->rec->base.threads[i].tid != tid)
		i++;
	return i < r->n_threads;
}

/*
 * Of up to 8 memory slots with these flags, how many words follow: without a loop whose end cannot be
 * predicted.
 */
static inline unsigned n_changed(const uint8_t *flags, unsigned n_mem)
{
	uint64_t bits;

	memcpy(&bits, flags, sizeof(bits));
	bits &= TS_EACH_BYTE(X64DBG_IS_UNCHANGED);
	return n_mem - (n_mem ? (unsigned)__builtin_popcountll(le64toh(bits) << (64 - 8 * n_mem)) : 0);
}

/*
 * The block that begins at @p, where X64DBG_MAX_BLOCK bytes are: its length, 0 for one of which more would
 * have to be known.
 */
static inline size_t skim_len(const struct x64dbg_layout *l, const uint8_t *p)
{
	unsigned n_regs = p[1], n_mem = p[2], n_opcode = p[3] & 15, width = l->width;
	size_t at;

	if (p[0] || n_regs > l->n_slots || n_mem > 8 || !n_opcode)
		return 0;
	at = X64DBG_BLOCK_HEAD + (x64dbg_has_tid(p) ? X64DBG_TID_LEN : 0) + n_opcode + n_regs * (1 + width);
	return at + n_mem * (1 + 2 * width) + n_changed(p + at, n_mem) * width;
}

/*
 * arrive() at the next block, of which nothing is reported: one of @tid, and with all registers or not.
 *
 * Returns false where that depends on more: on registers, on a thread that is new, or on how sessions follow
 * each other.
 */
static __attribute__((noinline)) bool skim_arrive(struct x64dbg_reader *r, uint32_t tid, bool is_full)
{
	struct x64dbg_skim *k = &r->skim;
	bool is_alone = tid != k->tid;

	if ((is_alone && !is_met(r, tid)) || (is_full && (k->session_at + 1) % X64DBG_PAGE_BLOCKS) ||
	    (!is_full && r->skip + 1 >= X64DBG_MARK_STEPS))
		return false;
	k->session_at++;
	k->tid = tid;
	r->n_steps++;
	r->skip++;
	if (!is_full)
		return true;
	r->skip = 0;
	r->mark.off = k->off;
	r->mark.n_steps = r->n_steps;
	r->mark.session_at = k->session_at;
	r->mark.tid = tid;
	r->mark.n_threads = r->n_threads;
	r->mark.is_shifted = r->mark.is_session = r->mark.has_regs = false;
	r->mark.is_alone = is_alone;
	return true;
}

/*
 * The next block; most are of the same thread, and between two marks.  Returns false as skim_arrive() does.
 */
static inline bool skim_block(struct x64dbg_reader *r, const uint8_t *p)
{
	const struct x64dbg_layout *l = &r->rec->layout;
	bool is_full = p[1] == l->n_slots, has_tid = x64dbg_has_tid(p);
	size_t len = skim_len(l, p);

	if (!len)
		return false;
	if (__builtin_expect(is_full || has_tid || r->skip + 1 >= X64DBG_MARK_STEPS, 0)) {
		if (!skim_arrive(r, has_tid ? (uint32_t)ts_number(p + X64DBG_BLOCK_HEAD, 4, false) : r->skim.tid, is_full))
			return false;
	} else {
		r->skim.session_at++;
		r->n_steps++;
		r->skip++;
	}
	r->skim.off += len;
	return true;
}

uint64_t x64dbg_skim(struct x64dbg_reader *r, uint64_t n)
{
	struct ts_error err = { 0 };
	uint64_t start = r->skim.off, i = 0;
	size_t left;
	const uint8_t *p = ts_window_at(&r->blocks.window, start, X64DBG_MAX_BLOCK, &left, &err);

	while (p && i < n && left - (r->skim.off - start) >= X64DBG_MAX_BLOCK &&
	       left >= r->skim.off - start && skim_block(r, p + (r->skim.off - start)))
		i++;
	return i;
}
