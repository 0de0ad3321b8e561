/* SPDX-License-Identifier: MIT */
#include "pbwire.h"

#include <inttypes.h>

/* Nothing is left to read after a failure. */
static bool fail(struct ts_cursor *c)
{
	c->left = 0;
	return false;
}

static void advance(struct ts_cursor *c, const uint8_t *to)
{
	size_t len = (size_t)(to - c->p);

	c->p = to;
	c->left -= len;
	c->off += len;
}

const uint8_t *pb_get_long_varint(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < 7 * PB_MAX_VARINT && p < end; shift += 7) {
		uint8_t b = *p++;

		sum |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) {
			*n = sum;
			return p;
		}
	}
	return NULL;
}

uint64_t pb_varint(struct ts_cursor *c)
{
	const uint8_t *end;
	uint64_t n;

	if (c->left && (end = pb_get_varint(c->p, c->p + c->left, &n)) != NULL) {
		advance(c, end);
		return n;
	}
	ts_fail(c->err, TS_ECORRUPT, c->off, "%s: a varint that %s", c->what,
		c->left >= PB_MAX_VARINT ? "is longer than ten bytes" : "does not end");
	fail(c);
	return 0;
}

/* The value of a field of wire type @wire. */
static bool read_value(struct ts_cursor *c, unsigned wire, struct pb_value *v)
{
	v->p = NULL;
	switch (wire) {
	case PB_VARINT: v->n = pb_varint(c); return ts_ok(c);
	case PB_BYTES: v->n = pb_varint(c); break;
	case PB_FIXED64: v->n = 8; break;
	default: v->n = 4; break; /* PB_FIXED32, the only one left */
	}
	if (!ts_ok(c))
		return false;
	if (v->n > c->left) {
		ts_fail(c->err, TS_ECORRUPT, c->off,
			"%s: a field of %" PRIu64 " bytes, but %zu bytes are left around it", c->what, v->n,
			c->left);
		return fail(c);
	}
	v->p = c->p;
	advance(c, c->p + v->n);
	return true;
}

/* Key and value of the next field. */
static bool read_field(struct ts_cursor *c, const struct pb_message_def *def, uint64_t *number,
		       struct pb_value *v)
{
	uint64_t off = c->off, key = pb_varint(c);
	unsigned wire = key & 7;

	if (!ts_ok(c))
		return false;
	*number = key >> 3;
	if (!*number || *number >> 29 || (wire > PB_BYTES && wire != PB_FIXED32)) {
		ts_fail(c->err, TS_ECORRUPT, off,
			"%s: an invalid key in %s: field number %" PRIu64 ", wire type %u", c->what, def->name,
			*number, wire);
		return fail(c);
	}
	if (*number <= def->n_fields && def->fields[*number - 1].wire != wire) {
		ts_fail(c->err, TS_ECORRUPT, off, "%s: %s of %s has wire type %u, not %d", c->what,
			def->fields[*number - 1].name, def->name, wire, def->fields[*number - 1].wire);
		return fail(c);
	}
	return read_value(c, wire, v);
}

/*
 * Read the fields from @p on that are in the order of their numbers, each at most once, as far as they are
 * numbers and bytes; those that are not there are zero.
 *
 * Returns where the first other one begins (a damaged one too), or @end.
 */
static const uint8_t *read_in_order(const uint8_t *p, const uint8_t *end, const struct pb_message_def *def,
				    struct pb_message *m)
{
	m->present = 0;
	for (unsigned i = 0; i < def->n_fields; i++) {
		enum pb_wire wire = def->fields[i].wire;

		if (wire == PB_VARINT || wire == PB_BYTES)
			p = pb_get_field(p, end, i + 1, wire, m);
		else
			m->v[i] = (struct pb_value){ 0 };
	}
	return p;
}

static bool fail_missing(struct ts_cursor *c, const struct pb_message_def *def, uint32_t missing,
			 uint64_t off)
{
	ts_fail(c->err, TS_ECORRUPT, off, "%s: %s without its %s", c->what, def->name,
		def->fields[__builtin_ctz(missing)].name);
	return fail(c);
}

bool pb_read(struct ts_cursor *c, const struct pb_message_def *def, struct pb_message *m)
{
	uint64_t off = c->off, number;

	advance(c, read_in_order(c->p, c->p + c->left, def, m));
	while (c->left) {
		struct pb_value v;

		if (!read_field(c, def, &number, &v))
			return false;
		if (number > def->n_fields)
			continue;
		m->present |= 1u << (number - 1);
		m->v[number - 1] = v;
	}
	if (def->must & ~m->present)
		return fail_missing(c, def, def->must & ~m->present, off);
	return true;
}

bool pb_next_of(struct ts_cursor *message, const struct pb_message_def *def, unsigned wanted,
		struct ts_cursor *item)
{
	uint64_t number;
	struct pb_value v;

	while (message->left) {
		if (!read_field(message, def, &number, &v))
			return false;
		if (number != wanted)
			continue;
		*item = ts_cursor(v.p, (size_t)v.n, message->off - v.n, message->what, message->err);
		return true;
	}
	return false;
}
