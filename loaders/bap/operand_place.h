/* SPDX-License-Identifier: MIT */
/*
 * The parts of a register operand's value: the 'g' layout may keep its upper half elsewhere.
 */
#ifndef LOADERS_BAP_OPERAND_PLACE_H
#define LOADERS_BAP_OPERAND_PLACE_H

#include "operand.h"

/* Where a register's value goes, or a part of it, in the 'g' layout. */
struct bap_part {
	uint32_t off, len;
	const uint8_t *data; /* in the target's order; borrowed from the operand, or in bytes */
	uint8_t bytes[64];
};

/* The low part of a register operand's value, and what lies elsewhere.  Returns how many: 0 for others. */
unsigned bap_op_parts(const struct bap *rec, const struct bap_op *op, struct bap_part parts[2]);

#endif
