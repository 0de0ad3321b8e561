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
	uint64_t first;  /* the lowest address as linked, down to its page; 0 if the file has no segment to load */
	struct ts_elf_load *loads; /* owned; as in the file; of a PE file its headers and sections */
	size_t n_loads;
};

/*
 * Read the headers of @src.
 *
 * Returns true on success.  The caller calls ts_object_fini().
 * Returns false if the file is neither an ELF nor a PE file (TS_EUNSUPPORTED).
 * Returns false if its headers are outside of the file (TS_ETRUNC).
 * Returns false if its headers contradict themselves (TS_ECORRUPT).
 * Returns false if it cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_object_init(struct ts_object *o, const struct ts_source *src, struct ts_error *err);
void ts_object_fini(struct ts_object *o);

#endif
