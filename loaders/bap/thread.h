/* SPDX-License-Identifier: MIT */
/*
 * The registers and flags of a thread, as far as they are known.
 */
#ifndef LOADERS_BAP_THREAD_H
#define LOADERS_BAP_THREAD_H

#include <stdint.h>

#include "loaders/kit/regmap.h"

#define BAP_MAX_LAST 16

/* The state of a register byte. */
enum bap_byte {
	BAP_UNTOLD = 0,
	BAP_TOLD = 1,
};

struct bap_extent {
	uint32_t off, len;
};

struct bap_thread {
	uint64_t id;      /* as recorded */
	uint32_t ordinal; /* in the recording */
	uint8_t *data;    /* owned; the registers in the 'g' layout; the two below follow it */
	uint8_t *state;   /* enum bap_byte a byte */
	uint8_t *seen;    /* the frame (reader's serial) in whose list before the instruction the byte was */
	/* what the previous instruction wrote, whose writes are all logged; of it, what is untold was lost
	 * since */
	struct bap_extent last[BAP_MAX_LAST];
	unsigned n_last;
	struct bap_flag_bits {
		uint32_t value, known;
		uint32_t last;         /* bits that the previous instruction wrote */
		uint32_t seen;         /* bits in this frame's list before the instruction */
		uint32_t contradicted; /* those of them that were known to be different */
	} flags[REGMAP_MAX_FLAGS];
};

#endif
