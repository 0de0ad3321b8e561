/* SPDX-License-Identifier: MIT */
/*
 * Bytes of files for memory that a trace leaves unknown.
 *
 * Files named by the user (--image, --exec) or by a region of the trace (--sysroot) supply the bytes that the trace
 * itself does not have.  Ranges are read from their files on demand.
 */
#ifndef TS_IMAGE_H
#define TS_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

struct ts_image_range {
	/* 0: mapped at position 0 in all processes; else the trace's map that contains the range */
	uint64_t map;
	uint64_t first, last; /* addresses, both inclusive */
	uint64_t off;         /* of the first byte in the source */
	uint32_t source;
};

struct ts_image {
	struct ts_image_range *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	struct ts_source **sources;    /* owned */
	uint32_t n_sources;
	size_t cap_sources;
	/* borrowed; the directory in which files named by a trace are searched, NULL: none */
	const char *sysroot;
	char *real_sysroot;     /* owned; its full path without links, NULL until it is needed */
	atomic_bool has_failed; /* since the last ts_image_check() */
};

void ts_image_init(struct ts_image *img);
void ts_image_fini(struct ts_image *img);

/*
 * Add the open file @src to the image, which takes ownership of it, also on failure.
 *
 * Returns its ordinal.
 * Returns UINT32_MAX if memory is exhausted.
 */
uint32_t ts_image_add_source(struct ts_image *img, struct ts_source *src);

/*
 * Map bytes [@off, @off + @len) of a source at @addr: with @map 0 at position 0, in every process, else as
 * part of a map of the trace (ts_space_next_map()).  Parts beyond the end of the file or of the address space
 * are omitted.  Later ranges take precedence over earlier ones, and ranges of a map over those of position 0.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_image_add(struct ts_image *img, uint64_t map, uint64_t addr, uint64_t len, uint32_t source,
		  uint64_t off, struct ts_error *err);

/*
 * Map the file @path, which the user named, at position 0: the segments of an ELF file at their linked addresses, or
 * moved so that the page of the lowest one is at *@base; the headers and sections of a PE file at *@base, or at its
 * preferred base; any other file as a whole at *@base.
 *
 * Returns false if the file cannot be read (TS_EIO) or is not a regular file (TS_EUSAGE).
 * Returns false if it is neither an ELF nor a PE file and @base is NULL (TS_EUSAGE).
 * Returns false if it is a damaged one of these (TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_image_add_file(struct ts_image *img, const char *path, const uint64_t *base, struct ts_error *err);

/*
 * Map @len bytes of the file @path, from @off on, at @addr, as part of the trace's map @map.  Without a sysroot, or if the
 * file is not under it, the function does nothing and the bytes stay unknown.  If @path begins with the sysroot's path, the
 * file is also searched without that prefix, for an emulator that ran with the same sysroot.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_image_map(struct ts_image *img, uint64_t map, uint64_t addr, uint64_t len, const char *path,
		  uint64_t off, struct ts_error *err);

/* Search the file @path, which the trace names but does not map, under the sysroot, for ts_image_find(). */
void ts_image_open(struct ts_image *img, const char *path);

/*
 * The file called @path that ts_image_map() or ts_image_open() found under the sysroot, borrowed until fini;
 * NULL if none was found.
 */
const struct ts_source *ts_image_find(const struct ts_image *img, const char *path);

/*
 * Fill those of the @len bytes at @addr that are unknown (known[i] == 0) and are in a range of @map; @data and @known
 * are updated.  A file that can no longer be read supplies no bytes, and ts_image_check() reports it.
 */
void ts_image_fill(const struct ts_image *img, uint64_t map, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known);

/*
 * Find the next bytes of the range at or after @addr, which is in the range, that may be other than zero, without
 * reading them: addresses [*first, *last].
 *
 * Returns false if all further bytes of the range are zero.
 */
bool ts_image_next_data(const struct ts_image *img, const struct ts_image_range *r, uint64_t addr,
			uint64_t *first, uint64_t *last);

/*
 * Report whether all files could be read since the last call.  Bytes that could not be read were treated as unknown.
 * @img may be NULL.
 *
 * Returns false if a file could not be read (TS_EIO).
 */
bool ts_image_check(const struct ts_image *img, struct ts_error *err);

#endif
