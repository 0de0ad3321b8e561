/* SPDX-License-Identifier: MIT */
/*
 * Operands as frames have them: a register or a place in memory, and a value before or after an instruction.
 */
#ifndef LOADERS_BAP_OPERAND_H
#define LOADERS_BAP_OPERAND_H

#include "loaders/kit/pbwire.h"
#include "bap.h"

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
 * The same bytes come again and again: all of a register's operand but its value.  A form is these bytes, of
 * an operand that was read with every check, and what was made of it: in one that begins likewise nothing but
 * the value is new.
 */
struct bap_form {
	uint64_t head[4]; /* the bytes up to the value: words at offsets 0, 8, 16, and the last one */
	uint32_t last;    /* offset of the last word, which may overlap the one before it */
	uint32_t len;     /* of the whole operand; 0: there is no form here */
	struct bap_op op; /* but for its value */
};

#define BAP_N_FORMS 256u

/* What operands are read with. */
struct bap_parser {
	struct bap *rec;                    /* borrowed */
	struct bap_look *look;              /* borrowed */
	struct bap_form forms[BAP_N_FORMS]; /* of operands that were met, by a hash of their names */
};

/* How many bits of a value of @len bytes count; @bit_length is as stored. */
uint32_t bap_op_bits(struct bap_parser *in, uint64_t bit_length, uint64_t len);

/*
 * Where the operand is, by field 1 of @operand, which was read from @parent: slot, addr.  False if it is
 * ignored or (@parent's error says so) damaged.
 */
bool bap_op_place(struct bap_parser *in, const struct pb_message *operand, struct ts_cursor *parent,
		  struct bap_op *op);

/* False if the memory operand is ignored: parts of bytes, or beyond the address space. */
bool bap_op_check_memory(struct bap_parser *in, const struct bap_op *op);

/*
 * Read the next operand of a list that is not left out.  False at its end and (the cursor's error says so) on
 * damage.
 */
bool bap_op_next(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op);

#endif
