/* SPDX-License-Identifier: MIT */
/*
 * A hash of all bytes of a trace, made piece by piece while the trace is read for other purposes, when its bytes are in
 * memory anyway.
 *
 * It is XXH3 of 128 bits under a secret that is derived from the signer: without the signer's key an attacker cannot choose
 * another trace of the same hash.  FORMAT says what is hashed: blocks of zeros are left out, so that a hole of a sparse
 * file is not read, and a copy in which the hole is written has the same hash.
 */
#ifndef TS_TRACE_HASH_H
#define TS_TRACE_HASH_H

#include <stdint.h>

#include "signer.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/source/source.h"

#define TS_TRACE_HASH_LEN 16

struct ts_trace_hash;

/*
 * Begin the hash of @src, which the caller frees; @src is reopened here, which is opened again, so that its progress does not
 * change.
 *
 * Returns NULL if that fails (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_trace_hash *ts_trace_hash_new(const struct ts_source *src, const struct ts_signer *signer, struct ts_error *err);

void ts_trace_hash_free(struct ts_trace_hash *h);

/* The offset up to which the bytes are in the hash. */
uint64_t ts_trace_hash_off(const struct ts_trace_hash *h);

/*
 * The trace has the @len bytes @data at the offset @off: they need not be read again for the hash.  If a little is missing
 * before them it is read.  If much is missing, or it cannot be read, this has no effect.
 */
void ts_trace_hash_take(struct ts_trace_hash *h, uint64_t off, const uint8_t *data, size_t len);

/*
 * Go on by up to @len bytes that are read, not beyond the offset @end.
 *
 * Returns TS_END if all bytes are in the hash.
 * Returns TS_ITEM if some are left.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT) (the errors of
 * ts_source_read()).
 */
enum ts_next ts_trace_hash_grow(struct ts_trace_hash *h, uint64_t end, uint64_t len, struct ts_error *err);

/* The hash of the trace, after TS_END. */
void ts_trace_hash_value(struct ts_trace_hash *h, uint8_t value[TS_TRACE_HASH_LEN]);

#endif
