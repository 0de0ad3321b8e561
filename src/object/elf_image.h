/* SPDX-License-Identifier: MIT */
/*
 * The memory image of an ELF file: facts of its header, its PT_LOAD segments and the address of its dynamic
 * section, for both classes and byte orders.  Sections and symbols are left to gdb.
 */
#ifndef TS_ELF_IMAGE_H
#define TS_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/error.h"
#include "src/source/source.h"

/* A PT_LOAD segment.  Its file range lies within the file, and neither range wraps. */
struct ts_elf_load {
	uint64_t addr;    /* as linked */
	uint64_t mem_len; /* bytes in memory, at least file_len */
	uint64_t file_off;
	uint64_t file_len;
	uint32_t prot; /* enum ts_prot bits */
};

/* A program header, of both classes. */
struct ts_elf_header {
	uint32_t type; /* PT_... */
	uint32_t prot; /* enum ts_prot bits */
	uint64_t off, addr, file_len, mem_len, align;
};

struct ts_elf {
	bool is_64;
	bool is_big_endian;
	uint16_t type;    /* ET_EXEC 2, ET_DYN 3 */
	uint16_t machine; /* EM_... */
	uint64_t entry;
	uint64_t headers_off, n_headers; /* the program headers; they lie within the file */
	uint64_t sections_off;           /* the section headers, which section.h reads */
	uint16_t n_sections, names;      /* names: the section with their names */
	struct ts_elf_load *loads; /* owned; as in the file */
	size_t n_loads;
	uint64_t dynamic; /* address of the dynamic section, as linked */
	bool has_dynamic;
	/* the thread-local segment (PT_TLS): bytes of a thread's copy, and its alignment; 0: none */
	uint64_t tls_len, tls_align;
};

/*
 * Read the header and the program headers of @src.
 *
 * On success @elf is filled, to be given back with ts_elf_fini().  A segment that passes the end of the file
 * is truncated to it.
 *
 * Returns false if it is not an ELF file (TS_EUNSUPPORTED).
 * Returns false if its headers lie outside the file (TS_ETRUNC) or contradict themselves (TS_ECORRUPT).
 * Returns false if it cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_elf_init(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err);
void ts_elf_fini(struct ts_elf *elf);

/*
 * Read the file's header alone: the other members are zero, and need no ts_elf_fini().
 *
 * Returns false if it is not an ELF file (TS_EUNSUPPORTED).
 * Returns false if the header, or the program headers, pass the end of the file (TS_ETRUNC).
 * Returns false if the header contradicts itself (TS_ECORRUPT).
 * Returns false if it cannot be read (TS_EIO).
 */
bool ts_elf_read_head(struct ts_elf *elf, const struct ts_source *src, struct ts_error *err);

/* Program header @i, below elf->n_headers.  Returns false if it cannot be read (TS_EIO). */
bool ts_elf_read_header(const struct ts_elf *elf, const struct ts_source *src, uint64_t i, struct ts_elf_header *h,
			struct ts_error *err);

/* Returns the architecture of the file, a constant; NULL if tracestub does not support it. */
const struct ts_arch *ts_elf_arch(const struct ts_elf *elf);

#endif
