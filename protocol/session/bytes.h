/* SPDX-License-Identifier: MIT */
/*
 * Memory as a client sees it: at its position, or in the trace frame that it has selected.
 */
#ifndef RSP_BYTES_H
#define RSP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct rsp_session;

/* Bytes of memory with their known flags. */
struct rsp_bytes {
	uint8_t *data;  /* owned; room for both */
	uint8_t *known; /* in the same memory */
};

/*
 * Allocate space for @len bytes.  Returns false if memory is exhausted (TS_ENOMEM).  The caller may call
 * rsp_bytes_fini() in both cases.
 */
bool rsp_bytes_init(struct rsp_bytes *b, size_t len, struct ts_error *err);
void rsp_bytes_fini(struct rsp_bytes *b);

/* Read @len bytes at @addr.  Returns false if the recording cannot be read (TS_EIO, TS_ENOMEM). */
bool rsp_bytes_read(struct rsp_bytes *b, const struct rsp_session *s, uint64_t addr, size_t len,
		    struct ts_error *err);

/* The number of known bytes before the first unknown one among the first @len bytes. */
size_t rsp_bytes_n_known(const struct rsp_bytes *b, size_t len);

#endif
