/* SPDX-License-Identifier: MIT */
/*
 * The mode of a whole machine's processor over time: it determines the translation of addresses and the
 * running process.
 *
 * The timeline notes each change of the few registers that make up the mode.  They change when the processor switches
 * between processes or privilege levels.  The mode of a position is then found by one look-up.  A filter, which admits
 * some modes only, advances from one range of positions to the next.  A recording of a program has no modes.
 */
#ifndef TS_MODE_H
#define TS_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/arch/cpu_mode.h"

struct ts_mode_change {
	uint64_t pos;  /* from here to the next change */
	uint32_t mode; /* ordinal in modes */
	uint32_t zero; /* no padding: changes go to index files */
};

/* Made by struct ts_modes_builder (mode_builder.h). */
struct ts_modes {
	struct ts_mode *modes; /* owned; few, with some duplicates */
	size_t n_modes;
	/* owned; by position, the first at 0; none for a recording of a program */
	struct ts_mode_change *changes;
	size_t n_changes;
};

void ts_modes_fini(struct ts_modes *m);

/* Returns the ordinal of the last change at @pos or before, which must exist. */
size_t ts_modes_change_at(const struct ts_modes *m, uint64_t pos);

/* Returns the mode at @pos, borrowed from @m.  @m must have a change at @pos or before. */
static inline const struct ts_mode *ts_modes_at(const struct ts_modes *m, uint64_t pos)
{
	return &m->modes[m->changes[ts_modes_change_at(m, pos)].mode];
}

/*
 * The first position >= @pos (last position <= @pos) that the filter admits.
 *
 * Returns the position; the first one may lie beyond the recording's end.
 * Returns UINT64_MAX if the filter admits none.
 */
uint64_t ts_filter_next(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos);
uint64_t ts_filter_prev(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos);

#endif
