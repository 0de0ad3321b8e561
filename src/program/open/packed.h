/* SPDX-License-Identifier: MIT */
/*
 * Packed recordings: `tracestub pack`, `tracestub unpack`, and their use by commands (src/source/pack.h).
 */
#ifndef TS_PROGRAM_PACKED_H
#define TS_PROGRAM_PACKED_H

#include "src/model/model.h"
#include "src/program/cli/cli.h"
#include "src/query/files/local_files.h"
#include "src/source/source.h"

/* Copies of packed files, in the cache directory. */
struct ts_packed_files {
	char *exec;                  /* owned; NULL: the program is not packed */
	char *grammar;               /* owned; NULL: the grammar is not packed */
	char *images[TS_MAX_IMAGES]; /* owned */
	unsigned n_images;
	struct ts_packed_library libraries[TS_MAX_IMAGES]; /* their paths are owned */
	unsigned n_libraries;
	struct ts_packed_debug debug[TS_MAX_IMAGES + 1]; /* their texts are owned; of libraries, and of the program */
	unsigned n_debug;
	uint64_t len;                /* bytes of all of them */
};

/*
 * Use the files that were packed with the trace @src, of cli->trace, if any: the marks, if the trace has none yet; the
 * grammar as --grammar, the program as --exec and the images as --image, if the command line names none; the libraries
 * and debug files.  *files is set to the copies to which @cli then points.  The caller must call ts_packed_files_fini()
 * in both cases.
 *
 * Returns false if the packed recording is damaged (TS_ECORRUPT, TS_ETRUNC, TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * If a copy cannot be written, or is too long, a warning is printed.
 */
bool ts_packed_adopt(struct ts_cli *cli, const struct ts_source *src, struct ts_packed_files *files,
		     struct ts_error *err);
void ts_packed_files_fini(struct ts_packed_files *files);

/* Is @path a folder?  unpack then writes all files into it. */
bool ts_is_folder(const char *path);

#endif
