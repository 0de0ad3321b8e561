/* SPDX-License-Identifier: MIT */
/*
 * The placement of an object file (ELF or PE) in memory: its linked parts, and whether they may be relocated.
 */
#ifndef TS_OBJECT_H
#define TS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_image.h"
#include "src/base/error.h"
#include "src/source/source.h"

struct ts_object {
	bool is_pe;
	bool is_movable; /* it may be loaded anywhere: ELF except ET_EXEC, PE with relocations */
	uint64_t entry;  /* as linked */
	uint64_t first;  /* the lowest address as linked, down to its page; 0 if there is none */
	struct ts_elf_load *loads; /* owned; as in the file; of a PE file its headers and sections */
	size_t n_loads;
};

/*
 * Read the headers of @src.
 *
 * On success @o is filled, to be given back with ts_object_fini().  Returns false if it is neither an ELF nor
 * a PE file (TS_EUNSUPPORTED), and as ts_elf_init() and ts_pe_init().
 */
bool ts_object_init(struct ts_object *o, const struct ts_source *src, struct ts_error *err);
void ts_object_fini(struct ts_object *o);

#endif
