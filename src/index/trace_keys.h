/* SPDX-License-Identifier: MIT */
/*
 * The keys of one trace, derived from the user's secret.
 *
 * A process in the sandbox reads one trace, which may be hostile, and has the keys of that trace alone: what it
 * signs is used with no other trace, and the secret is not in its memory.  A trace is identified by its length and
 * by 192 KiB of it, so that a trace that is moved or copied keeps its index.  A packed recording has the keys of
 * the trace that was packed, if this user has packed it: its index is signed with them.
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
	char tag[34];		     /* the names of this trace's files in the cache directory begin so: "HEX-" */
};

/*
 * From now on the secret is that of the file @path (borrowed), which several users or machines share, and not the one in
 * the cache directory; before any key is made.
 *
 * Returns false if it cannot be used: the results of ts_secret_read().
 */
bool ts_trace_keys_share(const char *path, struct ts_error *err);

/*
 * Make the keys of the traces @traces now, because this process will be unable to read the secret.  A trace whose keys
 * cannot be made is noted, and ts_trace_keys() reports why.  A NULL trace is left out.
 *
 * Returns false if memory is exhausted.
 */
bool ts_trace_keys_prepare(const char *const *traces, size_t n);

/*
 * The keys of the trace @trace, which were prepared, or are made now.
 *
 * Returns false if there is neither a shared secret nor a cache directory, if the secret cannot be read or made, if the
 * trace cannot be read, or if others were prepared and these were not (TS_EIO); if memory is exhausted (TS_ENOMEM).
 */
bool ts_trace_keys(const char *trace, struct ts_trace_keys *keys, struct ts_error *err);

/*
 * The file @packed was made of the trace @trace: keep a note in the cache directory, signed with the trace's keys, so that
 * @packed has these keys, too.
 *
 * Returns false if the note cannot be written, or there is no cache directory; an index that was packed is then made again.
 */
bool ts_trace_keys_keep_origin(const char *trace, const char *packed, struct ts_error *err);

#endif
