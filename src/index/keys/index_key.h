/* SPDX-License-Identifier: MIT */
/*
 * The identity of an index: its trace, its user, the version of the program, and the options.  An index is used only if
 * its key fits.
 *
 * The samples in a key do not reveal a change elsewhere, and any user can set the time of modification back.  Therefore
 * an index is used without reading the trace only if the trace's file has the inode and the ctime that it had when the
 * index was made: every write sets the ctime to the current time, and only the system sets it.  (Two writes are not
 * detected: a write by a process that had mapped the file and written the same page before, in the seconds until the
 * system writes that page to the disk; and a write after a privileged user has set the system's clock back.)  A file
 * that was copied, moved or got other permissions also has another inode or ctime: then the whole trace is compared
 * once with a hash (index_verified.h).
 */
#ifndef TS_INDEX_KEY_H
#define TS_INDEX_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "signer.h"
#include "src/base/error.h"
#include "src/source/source.h"

struct ts_index_key {
	uint64_t trace_len;
	uint64_t trace_mtime; /* nanoseconds */
	uint64_t content;     /* hash of the trace's head, tail and some pieces between */
	uint64_t meaning;     /* hash of the options that determine how the trace is read */
	uint64_t version;     /* hash of the program's version: another version may read the trace differently */
	struct ts_signer signer;
	uint64_t trace_inode, trace_ctime; /* of the trace's file when the index was begun (source.h) */
};

/*
 * The key of the trace @src except for its signer, which is zero; @version is a text that differs for another version of the
 * program, @meaning one that differs when options make the same version read the trace differently.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_index_key(const struct ts_source *src, const char *version, const char *meaning,
		  struct ts_index_key *key, struct ts_error *err);

#endif
