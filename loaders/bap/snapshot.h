/* SPDX-License-Identifier: MIT */
/*
 * A copy of the last list of values before an instruction, of one thread.
 *
 * If a recorder lists all registers for each instruction, most of a list is identical to the previous one.
 * Operands that repeat a value that was reported and has not changed since are skipped.  An operand in the
 * copy is either settled (processing it again would have no effect) or spoiled.  The first byte of a spoiled
 * operand is replaced by one that no operand has, so that a single comparison finds both the operands that
 * differ and those that must be processed.
 */
#ifndef LOADERS_BAP_SNAPSHOT_H
#define LOADERS_BAP_SNAPSHOT_H

#include "operand.h"
#include "thread.h"

#define BAP_MAX_SHOWN     512u
#define BAP_MAX_SHOWN_LEN (16u << 10)

struct bap_shown {
	const struct bap *rec;       /* borrowed */
	const struct bap_thread *of; /* the thread of the list; NULL: the list has no such thread */
	uint32_t n;
	struct bap_shown_op {
		const struct regmap_slot *slot;
		uint32_t len; /* of the value */
		uint32_t end; /* of its bytes */
	} ops[BAP_MAX_SHOWN];
	uint8_t bytes[BAP_MAX_SHOWN_LEN];
	uint16_t owner[]; /* by byte of the 'g' layout: 1 + the first operand that contains it; 0: none */
};

/*
 * Begin a list of @t.  *s is NULL before the first list; it is allocated when it is needed, and the caller
 * frees it with free().
 *
 * Returns false if memory is exhausted; no operand of the list can then be skipped.
 */
bool bap_shown_start(struct bap_shown **s, const struct bap *rec, const struct bap_thread *t);

/* Skip the operands of @list, from operand *i on, that repeat the last list; advance *i by their number. */
void bap_shown_skip(const struct bap_shown *s, struct ts_cursor *list, uint32_t *i);

/*
 * Must be called before operand @i, which was not skipped, is processed.  Marks those of its bytes as seen in
 * the list @serial that operands of this list show and that were skipped.
 */
void bap_shown_before(const struct bap_shown *s, struct bap_thread *t, uint8_t serial, uint32_t i,
		      const struct bap_op *op);

/* Copy operand *i, of @len bytes at @p, if it is a register's.  *i is incremented. */
void bap_shown_keep(struct bap_shown *s, const struct bap_thread *t, uint32_t *i, const uint8_t *p,
		    size_t len, const struct bap_op *op);

/* The slow path of bap_shown_changed(): @s is the list of the thread. */
void bap_shown_spoil(struct bap_shown *s, uint32_t off, uint32_t len);

/* Spoil the operands of bytes [off, off + len) of @t, which have changed since the list. */
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
