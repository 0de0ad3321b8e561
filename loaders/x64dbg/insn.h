/* SPDX-License-Identifier: MIT */
/*
 * A cache of decoded instructions by address, as large as a program's working set.
 */
#ifndef LOADERS_X64DBG_INSN_H
#define LOADERS_X64DBG_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "form.h"
#include "regs.h"
#include "src/arch/x86_insn.h"
#include "src/trace/step.h"

#define X64DBG_INSN_ALIGN 64u

struct x64dbg_insn {
	/* the form of its last block that needed no repair; most likely also that of its next block */
	_Alignas(X64DBG_INSN_ALIGN) struct x64dbg_form form;
	struct x64dbg_insn *next; /* the instruction that followed it last, if it is still cached; NULL: none */
	uint32_t told;        /* the reader's window in which its bytes were last appended as an effect */
	uint8_t len;          /* as recorded; 0: the entry is empty */
	uint8_t n_seen;       /* the number of its bytes that are in the address space */
	bool is_trap;         /* the kernel runs during the instruction, and may write to memory */
	bool is_simple;       /* it has one operand, within one word, and accesses all of it once */
	uint8_t bytes[16];    /* padded with zeros */
	struct ts_x86_insn x; /* its length is the recorded one */
	/* the previous values of form and next */
	struct x64dbg_form other;
	struct x64dbg_insn *other_next;
};
_Static_assert(offsetof(struct x64dbg_insn, x.mem[1]) <= 2 * X64DBG_INSN_ALIGN,
	       "an instruction of at most one operand is in two lines of the processor's cache");

/*
 * The fuzzers' build has fewer, because each input opens a recording, and so that some inputs evict
 * instructions.
 */
#ifndef X64DBG_INSN_BITS
#define X64DBG_INSN_BITS 14
#endif
#define X64DBG_N_INSNS (1u << X64DBG_INSN_BITS)

struct x64dbg_insns {
	struct ts_x86 x;
	const struct x64dbg_layout *layout; /* borrowed */
	const struct ts_arch *arch; /* borrowed */
	void *memory; /* owned; holds the items */
	/* in the order in which they were first decoded, for locality; item 0 is unused */
	struct x64dbg_insn *items;
	unsigned n_items; /* without item 0 */
	unsigned n_evicted;
	/* indexes of items by a hash of the address; an item may be in either of two places */
	uint16_t places[X64DBG_N_INSNS];
	uint64_t n_decoded; /* incremented when an item is decoded, which may evict another one */
};

/*
 * Initialize an empty cache.  @layout and @set are borrowed until x64dbg_insns_fini().
 *
 * Returns false if memory is exhausted.
 */
bool x64dbg_insns_init(struct x64dbg_insns *c, const struct x64dbg_layout *layout,
		       const struct ts_regset *set);
void x64dbg_insns_fini(struct x64dbg_insns *c);

/*
 * Is the operand in the segment of thread data?  The base of this segment is not recorded, but the address of
 * each operand in it is.
 */
static inline bool x64dbg_is_based(const struct x64dbg_insns *c, const struct ts_x86_mem *m)
{
	return m->segment == (c->x.is_64 ? TS_X86_GS : TS_X86_FS);
}

/* The slow path of x64dbg_insns_at(): the instruction is not in its first place, @place.  Returns as x64dbg_insns_at() does. */
struct x64dbg_insn *x64dbg_insns_find(struct x64dbg_insns *c, unsigned place, uint64_t pc,
				      const uint8_t *bytes, unsigned len);

/* Is @insn the instruction of @len bytes at @pc?  @bytes is padded with zeros to 16. */
static inline bool x64dbg_insn_is(const struct x64dbg_insn *insn, uint64_t pc, const uint8_t *bytes,
				  unsigned len)
{
	return insn->x.pc == pc && insn->len == len && !memcmp(insn->bytes, bytes, 16);
}

/* Append the instruction's bytes as a hidden read, once in each @window. */
static inline void x64dbg_insn_append(struct x64dbg_insn *insn, uint32_t window, struct ts_steps *out)
{
	struct ts_effect *e =
		ts_steps_short(out, TS_FX_READ, insn->x.pc, insn->bytes, insn->n_seen, sizeof(insn->bytes));

	insn->told = window;
	if (e)
		e->is_hidden = e->is_code = true;
}

/* Append TS_FX_UNSEEN if the instruction enters the kernel, which may change memory. */
static inline void x64dbg_insn_append_unseen(const struct x64dbg_insn *insn, struct ts_steps *out)
{
	if (__builtin_expect(insn->is_trap, 0))
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
}

/*
 * If the target of an indirect call is at most this far after the call, the instruction there may also be the
 * one after the return of a call that was stepped over.  Only the stack pointer distinguishes the two.
 */
#define X64DBG_NEAR_CALL 256u

/* Is the instruction a call, and @pc fewer than X64DBG_NEAR_CALL bytes after its address? */
static inline bool x64dbg_insn_is_near_call(const struct x64dbg_insn *insn, uint64_t pc)
{
	return insn->x.flow == TS_X86_CALL_ANY && pc - insn->x.pc < X64DBG_NEAR_CALL;
}

/* Can the next instruction of the thread be at @pc, if no unrecorded code runs in between? */
static inline bool x64dbg_insn_leads_to(const struct x64dbg_insn *insn, uint64_t pc)
{
	uint64_t after = insn->x.pc + insn->len;

	if (__builtin_expect(insn->x.flow == TS_X86_NEXT, 1)) /* not by the switch's table of jumps */
		return pc == after;
	switch ((enum ts_x86_flow)insn->x.flow) {
	case TS_X86_NEXT: return pc == after;
	case TS_X86_REPEAT: return pc == after || pc == insn->x.pc;
	case TS_X86_BRANCH: return pc == insn->x.target || pc == after;
	case TS_X86_JUMP:
	case TS_X86_CALL: return pc == insn->x.target;
	case TS_X86_CALL_ANY: return pc != after;
	case TS_X86_RETURN:
	case TS_X86_ANY: break;
	}
	return true;
}

/*
 * Returns the one of the instruction's two forms that the block at @p has, borrowed from the instruction.
 * Returns NULL if it has neither.
 */
static inline const struct x64dbg_form *x64dbg_insn_form(const struct x64dbg_insn *insn, const uint8_t *p)
{
	if (__builtin_expect(x64dbg_form_is(&insn->form, p), 1))
		return &insn->form;
	return x64dbg_form_is(&insn->other, p) ? &insn->other : NULL;
}

/* The index of the first place of the instruction at @pc. */
static inline unsigned x64dbg_insns_place(uint64_t pc)
{
	return (unsigned)(pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - X64DBG_INSN_BITS));
}

/*
 * The instruction of @len bytes, at most TS_X86_MAX_INSN, at @pc.  It is decoded if it is not in the cache.
 * @bytes is padded with zeros to 16.
 *
 * Returns the instruction, borrowed from the cache until the next call.
 */
static inline struct x64dbg_insn *x64dbg_insns_at(struct x64dbg_insns *c, uint64_t pc, const uint8_t *bytes,
						  unsigned len)
{
	unsigned place = x64dbg_insns_place(pc);
	struct x64dbg_insn *insn = &c->items[c->places[place]];

	return __builtin_expect(x64dbg_insn_is(insn, pc, bytes, len), 1)
		       ? insn
		       : x64dbg_insns_find(c, place, pc, bytes, len);
}

#endif
