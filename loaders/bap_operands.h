/* SPDX-License-Identifier: MIT */
/*
 * Operands: values of registers and memory before and after an instruction.
 */
#ifndef LOADERS_BAP_OPERANDS_H
#define LOADERS_BAP_OPERANDS_H

#include "bap_state.h"
#include "pbwire.h"

struct bap_op {
	const struct bap_slot *slot; /* NULL: memory */
	uint64_t addr;
	const uint8_t *value; /* borrowed from the frame; least significant byte first, or as memory has it */
	uint32_t len;	      /* bytes */
	uint32_t bits;
	bool is_read, is_written;
};

/* How many bits of a value of @len bytes count; @bit_length is as stored. */
uint32_t bap_op_bits(struct bap_reader *r, uint64_t bit_length, uint64_t len);

/*
 * Where the operand is, by field 1 of @operand, which was read from @parent: slot, addr.  False if it is
 * ignored or (@parent's error says so) damaged.
 */
bool bap_op_place(struct bap_reader *r, const struct pb_message *operand, struct ts_cursor *parent,
		  struct bap_op *op);

/* False if the memory operand is ignored: parts of bytes, or beyond the address space. */
bool bap_op_check_memory(struct bap_reader *r, const struct bap_op *op);

/*
 * Read the next operand of a list that is not left out.  False at its end and (the cursor's error says so) on
 * damage.
 */
bool bap_op_next(struct bap_reader *r, struct ts_cursor *list, struct bap_op *op);

/* A register operand's value before the instruction, or after it. */
void bap_op_see(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op);
void bap_op_write(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op);

/* The old recorder lists what is written, register or memory, with its old value: the new one is not there.
 */
void bap_op_lose(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op);

/* A memory operand's value as an effect of kind TS_FX_READ or TS_FX_WRITE. */
void bap_op_memory(struct bap_reader *r, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden);

#endif
