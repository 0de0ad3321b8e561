/* SPDX-License-Identifier: MIT */
/*
 * Opening a trace as the user names it: a file, a compressed file, or a pipe.
 *
 * Compression is recognised by the first bytes, never by the name.  A seekable zstd file is read in place.
 * Other compressed files are unpacked once, into a file in the cache directory that later runs use; little
 * data is unpacked into memory instead.  Data from a pipe is spooled in the same way, but not kept.  In a
 * packed recording (pack.h) the trace is opened; ts_source_archive() returns the other members.
 *
 * Truncated or damaged compressed data is unpacked up to the damage; ts_source_damage() then returns the error.
 */
#ifndef TS_UNPACK_H
#define TS_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

/* The progress of unpacking. */
struct ts_unpacking {
	const char *name;    /* the trace */
	uint64_t n_in;       /* bytes read */
	uint64_t in_len;     /* their total; 0: unknown */
	uint64_t n_out;      /* bytes unpacked */
	bool is_done;
};

struct ts_unpack_options {
	const char *dir;     /* the cache directory; NULL: no file is kept */
	const char *tag;     /* prefix of the names of kept files; NULL: none */
	uint64_t max_len;    /* the maximum length; 0: the free space */

	/*
	 * Can data that begins with these @len bytes be a trace?  Called before much has been unpacked; NULL:
	 * any data can.  Returns false with @err filled if not.
	 */
	bool (*check)(void *user, const uint8_t *head, size_t len, struct ts_error *err);
	void (*progress)(void *user, const struct ts_unpacking *at); /* NULL: not called */
	void *user;
};

/* Does this path name the standard input: "-" or /dev/stdin? */
bool ts_is_stdin(const char *path);

/*
 * Open the trace @path.
 *
 * Returns the source, which the caller closes with ts_source_close().  Its name is @path, or @path with the
 * name in the packed recording; its time is the time of the file @path.
 * Returns NULL if the trace cannot be opened, read, or unpacked (TS_EIO).
 * Returns NULL if the trace is neither a file nor a pipe (TS_EUSAGE).
 * Returns NULL if the trace is damaged from its beginning (TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if the trace is larger than the free space or than opt->max_len (TS_ELIMIT).
 * Returns NULL if opt->check refuses the trace, with its error.
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_trace_open(const char *path, const struct ts_unpack_options *opt, struct ts_error *err);

struct ts_pack;
struct ts_pack_member;

/* As ts_trace_open(), for a file in a packed recording.  Returns as ts_trace_open() does. */
struct ts_source *ts_trace_open_packed(const struct ts_pack *p, const struct ts_pack_member *m,
				       const struct ts_unpack_options *opt, struct ts_error *err);

#endif
