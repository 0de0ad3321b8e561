/* SPDX-License-Identifier: MIT */
/*
 * A filter for a server's output to a debugger: it stops requests to use the debugger's files.
 *
 * gdb opens, writes, renames and removes files of its user when its server asks for it: a packet "Fopen,...".  The server of
 * `tracestub gdb` reads a recording in a sandbox, and never asks.  Only input that the debugger certainly parses in the
 * same way is passed on: acknowledgements, and whole packets and notifications.  Answers to the debugger's own file
 * requests and to QTFrame, "F" and a number, pass.
 */
#ifndef RSP_GUARD_H
#define RSP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of a packet that is an answer: "$F", a sign, digits. */
#define RSP_GUARD_HEAD 24

/* All zero: between packets. */
struct rsp_guard {
	enum {
		RSP_GUARD_BETWEEN,
		RSP_GUARD_FIRST,	  /* after "$": the first byte decides */
		RSP_GUARD_ANSWER,  /* after "F": digits, or it is a request */
		RSP_GUARD_BODY,
		RSP_GUARD_COUNT,	  /* after "*": the repeat count of the previous byte */
		RSP_GUARD_CHECK_1, /* after "#": two digits */
		RSP_GUARD_CHECK_2,
		RSP_GUARD_BAD,
	} state;
	uint8_t head[RSP_GUARD_HEAD]; /* held back until it is known whether it may pass */
	unsigned n_head;
	const char *why; /* the reason of RSP_GUARD_BAD */
};

/*
 * Filter the @len bytes at @from.  The bytes that may pass, including those held back before, are written to @to, which
 * has room for len + RSP_GUARD_HEAD.  *n is set to their number.
 *
 * Returns true if the stream continues.
 * Returns false if a file request, or bytes that are not a packet, follow the written bytes.  guard->why is set to the
 * reason, and nothing passes any more.
 */
bool rsp_guard_take(struct rsp_guard *guard, const uint8_t *from, size_t len, uint8_t *to, size_t *n);

#endif
