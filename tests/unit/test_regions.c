/* SPDX-License-Identifier: MIT */
/*
 * What is mapped, beside a naive twin: a page each.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/regions.h"

#define PAGE UINT64_C(4096)
#define N_PAGES 64u

struct page {
	bool is_mapped;
	uint8_t prot;
	uint64_t file_off; /* of the page */
	char file[8];
};

static struct page pages[N_PAGES];
static struct ts_regions regions;

static void map(unsigned start, unsigned n, unsigned round)
{
	char file[8];
	struct ts_region r = { .start = start * PAGE, .end = (start + n) * PAGE, .file_off = round * PAGE, .prot = round & 7 };

	snprintf(file, sizeof(file), "f%u", round % 1000);
	r.file = round % 3 ? file : NULL;
	ck_assert(ts_regions_map(&regions, &r));
	for (unsigned i = 0; i < n; i++) {
		struct page *p = &pages[start + i];

		*p = (struct page){ .is_mapped = true, .prot = round & 7, .file_off = (round + (r.file ? i : 0)) * PAGE };
		snprintf(p->file, sizeof(p->file), "%s", r.file ? file : "");
	}
}

static void change(unsigned start, unsigned n, unsigned round)
{
	if (rand() % 2) {
		ck_assert(ts_regions_unmap(&regions, start * PAGE, (start + n) * PAGE));
		memset(pages + start, 0, n * sizeof(*pages));
		return;
	}
	ck_assert(ts_regions_protect(&regions, start * PAGE, (start + n) * PAGE, round & 7));
	for (unsigned i = start; i < start + n; i++)
		pages[i].prot = pages[i].is_mapped ? round & 7 : 0;
}

static bool is_as_twin(unsigned i)
{
	const struct ts_region *r = ts_regions_find(&regions, i * PAGE + PAGE - 1);
	const struct page *p = &pages[i];

	if (!r || !p->is_mapped)
		return !r && !p->is_mapped;
	return r->prot == p->prot && !strcmp(r->file ? r->file : "", p->file) &&
	       r->file_off + (r->file ? i * PAGE - r->start : 0) == p->file_off;
}

static void compare(unsigned round)
{
	for (unsigned i = 0; i < N_PAGES; i++) {
		if (!is_as_twin(i))
			ck_abort_msg("page %u differs after round %u", i, round);
	}
	for (size_t i = 1; i < regions.n; i++) {
		if (regions.at[i].start < regions.at[i - 1].end)
			ck_abort_msg("regions overlap after round %u", round);
	}
}

START_TEST(regions_are_those_of_pages)
{
	srand(1);
	for (unsigned round = 0; round < 5000; round++) {
		unsigned start = (unsigned)rand() % N_PAGES, n = 1 + (unsigned)rand() % (N_PAGES - start);

		if (rand() % 2)
			map(start, n < 9 ? n : 9, round);
		else
			change(start, n < 9 ? n : 9, round);
		compare(round);
	}
	ts_regions_fini(&regions);
	ck_assert_ptr_null(ts_regions_find(&regions, 0));
}
END_TEST

UNIT_SUITE("regions", regions_are_those_of_pages)
