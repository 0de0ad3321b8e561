/* SPDX-License-Identifier: MIT */
/*
 * The list of values before an instruction as a thread showed it last.
 *
 * A recorder that lists all registers each time repeats itself: nearly all of a list stands in the one
 * before, byte by byte.  The list is kept; what it says again of a register that was told, and has not
 * changed since, is passed over.  For that an operand is kept settled (to see it again would do nothing) or
 * spoiled: its first byte in the copy is none that an operand can have, so that one comparison finds both
 * what differs and what has to be looked at.
 */
#ifndef LOADERS_BAP_SHOWN_H
#define LOADERS_BAP_SHOWN_H

#include "value.h"

#define BAP_MAX_SHOWN     512u
#define BAP_MAX_SHOWN_LEN (16u << 10)

struct bap_shown {
	const struct bap_thread *of; /* whose list it is; NULL: there is none */
	uint32_t n;
	struct bap_shown_op {
		const struct regmap_slot *slot;
		uint32_t len; /* of the value */
		uint32_t end; /* of its bytes */
	} ops[BAP_MAX_SHOWN];
	uint8_t bytes[BAP_MAX_SHOWN_LEN];
	uint16_t owner[]; /* by byte of the 'g' layout: the first operand that shows it, counted from 1; 0:
			     none */
};

/*
 * A list of @t begins.
 *
 * Returns false if there is no memory to keep it: it is to be read as any other.
 */
bool bap_shown_start(struct bap_known *k, const struct bap_thread *t);

/* Pass over operands of @list that say nothing new, the first one of which is operand *i. */
void bap_shown_skip(const struct bap_shown *s, struct ts_cursor *list, uint32_t *i);

/*
 * Operand @i was not passed over and is about to be seen: bytes that were passed over in this list count as
 * seen.
 */
void bap_shown_before(struct bap_known *k, struct bap_thread *t, uint32_t i, const struct bap_op *op);

/* Operand *i, of @len bytes at @p, was seen: keep it, if it is a register's.  *i is then the next one's. */
void bap_shown_keep(struct bap_known *k, const struct bap_thread *t, uint32_t *i, const uint8_t *p,
		    size_t len, const struct bap_op *op);

/* bap_shown_changed(), for a thread whose list it is. */
void bap_shown_spoil(struct bap_shown *s, uint32_t off, uint32_t len);

/* Registers [off, off + len) of @t are no more what was shown. */
static inline void bap_shown_changed(struct bap_shown *s, const struct bap_thread *t, uint32_t off,
				     uint32_t len)
{
	if (__builtin_expect(s && s->of == t, 0))
		bap_shown_spoil(s, off, len);
}

/* Nothing that was shown counts any more. */
static inline void bap_shown_forget(struct bap_shown *s)
{
	if (s)
		s->of = NULL;
}

#endif
