/* SPDX-License-Identifier: MIT */
#include "pbwire.h"

#include <inttypes.h>

/* Nothing is left to read after a failure. */
static bool fail(struct ts_cursor *c)
{
	c->left = 0;
	return false;
}

uint64_t pb_long_varint(struct ts_cursor *c)
{
	uint64_t off = c->off, n = 0;

	for (unsigned i = 0; i < 10 && c->left; i++) {
		uint8_t b = *c->p++;

		c->left--;
		c->off++;
		n |= (uint64_t)(b & 0x7f) << (7 * i);
		if (b < 0x80)
			return n;
	}
	ts_fail(c->err, TS_ECORRUPT, off, "%s: a varint that %s", c->what,
		c->off - off == 10 ? "is longer than ten bytes" : "does not end");
	fail(c);
	return 0;
}

/* The value of a field of wire type @wire. */
static bool read_value(struct ts_cursor *c, unsigned wire, struct pb_value *v)
{
	v->p = NULL;
	v->off = c->off;
	switch (wire) {
	case PB_VARINT:
		v->n = pb_varint(c);
		return ts_ok(c);
	case PB_BYTES:
		v->n = pb_varint(c);
		v->off = c->off;
		break;
	case PB_FIXED64:
		v->n = 8;
		break;
	default: /* PB_FIXED32: there is no other */
		v->n = 4;
		break;
	}
	if (!ts_ok(c))
		return false;
	if (v->n > c->left) {
		ts_fail(c->err, TS_ECORRUPT, v->off, "%s: a field of %" PRIu64 " bytes, but %zu bytes are left around it", c->what,
			v->n, c->left);
		return fail(c);
	}
	v->p = c->p;
	c->p += v->n;
	c->left -= (size_t)v->n;
	c->off += v->n;
	return true;
}

/* Key and value of the next field. */
static inline bool read_field(struct ts_cursor *c, const struct pb_message_def *def, uint64_t *number, struct pb_value *v)
{
	uint64_t off = c->off, key = pb_varint(c);
	unsigned wire = key & 7;

	if (!ts_ok(c))
		return false;
	*number = key >> 3;
	if (!*number || *number >> 29 || (wire > PB_BYTES && wire != PB_FIXED32)) {
		ts_fail(c->err, TS_ECORRUPT, off, "%s: field number %" PRIu64 " with wire type %u in %s, which is none", c->what,
			*number, wire, def->name);
		return fail(c);
	}
	if (*number <= def->n_fields && def->fields[*number - 1].wire != wire) {
		ts_fail(c->err, TS_ECORRUPT, off, "%s: %s of %s has wire type %u, not %d", c->what,
			def->fields[*number - 1].name, def->name, wire, def->fields[*number - 1].wire);
		return fail(c);
	}
	return read_value(c, wire, v);
}

bool pb_read(struct ts_cursor *c, const struct pb_message_def *def, struct pb_message *m)
{
	uint64_t off = c->off, number;

	m->present = 0;
	for (unsigned i = 0; i < def->n_fields; i++)
		m->v[i] = (struct pb_value){ 0 };
	while (c->left) {
		struct pb_value v;

		if (!read_field(c, def, &number, &v))
			return false;
		if (number > def->n_fields)
			continue;
		m->present |= 1u << (number - 1);
		m->v[number - 1] = v;
	}
	for (unsigned i = 0; i < def->n_fields; i++) {
		if (def->fields[i].is_must && !(m->present >> i & 1)) {
			ts_fail(c->err, TS_ECORRUPT, off, "%s: %s without its %s", c->what, def->name, def->fields[i].name);
			return fail(c);
		}
	}
	return ts_ok(c);
}

bool pb_next_of(struct ts_cursor *message, const struct pb_message_def *def, unsigned wanted, struct ts_cursor *item)
{
	uint64_t number;
	struct pb_value v;

	while (message->left) {
		if (!read_field(message, def, &number, &v))
			return false;
		if (number != wanted)
			continue;
		*item = ts_cursor(v.p, (size_t)v.n, v.off, message->what, message->err);
		return true;
	}
	return false;
}
