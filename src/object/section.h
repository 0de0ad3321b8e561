/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a section of an ELF file, by its name.
 */
#ifndef TS_SECTION_H
#define TS_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"

/*
 * Copy the first @size bytes of the section @name to @bytes.
 *
 * Returns the number of copied bytes; 0 if @src is not an ELF file, has no such section with contents, or is damaged.
 */
size_t ts_section_read(const struct ts_source *src, const char *name, uint8_t *bytes, size_t size);

#endif
