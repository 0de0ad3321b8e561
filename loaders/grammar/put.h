/* SPDX-License-Identifier: MIT */
/*
 * Appends the effects of a matched item, for match.c.
 */
#ifndef LOADERS_GRAMMAR_PUT_H
#define LOADERS_GRAMMAR_PUT_H

#include <endian.h>

#include "line.h"

/*
 * Returns the register called m->name, with the letter @prefix (0: none) before it, borrowed from the map.  Its kind is
 * REGMAP_NONE if no register has this name.
 */
const struct regmap_slot *grammar_find_register(const struct grammar_matcher *m, char prefix);

/* Use the value of a register item that is the program counter as the line's pc, unless the line has one. */
static inline void grammar_put_pc(struct grammar_matcher *m, uint64_t pc)
{
	struct grammar_line *l = m->line;

	if (l->has & HAS_PC)
		return;
	l->pc = pc & m->mask;
	l->pc_digits = (uint8_t)m->value.span.len;
	l->has |= HAS_PC;
	l->n_before_pc = l->n_regs;
}

/* Append the register m->slot with its value.  For all kinds of registers and values. */
void grammar_put_unusual(struct grammar_matcher *m);

/*
 * As grammar_put_unusual(), with a fast path for eight bytes that are the plain value after the instruction.
 */
static inline void grammar_put_register(struct grammar_matcher *m)
{
	const struct regmap_slot *slot = m->slot;
	const uint64_t number = htole64(m->value.number);

	if (slot->kind == REGMAP_PC && m->value.is_plain && !m->is_unknown) {
		grammar_put_pc(m, m->value.number);
		return;
	}
	if (slot->kind != REGMAP_REG || slot->len != 8 || slot->extend > 8 || !m->value.is_plain || m->is_big || m->is_unknown ||
	    slot->feature == m->narrow || m->time != GRAMMAR_AFTER) {
		grammar_put_unusual(m);
		return;
	}
	m->line->n_regs++;
	ts_steps_word(m->out, TS_FX_REG_WRITE, slot->off, (const uint8_t *)&number, 8);
}

/* Append the access.  @has are its fields, as in enum grammar_has. */
void grammar_put_access(struct grammar_matcher *m, uint32_t has);

/* Append the register and the access of the matched item, as far as m->line->has contains them. */
void grammar_put_item(struct grammar_matcher *m);

/*
 * Add a group of code digits to the line's code.
 *
 * Returns false if the digits are not whole bytes.
 * Returns false if the code has more than GRAMMAR_MAX_CODE bytes.
 */
bool grammar_put_code(struct grammar_matcher *m, uint8_t order, const struct grammar_digits *group);

/*
 * Parse an address and four words of 16 bytes at m->p.  Returns false if the line has something else there.
 */
bool grammar_take_picture(struct grammar_matcher *m);

#endif
