/* SPDX-License-Identifier: MIT */
/*
 * Collects the modes of a processor while a recording is read, or loads them from an index file.
 */
#ifndef TS_MODE_BUILDER_H
#define TS_MODE_BUILDER_H

#include "mode.h"

struct ts_index_file;
struct ts_index_arrays;

struct ts_modes_builder {
	struct ts_modes *modes; /* borrowed; what is built */
	size_t cap_modes, cap_changes;
	const struct ts_arch *arch; /* borrowed */
	/* in the 'g' layout; len 0: the recording has none */
	uint32_t reg_off[TS_N_MODE_REGS], reg_len[TS_N_MODE_REGS];
	uint32_t first_off; /* the lowest of them */
	uint8_t bytes[TS_N_MODE_REGS][8], known[TS_N_MODE_REGS][8];
	bool is_failed;                        /* memory ran out */
	size_t n_saved_modes, n_saved_changes; /* in the index file, or given by the initial state */
};

/*
 * Begin to build @modes, which is empty, for the registers of @set (borrowed).  All of them are unknown at position 0.
 * Returns false if memory is exhausted.  The builder owns nothing.
 */
bool ts_modes_builder_init(struct ts_modes_builder *b, struct ts_modes *modes, const struct ts_regset *set);

/* Bytes [off, off + len) of the 'g' layout hold @data from position @pos on.  NULL: their values are unknown. */
void ts_modes_take(struct ts_modes_builder *b, uint64_t pos, uint64_t off, uint64_t len, const uint8_t *data);

/* The same.  The test whether a register of the mode is among them is inline. */
static inline void ts_modes_note(struct ts_modes_builder *b, uint64_t pos, uint64_t off, uint64_t len,
				 const uint8_t *data)
{
	if (off + len > b->first_off)
		ts_modes_take(b, pos, off, len, data);
}

/* The present modes and changes need not be saved. */
void ts_modes_set_clean(struct ts_modes_builder *b);

/*
 * Save what is new since the last call; load the changes of the positions up to @end.  Loading returns false if memory
 * is exhausted or the arrays contradict each other.
 */
void ts_modes_save(struct ts_modes_builder *b, struct ts_index_file *f);
bool ts_modes_load(struct ts_modes_builder *b, struct ts_index_arrays *a, uint64_t end);

#endif
