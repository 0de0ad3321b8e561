/* SPDX-License-Identifier: MIT */
/*
 * The memory accesses of an instruction.  Its operands determine the bytes that it reads and writes; the
 * memory slots of its block have the contents at some addresses.
 */
#ifndef LOADERS_X64DBG_ACCESS_H
#define LOADERS_X64DBG_ACCESS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "insn.h"
#include "src/trace/step.h"

#define X64DBG_PAGE_LEN UINT64_C(4096)

/* An operand at its address. */
struct x64dbg_range {
	uint64_t addr;
	uint32_t len;
	uint8_t access;  /* enum ts_x86_access bits; 0: no access */
};

/* The number of leading bytes of a memory slot whose old contents, and whose new contents, can be trusted. */
struct x64dbg_trust {
	uint8_t old, now;
};

/* Bytes that may have been written. */
struct x64dbg_lost {
	uint64_t addr, len;
};

struct x64dbg_accesses {
	struct x64dbg_range ranges[TS_X86_MAX_MEM];
	struct x64dbg_trust trust[X64DBG_MAX_MEM];
	struct x64dbg_lost lost;
	uint8_t n_ranges;
	bool loses_all; /* any memory may have been written */
	bool is_simple; /* one range, the only slot is at its address, and its contents are trusted */
};

/* The slow paths of x64dbg_access_find() and x64dbg_access_append(). */
void x64dbg_access_find_some(struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g);
void x64dbg_access_append_some(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     struct ts_steps *out);

/*
 * The fast path of x64dbg_access_find() for most instructions with an operand: one access within a page,
 * which one slot has.  The result is that of x64dbg_access_find_some().  Returns false, with *a undefined, in
 * other cases.
 */
static inline bool x64dbg_access_find_simple(struct x64dbg_accesses *a, const struct x64dbg_block *b,
					     const struct x64dbg_insn *insn, const struct x64dbg_insns *c,
					     const uint8_t *g)
{
	const struct ts_x86_mem *m = &insn->x.mem[0];
	bool is_push = m->place == TS_X86_PUSHED;
	uint64_t addr = (ts_x86_mem_base(m, &c->x, g) - (is_push ? m->size : 0)) & insn->x.addr_mask;
	uint8_t width = (uint8_t)c->layout->width;

	if (b->n_mem != 1 || b->mem[0].addr != addr || addr % X64DBG_PAGE_LEN > X64DBG_PAGE_LEN - width)
		return false;
	a->ranges[0] = (struct x64dbg_range){ addr, m->size, m->access };
	a->n_ranges = 1;
	a->lost.len = 0;
	a->trust[0] = (struct x64dbg_trust){ is_push ? 0 : width, width };
	a->is_simple = true;
	return true;
}

/*
 * Set *a to the accesses of the instruction of block @b.  @g has the thread's registers before it, in the 'g'
 * layout.
 */
static inline void x64dbg_access_find(struct x64dbg_accesses *a, const struct x64dbg_block *b,
				      const struct x64dbg_insn *insn, const struct x64dbg_insns *c,
				      const uint8_t *g)
{
	if (insn->is_simple && x64dbg_access_find_simple(a, b, insn, c, g))
		return;
	a->n_ranges = 0;
	a->lost.len = 0;
	a->is_simple = false;
	if (insn->x.n_mem || b->n_mem || insn->x.is_scatter)
		x64dbg_access_find_some(a, b, insn, c, g);
}

/*
 * Change *a for an instruction that did not complete: it made no access, and the contents in the slots may
 * not be those of memory.
 */
void x64dbg_access_cancel(struct x64dbg_accesses *a, const struct x64dbg_block *b);

/* Append an effect with bytes [from, from + len) of @word, which is at @addr. */
static inline void x64dbg_access_append_word(struct ts_steps *out, enum ts_effect_kind kind, uint64_t addr,
					   uint64_t word, unsigned from, unsigned len, bool is_hidden)
{
	uint64_t bytes = htole64(word >> 8 * from);
	struct ts_effect *e = ts_steps_word(out, kind, addr + from, (const uint8_t *)&bytes, len);

	if (e)
		e->is_hidden = is_hidden;
}

/* Append the contents of memory before the instruction, as hidden reads. */
static inline void x64dbg_access_append_old(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
					  struct ts_steps *out)
{
	for (unsigned i = 0; i < b->n_mem; i++) {
		if (a->trust[i].old)
			x64dbg_access_append_word(out, TS_FX_READ, b->mem[i].addr, b->mem[i].old, 0,
						a->trust[i].old, true);
	}
}

/*
 * Append a simple access.  Returns false, and appends nothing, if bytes of the slot changed that it did not
 * write.
 */
static inline bool x64dbg_access_append_simple(const struct x64dbg_accesses *a, const struct x64dbg_mem *m,
					     struct ts_steps *out)
{
	const struct x64dbg_range *r = &a->ranges[0];
	uint64_t changed = m->old ^ m->now;
	unsigned width = a->trust[0].now;

	if (r->access & TS_X86_WRITE)
		changed = r->len < width ? changed >> 8 * r->len : 0;
	if (changed)
		return false;
	if (r->access & TS_X86_READ)
		ts_steps_effect(out, TS_FX_READ, r->addr, r->len);
	if (r->access & TS_X86_WRITE)
		x64dbg_access_append_word(out, TS_FX_WRITE, m->addr, m->now, 0, r->len, false);
	return true;
}

/* Append the reads and writes of the instruction, and the contents of memory after it. */
static inline void x64dbg_access_append(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
				      struct ts_steps *out)
{
	if (a->is_simple && x64dbg_access_append_simple(a, &b->mem[0], out))
		return;
	if (a->n_ranges || b->n_mem || a->lost.len)
		x64dbg_access_append_some(a, b, out);
}

#endif
