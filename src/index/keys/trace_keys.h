/* SPDX-License-Identifier: MIT */
/*
 * The keys of one trace, derived from the user's secret.
 *
 * A process in the sandbox reads one trace, which may be hostile, and holds the keys of that trace only: its signatures
 * are not valid for other traces, and the secret is not in its memory.  A trace is identified by its length and
 * by 192 KiB of it, so that a trace that is moved or copied keeps its index.  A packed recording has the keys of
 * the trace that was packed, if this user packed it: its index is signed with them.
 */
#ifndef TS_TRACE_KEYS_H
#define TS_TRACE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signer.h"
#include "src/base/error.h"

#define TS_TRACE_ID_LEN 32

struct ts_trace_keys {
	struct ts_signer signer;
	uint8_t id[TS_TRACE_ID_LEN]; /* public */
	char tag[34];		     /* the prefix of the names of this trace's files in the cache directory: "HEX-" */
};

/*
 * Use the secret in the file @path (borrowed), which several users or machines share, instead of the secret in the
 * cache directory.  Called before any key is made.
 *
 * Returns false if it cannot be read, has another length than a secret, or may be read by other users (TS_EIO).
 */
bool ts_trace_keys_share(const char *path, struct ts_error *err);

/*
 * Make the keys of the traces @traces now, because this process will be unable to read the secret.  If the keys of a
 * trace cannot be made, ts_trace_keys() reports the reason.  NULL traces are ignored.
 *
 * Returns false if memory is exhausted.
 */
bool ts_trace_keys_prepare(const char *const *traces, size_t n);

/*
 * Get the keys of the trace @trace, which were prepared, or are made now.
 *
 * Returns false without a shared secret and a cache directory (TS_EIO).
 * Returns false if the secret cannot be read or made (TS_EIO).
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if keys of other traces were prepared and these were not (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_trace_keys(const char *trace, struct ts_trace_keys *keys, struct ts_error *err);

/*
 * Record in the cache directory that the file @packed was made from the trace @trace, signed with the trace's keys, so
 * that @packed has these keys, too.
 *
 * Returns false if the file cannot be written, or no cache directory exists (TS_EIO): the packed index will then not be used.
 */
bool ts_trace_keys_keep_origin(const char *trace, const char *packed, struct ts_error *err);

#endif
