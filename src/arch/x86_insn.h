/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86 (32 and 64 bits): memory operands, registers and flags that an instruction reads and
 * writes, where it may lead, and its text.
 *
 * All that is said is what the instruction may do by its encoding.  Registers are byte ranges of the 'g'
 * packet's layout (struct ts_regset).
 */
#ifndef TS_X86_INSN_H
#define TS_X86_INSN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch.h"

#define TS_X86_MAX_INSN   15u /* bytes */
#define TS_X86_MAX_MEM    3u
#define TS_X86_MAX_FIELDS 32u
#define TS_X86_NO_REG     UINT16_MAX

enum ts_x86_access {
	TS_X86_READ = 1,
	TS_X86_WRITE = 2,
	/*
	 * under a condition, or a mask selects bytes: some or all of them may not be read, may not be written
	 */
	TS_X86_IF_READ = 4,
	TS_X86_IF_WRITE = 8,
};

/* Special addresses of memory operands. */
enum ts_x86_place {
	TS_X86_PLAIN,
	TS_X86_PUSHED, /* size bytes below the stack pointer */
	TS_X86_BIT,    /* a bit number in a register, which may be large, moves it */
	TS_X86_TABLE,  /* al moves it */
};

/* Segments whose base may not be 0. */
enum ts_x86_segment {
	TS_X86_FLAT,
	TS_X86_FS,
	TS_X86_GS,
};

/* A memory operand: segment base + base + index * scale + disp.  Registers are offsets in the 'g' layout. */
struct ts_x86_mem {
	int64_t disp; /* the address itself where there is neither base nor index */
	uint16_t base, index;
	uint16_t size;   /* bytes, not 0 */
	uint16_t bit;    /* the register with the bit number */
	uint8_t bit_len; /* its bytes */
	uint8_t scale;
	uint8_t access;  /* enum ts_x86_access bits; 0: the instruction does not access it */
	uint8_t place;   /* enum ts_x86_place */
	uint8_t segment; /* enum ts_x86_segment */
	bool is_stack;   /* the top of the stack: a prefix for the width of addresses is not about it */
};

/* Compare-and-exchange writes its whole memory operand if that equals a register, else none of it. */
enum ts_x86_exchange {
	TS_X86_NO_EXCHANGE,
	TS_X86_EXCHANGE,      /* cmpxchg: compared with al, ax, eax, rax */
	TS_X86_EXCHANGE_PAIR, /* cmpxchg8b, cmpxchg16b: with edx:eax, rdx:rax */
};

/* Where the next instruction can be. */
enum ts_x86_flow {
	TS_X86_NEXT,     /* after it */
	TS_X86_REPEAT,   /* after it, or it again */
	TS_X86_JUMP,     /* at the target */
	TS_X86_BRANCH,   /* at the target, or after it */
	TS_X86_CALL,     /* at the target */
	TS_X86_CALL_ANY, /* anywhere */
	TS_X86_RETURN,   /* where the stack says */
	TS_X86_ANY,      /* indirect jumps, system calls, interrupts; also what is no instruction */
};

struct ts_x86_insn {
	uint64_t pc;
	uint64_t target;    /* of direct jumps, branches, and calls */
	uint64_t addr_mask; /* of effective addresses */
	uint8_t len;        /* bytes; 0: no instruction */
	uint8_t n_mem;
	uint8_t flow;      /* enum ts_x86_flow */
	uint8_t count_len; /* bytes of the register (cx, ecx, rcx) that counts repetitions; 0: not repeated */
	bool is_scatter;   /* it writes at addresses that a vector holds; they are not in mem */
	bool is_xsave;     /* it may write more than its operand's size */
	uint8_t exchange;  /* enum ts_x86_exchange */
	struct ts_x86_mem mem[TS_X86_MAX_MEM];
};

/* Bytes [off, off + len) of the 'g' layout. */
struct ts_x86_field {
	uint16_t off, len;
};

/* The registers and flags that an instruction writes. */
struct ts_x86_results {
	struct ts_x86_field fields[TS_X86_MAX_FIELDS]; /* without the program counter and eflags */
	unsigned n;
	uint32_t flags; /* bits of eflags; those whose value is not specified afterwards, too */
};

#define TS_X86_N_GPRS 16u
#define TS_X86_N_XMMS 16u

/* Where registers are in a layout; TS_X86_NO_REG for those that are not there. */
struct ts_x86 {
	bool is_64;
	uint16_t gprs[TS_X86_N_GPRS + 1]; /* in the processor's order; the last is the program counter */
	uint16_t segments[6];             /* es, cs, ss, ds, fs, gs */
	uint16_t fs_base, gs_base;
	uint16_t xmms[TS_X86_N_XMMS], ymmhs[TS_X86_N_XMMS];
	uint16_t mxcsr;
};

/* For registers of @set, whose architecture is x86_64 or i386. */
void ts_x86_init(struct ts_x86 *x, const struct ts_regset *set);

/*
 * Decode the instruction at @pc from the @len bytes there.
 *
 * Returns false if they do not begin with an instruction; @insn->len is then 0.
 */
bool ts_x86_decode(const struct ts_x86 *x, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_x86_insn *insn);

/* Its length in bytes; 0 if the bytes are not an instruction. */
unsigned ts_x86_length(const struct ts_x86 *x, const uint8_t *bytes, size_t len);

/*
 * Which registers and flags it writes, or may write.  The bytes that a 64-bit instruction clears beyond its operand are included.
 *
 * Returns false if the bytes are not an instruction.
 */
bool ts_x86_results(const struct ts_x86 *x, const uint8_t *bytes, size_t len, struct ts_x86_results *results);

/*
 * Write its text in Intel's syntax to @buf of @size bytes, terminated.
 *
 * Returns false if the bytes are not an instruction, or if the text does not fit.
 */
bool ts_x86_text(const struct ts_x86 *x, uint64_t pc, const uint8_t *bytes, size_t len, char *buf,
		 size_t size);

/* The general register at offset @off of the 'g' layout; 0 for TS_X86_NO_REG. */
static inline uint64_t ts_x86_value(const struct ts_x86 *x, const uint8_t *g, uint16_t off)
{
	uint64_t v = 0;

	if (off == TS_X86_NO_REG)
		return 0;
	if (x->is_64)
		memcpy(&v, g + off, 8);
	else
		memcpy(&v, g + off, 4);
	return le64toh(v);
}

/* The address of an operand, without its segment's base and what is special about it. */
static inline uint64_t ts_x86_mem_base(const struct ts_x86_mem *m, const struct ts_x86 *x, const uint8_t *g)
{
	return (uint64_t)m->disp + ts_x86_value(x, g, m->base) + ts_x86_value(x, g, m->index) * m->scale;
}

/*
 * The address of an operand within its segment, as the registers @g of the 'g' layout have it before the
 * instruction.
 */
uint64_t ts_x86_mem_addr(const struct ts_x86_insn *insn, const struct ts_x86_mem *m, const struct ts_x86 *x,
			 const uint8_t *g);

/* How often a repeated instruction is still to run, by the registers @g. */
uint64_t ts_x86_count(const struct ts_x86_insn *insn, const struct ts_x86 *x, const uint8_t *g);

#endif
