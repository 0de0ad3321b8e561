/* SPDX-License-Identifier: MIT */
/*
 * The mode of a whole machine's processor over time: what decides how addresses are translated, and who runs.
 *
 * The timeline notes the few registers that make up the mode whenever they change; there are as many changes
 * as there were switches between processes and between privilege levels.  From a position to its mode is then
 * one look-up, and a filter, which admits some modes only, steps from one stretch of positions to the next.
 * A recording of a program has no modes.
 */
#ifndef TS_MODE_H
#define TS_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/arch/cpu_mode.h"

struct ts_index_file;
struct ts_index_arrays;

struct ts_mode_change {
	uint64_t pos;  /* from here to the next change */
	uint32_t mode; /* ordinal in modes */
	uint32_t zero; /* no padding: changes go to index files */
};

struct ts_modes {
	struct ts_mode *modes; /* owned; few, not quite without repetition */
	size_t n_modes, cap_modes;
	/* owned; by position, the first at 0; none for a recording of a program */
	struct ts_mode_change *changes;
	size_t n_changes, cap_changes;

	/* building */
	const struct ts_arch *arch; /* borrowed */
	/* in the 'g' layout; len 0: the recording has none */
	uint32_t reg_off[TS_N_MODE_REGS], reg_len[TS_N_MODE_REGS];
	uint32_t first_off;         /* the lowest of them */
	uint8_t bytes[TS_N_MODE_REGS][8], known[TS_N_MODE_REGS][8];
	bool is_failed;             /* memory ran out */
	size_t n_saved_modes, n_saved_changes; /* in the index file, or told by the initial state */
};

/* Start with all unknown at position 0, for the registers of @set (borrowed).  False: no memory. */
bool ts_modes_init(struct ts_modes *m, const struct ts_regset *set);
void ts_modes_fini(struct ts_modes *m);

/* Registers [off, off + len) of the 'g' layout hold @data from position @pos on; NULL: something unknown. */
void ts_modes_take(struct ts_modes *m, uint64_t pos, uint64_t off, uint64_t len, const uint8_t *data);

/* The same; inline is the test whether any of them matters. */
static inline void ts_modes_note(struct ts_modes *m, uint64_t pos, uint64_t off, uint64_t len,
				 const uint8_t *data)
{
	if (off + len > m->first_off)
		ts_modes_take(m, pos, off, len, data);
}

/* What there is now need not be saved. */
void ts_modes_set_clean(struct ts_modes *m);

/*
 * To an index file: what is new since the last call.  From there, of the positions up to @end.  Loading
 * returns false if memory is exhausted or the arrays contradict each other.
 */
void ts_modes_save(struct ts_modes *m, struct ts_index_file *f);
bool ts_modes_load(struct ts_modes *m, struct ts_index_arrays *a, uint64_t end);

/* Ordinal of the change that governs @pos.  There must be one. */
size_t ts_modes_change_at(const struct ts_modes *m, uint64_t pos);

/* The mode at @pos.  There must be one. */
static inline const struct ts_mode *ts_modes_at(const struct ts_modes *m, uint64_t pos)
{
	return &m->modes[m->changes[ts_modes_change_at(m, pos)].mode];
}

/*
 * The first position >= @pos (last position <= @pos) that the filter admits.
 *
 * Returns it, UINT64_MAX if there is none; the first may lie beyond the recording's end.
 */
uint64_t ts_filter_next(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos);
uint64_t ts_filter_prev(const struct ts_filter *f, const struct ts_modes *m, uint64_t pos);

#endif
