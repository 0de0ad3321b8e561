/* SPDX-License-Identifier: MIT */
/*
 * The build-id of an ELF file: a note from the linker that identifies the build.
 */
#ifndef TS_BUILD_ID_H
#define TS_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "src/source/source.h"

#define TS_MAX_BUILD_ID 64u

struct ts_build_id {
	uint64_t addr; /* of its bytes, as linked */
	unsigned len;  /* bytes, 1 to TS_MAX_BUILD_ID */
	uint8_t bytes[TS_MAX_BUILD_ID];
};

/*
 * Returns true and *id if @src is an ELF file with a build-id in a PT_NOTE.
 * Returns false if not, or if it is damaged.
 */
bool ts_build_id_find(const struct ts_source *src, struct ts_build_id *id);

/* Write the first @n bytes of @id, at most all, as hex and a NUL to @text, which has 2 * n + 1 characters. */
void ts_build_id_text(const struct ts_build_id *id, unsigned n, char *text);

#endif
