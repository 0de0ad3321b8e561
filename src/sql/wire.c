/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <string.h>

static void put_number(struct ts_buf *out, uint64_t v, size_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	ts_buf_put(out, bytes, len);
}

void ts_wire_begin(struct ts_buf *out)
{
	ts_buf_reset(out);
	put_number(out, 0, 4);
}

void ts_wire_finish(struct ts_buf *out)
{
	for (size_t i = 0; i < 4 && ts_buf_ok(out); i++)
		out->data[i] = (uint8_t)((out->len - 4) >> 8 * i);
}

void ts_wire_put_u32(struct ts_buf *out, uint32_t v)
{
	put_number(out, v, 4);
}

void ts_wire_put_u64(struct ts_buf *out, uint64_t v)
{
	put_number(out, v, 8);
}

void ts_wire_put_real(struct ts_buf *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_number(out, bits, 8);
}

void ts_wire_put_text(struct ts_buf *out, const char *text, size_t len)
{
	put_number(out, len, 4);
	ts_buf_put(out, text, len);
}

void ts_wire_put_value(struct ts_buf *out, sqlite3_value *value)
{
	int type = sqlite3_value_type(value);

	ts_buf_putc(out, (uint8_t)type);
	switch (type) {
	case SQLITE_INTEGER: put_number(out, (uint64_t)sqlite3_value_int64(value), 8); break;
	case SQLITE_FLOAT: ts_wire_put_real(out, sqlite3_value_double(value)); break;
	case SQLITE_TEXT:
		ts_wire_put_text(out, (const char *)sqlite3_value_text(value), (size_t)sqlite3_value_bytes(value));
		break;
	case SQLITE_BLOB:
		ts_wire_put_text(out, sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value));
		break;
	default: break;
	}
}

double ts_wire_real(struct ts_cursor *c)
{
	uint64_t bits = ts_u64le(c);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

const char *ts_wire_text(struct ts_cursor *c, uint32_t *len)
{
	const uint8_t *data;

	*len = ts_u32le(c);
	data = ts_take(c, *len);
	if (!data)
		*len = 0;
	return data ? (const char *)data : "";
}

void ts_wire_value(struct ts_cursor *c, struct ts_wire_value *v)
{
	*v = (struct ts_wire_value){ .type = ts_u8(c) };
	switch (v->type) {
	case SQLITE_INTEGER: v->number = (int64_t)ts_u64le(c); break;
	case SQLITE_FLOAT: v->real = ts_wire_real(c); break;
	case SQLITE_TEXT:
	case SQLITE_BLOB: v->data = (const uint8_t *)ts_wire_text(c, &v->len); break;
	default: v->type = SQLITE_NULL; break;
	}
}
