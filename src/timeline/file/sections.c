/* SPDX-License-Identifier: MIT */
/*
 * The table of sections.  It is not part of the version of index files (src/Makefile.inc): an optional
 * section that is added here is missing in files of before, which are still good.
 */
#include "src/timeline/builder.h"
#include "section.h"

/*
 * The journal comes before the spaces: it makes the layers in which their pages lie.  The groups are made of spaces
 * and runs.
 */
#define SECTIONS \
	&ts_points_section, &ts_runs_section, &ts_journal_section, &ts_space_section, &ts_mode_section, \
		&ts_groups_section, &ts_sketch_section, &ts_calls_section

const struct ts_section *const ts_sections[] = { SECTIONS, NULL };
const struct ts_section *const ts_sections_digested[] = { SECTIONS, &ts_digests_section, NULL };
