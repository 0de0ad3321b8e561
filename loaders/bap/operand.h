/* SPDX-License-Identifier: MIT */
/*
 * Operands of frames: a register or an address in memory, and a value before or after an instruction.
 */
#ifndef LOADERS_BAP_OPERAND_H
#define LOADERS_BAP_OPERAND_H

#include "loaders/kit/pbwire.h"
#include "src/base/bytes.h"
#include "trace.h"

struct bap_op {
	const struct regmap_slot *slot; /* NULL: memory */
	uint64_t addr;
	/*
	 * borrowed from the frame; of a register the least significant byte first, of memory in its order; at
	 * least eight bytes are readable
	 */
	const uint8_t *value;
	uint32_t len; /* bytes */
	uint32_t bits;
	bool is_read, is_written;
};

/*
 * The operands of a register have the same bytes, except for the value.  A form has these bytes of an operand
 * that was fully parsed, and the result.  If another operand begins with the same bytes, only its value
 * differs.
 */
struct bap_form {
	uint64_t head[4];   /* the bytes up to the value: words at offsets 0, 8, 16, and the last one */
	uint8_t last;       /* offset of the last word, which may overlap the one before it */
	uint8_t n_bytes;    /* of the whole operand; 0: empty */
	bool is_read, is_written;
	uint16_t len, bits; /* of the value */
	const struct regmap_slot *slot;
};

#define BAP_N_FORMS 256u

/* The parser of operands. */
struct bap_parser {
	struct bap *rec;                    /* borrowed */
	struct bap_look *look;              /* borrowed */
	struct bap_form forms[BAP_N_FORMS]; /* of earlier operands, by a hash of their names */
};

/* Returns the number of valid bits of a value of @len bytes.  @bit_length is the number in the frame. */
uint32_t bap_op_bits(struct bap_parser *in, uint64_t bit_length, uint64_t len);

/*
 * Set op->slot and op->addr from field 1 of @operand, which was read from @parent.
 *
 * Returns false if the operand is ignored.
 * Returns false, with the error of @parent set (TS_ECORRUPT), if it is damaged.
 */
bool bap_op_place(struct bap_parser *in, const struct pb_message *operand, struct ts_cursor *parent,
		  struct bap_op *op);

/*
 * Returns false if the memory operand is ignored: it is not whole bytes, or is outside of the address space.
 */
bool bap_op_check_memory(struct bap_parser *in, const struct bap_op *op);

/* The length of a form's head in bytes: the end of its third word, and the largest end of its last word. */
#define BAP_FORM_MIN_HEAD 24u
#define BAP_FORM_MAX_HEAD 32u

/*
 * The index of the form for an operand at @p.  The second and third word of an operand have its name and
 * usage.
 */
static inline uint32_t bap_form_at(const uint8_t *p)
{
	return (uint32_t)((ts_load(p + 8) * UINT64_C(0x9e3779b97f4a7c15) ^
			   ts_load(p + 16) * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
			  56) %
	       BAP_N_FORMS;
}

/*
 * Read an operand by its form.  The length is taken from the operand's bytes, which equal those of the form,
 * so that the processor can begin with the next operand before the form is loaded.
 *
 * Returns the length of the operand in bytes; 0 if no form fits.
 */
static inline uint32_t bap_op_again(const struct bap_parser *in, const uint8_t *p, size_t left,
				    struct bap_op *op)
{
	const struct bap_form *f;
	uint64_t differs;

	if (left < BAP_FORM_MIN_HEAD)
		return 0;
	f = &in->forms[bap_form_at(p)];
	if (!f->n_bytes || f->n_bytes > left)
		return 0;
	differs = ts_load(p) ^ f->head[0];
	differs |= ts_load(p + 8) ^ f->head[1];
	differs |= ts_load(p + 16) ^ f->head[2];
	differs |= ts_load(p + f->last) ^ f->head[3];
	if (differs)
		return 0;
	op->slot = f->slot;
	op->value = p + f->last + 8;
	op->len = f->len;
	op->bits = f->bits;
	op->is_read = f->is_read;
	op->is_written = f->is_written;
	return 2u + p[1];
}

/* The first byte of an operand in its list. */
#define BAP_OP_KEY (1 << 3 | PB_BYTES)

/* The offset of the address in a memory operand that bap_op_usual() can read. */
#define BAP_OP_ADDRESS 5u

/*
 * Read an operand of @len bytes at @p in the form in which recorders write it: all fields in order, with keys
 * and lengths of one byte.  Returns false for any other operand, which must be parsed by the schema.
 */
bool bap_op_usual(const struct bap_parser *in, const uint8_t *p, size_t len, struct bap_op *op);

/* The slow path of bap_op_next(): memory operands, and operands without a form.  Returns as bap_op_next() does. */
bool bap_op_new(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op);

/*
 * Read the next operand of a list, without ignored ones.
 *
 * Returns false at the end of the list.
 * Returns false, with the cursor's error set (TS_ECORRUPT), if the list is damaged.
 */
static inline bool bap_op_next(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op)
{
	uint32_t len;

	if (!list->left)
		return false;
	len = bap_op_again(in, list->p, list->left, op);
	if (!len)
		return bap_op_new(in, list, op);
	ts_take(list, len);
	return true;
}

/* A part of a register's value and its place in the 'g' layout. */
struct bap_part {
	uint32_t off, len;
	const uint8_t *data; /* in the target's order; borrowed from the operand, or in bytes */
	uint8_t bytes[64];
};

/*
 * Split the value of a register operand into the parts that are in different places of the 'g' layout.
 *
 * Returns the number of parts; 0 for an operand that is not a register of the layout.
 */
unsigned bap_op_parts(const struct bap *rec, const struct bap_op *op, struct bap_part parts[2]);

#endif
