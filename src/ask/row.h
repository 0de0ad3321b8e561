/* SPDX-License-Identifier: MIT */
/*
 * A row of an answer: one cell for each column.
 *
 * Texts and values are in the row's buffer, so that a row is refilled without an allocation.
 */
#ifndef TS_ASK_ROW_H
#define TS_ASK_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

enum ts_cell_kind {
	TS_CELL_NULL,    /* unknown, or not applicable */
	TS_CELL_NUMBER,  /* a number: a position, a count, a length */
	TS_CELL_ADDR,    /* an address: "0x401000" */
	TS_CELL_TEXT,
	TS_CELL_SHARE,   /* a fraction of 1 */
	TS_CELL_LIST,    /* texts, each terminated */
	TS_CELL_UNKNOWN, /* a value of number bytes, none of them known */
};

struct ts_cell {
	enum ts_cell_kind kind;
	uint64_t number; /* NUMBER, ADDR; LIST: the number of texts; UNKNOWN: bytes */
	double share;
	size_t text;     /* TEXT and LIST: offset in the row's texts */
	size_t bytes;    /* TEXT of a value whose bytes are stored: their offset there; else 0 */
};

#define TS_MAX_COLUMNS 16u

/* A cell shows at most this many bytes of a value, and a mark if there are more. */
#define TS_SHOWN_BYTES 64u

/* The text of a byte, or of a text of a list, that is not known. */
#define TS_UNKNOWN_TEXT "??"

/* NAME_bytes has at most this many bytes of a value. */
#define TS_MAX_VALUE_BYTES (64 * 1024u)

/*
 * This byte in a TEXT cell, or in a text of a list, begins a remark: the text after it is shown to users only, after a
 * blank.
 */
#define TS_ROW_ASIDE '\x1f'

/* Consecutive cells that are the same in all rows with one id. */
struct ts_row_group {
	uint64_t id; /* 0: no group */
	unsigned first, n;
};

/* Groups of which a form has kept the printed cells, by id modulo their number. */
#define TS_KEPT_GROUPS 8192u

struct ts_row {
	struct ts_cell cells[TS_MAX_COLUMNS]; /* in the order of the verb's columns */
	struct ts_buf texts;
	bool keeps_bytes; /* set by the caller: ts_row_value() also stores the bytes of values */
	struct ts_row_group group;
	const uint64_t *kept; /* borrowed, set by the caller: ids whose printed cells it has; NULL: all cells are to be filled */
};

void ts_row_init(struct ts_row *row);
void ts_row_fini(struct ts_row *row);

/* Set all cells to null. */
void ts_row_reset(struct ts_row *row);

/* Fill cell @i.  If memory is exhausted, ts_buf_ok(&row->texts) is false afterwards. */
void ts_row_number(struct ts_row *row, unsigned i, uint64_t number);
void ts_row_addr(struct ts_row *row, unsigned i, uint64_t addr);
/* The cell stays null for TS_NO_PC. */
void ts_row_pc(struct ts_row *row, unsigned i, uint64_t pc);
void ts_row_share(struct ts_row *row, unsigned i, double share);
void ts_row_text(struct ts_row *row, unsigned i, const char *text); /* NULL: null */
void ts_row_text_len(struct ts_row *row, unsigned i, const char *text, size_t len);

/*
 * The @n cells from @first on are the same in all rows of this answer with this @id; 0: in no other row.
 *
 * Returns true if they need not be filled: the caller has printed them before.
 */
bool ts_row_repeats(struct ts_row *row, uint64_t id, unsigned first, unsigned n);

/*
 * Begin a list; its texts follow until another cell is filled.  Without texts it is an empty list, [] in JSON: the row has none of
 * what the column lists.  A caller that does not know leaves the cell null.
 */
void ts_row_list(struct ts_row *row, unsigned i);
void ts_row_list_add(struct ts_row *row, unsigned i, const char *text);
/* End a text of the list that the caller appended to the row's texts, without a null byte in it. */
void ts_row_list_end(struct ts_row *row, unsigned i);

/*
 * Fill cell @i with a value of @len bytes in target order; @known has 1 (known) or 0 for each byte.  @is_number: the value
 * is a register, or has 1, 2, 4 or 8 bytes, and is shown as a number if all bytes are known.
 */
void ts_row_value(struct ts_row *row, unsigned i, const uint8_t *data, const uint8_t *known, size_t len,
		  bool is_number, bool is_big_endian);

/* Returns the text of a TEXT cell, borrowed until the row changes. */
const char *ts_row_get(const struct ts_row *row, unsigned i);

/*
 * Append the bytes of the value in cell @i in memory order, unknown bytes as ??: "41 ?? 43".  A value of more than
 * TS_MAX_VALUE_BYTES bytes is truncated, with " ..." at its end.
 */
void ts_row_put_bytes(const struct ts_row *row, unsigned i, struct ts_buf *out);

/* Does the cell have a value whose bytes are stored? */
bool ts_row_has_bytes(const struct ts_row *row, unsigned i);

/* Append a value as text, as ts_row_value() does: "0x1f", or "41 ?? 43"; @known NULL: no byte is. */
void ts_put_value(struct ts_buf *out, const uint8_t *data, const uint8_t *known, size_t len, bool is_number,
		  bool is_big_endian);

/* Append @n: 4711; 0x1267. */
void ts_put_decimal(struct ts_buf *out, uint64_t n);
void ts_put_hex(struct ts_buf *out, uint64_t n);

/* Append @n with its digits in groups of three: "4,711". */
void ts_put_grouped(struct ts_buf *out, uint64_t n);

#endif
