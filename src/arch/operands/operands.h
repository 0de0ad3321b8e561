/* SPDX-License-Identifier: MIT */
/*
 * The reads and writes of an instruction, byte by byte.
 *
 * An instruction is a list of transfers: the bytes of one place are computed from those of another place.  If
 * several transfers write a byte, it depends on all of their sources; if none does, it keeps its value.
 * Registers that only form an address are in the memory operand, not in a transfer, except for instructions
 * that compute an address as their result.
 *
 * Everything follows from the encoding of the instruction.  Registers are byte ranges of the 'g' packet's
 * layout (struct ts_regset), in target byte order; flags are bits of the flags register.
 */
#ifndef TS_OPERANDS_H
#define TS_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/error.h"

#define TS_MAX_TRANSFERS  48u
#define TS_MAX_OP_MEM     4u
#define TS_MAX_INSN       15u /* bytes of an instruction */
#define TS_MAX_OP_TEXT    96u
#define TS_NO_OFF16       UINT16_MAX

enum ts_op_place_kind {
	TS_AT_NOWHERE,
	TS_AT_REG,   /* bytes [off, off + len) of the layout */
	TS_AT_FLAGS, /* the bits `flags` of the flags register */
	TS_AT_MEM,   /* bytes [off, off + len) of memory operand mem */
	TS_AT_PC,    /* the address of the next instruction */
};

struct ts_op_place {
	uint8_t kind; /* enum ts_op_place_kind */
	uint8_t mem;
	uint16_t off, len;
	uint32_t flags;
};

enum ts_way {
	TS_WAY_COPY,      /* byte i of `to` is byte i of `from`, which is as long */
	TS_WAY_REVERSE,   /* byte i of `to` is byte len - 1 - i of `from` */
	TS_WAY_LANES,     /* each lane of `unit` bytes depends on the same lane of `from`, which is as long */
	TS_WAY_MIX,       /* each byte of `to` depends on all of `from` */
	TS_WAY_CONSTANT,  /* `to` depends on a constant; `from` is TS_AT_NOWHERE */
	TS_WAY_PART,      /* the bytes of `to` are bytes of `constant`, from byte `unit` on */
	TS_WAY_ZERO,      /* zeros that the instruction writes beside its result */
	TS_WAY_PROCESSOR, /* from the processor: clock, random number, identification, port */
	TS_WAY_SYSTEM,    /* the result of a system call */
	TS_WAY_SYSCALL,   /* what the instruction of a system call itself leaves beside the result: rcx and r11 of x86-64 */
	TS_WAY_UNKNOWN,   /* made of something that is not followed */
	/*
	 * Elements of `unit` bytes of `to` are elements of `from` (a table, or one part of it), or zero: which ones, the next
	 * transfer of way SELECTOR determines by the elements of its source, of which it has as many as `to`
	 * (ts_operands_selected()).
	 */
	TS_WAY_SELECT,
	TS_WAY_SELECTOR,
};

struct ts_transfer {
	struct ts_op_place to, from;
	uint64_t constant;
	uint8_t way;         /* enum ts_way */
	uint8_t unit;
	uint8_t order;       /* the index of the operand in the instruction */
	bool is_conditional; /* it happens only if the instruction's condition holds */
};

/* The use of the index register of an address. */
enum ts_index {
	TS_INDEX_WHOLE,
	TS_INDEX_SIGNED_32,
	TS_INDEX_UNSIGNED_32,
	TS_INDEX_MINUS,
};

/* Additional terms of an address beside base + index * scale + disp. */
enum ts_op_mem_special {
	TS_MEM_PLAIN,
	TS_MEM_PUSHED, /* minus `size` */
	TS_MEM_BIT,    /* plus the bit number in register `extra`, in units of the operand */
	TS_MEM_TABLE,  /* plus the byte in register `extra` */
	/*
	 * unknown: the layout has no register for the segment's base, or a vector (index, extra) has the
	 * addresses
	 */
	TS_MEM_UNPLACED,
};

/* A memory operand.  Registers are offsets in the layout, TS_NO_OFF16 for none. */
struct ts_op_mem {
	int64_t disp;
	uint16_t base, index, segment, extra;
	uint16_t size; /* bytes; of a repeated instruction those of one iteration */
	uint8_t base_len, index_len, extra_len;
	uint8_t scale;
	uint8_t index_as; /* enum ts_index */
	uint8_t special;  /* enum ts_op_mem_special */
	bool is_stack;    /* the top of the stack: the instruction's width of addresses does not apply */
};

enum ts_op_flow {
	TS_OP_NEXT,
	TS_OP_BRANCH,        /* conditional */
	TS_OP_JUMP,          /* to a constant address */
	TS_OP_JUMP_INDIRECT,
	TS_OP_CALL,
	TS_OP_CALL_INDIRECT,
	TS_OP_RETURN,
	TS_OP_SYSCALL,
	TS_OP_TRAP,          /* enters or leaves a handler: anything may change */
};

/* The condition of the conditional transfers. */
enum ts_op_condition {
	TS_IF_ALWAYS,
	TS_IF_COUNT,  /* the masked value of register cond_off is not 0 */
	TS_IF_FLAGS,  /* condition code cond_code of ARM holds */
};

struct ts_operands {
	uint64_t target;   /* if has_target: of a conditional branch, or of a direct call; of an indirect call what is added to the register */
	uint64_t addr_mask;
	uint64_t cond_mask;
	uint16_t cond_off;
	uint8_t cond_len, cond_code;
	uint8_t condition; /* enum ts_op_condition */
	uint8_t n, n_mem;
	uint8_t len;       /* bytes; 0: no instruction */
	uint8_t flow;      /* enum ts_op_flow */
	bool has_target;
	bool is_repeated;  /* memory operands have as many elements as the count register decreases */
	bool reads_unnamed; /* it reads a memory operand that is in no transfer */
	bool is_complete;  /* the transfers have all registers that it writes */
	struct ts_op_mem mem[TS_MAX_OP_MEM];
	struct ts_transfer transfers[TS_MAX_TRANSFERS]; /* last, because most of them are unused */
};

/* Decodes the instructions of one register set. */
struct ts_decoder;

/*
 * A decoder for the registers of @set, which is borrowed until ts_decoder_free().
 *
 * Returns the decoder, which the caller frees with ts_decoder_free().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_decoder *ts_decoder_new(const struct ts_regset *set, struct ts_error *err);
void ts_decoder_free(struct ts_decoder *d);

/* Are instructions of this processor decoded?  Otherwise ts_decoder_decode() returns false for all bytes. */
bool ts_decoder_is_able(const struct ts_decoder *d);
bool ts_decoder_knows(const struct ts_arch *arch);

/*
 * Returns the bits of the flags register that operands describe.  Changes of other bits (IF, AC, the IT
 * state) are known only from the recording.
 */
uint32_t ts_operands_flags(const struct ts_arch *arch);

/* The mode in which the processor reads code. */
struct ts_op_mode {
	bool is_64;    /* x86: 64-bit code */
	bool is_thumb; /* ARM */
	uint8_t it;    /* ARM: 1 + the condition by an earlier IT instruction; 0: none */
};

/* Returns the mode that follows from the register set. */
struct ts_op_mode ts_decoder_mode(const struct ts_decoder *d);

/*
 * Decode the instruction at @pc from the @len bytes there.
 *
 * Returns true with *ops set.
 * Returns false, with ops->len 0, if the bytes do not begin with a known instruction.
 */
bool ts_decoder_decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		       size_t len, struct ts_operands *ops);

/*
 * Write the instruction's text to @buf of @size bytes, terminated.
 *
 * Returns false if the bytes are not an instruction, or if the text does not fit.
 */
bool ts_decoder_text(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		     size_t len, char *buf, size_t size);

/*
 * The registers before the instruction: values, and a known-mask of a byte each (0: unknown), in the 'g'
 * layout.
 */
struct ts_op_state {
	const struct ts_arch *arch;
	const uint8_t *g, *known;
	uint16_t flags_off; /* of the flags register; TS_NO_OFF16: none */
};

/*
 * Set *addr to the address of memory operand @i.
 *
 * Returns false if a register of the address is unknown.
 */
bool ts_operands_addr(const struct ts_operands *ops, unsigned i, const struct ts_op_state *state,
		      uint64_t *addr);

enum ts_op_happens {
	TS_HAPPENS_NOT,
	TS_HAPPENS,
	TS_MAY_HAPPEN, /* a register of the condition is unknown */
};

/* Returns whether the conditional transfers happen. */
enum ts_op_happens ts_operands_happen(const struct ts_operands *ops, const struct ts_op_state *state);

/*
 * Change *ops for a condition that does not hold: remove the conditional transfers, and the memory operands
 * that only they use.  The instruction is then not a call.
 */
void ts_operands_leave_out(struct ts_operands *ops);

/* How an element of a selector names one of a table: ((element >> shift) & mask); with a bit of `zero` it makes zero. */
struct ts_selection {
	uint8_t unit, shift, mask, zero;
	uint8_t first; /* the table's element that is the first of this part */
};

/* Set the selection of @t, which is of TS_WAY_SELECTOR. */
void ts_operands_set_selection(struct ts_transfer *t, const struct ts_selection *how);

/*
 * The byte of the transfer's source that byte @i of its destination is, if @selector is the lowest byte of the element of its
 * selector, which is byte i / unit * unit.
 *
 * Returns from.len if it is not one of these.
 */
unsigned ts_operands_selected(const struct ts_transfer *t, unsigned i, uint8_t selector);

/*
 * Append a transfer; for the decoders of the families.
 *
 * Returns the transfer, borrowed from @ops, whose other members the caller may set; never NULL.  If @ops is full it is the last
 * one, which becomes TS_WAY_UNKNOWN, and the instruction is incomplete.
 */
struct ts_transfer *ts_operands_add(struct ts_operands *ops, struct ts_op_place to, struct ts_op_place from,
				    enum ts_way way);

#endif
