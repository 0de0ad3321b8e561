/* SPDX-License-Identifier: MIT */
/*
 * Instructions as the loader needs them: which memory operands they have, what they do with them, where they
 * may lead.
 *
 * An instruction is decoded once an address; a cache as large as a program's working set keeps them.
 */
#ifndef LOADERS_X64DBG_INSN_H
#define LOADERS_X64DBG_INSN_H

#include <Zydis/Zydis.h>
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "regs.h"

#define X64DBG_MAX_OPS 3u
#define X64DBG_MAX_INSN 15u
#define X64DBG_NO_REG UINT16_MAX

enum x64dbg_access {
	X64DBG_READ = 1,
	X64DBG_WRITE = 2,
	X64DBG_PARTLY = 4, /* the bytes that are not masked out; or what compares equal */
};

/* What is special about an operand's address. */
enum x64dbg_place {
	X64DBG_PLAIN,
	X64DBG_PUSHED, /* size bytes below the stack pointer */
	X64DBG_BASED,  /* in a segment whose base is not recorded: the recorded address tells */
	X64DBG_BIT,    /* a bit number, which may be large, moves it */
	X64DBG_TABLE,  /* al moves it */
};

/* A memory operand: base + index * scale + disp.  Registers are offsets in the 'g' layout. */
struct x64dbg_op {
	int64_t disp; /* the address itself where there is neither base nor index */
	uint16_t base, index;
	uint16_t size; /* bytes */
	uint16_t bit;  /* the register with the bit number */
	uint8_t bit_len; /* its bytes */
	uint8_t scale;
	uint8_t access; /* enum x64dbg_access bits, 0: the instruction does not access it */
	uint8_t place;
};

/* Where the next instruction of the thread can be. */
enum x64dbg_flow {
	X64DBG_NEXT,   /* behind it */
	X64DBG_REPEAT, /* behind it, or it again */
	X64DBG_JUMP,   /* at the target */
	X64DBG_BRANCH, /* at the target, or behind it */
	X64DBG_CALL,   /* at the target; behind it if the call was stepped over */
	X64DBG_CALL_ANY, /* anywhere; behind it if the call was stepped over */
	X64DBG_ANY,
};

struct x64dbg_insn {
	uint64_t pc;
	uint64_t target;
	uint64_t addr_mask;    /* of effective addresses */
	uint32_t told;         /* when its bytes were told to the model last: the reader's number */
	uint8_t bytes[16];     /* zeros behind it */
	uint8_t len;           /* as recorded; 0: an empty entry */
	uint8_t n_seen;        /* how many of its bytes lie in the address space */
	uint8_t decoded_len;   /* 0: no instruction */
	uint8_t n_ops;
	uint8_t flow;
	uint8_t count_len;     /* bytes of the register that counts repetitions; 0: it does not repeat */
	bool is_scatter;       /* it writes where its vector of addresses says */
	bool is_xsave;         /* it may write more than its operand's size */
	bool is_simple;        /* it accesses all of its only operand, which is in one word, and once */
	struct x64dbg_op ops[X64DBG_MAX_OPS];
};

/* Two lines of the processor's cache, of which the operands are the second: most have none. */
#define X64DBG_INSN_ALIGN 64u
_Static_assert(sizeof(struct x64dbg_insn) == 2 * X64DBG_INSN_ALIGN, "an instruction is two lines");

#define X64DBG_INSN_BITS 14
#define X64DBG_N_INSNS (1u << X64DBG_INSN_BITS)

struct x64dbg_insns {
	ZydisDecoder decoder;
	const struct x64dbg_layout *layout; /* borrowed */
	const struct ts_regset *set;        /* borrowed */
	bool is_64;
	/* general registers and the program counter, in the processor's order */
	uint16_t reg_off[17];
	void *memory; /* owned; holds the items */
	/* by a hash of the address: each has two places, so that two that share one can both stay */
	struct x64dbg_insn *items;
	unsigned n_evicted;
};

/* Returns false if memory is exhausted. */
bool x64dbg_insns_init(struct x64dbg_insns *c, const struct x64dbg_layout *layout,
		       const struct ts_regset *set);
void x64dbg_insns_fini(struct x64dbg_insns *c);

/* x64dbg_insns_at() where the instruction is not in its first place. */
struct x64dbg_insn *x64dbg_insns_find(struct x64dbg_insns *c, struct x64dbg_insn *first, uint64_t pc,
				      const uint8_t *bytes, unsigned len);

static inline bool x64dbg_insn_is(const struct x64dbg_insn *insn, uint64_t pc, const uint8_t *bytes,
				  unsigned len)
{
	return insn->pc == pc && insn->len == len && !memcmp(insn->bytes, bytes, 16);
}

/* The first place of the instruction at @pc. */
static inline struct x64dbg_insn *x64dbg_insns_place(const struct x64dbg_insns *c, uint64_t pc)
{
	return &c->items[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - X64DBG_INSN_BITS)];
}

/*
 * The instruction of @len bytes (at most X64DBG_MAX_INSN) at @pc; valid until the next call.  @bytes are 16,
 * zeros behind it.
 */
static inline struct x64dbg_insn *x64dbg_insns_at(struct x64dbg_insns *c, uint64_t pc, const uint8_t *bytes,
						  unsigned len)
{
	struct x64dbg_insn *insn = x64dbg_insns_place(c, pc);

	return __builtin_expect(x64dbg_insn_is(insn, pc, bytes, len), 1)
		       ? insn
		       : x64dbg_insns_find(c, insn, pc, bytes, len);
}

/* The general register at offset @off of the 'g' layout; 0 for X64DBG_NO_REG. */
static inline uint64_t x64dbg_reg_value(const struct x64dbg_insns *c, const uint8_t *g, uint16_t off)
{
	uint64_t v = 0;

	if (off == X64DBG_NO_REG)
		return 0;
	if (c->is_64)
		memcpy(&v, g + off, 8);
	else
		memcpy(&v, g + off, 4);
	return le64toh(v);
}

/* The address of an operand before what is special about it. */
static inline uint64_t x64dbg_op_base(const struct x64dbg_op *op, const struct x64dbg_insns *c,
				      const uint8_t *g)
{
	return (uint64_t)op->disp + x64dbg_reg_value(c, g, op->base) +
	       x64dbg_reg_value(c, g, op->index) * op->scale;
}

/*
 * The address of an operand, as the registers @g of the 'g' layout have it; of X64DBG_BASED its offset in the
 * segment.
 */
uint64_t x64dbg_op_addr(const struct x64dbg_insn *insn, const struct x64dbg_op *op,
			const struct x64dbg_insns *c, const uint8_t *g);

/* How often a repeated instruction is still to run, by the registers @g. */
uint64_t x64dbg_insn_count(const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g);

#endif
