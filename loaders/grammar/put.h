/* SPDX-License-Identifier: MIT */
/*
 * What the fields of an item mean, as effects: for match.c.
 */
#ifndef LOADERS_GRAMMAR_PUT_H
#define LOADERS_GRAMMAR_PUT_H

#include <endian.h>

#include "line.h"

/* The register called as m->name says, with the letter @prefix (0: none) before it. */
const struct regmap_slot *grammar_find_register(const struct grammar_matcher *m, char prefix);

/* The program counter as a register: the line's own, unless it has one. */
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

/* Append the register m->slot with its value, whatever it is. */
void grammar_put_unusual(struct grammar_matcher *m);

/* Append the register m->slot with its value: mostly one of eight bytes, which are its plain value after the instruction. */
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

/* Append the access, of which the fields @has are there. */
void grammar_put_access(struct grammar_matcher *m, uint32_t has);

/* Append the register and the access of an item, as the line's has tells. */
void grammar_put_item(struct grammar_matcher *m);

/*
 * Add a group of code digits to the line's code.  Returns false if they are not whole bytes, or too many.
 */
bool grammar_put_code(struct grammar_matcher *m, uint8_t order, const struct grammar_digits *group);

/* "ADDRESS" and four words that show 16 bytes, at m->p.  Returns false if they are not there. */
bool grammar_take_picture(struct grammar_matcher *m);

#endif
