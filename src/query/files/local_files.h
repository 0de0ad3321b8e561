/* SPDX-License-Identifier: MIT */
/*
 * Files of this machine that the recording names: a library at the recorded path, if it is the recorded one.
 *
 * A file is used only where its contents are those that the recording shows in memory; else a line in the log
 * says that it is another one.  Each name is tried once.
 */
#ifndef TS_LOCAL_FILES_H
#define TS_LOCAL_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "code_samples.h"
#include "src/query/query.h"
#include "src/source/source.h"

struct ts_local_file {
	char *path;            /* owned; as it was asked for */
	struct ts_source *src; /* owned; NULL: not there, or another file */
	char *copy;            /* owned; the path of the copy that src is; NULL: it is the file at the path */
};

/* A library that was packed with the recording; both borrowed. */
struct ts_packed_library {
	const char *path; /* of its copy */
	uint64_t first;   /* the address of its lowest page */
};

/* A file of symbols and lines that was packed with the recording; both borrowed. */
struct ts_packed_debug {
	const char *path; /* of its copy */
	const char *id;   /* the build-id, in hex, of the file that it belongs to */
};

struct ts_local_files {
	struct ts_query *q; /* borrowed */
	const struct ts_packed_library *packed; /* borrowed; they come before the files of this machine */
	size_t n_packed;
	const struct ts_packed_debug *debug; /* borrowed; they come before those of this machine */
	size_t n_debug;
	const char *kept; /* borrowed; the folder, with a '/' at its end, of copies that were made with the recording; NULL: none */
	struct ts_local_file *items; /* owned */
	size_t n, cap;
	/* owned; of one process, taken when they are first needed */
	struct ts_code_samples samples;
	uint32_t process;
	bool has_samples;
};

/*
 * The name, in that folder, of the copy of the library at @path: its '/' as %2F, its '%' as %25.
 *
 * Returns false if it is longer than a name of a file can be.
 */
bool ts_kept_name(const char *path, char name[NAME_MAX + 1]);

void ts_local_files_init(struct ts_local_files *files, struct ts_query *q);
void ts_local_files_fini(struct ts_local_files *files);

/*
 * Is @src the recorded program, by its contents?  Code that is in it was executed, all of it was as it is
 * there, and what is known of its headers in memory is the same.
 */
bool ts_local_file_is_program(struct ts_query *q, const struct ts_source *src);

/*
 * The file @path, if a module of the recording goes by this name or by another name of the same file (a
 * symbolic link), and holds what was recorded.
 *
 * Returns the file, borrowed until the object is freed.
 * Returns NULL if no module has this name, or its file was not found or differs.
 */
const struct ts_source *ts_local_file(struct ts_local_files *files, const char *path);

/*
 * Returns the path of that file, borrowed until the object is freed, if it is a copy that came with the recording.
 * Returns NULL if it is another file, or ts_local_file() returns NULL.
 */
const char *ts_local_copy(struct ts_local_files *files, const char *path);

#endif
