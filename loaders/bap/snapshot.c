/* SPDX-License-Identifier: MIT */
/*
 * The list that was shown last: see snapshot.h.
 *
 * Each byte of a register is owned by the first operand of the list that shows it; only an operand that owns
 * all its bytes is ever settled.  If several operands show a byte, the first one decides, and only that one
 * is skipped.
 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "word_ops.h"

/* The first byte, in the copy of the list, of an operand that must be processed. */
#define SPOILED 0

static uint32_t start_of(const struct bap_shown *s, uint32_t i)
{
	return i ? s->ops[i - 1].end : 0;
}

bool bap_shown_start(struct bap_shown **s, const struct bap *rec, const struct bap_thread *t)
{
	size_t owner_len = rec->base.regs.g_len * sizeof((*s)->owner[0]);

	if (!*s) {
		*s = malloc(sizeof(**s) + owner_len);
		if (!*s)
			return false;
		(*s)->rec = rec;
		(*s)->of = NULL;
	}
	if ((*s)->of != t) {
		(*s)->of = t;
		(*s)->n = 0;
		memset((*s)->owner, 0, owner_len);
	}
	return true;
}

/* How many of @len bytes are the same, from the first on. */
static uint32_t n_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	uint32_t i = 0;

	while (len - i >= 128 && !memcmp(a + i, b + i, 128))
		i += 128;
	while (len - i >= 8 && ts_load(a + i) == ts_load(b + i))
		i += 8;
	while (i < len && a[i] == b[i])
		i++;
	return i;
}

void bap_shown_skip(const struct bap_shown *s, struct ts_cursor *list, uint32_t *i)
{
	uint32_t start = start_of(s, *i), left = start_of(s, s->n) - start, end = start, same;

	same = start + n_same(list->p, s->bytes + start, list->left < left ? (uint32_t)list->left : left);
	while (*i < s->n && s->ops[*i].end <= same && s->bytes[end] != SPOILED)
		end = s->ops[(*i)++].end;
	ts_take(list, end - start);
}

void bap_shown_before(const struct bap_shown *s, struct bap_thread *t, uint8_t serial, uint32_t i,
		      const struct bap_op *op)
{
	struct bap_part parts[2];

	for (unsigned part = bap_op_parts(s->rec, op, parts); part--;)
		for (uint32_t b = parts[part].off; b < parts[part].off + parts[part].len; b++)
			if (s->owner[b] && s->owner[b] <= i)
				t->seen[b] = serial;
}

/* The operands from @first on own nothing any more, but for those from @end on. */
static void disown(struct bap_shown *s, uint32_t first, uint32_t end)
{
	for (uint32_t b = 0; b < s->rec->base.regs.g_len; b++)
		if (s->owner[b] > first && s->owner[b] <= end)
			s->owner[b] = 0;
}

/*
 * Operand @i takes the bytes without an owner.
 *
 * Returns whether seeing it again would change nothing: it owns all its bytes, and the model has their values.  Flags never are
 * settled, because they are combined from the whole list.
 */
static bool settle(struct bap_shown *s, const struct bap_thread *t, uint32_t i, const struct bap_op *op)
{
	bool is_settled = op->slot->kind == REGMAP_REG || op->slot->kind == REGMAP_PC ||
			  op->slot->kind == REGMAP_IGNORE;
	uint16_t *owner = s->owner;
	struct bap_part parts[2];

	for (unsigned part = bap_op_parts(s->rec, op, parts); part--;) {
		for (uint32_t j = 0; j < parts[part].len; j++) {
			uint32_t b = parts[part].off + j;

			if (!owner[b])
				owner[b] = (uint16_t)(i + 1);
			is_settled &= owner[b] == i + 1 && t->state[b] != BAP_UNREPORTED &&
				      t->data[b] == parts[part].data[j];
		}
	}
	return is_settled;
}

void bap_shown_keep(struct bap_shown *s, const struct bap_thread *t, uint32_t *i, const uint8_t *p,
		    size_t len, const struct bap_op *op)
{
	uint32_t start = start_of(s, *i);
	struct bap_shown_op *o = &s->ops[*i];
	bool is_alone = p[0] == BAP_OP_KEY && p[1] < 0x80 && 2u + p[1] == len; /* nothing else was left out */

	if (!op->slot) /* memory is read each time: it is not kept in the list */
		return;
	if (*i < s->n && len != o->end - start) { /* the operands that follow have moved */
		disown(s, *i, s->n);
		s->n = *i;
	}
	if (*i == BAP_MAX_SHOWN || len > BAP_MAX_SHOWN_LEN - start)
		return;
	if (*i < s->n && (o->slot != op->slot || o->len != op->len))
		disown(s, *i, *i + 1);
	if (*i == s->n)
		s->n++;
	*o = (struct bap_shown_op){ op->slot, op->len, start + (uint32_t)len };
	memcpy(s->bytes + start, p, len);
	if (!settle(s, t, *i, op) || !is_alone)
		s->bytes[start] = SPOILED;
	++*i;
}

void bap_shown_spoil(struct bap_shown *s, uint32_t off, uint32_t len)
{
	for (uint32_t b = off; b < off + len; b++)
		if (s->owner[b])
			s->bytes[start_of(s, s->owner[b] - 1u)] = SPOILED;
}
