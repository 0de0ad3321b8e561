/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer with checked growth.
 *
 * After memory was exhausted, appends do nothing and the failure remains, so that a writer tests once, at the end, with
 * ts_buf_ok().
 */
#ifndef TS_BUF_H
#define TS_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_buf {
	uint8_t *data; /* owned */
	size_t len;
	size_t cap; /* greater than len, which leaves space for a null byte; 0 with data NULL */
	bool is_failed; /* memory was exhausted during an append */
};

void ts_buf_init(struct ts_buf *b);
void ts_buf_fini(struct ts_buf *b);

/* Empty the buffer and reset a failure; its memory is kept. */
void ts_buf_reset(struct ts_buf *b);

/* Returns true if memory was not exhausted since the buffer was initialized or reset. */
bool ts_buf_ok(const struct ts_buf *b);

/*
 * Reserve @len more bytes, which are not yet counted in len.
 *
 * Returns their address, valid until the next append.
 * Returns NULL if memory is exhausted.
 */
uint8_t *ts_buf_room(struct ts_buf *b, size_t len);

/*
 * Append @len uninitialized bytes.
 *
 * Returns their address, valid until the next append.
 * Returns NULL if memory is exhausted.
 */
uint8_t *ts_buf_add(struct ts_buf *b, size_t len);

/* Append bytes, a character, a text, or formatted text.  After a failure they do nothing: see ts_buf_ok(). */
void ts_buf_put(struct ts_buf *b, const void *data, size_t len);
static inline void ts_buf_putc(struct ts_buf *b, uint8_t c)
{
	if (__builtin_expect(b->len + 1 < b->cap && !b->is_failed, 1))
		b->data[b->len++] = c;
	else
		ts_buf_put(b, &c, 1);
}
void ts_buf_puts(struct ts_buf *b, const char *text);
void ts_buf_printf(struct ts_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ts_buf_vprintf(struct ts_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Append "position 1 of 3 (33.33%)".  The percentage is rounded down: only the last position is 100%. */
void ts_buf_position(struct ts_buf *b, uint64_t pos, uint64_t last);

/* Append two lower-case hex digits a byte. */
void ts_buf_hex(struct ts_buf *b, const void *data, size_t len);

/* Drop the first @len bytes. */
void ts_buf_consume(struct ts_buf *b, size_t len);

/* Returns the contents, terminated, valid until the next append; "" after a failure. */
const char *ts_buf_text(struct ts_buf *b);

#endif
