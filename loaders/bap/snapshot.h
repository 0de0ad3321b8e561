/* SPDX-License-Identifier: MIT */
/*
 * The last list of values before an instruction of a thread.
 *
 * A recorder that lists all registers each time repeats itself: most of a list is identical to the previous
 * one.  The list is kept, and repeated values of a register that were told, and have not changed since, are
 * skipped.  For this an operand is kept settled (processing it again would have no effect) or spoiled: its
 * first byte in the copy is then one that no operand has, so that a single comparison finds both the
 * differences and the operands that must be processed.
 */
#ifndef LOADERS_BAP_SNAPSHOT_H
#define LOADERS_BAP_SNAPSHOT_H

#include "operand.h"
#include "thread.h"

#define BAP_MAX_SHOWN     512u
#define BAP_MAX_SHOWN_LEN (16u << 10)

struct bap_shown {
	const struct bap *rec;       /* borrowed */
	const struct bap_thread *of; /* the thread of the list; NULL: there is none */
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
 * A list of @t begins.  @s, NULL before the first list, is allocated when it is needed; the caller frees it.
 *
 * Returns false if memory is exhausted: the list must then be read completely.
 */
bool bap_shown_start(struct bap_shown **s, const struct bap *rec, const struct bap_thread *t);

/* Skip operands of @list that repeat the last list, from operand *i on. */
void bap_shown_skip(const struct bap_shown *s, struct ts_cursor *list, uint32_t *i);

/*
 * Operand @i was not skipped and is about to be processed: bytes that were skipped in this list, which has
 * number @serial, count as seen.
 */
void bap_shown_before(const struct bap_shown *s, struct bap_thread *t, uint8_t serial, uint32_t i,
		      const struct bap_op *op);

/* Operand *i, of @len bytes at @p, was seen: keep it, if it is a register's.  *i is then the next one's. */
void bap_shown_keep(struct bap_shown *s, const struct bap_thread *t, uint32_t *i, const uint8_t *p,
		    size_t len, const struct bap_op *op);

/* bap_shown_changed(), for the thread of the list. */
void bap_shown_spoil(struct bap_shown *s, uint32_t off, uint32_t len);

/* Registers [off, off + len) of @t have changed since the list. */
static inline void bap_shown_changed(struct bap_shown *s, const struct bap_thread *t, uint32_t off,
				     uint32_t len)
{
	if (__builtin_expect(s && s->of == t, 0))
		bap_shown_spoil(s, off, len);
}

/* Drop the list. */
static inline void bap_shown_forget(struct bap_shown *s)
{
	if (s)
		s->of = NULL;
}

#endif
