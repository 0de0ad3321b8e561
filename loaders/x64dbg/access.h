/* SPDX-License-Identifier: MIT */
/*
 * The memory accesses of an instruction: its operands tell which bytes it reads and writes, the block's
 * memory slots tell the contents of some addresses, and both are needed.
 */
#ifndef LOADERS_X64DBG_ACCESS_H
#define LOADERS_X64DBG_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "insn.h"
#include "src/trace/step.h"

/* An operand at its address. */
struct x64dbg_range {
	uint64_t addr;
	uint32_t len;
	uint8_t access;  /* enum ts_x86_access bits; 0: no access */
};

/* The number of bytes of a memory slot, from its first on, that hold the old contents. */
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
	bool loses_all; /* lost is everything */
	bool is_simple; /* one range, the only slot is at its address, and its contents are trusted */
};

/* x64dbg_access_find() and x64dbg_access_tell() where there are accesses. */
void x64dbg_access_find_some(struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g);
void x64dbg_access_tell_some(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
			     struct ts_steps *out);

/*
 * What the instruction of block @b is going to do; @g are its thread's registers before it.
 */
static inline void x64dbg_access_find(struct x64dbg_accesses *a, const struct x64dbg_block *b,
				      const struct x64dbg_insn *insn, const struct x64dbg_insns *c,
				      const uint8_t *g)
{
	a->n_ranges = 0;
	a->lost.len = 0;
	a->is_simple = false;
	if (insn->x.n_mem || b->n_mem || insn->x.is_scatter)
		x64dbg_access_find_some(a, b, insn, c, g);
}

/*
 * The instruction did not complete: it accessed nothing, and what the recorder read may not be memory at all.
 */
void x64dbg_access_cancel(struct x64dbg_accesses *a, const struct x64dbg_block *b);

/* Effects: what was in memory before the instruction. */
void x64dbg_access_tell_old(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
			    struct ts_steps *out);

/* Effects: what the instruction read and wrote, and what was in memory after it. */
static inline void x64dbg_access_tell(const struct x64dbg_accesses *a, const struct x64dbg_block *b,
				      struct ts_steps *out)
{
	if (a->n_ranges || b->n_mem || a->lost.len)
		x64dbg_access_tell_some(a, b, out);
}

#endif
