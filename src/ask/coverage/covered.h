/* SPDX-License-Identifier: MIT */
/* Counts by address, or by another number of 64 bits. */
#ifndef TS_ASK_COVERED_H
#define TS_ASK_COVERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

/* An address or a function, and its number of steps. */
struct ts_covered {
	uint64_t addr;
	uint64_t steps;
	uint8_t len;  /* of an instruction, 0 if unknown */
	uint8_t mark; /* of the table's user */
};

/* Each address once.  All zero: empty. */
struct ts_covered_table {
	struct ts_covered *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_addr;
};

/* Allocate twice as many slots as @n items need.  Returns false if memory is exhausted. */
bool ts_covered_make_slots(struct ts_covered_table *t, size_t n);

/*
 * Returns the item with address @addr, which is added if it is missing.  It is borrowed until another item is added.
 * Returns NULL if memory is exhausted.
 */
struct ts_covered *ts_covered_find(struct ts_covered_table *t, uint64_t addr);

/*
 * Returns the item with address @addr, borrowed until an item is added.
 * Returns NULL if it is missing.
 */
struct ts_covered *ts_covered_look_up(const struct ts_covered_table *t, uint64_t addr);

void ts_covered_fini(struct ts_covered_table *t);

#endif
