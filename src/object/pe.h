/* SPDX-License-Identifier: MIT */
/*
 * The memory image of a PE file (.exe, .dll): its headers and its sections, for both widths.
 */
#ifndef TS_PE_H
#define TS_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

/* A section, or the headers.  Its file range lies within the file. */
struct ts_pe_section {
	uint64_t addr; /* relative to the image's base */
	uint64_t file_off;
	uint64_t file_len;
	uint32_t prot; /* enum ts_prot bits */
};

struct ts_pe {
	bool is_64;
	bool has_relocations; /* the image may be loaded at another address than @base */
	uint64_t base;     /* preferred address of the image */
	uint64_t entry;    /* relative to the base; 0: none */
	struct ts_pe_section *sections; /* owned; the headers come first */
	size_t n_sections;
};

/*
 * Read the headers of @src.
 *
 * On success @pe is filled, to be given back with ts_pe_fini().  A section that passes the end of the file is
 * truncated to it.
 *
 * Returns false if it is not a PE file (TS_EUNSUPPORTED).
 * Returns false if its headers lie outside the file (TS_ETRUNC) or contradict themselves (TS_ECORRUPT).
 * Returns false if it cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_pe_init(struct ts_pe *pe, const struct ts_source *src, struct ts_error *err);
void ts_pe_fini(struct ts_pe *pe);

#endif
