/* SPDX-License-Identifier: MIT */
/*
 * The arrays of a record of a part (index_parts.h), in this order:
 *
 *   struct part_head      one
 *   1                     the decode point before its first batch
 *   1                     the message of a recording that ends early, without a final 0; empty in all other parts
 *   struct part_batch   p its batches
 *   1                   p the decode points after each of them
 *   struct part_step    p their steps
 *   struct part_effect  p their effects
 *   1                   p their data
 *   struct ts_map         their regions
 *   struct ts_module      their modules
 *   struct ts_event     p their events
 *   struct ts_thread      all threads that are known after a batch, for each batch that adds one
 *   struct ts_warning     all warnings after a batch, likewise
 *
 * "p": the array is packed (index_pack.h).
 */
#ifndef TS_INDEX_PARTS_FORM_H
#define TS_INDEX_PARTS_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "index_place.h"

#define PART_KIND ((uint32_t)'P' | (uint32_t)'A' << 8 | (uint32_t)'R' << 16 | (uint32_t)'T' << 24)

/* One for each record. */
struct part_head {
	uint32_t i, n;      /* ordinal of the part; number of parts */
	uint64_t first;     /* chunk of the recording that is the record's first batch */
	uint32_t n_batches; /* in the record */
	uint32_t zero;
};

struct part_batch {
	uint32_t n_steps, n_effects, n_data, n_maps, n_modules, n_events;
	uint32_t point_len;
	uint32_t n_threads, n_warnings, n_processes; /* known after the batch, if has_learned */
	uint8_t has_learned, next;
	uint8_t end_flags; /* PART_END_ bits */
	uint8_t code;      /* enum ts_code */
	uint32_t zero;
	uint64_t end_pc, off;
};

#define PART_END_HAS_PC   1u
#define PART_END_ASSUMED  2u
#define PART_END_ABSENT   4u
#define PART_END_HAS_EXIT 8u
#define PART_END_FAULT    16u

struct part_step {
	uint64_t pc;
	uint32_t thread, n_effects;
	uint32_t insn_len, zero;
};

struct part_effect {
	uint64_t addr, len;
	uint32_t item; /* or data */
	uint8_t kind, is_hidden, is_inferred, is_code;
};

/* Set @p to the places of part @i: those of @index with ".segment-I" appended.  Returns false if memory is exhausted. */
bool ts_part_places(struct ts_index_places *p, const struct ts_index_places *index, uint32_t i);

#endif
