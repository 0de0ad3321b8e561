/* SPDX-License-Identifier: MIT */
/*
 * The separate file with the symbols and lines of a program or library that has been stripped, as gdb finds it (GDB manual,
 * "Debugging Information in Separate Files").
 */
#ifndef TS_SYMBOLS_DEBUG_FILE_H
#define TS_SYMBOLS_DEBUG_FILE_H

#include "src/query/local_files.h"
#include "src/source/source.h"

/* Where systems keep them. */
#define TS_DEBUG_FOLDER "/usr/lib/debug"

/*
 * Open the debug file of the ELF file @src: of the @n_packed that were packed with the recording, or in @folder, by its
 * build-id, else the one that its section .gnu_debuglink names, beside @src, in .debug beside it, or below
 * @folder; or so at @path, of which @src may be a copy (NULL: it is none).
 *
 * Returns it, to be closed by the caller; NULL if @src names none, none is there, or the build-id or the checksum of
 * what is there is another one.
 */
struct ts_source *ts_debug_file_open(const struct ts_source *src, const char *path, const struct ts_packed_debug *packed,
				     size_t n_packed, const char *folder);

#endif
