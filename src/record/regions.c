/* SPDX-License-Identifier: MIT */
#include "regions.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* The first region that ends after @addr. */
static size_t first_after(const struct ts_regions *regions, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, regions->n, i, regions->at[i].end <= addr);
	return at;
}

static bool insert(struct ts_regions *regions, size_t i, struct ts_region r)
{
	char *file = r.file ? strdup(r.file) : NULL;

	if ((r.file && !file) || regions->n == TS_MAX_REGIONS ||
	    !ts_vec_reserve(&regions->at, regions->n, &regions->cap, 1, sizeof(r))) {
		free(file);
		return false;
	}
	memmove(regions->at + i + 1, regions->at + i, (regions->n - i) * sizeof(r));
	regions->at[i] = r;
	regions->at[i].file = file;
	regions->at[i].was_writable |= (r.prot & 2) != 0;
	regions->n++;
	return true;
}

static void set_start(struct ts_region *r, uint64_t start)
{
	if (r->file)
		r->file_off += start - r->start;
	r->start = start;
}

/* A region begins at @addr, if one has that byte. */
static bool split(struct ts_regions *regions, uint64_t addr)
{
	size_t i = first_after(regions, addr);

	if (i == regions->n || regions->at[i].start >= addr)
		return true;
	if (!insert(regions, i, regions->at[i]))
		return false;
	regions->at[i].end = addr;
	set_start(&regions->at[i + 1], addr);
	return true;
}

bool ts_regions_unmap(struct ts_regions *regions, uint64_t start, uint64_t end)
{
	size_t first, n = 0;

	if (!split(regions, start) || !split(regions, end))
		return false;
	first = first_after(regions, start);
	for (; first + n < regions->n && regions->at[first + n].start < end; n++)
		free(regions->at[first + n].file);
	if (!n)
		return true;
	regions->n -= n;
	memmove(regions->at + first, regions->at + first + n, (regions->n - first) * sizeof(*regions->at));
	return true;
}

bool ts_regions_map(struct ts_regions *regions, const struct ts_region *r)
{
	return ts_regions_unmap(regions, r->start, r->end) && insert(regions, first_after(regions, r->start), *r);
}

bool ts_regions_protect(struct ts_regions *regions, uint64_t start, uint64_t end, uint8_t prot)
{
	if (!split(regions, start) || !split(regions, end))
		return false;
	for (size_t i = first_after(regions, start); i < regions->n && regions->at[i].start < end; i++) {
		regions->at[i].prot = prot;
		regions->at[i].was_writable |= (prot & 2) != 0;
	}
	return true;
}

const struct ts_region *ts_regions_find(const struct ts_regions *regions, uint64_t addr)
{
	size_t i = first_after(regions, addr);

	return i < regions->n && regions->at[i].start <= addr ? &regions->at[i] : NULL;
}

void ts_regions_fini(struct ts_regions *regions)
{
	for (size_t i = 0; i < regions->n; i++)
		free(regions->at[i].file);
	free(regions->at);
	*regions = (struct ts_regions){ 0 };
}
