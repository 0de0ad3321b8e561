/* SPDX-License-Identifier: MIT */
/*
 * The identity of an index: whose trace it is of, who read it, and how.  An index is used only if its key
 * fits.
 */
#ifndef TS_INDEX_KEY_H
#define TS_INDEX_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "signer.h"
#include "src/base/error.h"
#include "src/trace/source.h"

struct ts_index_key {
	uint64_t trace_len;
	uint64_t trace_mtime; /* nanoseconds */
	uint64_t content;     /* hash of the trace's head, tail and some pieces between */
	uint64_t meaning;     /* hash of the options that decide how the trace is read */
	uint64_t version;     /* hash of the program's version: a later one may read it better */
	struct ts_signer signer;
};

/*
 * The key of the trace @src except for its signer; @version is a text that differs for another version of the
 * program, @meaning one that differs when options make the same version read the trace differently.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_index_key(const struct ts_source *src, const char *version, const char *meaning,
		  struct ts_index_key *key, struct ts_error *err);

#endif
