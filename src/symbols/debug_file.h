/* SPDX-License-Identifier: MIT */
/*
 * The separate file with the symbols and lines of a stripped program or library, found as gdb does (GDB manual,
 * "Debugging Information in Separate Files").
 */
#ifndef TS_SYMBOLS_DEBUG_FILE_H
#define TS_SYMBOLS_DEBUG_FILE_H

#include "src/query/files/local_files.h"
#include "src/source/source.h"

/* The system's folder of debug files. */
#define TS_DEBUG_FOLDER "/usr/lib/debug"

/*
 * Open the debug file of the ELF file @src.  It is searched by build-id among the @n_packed files that were packed with
 * the recording and in @folder, then by the name in the section .gnu_debuglink beside @src, in .debug beside it, and
 * below @folder; and likewise beside @path, of which @src may be a copy (NULL: no copy).
 *
 * Returns the file, which the caller closes.
 * Returns NULL if @src names none, none exists, or its build-id or checksum differs.
 */
struct ts_source *ts_debug_file_open(const struct ts_source *src, const char *path, const struct ts_packed_debug *packed,
				     size_t n_packed, const char *folder);

#endif
