/* SPDX-License-Identifier: MIT */
/*
 * Operands of frames: a register or an address in memory, and a value before or after an instruction.
 */
#ifndef LOADERS_BAP_OPERAND_H
#define LOADERS_BAP_OPERAND_H

#include "loaders/kit/pbwire.h"
#include "trace.h"

struct bap_op {
	const struct regmap_slot *slot; /* NULL: memory */
	uint64_t addr;
	/*
	 * borrowed from the frame; least significant byte first, or as memory has it; eight bytes can be read
	 * there in any case
	 */
	const uint8_t *value;
	uint32_t len; /* bytes */
	uint32_t bits;
	bool is_read, is_written;
};

/*
 * The operands of a register repeat the same bytes, except for the value.  A form has these bytes of an
 * operand that was fully checked, and the result: if an operand begins with the same bytes, only the value is
 * new.
 */
struct bap_form {
	uint64_t head[4]; /* the bytes up to the value: words at offsets 0, 8, 16, and the last one */
	uint8_t last;       /* offset of the last word, which may overlap the one before it */
	uint8_t n_bytes;    /* of the whole operand; 0: empty */
	bool is_read, is_written;
	uint16_t len, bits; /* of the value */
	const struct regmap_slot *slot;
};

#define BAP_N_FORMS 256u

/* The state for reading operands. */
struct bap_parser {
	struct bap *rec;                    /* borrowed */
	struct bap_look *look;              /* borrowed */
	struct bap_form forms[BAP_N_FORMS]; /* of operands seen, by a hash of their names */
};

/* The number of valid bits of a value of @len bytes; @bit_length is as stored. */
uint32_t bap_op_bits(struct bap_parser *in, uint64_t bit_length, uint64_t len);

/*
 * Where the operand is, by field 1 of @operand, which was read from @parent: slot, addr.  Returns false if it
 * is ignored or (with @parent's error set) damaged.
 */
bool bap_op_place(struct bap_parser *in, const struct pb_message *operand, struct ts_cursor *parent,
		  struct bap_op *op);

/* Returns false if the memory operand is ignored: parts of bytes, or beyond the address space. */
bool bap_op_check_memory(struct bap_parser *in, const struct bap_op *op);

/* bap_op_next() of a list that is not at its end. */
bool bap_op_read(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op);

/*
 * Read the next operand of a list that is not ignored.  Returns false at the end and (with the cursor's error
 * set) on damage.
 */
static inline bool bap_op_next(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op)
{
	return list->left && bap_op_read(in, list, op);
}

#endif
