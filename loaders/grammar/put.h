/* SPDX-License-Identifier: MIT */
/*
 * What the fields of an item mean, as effects: for match.c.
 */
#ifndef LOADERS_GRAMMAR_PUT_H
#define LOADERS_GRAMMAR_PUT_H

#include "line.h"

/* The register called as m->name says, with the letter @prefix (0: none) before it. */
const struct regmap_slot *grammar_find_register(const struct grammar_matcher *m, char prefix);

/* Append the register m->slot with its value, or the access, of which the fields @has are there. */
void grammar_put_register(struct grammar_matcher *m);
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
