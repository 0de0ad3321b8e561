/* SPDX-License-Identifier: MIT */
/*
 * Modules that a recording does not list but maps: each file that is mapped from its beginning is one, if
 * some of it is mapped to be executed.
 *
 * Formats that record a memory map with file names, and no loading of modules, have their modules from here.
 */
#ifndef TS_MAPPED_H
#define TS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/timeline/world/world.h"

struct ts_mapped {
	/*
	 * owned; in the order in which they appeared: from where to where the first page of each is mapped, and the addresses of
	 * what is mapped then
	 */
	struct ts_module_span *items;
	size_t n;
};

void ts_mapped_fini(struct ts_mapped *m);

/*
 * Build the list again from the first @n_regions regions of @w.  Relative names are left out: gdb would look for such
 * a file in its own working directory.
 *
 * Returns false if memory is exhausted; the list is as it was.
 */
bool ts_mapped_build(struct ts_mapped *m, const struct ts_world *w, size_t n_regions);

#endif
