/* SPDX-License-Identifier: MIT */
/*
 * Is a file the one that was in memory?  By its build-id, and by the bytes of all code that was executed, as they
 * were at position 0: a program that unpacks or changes itself begins as its file.
 */
#ifndef TS_FILE_MATCH_H
#define TS_FILE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"
#include "src/object/object.h"
#include "src/source/source.h"

enum ts_build {
	TS_BUILD_UNKNOWN, /* the file has no build-id, or memory does not show it */
	TS_BUILD_SAME,
	TS_BUILD_OTHER,
};

struct ts_file_match {
	enum ts_build build;
	uint64_t n_same, n_different; /* bytes of code */
	uint64_t first_different;     /* an address in memory, if n_different */
};

/*
 * Compare @src, whose headers are @o, with what is known of memory of @process at position 0, where the file
 * lies @moved from where it is linked.  The bytes are those of pages in which code was executed or, while the recording is
 * being read, of the first 1,024 pages of code; in a PE file that was moved, words that differ by @moved are the same.
 *
 * Returns false if @src cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_file_match(struct ts_query *q, const struct ts_source *src, const struct ts_object *o, uint32_t process,
		   uint64_t moved, struct ts_file_match *match, struct ts_error *err);

/* Is it certain that the file is another one?  A tenth of its code may differ: breakpoints, patches. */
static inline bool ts_file_is_other(const struct ts_file_match *m)
{
	return m->build == TS_BUILD_OTHER ||
	       (m->build == TS_BUILD_UNKNOWN && m->n_different && m->n_same < 9 * m->n_different);
}

#endif
