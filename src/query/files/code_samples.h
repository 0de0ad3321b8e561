/* SPDX-License-Identifier: MIT */
/*
 * Pieces of the code that a recording executed, spread over all of it: by them a file is recognised in
 * memory.
 */
#ifndef TS_CODE_SAMPLES_H
#define TS_CODE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/query.h"

#define TS_CODE_SAMPLE_LEN 16u
#define TS_MAX_CODE_SAMPLES 512u

/* Bytes at the virtual address @addr when an instruction there was first executed. */
struct ts_code_sample {
	uint64_t addr;
	uint8_t len; /* how many are known, 1 to TS_CODE_SAMPLE_LEN */
	uint8_t bytes[TS_CODE_SAMPLE_LEN];
};

struct ts_code_samples {
	struct ts_code_sample *items; /* owned; by address */
	size_t n;
};

/*
 * Sample what @process (an ordinal) executed in the part of the recording that can be asked about: at most
 * TS_MAX_CODE_SAMPLES pieces, evenly spaced in memory.
 *
 * Returns true on success: the caller must call ts_code_samples_fini().
 * Returns false if memory is exhausted (TS_ENOMEM) or if the trace cannot be read any more (TS_EIO,
 * TS_ETRUNC, TS_ECORRUPT); @s then needs no fini.
 */
bool ts_code_samples_init(struct ts_code_samples *s, struct ts_query *q, uint32_t process,
			  struct ts_error *err);
void ts_code_samples_fini(struct ts_code_samples *s);

#endif
