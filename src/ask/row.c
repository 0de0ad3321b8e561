/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/trace/step.h"

void ts_row_init(struct ts_row *row)
{
	ts_buf_init(&row->texts);
	row->keeps_bytes = false;
	row->kept = NULL;
	ts_row_reset(row);
}

void ts_row_fini(struct ts_row *row)
{
	ts_buf_fini(&row->texts);
}

void ts_row_reset(struct ts_row *row)
{
	memset(row->cells, 0, sizeof(row->cells));
	row->group.id = 0;
	ts_buf_reset(&row->texts);
}

bool ts_row_repeats(struct ts_row *row, uint64_t id, unsigned first, unsigned n)
{
	if (!row->kept || !id)
		return false;
	row->group = (struct ts_row_group){ id, first, n };
	return row->kept[id % TS_KEPT_GROUPS] == id;
}

void ts_row_number(struct ts_row *row, unsigned i, uint64_t number)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_NUMBER, .number = number };
}

void ts_row_addr(struct ts_row *row, unsigned i, uint64_t addr)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_ADDR, .number = addr };
}

void ts_row_pc(struct ts_row *row, unsigned i, uint64_t pc)
{
	if (pc != TS_NO_PC)
		ts_row_addr(row, i, pc);
}

void ts_row_share(struct ts_row *row, unsigned i, double share)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_SHARE, .share = share };
}

void ts_row_text_len(struct ts_row *row, unsigned i, const char *text, size_t len)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_TEXT, .text = row->texts.len };
	ts_buf_put(&row->texts, text, len);
	ts_buf_putc(&row->texts, 0);
}

void ts_row_text(struct ts_row *row, unsigned i, const char *text)
{
	if (!text)
		return;
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_TEXT, .text = row->texts.len };
	ts_buf_put(&row->texts, text, strlen(text) + 1);
}

void ts_row_list(struct ts_row *row, unsigned i)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_LIST, .text = row->texts.len };
}

void ts_row_list_add(struct ts_row *row, unsigned i, const char *text)
{
	row->cells[i].number++;
	ts_buf_put(&row->texts, text, strlen(text) + 1);
}

void ts_row_list_end(struct ts_row *row, unsigned i)
{
	row->cells[i].number++;
	ts_buf_putc(&row->texts, 0);
}

/* Numbers are most of what is printed: printf() took half the time of a table. */
void ts_put_decimal(struct ts_buf *out, uint64_t n)
{
	uint8_t digits[20];
	unsigned at = sizeof(digits);

	do
		digits[--at] = (uint8_t)('0' + n % 10);
	while (n /= 10);
	ts_buf_put(out, digits + at, sizeof(digits) - at);
}

/* Sixteen digits at once: each half byte gets a byte of its own, then what is over nine is moved to the letters. */
void ts_put_hex(struct ts_buf *out, uint64_t n)
{
	unsigned n_digits = 1 + (63 - (unsigned)__builtin_clzll(n | 1)) / 4;
	uint8_t text[18] = { '0', 'x' };
	uint64_t halves[2];

	n <<= 64 - 4 * n_digits;
	halves[0] = n >> 32;
	halves[1] = n & UINT32_MAX;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t x = halves[i], over;

		x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
		x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
		x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
		over = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
		x = htobe64(x + UINT64_C(0x3030303030303030) + over * ('a' - '9' - 1));
		memcpy(text + 2 + 8 * i, &x, 8);
	}
	ts_buf_put(out, text, 2 + n_digits);
}

static void put_number(struct ts_buf *out, const uint8_t *data, size_t len, bool is_big_endian)
{
	char digits[2 + 2 * TS_SHOWN_BYTES] = "0x";
	uint64_t number = 0;
	size_t n = 2;

	if (len <= sizeof(number)) {
		for (size_t i = 0; i < len; i++)
			number = number << 8 | data[is_big_endian ? i : len - 1 - i];
		ts_put_hex(out, number);
		return;
	}
	for (size_t i = 0; i < 2 * len; i++) {
		uint8_t byte = data[is_big_endian ? i / 2 : len - 1 - i / 2];
		char digit = "0123456789abcdef"[i % 2 ? byte & 15 : byte >> 4];

		if (digit != '0' || n > 2 || i == 2 * len - 1)
			digits[n++] = digit;
	}
	ts_buf_put(out, digits, n);
}

/* The codes of instructions are known as a rule. */
static void put_known_bytes(struct ts_buf *out, const uint8_t *data, size_t len)
{
	uint8_t *p = ts_buf_add(out, 3 * len - 1);

	for (size_t i = 0; p && i < len; i++) {
		if (i)
			*p++ = ' ';
		*p++ = (uint8_t)"0123456789abcdef"[data[i] >> 4];
		*p++ = (uint8_t)"0123456789abcdef"[data[i] & 15];
	}
}

/* In memory order, @known NULL: none is; after @max of them the text is cut. */
static void put_bytes(struct ts_buf *out, const uint8_t *data, const uint8_t *known, size_t len, size_t max)
{
	size_t n = len < max ? len : max;
	bool is_known = n && known && !memchr(known, 0, n);

	if (is_known)
		put_known_bytes(out, data, n);
	for (size_t i = 0; i < n && !is_known; i++) {
		ts_buf_puts(out, i ? " " : "");
		if (known && known[i])
			ts_buf_hex(out, data + i, 1);
		else
			ts_buf_puts(out, TS_UNKNOWN_TEXT);
	}
	if (len > max)
		ts_buf_puts(out, " ...");
}

void ts_put_value(struct ts_buf *out, const uint8_t *data, const uint8_t *known, size_t len, bool is_number,
		  bool is_big_endian)
{
	if (is_number && known && len <= TS_SHOWN_BYTES && !memchr(known, 0, len))
		put_number(out, data, len, is_big_endian);
	else
		put_bytes(out, data, known, len, TS_SHOWN_BYTES);
}

void ts_row_value(struct ts_row *row, unsigned i, const uint8_t *data, const uint8_t *known, size_t len,
		  bool is_number, bool is_big_endian)
{
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_UNKNOWN, .number = len };
	if (!memchr(known, 1, len))
		return;
	row->cells[i] = (struct ts_cell){ .kind = TS_CELL_TEXT, .text = row->texts.len };
	ts_put_value(&row->texts, data, known, len, is_number, is_big_endian);
	ts_buf_putc(&row->texts, 0);
	if (!row->keeps_bytes)
		return;
	row->cells[i].bytes = row->texts.len;
	put_bytes(&row->texts, data, known, len, TS_MAX_VALUE_BYTES);
	ts_buf_putc(&row->texts, 0);
}

bool ts_row_has_bytes(const struct ts_row *row, unsigned i)
{
	return row->cells[i].kind == TS_CELL_UNKNOWN || row->cells[i].bytes;
}

void ts_row_put_bytes(const struct ts_row *row, unsigned i, struct ts_buf *out)
{
	const struct ts_cell *c = &row->cells[i];

	if (c->kind == TS_CELL_UNKNOWN)
		put_bytes(out, NULL, NULL, c->number, TS_MAX_VALUE_BYTES);
	else
		ts_buf_puts(out, row->texts.data ? (const char *)row->texts.data + c->bytes : "");
}

const char *ts_row_get(const struct ts_row *row, unsigned i)
{
	return row->texts.data ? (const char *)row->texts.data + row->cells[i].text : "";
}

void ts_put_grouped(struct ts_buf *out, uint64_t n)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			ts_buf_putc(out, ',');
		ts_buf_putc(out, (uint8_t)digits[i]);
	}
}
