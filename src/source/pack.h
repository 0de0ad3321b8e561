/* SPDX-License-Identifier: MIT */
/*
 * A packed recording: a trace and its files in one file that is read in place.
 *
 * The file is a seekable zstd file (zstd_frames.h) of a tar archive (POSIX ustar): `zstd -dc FILE | tar x`
 * gives the same files without tracestub.  Members, in this order; all but the first two may be missing:
 *
 *      tracestub-pack     lines of a word and a number: "version 1", "mtime NS", "base 0xADDR"
 *      trace/NAME         the file of the trace, byte for byte
 *      thread/NAME        the files of its other threads, in their order
 *      beside/NAME        the files that its loader opens beside it
 *      grammar/NAME       the grammar of --grammar
 *      program/NAME       the recorded program (--exec)
 *      image/NAME         files beneath the recording (--image), in their order; image/0xBASE/NAME where a base
 *                         was given
 *      library/0xADDR/NAME  the recorded libraries, by the address of their lowest page
 *      debug/BUILD-ID/debug the debug files of the program and of libraries, which have no symbols themselves, by the
 *                         build-id in hex of the file that they belong to
 *      marks              the marks of the trace
 *      index, index.calls the index of the trace, and its calls if they are in a file beside it
 *
 * The nanoseconds of a file's time are in the last twelve bytes of its header, which ustar leaves unused, in octal.
 *
 * The index of find (TRACE.tsindex.find) is omitted: as with the index, only its author trusts it, and the first find
 * rebuilds it in one pass.
 */
#ifndef TS_PACK_H
#define TS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"
#include "zstd_write.h"

#define TS_PACK_NAME_LEN 100u

/* The contents of the first member. */
struct ts_pack_facts {
	uint64_t mtime; /* of the trace, in nanoseconds */
	bool has_base;
	uint64_t base; /* the address of the program's lowest page */
};

struct ts_pack_member {
	char name[TS_PACK_NAME_LEN + 1];
	uint64_t off, len; /* of its contents, in the archive */
	uint64_t mtime;    /* nanoseconds */
};

struct ts_pack {
	const struct ts_source *src; /* borrowed; the archive */
	struct ts_pack_facts facts;
	struct ts_pack_member *members; /* owned */
	size_t n, cap;
};

/* Does @src, unpacked, begin like the archive of a packed recording? */
bool ts_pack_is(const struct ts_source *src);

/*
 * Open the archive in the packed recording @path.  The caller closes it with ts_source_close().
 *
 * Returns NULL if the file is not a packed recording (TS_EUSAGE).
 * Returns NULL if the file cannot be opened or read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_pack_open_archive(const char *path, struct ts_error *err);

/*
 * List the members of the archive @src, which must stay open as long as @p is used.
 *
 * Returns false if it cannot be read (TS_EIO).
 * Returns false if it ends too early (TS_ETRUNC).
 * Returns false if it is damaged or has no trace (TS_ECORRUPT).
 * Returns false if it is of a later version (TS_EUNSUPPORTED).
 * Returns false if memory is exhausted (TS_ENOMEM).  ts_pack_fini() must be called either way.
 */
bool ts_pack_init(struct ts_pack *p, const struct ts_source *src, struct ts_error *err);
void ts_pack_fini(struct ts_pack *p);

/*
 * Returns the member called @name (with a '/' at its end: the first one in that folder), borrowed from @p.
 * Returns NULL if the archive lacks it.
 */
const struct ts_pack_member *ts_pack_find(const struct ts_pack *p, const char *name);

/*
 * Returns the member after @m (NULL: the first) that is in @folder, which ends in '/', borrowed from @p.
 * Returns NULL after the last one.
 */
const struct ts_pack_member *ts_pack_next(const struct ts_pack *p, const struct ts_pack_member *m,
					  const char *folder);

/* The last component of the member's name; NULL if it is not valid for a file. */
const char *ts_pack_file_name(const struct ts_pack_member *m);

/*
 * Open the contents of a member as a source, which the caller closes, with the member's time and the name ARCHIVE/NAME.
 *
 * Returns NULL if the archive cannot be opened again (TS_EIO, TS_ENOMEM).
 */
struct ts_source *ts_pack_open(const struct ts_pack *p, const struct ts_pack_member *m, struct ts_error *err);

/*
 * Append the contents of a member to @file.
 *
 * Returns false if the member cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if @file cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_pack_copy(const struct ts_pack *p, const struct ts_pack_member *m, struct ts_atomic_file *file,
		  struct ts_error *err);

/* ------------------------------------------------------------------------------------------------ writing */

struct ts_pack_writer {
	struct ts_atomic_file file;
	struct ts_zstd_writer zstd;
	void (*progress)(void *user, uint64_t n_bytes); /* NULL: not called; bytes taken so far */
	void *user;
};

/*
 * Begin to write the packed recording @path.
 *
 * Returns false if it cannot be written (TS_EIO), or memory is exhausted (TS_ENOMEM).  ts_pack_writer_fini()
 * must be called either way; it discards a file that was not finished.
 */
bool ts_pack_writer_init(struct ts_pack_writer *w, const char *path, const struct ts_pack_facts *facts,
			 struct ts_error *err);
void ts_pack_writer_fini(struct ts_pack_writer *w);

/*
 * Add all of @src as a member: @folder and the last component of @path, whose beginning is cut off if it is too long.
 * @folder ends in '/', or is the member's name and @path is NULL.
 *
 * Returns false as ts_pack_writer_init() does, or if @src cannot be read or becomes shorter (TS_EIO,
 * TS_ETRUNC).
 */
bool ts_pack_writer_add(struct ts_pack_writer *w, const char *folder, const char *path,
			const struct ts_source *src, struct ts_error *err);

/*
 * After the last member: complete the file and rename it to its path.
 *
 * Returns false if it cannot be written (TS_EIO), or if memory is exhausted (TS_ENOMEM).
 */
bool ts_pack_writer_finish(struct ts_pack_writer *w, struct ts_error *err);

#endif
