/* SPDX-License-Identifier: MIT */
/*
 * The messages between the SQLite extension (src/sqlite) and the process that reads the recording (answers.h).
 *
 * A message is its length in 4 bytes, followed by that number of bytes.  Numbers are little-endian.  This file is
 * compiled twice, because the extension calls SQLite through the pointers that it receives when it is loaded.
 *
 *   hello     (answers only) u32 tables { text name, text declaration } u32 functions { text name, u8 arguments }
 *   'B' best  u32 table, u64 used columns, u32 terms { i32 column, u8 operator, u8 usable }, u32 order { i32 column, u8 desc }
 *             -> i32 result; if it is SQLITE_OK: terms { i32 argument, u8 omit }, u8 ordered, f64 cost, i64 rows, text words
 *   'F' filter u32 cursor, u32 table, u64 used columns, u32 rows wanted, u8 order (0 none, 1 ascending, 2 descending),
 *             u32 terms { i32 column, u8 operator, value }
 *             -> rows
 *   'N' next  u32 cursor, u32 rows wanted
 *             -> rows
 *   'C' close u32 cursor -> nothing
 *   'S' call  text function, u32 arguments { value } -> value
 *   rows      u8 end, u32 rows { i64 number, values of the used columns }; at the end: u8 cut, text why
 *
 * An answer begins with an i32, SQLITE_OK or SQLite's error; after an error only a text follows.
 */
#ifndef TS_SQL_WIRE_H
#define TS_SQL_WIRE_H

#ifdef TS_SQLITE_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include <stdbool.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/base/cursor.h"

/* The limit on the length of a message. */
#define TS_WIRE_MAX (128u * 1024 * 1024)

/* The length after which the rows of one answer end. */
#define TS_WIRE_ROWS_LEN (64u * 1024)

/* A value, read; texts and blobs are borrowed from the message. */
struct ts_wire_value {
	int type; /* SQLITE_INTEGER ... SQLITE_NULL */
	union {
		int64_t number;
		double real;
		struct {
			const uint8_t *data;
			uint32_t len;
		};
	};
};

/* Begin a message, and finish it: ts_wire_finish() sets its length. */
void ts_wire_begin(struct ts_buf *out);
void ts_wire_finish(struct ts_buf *out);

/* Append a member of a message.  After memory is exhausted, ts_buf_ok() of @out is false. */
void ts_wire_put_u32(struct ts_buf *out, uint32_t v);
void ts_wire_put_u64(struct ts_buf *out, uint64_t v);
void ts_wire_put_real(struct ts_buf *out, double v);
void ts_wire_put_text(struct ts_buf *out, const char *text, size_t len);
void ts_wire_put_value(struct ts_buf *out, sqlite3_value *value);

/* Read a floating-point number.  Returns 0 after a failure. */
double ts_wire_real(struct ts_cursor *c);

/*
 * Read a text, which is not terminated; *len is set to its length.
 *
 * Returns the text, borrowed from the message; NULL after a failure.
 */
const char *ts_wire_text(struct ts_cursor *c, uint32_t *len);
/* Read a value into *v; it is SQLITE_NULL after a failure. */
void ts_wire_value(struct ts_cursor *c, struct ts_wire_value *v);

#endif
