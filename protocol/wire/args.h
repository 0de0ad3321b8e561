/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a packet, read in order.
 *
 * As struct ts_cursor, the reader cannot leave the packet, and it records a failure.  After a failure every
 * read returns 0 and no bytes are left, so that a handler reads all its arguments and tests once, before the
 * first use:
 *
 *      addr = rsp_args_u64(a);
 *      rsp_args_expect(a, ',');
 *      len = rsp_args_u64(a);
 *      if (!rsp_args_done(a))
 *              return RSP_BAD;
 */
#ifndef RSP_ARGS_H
#define RSP_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_buf;

struct rsp_args {
	const uint8_t *p; /* next byte; borrowed from the packet */
	size_t left;      /* bytes left */
	bool is_bad;      /* something was malformed */
	unsigned arg;     /* of the packet's line in its table (table.h) */
};

/* Process and thread numbers with a special meaning. */
#define RSP_TID_ANY 0
#define RSP_TID_ALL (-1)

/*
 * A thread id of the protocol: "N", "-1", "0", or with a process "pP.T", "pP.-1", "pP" (all its
 * threads), "p-1".
 */
struct rsp_tid {
	int64_t pid; /* RSP_TID_ANY where has_pid is false */
	int64_t tid;
	bool has_pid;
};

/* The arguments in the @len bytes at @packet, which are borrowed. */
static inline struct rsp_args rsp_args(const void *packet, size_t len)
{
	return (struct rsp_args){ packet, len, false, 0 };
}

/* Is there no failure so far? */
static inline bool rsp_args_ok(const struct rsp_args *a)
{
	return !a->is_bad;
}

/* Is there no failure, and is nothing left? */
static inline bool rsp_args_done(const struct rsp_args *a)
{
	return !a->is_bad && !a->left;
}

/* Record a failure; nothing is left then. */
void rsp_args_fail(struct rsp_args *a);

/* Returns the next byte without consuming it; -1 at the end. */
int rsp_args_peek(const struct rsp_args *a);

/*
 * Consume the next byte if it is @c, or the next bytes if they are @word.  Return false, and consume nothing,
 * if not.
 */
bool rsp_args_accept(struct rsp_args *a, char c);
bool rsp_args_accept_word(struct rsp_args *a, const char *word);

/*
 * Consume the next byte.  rsp_args_expect() fails if it is not @c.  rsp_args_switch() fails if it is neither
 * '1' nor '0', and returns true if it is '1'.
 */
void rsp_args_expect(struct rsp_args *a, char c);
bool rsp_args_switch(struct rsp_args *a);

/*
 * Consume a hex number of at least one digit, with any number of leading zeros.  rsp_args_i64() also accepts
 * '-' before it.
 *
 * Return the number; 0, and fail, if no digit follows or if the number does not fit the type.
 */
uint64_t rsp_args_u64(struct rsp_args *a);
uint32_t rsp_args_u32(struct rsp_args *a);
int64_t rsp_args_i64(struct rsp_args *a);

/* Consume exactly two hex digits: a signal, a byte.  Returns the number; 0 after a failure. */
uint8_t rsp_args_u8(struct rsp_args *a);

/*
 * Consume a thread id.  Fails for negative numbers other than -1, and for one thread of all processes
 * ("p-1.2").
 *
 * Returns the id; zeros after a failure.
 */
struct rsp_tid rsp_args_tid(struct rsp_args *a);

/* Returns the number of bytes that the next hex digits encode, up to the first byte that is not a digit. */
size_t rsp_args_hex_len(const struct rsp_args *a);

/*
 * Consume bytes that are pairs of hex digits, up to the first byte that is not a digit; there may be none.
 *
 * Fail if the number of digits is odd, if there are more than @max bytes, or if memory for the buffer is
 * exhausted.  rsp_args_hex() returns the number of bytes stored at @bytes.
 */
size_t rsp_args_hex(struct rsp_args *a, uint8_t *bytes, size_t max);
void rsp_args_hex_buf(struct rsp_args *a, struct ts_buf *bytes);

/*
 * Consume the bytes before the first byte of @stops, or all bytes.  *len is set to their number.
 *
 * Returns the bytes, borrowed from the packet.
 */
const uint8_t *rsp_args_until(struct rsp_args *a, const char *stops, size_t *len);

/*
 * Consume the rest of the packet, unchanged; binary data has been unescaped before.  *len is set to its
 * length.
 *
 * Returns the bytes, borrowed from the packet.
 */
const uint8_t *rsp_args_rest(struct rsp_args *a, size_t *len);

#endif
