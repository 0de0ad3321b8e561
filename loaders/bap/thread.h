/* SPDX-License-Identifier: MIT */
/*
 * The known registers and flags of a thread.
 */
#ifndef LOADERS_BAP_THREAD_H
#define LOADERS_BAP_THREAD_H

#include <stdint.h>

#include "loaders/kit/regmap.h"

#define BAP_MAX_LAST 16

/* The state of a register byte. */
enum bap_byte {
	BAP_UNREPORTED = 0,
	BAP_REPORTED = 1,
};

struct bap_extent {
	uint32_t off, len;
};

struct bap_thread {
	uint64_t id;      /* as recorded */
	uint32_t ordinal; /* in the recording */
	uint8_t *data;    /* owned; the registers in the 'g' layout; one allocation with state and seen */
	uint8_t *state;   /* an enum bap_byte for each byte of data */
	uint8_t *seen;    /* for each byte of data the serial number of the last list that has it */
	/*
	 * The writes of the previous instruction, if all of them are logged.  A byte in them that is
	 * BAP_UNREPORTED has become unknown since.
	 */
	struct bap_extent last[BAP_MAX_LAST];
	unsigned n_last;
	struct bap_flag_bits {
		uint32_t value, known;
		uint32_t last;         /* bits that the previous instruction wrote */
		uint32_t seen;         /* bits in this frame's list before the instruction */
		uint32_t contradicted; /* bits in seen that were known with another value */
	} flags[REGMAP_MAX_FLAGS];
};

#endif
