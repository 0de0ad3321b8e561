/* SPDX-License-Identifier: MIT */
/*
 * Protobuf's wire format, read in place: fields of a message by a table that describes it.
 *
 * A message is a run of fields: a key (number * 8 + wire type), then a value.  Nothing is copied or
 * allocated; results point into the message's bytes and live as long as they do.  Unknown fields are skipped;
 * the last occurrence of a repeated field counts; fields may be in any order.
 */
#ifndef LOADERS_PBWIRE_H
#define LOADERS_PBWIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/cursor.h"

enum pb_wire {
	PB_VARINT = 0,
	PB_FIXED64 = 1,
	PB_BYTES = 2,
	PB_FIXED32 = 5,
};

/* The definition of a field: its name for messages, its wire type; field number i + 1 is at index i. */
struct pb_field_def {
	const char *name;
	enum pb_wire wire;
};

struct pb_message_def {
	const char *name;
	const struct pb_field_def *fields;
	unsigned n_fields; /* at most PB_MAX_FIELDS */
	uint32_t must;     /* bit i: field number i + 1 is required */
};

#define PB_MAX_FIELDS 8

/* A field's value: a number (varint, fixed), or bytes. */
struct pb_value {
	uint64_t n;       /* the number, or the number of bytes */
	const uint8_t *p; /* the bytes; NULL for a number */
};

struct pb_message {
	uint32_t present; /* bit i: field number i + 1 is present */
	struct pb_value v[PB_MAX_FIELDS];
};

#define PB_MAX_VARINT 10

/* pb_get_varint() for long varints, and for those that a message's end may truncate.  Returns as pb_get_varint() does. */
const uint8_t *pb_get_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *n);

/*
 * The number in eight bytes of a varint, first one lowest, seven bits of each: pairs, then fours, then all of
 * them move together.
 */
static inline uint64_t pb_join_sevens(uint64_t word)
{
	word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
	word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/*
 * A varint of up to ten bytes at @p, which ends before @end.  The result points into the caller's bytes.  Up to eight bytes
 * are processed together: addresses have any length, so that the end of a loop would be mispredicted.
 *
 * Returns the end of the varint in the caller's bytes, with its value in *n.
 * Returns NULL if it is longer or does not end.
 */
static inline const uint8_t *pb_get_varint(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	uint64_t word, ends;

	if (__builtin_expect(p < end && p[0] < 0x80, 1)) {
		*n = p[0];
		return p + 1;
	}
	if (end - p >= 2 && p[1] < 0x80) { /* lengths of lists */
		*n = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	if (end - p < 8)
		return pb_get_long_varint(p, end, n);
	memcpy(&word, p, 8);
	word = le64toh(word);
	ends = ~word & UINT64_C(0x8080808080808080);
	if (!ends)
		return pb_get_long_varint(p, end, n);
	*n = pb_join_sevens(word & (ends ^ (ends - 1)));
	return p + (__builtin_ctzll(ends) + 1) / 8;
}

/* As above, for the rest of @c.  Fails (TS_ECORRUPT) where the function above returns NULL. */
uint64_t pb_varint(struct ts_cursor *c);

/*
 * Read field @number, a varint or bytes, into the message @m if it is the field at @p; else it is zero in @m.
 *
 * Returns the end of the field in the caller's bytes.
 * Returns @p if the field is absent or damaged: the message must then be read in the general way.
 */
static inline const uint8_t *pb_get_field(const uint8_t *p, const uint8_t *end, unsigned number,
					  enum pb_wire wire, struct pb_message *m)
{
	struct pb_value *v = &m->v[number - 1];
	const uint8_t *value;
	uint64_t n;

	*v = (struct pb_value){ 0 };
	if (p == end || *p != (number << 3 | wire))
		return p;
	value = pb_get_varint(p + 1, end, &n);
	if (!value || (wire == PB_BYTES && n > (size_t)(end - value)))
		return p;
	m->present |= 1u << (number - 1);
	v->n = n;
	if (wire == PB_VARINT)
		return value;
	v->p = value;
	return value + n;
}

/*
 * Read the message that fills @c.
 *
 * Returns true with @m filled; fields that are absent are zero and no bytes.  Returns false (TS_ECORRUPT in
 * the cursor's error, with the offset) for a field that passes the end, an invalid wire type or one that
 * differs from the table's, field number 0, or a missing required field.
 */
bool pb_read(struct ts_cursor *c, const struct pb_message_def *def, struct pb_message *m);

/*
 * Read the next occurrence of field number @wanted, which repeats and holds bytes, from the rest of a
 * message.
 *
 * Returns true with @item over its bytes; false at the end and, as above, on damage.
 */
bool pb_next_of(struct ts_cursor *message, const struct pb_message_def *def, unsigned wanted,
		struct ts_cursor *item);

/*
 * Set *item to the next item of a list: a message whose field 1 repeats.  Most items are shorter than 128 bytes.  Returns as
 * pb_next_of() does.
 */
static inline bool pb_next_item(struct ts_cursor *list, const struct pb_message_def *def,
				struct ts_cursor *item)
{
	const uint8_t *p = list->p;

	if (list->left < 2 || p[0] != (1 << 3 | PB_BYTES) || p[1] >= 0x80 || p[1] > list->left - 2)
		return pb_next_of(list, def, 1, item);
	*item = ts_cursor(p + 2, p[1], list->off + 2, list->what, list->err);
	ts_take(list, 2 + (uint64_t)p[1]);
	return true;
}

/* Returns true if the message has field @number. */
static inline bool pb_has(const struct pb_message *m, unsigned number)
{
	return m->present >> (number - 1) & 1;
}

/* The bytes of a field as a message of their own; @parent is the cursor that @m was read from. */
static inline struct ts_cursor pb_sub(const struct pb_message *m, unsigned number,
				      const struct ts_cursor *parent)
{
	const struct pb_value *v = &m->v[number - 1];

	if (!v->p)
		return ts_cursor(parent->p, 0, parent->off, parent->what, parent->err);
	return ts_cursor(v->p, (size_t)v->n, parent->off - (uint64_t)(parent->p - v->p), parent->what,
			 parent->err);
}

/* A signed number as "sint" stores it. */
static inline int64_t pb_zigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

#endif
