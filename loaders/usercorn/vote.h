/* SPDX-License-Identifier: MIT */
/*
 * Finds the place in a region of bytes that were recorded without it, from the execution: from what
 * instructions load from the region before anything was written there, and from the form of calls and jumps
 * in it.
 */
#ifndef LOADERS_USERCORN_VOTE_H
#define LOADERS_USERCORN_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* A question: at which shift in [addr, addr + len) do the @data_len bytes lie? */
struct ucir_vote {
	uint64_t addr, len;
	uint64_t data_len;   /* less than len */
	const uint8_t *data; /* borrowed; neither its first nor its last byte is zero */
	uint32_t thread;
	/* The answer. */
	bool is_decided;
	uint64_t shift;
	uint32_t n_for,
		n_against; /* bytes seen that are not zero and fit there; bytes seen that do not fit */
};

/* The largest number of questions; further ones are not answered. */
#define UCIR_MAX_VOTES 32

/*
 * Answer the @n (at most UCIR_MAX_VOTES) questions, as far as a bounded first part of the trace can.  If the
 * trace is damaged there, the part before is used.
 *
 * Returns false if the trace cannot be read (TS_EIO), or if memory is exhausted (TS_ENOMEM).
 */
bool ucir_vote(struct usercorn *rec, struct ucir_vote *votes, size_t n, struct ts_error *err);

#endif
