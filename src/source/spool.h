/* SPDX-License-Identifier: MIT */
/*
 * A file that is written once, front to back, and then read as a source.
 *
 * It begins in memory and is moved to a directory when it, or all spools together, become too large.  The file has no
 * name until ts_spool_keep(), so that it disappears if the program ends before.
 */
#ifndef TS_SPOOL_H
#define TS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

/*
 * The largest spool in memory, and the limit for all spools in memory together.  A packed recording determines their
 * number, because it has the logs of any number of threads.
 */
#define TS_SPOOL_IN_MEMORY  (UINT64_C(4) << 20)
#define TS_SPOOLS_IN_MEMORY (UINT64_C(64) << 20)

struct ts_spool {
	const char *dir;  /* borrowed; its directory, NULL: the one for temporary files */
	int fd;           /* owned; -1: none */
	uint64_t len;
	uint64_t max_len; /* limit on the bytes written */
	bool is_in_memory;
	bool is_limit_room; /* max_len is the free space of the directory */
};

/*
 * An empty spool for at most @max_len bytes, and at most the free space of its directory.
 *
 * Returns false if the system refuses (TS_EIO).  ts_spool_fini() must be called either way.
 */
bool ts_spool_init(struct ts_spool *s, const char *dir, uint64_t max_len, struct ts_error *err);
void ts_spool_fini(struct ts_spool *s);

/* Create an unnamed file in @dir, for reading and writing.  Returns -1 with errno if that fails. */
int ts_spool_open(const char *dir);

/* Append.  Returns false if the spool would become too long (TS_ELIMIT) or cannot be written (TS_EIO). */
bool ts_spool_write(struct ts_spool *s, const void *data, size_t len, struct ts_error *err);

/*
 * Give the file the name @path, in its directory, replacing any file of that name.
 *
 * Returns false if the spool is in memory, or a system call fails: the spool can still be used.
 */
bool ts_spool_keep(struct ts_spool *s, const char *path);

/*
 * Convert the contents to a source; the spool is empty afterwards.
 *
 * Returns the source, which the caller closes with ts_source_close().
 * Returns NULL if its facts cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_spool_take(struct ts_spool *s, const char *name, struct ts_error *err);

#endif
