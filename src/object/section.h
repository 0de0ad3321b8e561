/* SPDX-License-Identifier: MIT */
/*
 * The sections of an ELF file.
 */
#ifndef TS_ELF_SECTION_H
#define TS_ELF_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "elf_image.h"

/* A section header, of both classes. */
struct ts_elf_section {
	uint32_t name, type, link;
	uint64_t flags, addr, off, len, entry_len;
};

struct ts_elf_sections {
	const struct ts_elf *elf; /* borrowed */
	uint8_t *bytes;           /* owned; n headers */
	uint64_t n;
};

/* The headers of the file of @elf; none if they are not there, or memory is exhausted. */
void ts_elf_sections_init(struct ts_elf_sections *s, const struct ts_elf *elf, const struct ts_source *src);
void ts_elf_sections_fini(struct ts_elf_sections *s);

/* Header @i, below s->n. */
struct ts_elf_section ts_elf_section_at(const struct ts_elf_sections *s, uint64_t i);

/*
 * Copy the first @size bytes of the section @name to @bytes.
 *
 * Returns the number of copied bytes; 0 if @src is not an ELF file, has no such section with contents, or is damaged.
 */
size_t ts_section_read(const struct ts_source *src, const char *name, uint8_t *bytes, size_t size);

#endif
