/* SPDX-License-Identifier: MIT */
/*
 * The mapped memory of a program, as recorded: sorted ranges of addresses that do not overlap.
 */
#ifndef TS_RECORD_REGIONS_H
#define TS_RECORD_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_MAX_REGIONS 262144u /* Linux allows 65,530 mappings by default */

struct ts_region {
	uint64_t start, end; /* end: the address after the last byte */
	uint64_t file_off;
	uint8_t prot; /* R 1, W 2, X 4 */
	bool is_stack;
	bool was_writable; /* now or before; kept by these functions */
	char *file; /* owned; NULL: it is not of a file */
};

struct ts_regions {
	struct ts_region *at; /* owned */
	size_t n, cap;
};

/*
 * Add a region in place of what was mapped at its addresses.  The text of r->file is copied.
 *
 * Returns true on success.
 * Returns false if memory is exhausted or there are TS_MAX_REGIONS; what was mapped there may then be missing.
 */
bool ts_regions_map(struct ts_regions *regions, const struct ts_region *r);

/* Take out [@start, @end).  Returns as ts_regions_map() does. */
bool ts_regions_unmap(struct ts_regions *regions, uint64_t start, uint64_t end);

/* Change the protection of what is mapped in [@start, @end).  Returns as ts_regions_map() does. */
bool ts_regions_protect(struct ts_regions *regions, uint64_t start, uint64_t end, uint8_t prot);

/* Returns the region that has the byte at @addr, borrowed until the regions change; NULL if no region has it. */
const struct ts_region *ts_regions_find(const struct ts_regions *regions, uint64_t addr);

void ts_regions_fini(struct ts_regions *regions);

#endif
