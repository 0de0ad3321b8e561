/* SPDX-License-Identifier: MIT */
/*
 * gdb's own recording: the log of a real one, repeated; its last group leads back to the first one.
 */
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of the program header of the log, which is the first one of the file: where the log lies, and its length.
 */
#define OFF_AT 72u
#define LEN_AT 96u
#define MAGIC_LEN 4u

/* The sample has so many groups. */
#define N_GROUPS 2301u

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	struct ts_buf sample = bench_sample(format);
	uint64_t off = bench_get(sample.data + OFF_AT, 8), len = bench_get(sample.data + LEN_AT, 8);
	uint64_t n = (n_steps + N_GROUPS - 1) / N_GROUPS;
	FILE *out = bench_create(path);

	bench_put(sample.data + LEN_AT, 8, MAGIC_LEN + n * (len - MAGIC_LEN));
	bench_write(out, sample.data, (size_t)off + MAGIC_LEN);
	for (uint64_t i = 0; i < n; i++)
		bench_write(out, sample.data + off + MAGIC_LEN, (size_t)(len - MAGIC_LEN));
	rec->n_steps = n * N_GROUPS;
	rec->file_len = bench_finish(out);
	rec->steps_at = off + MAGIC_LEN;
	ts_buf_fini(&sample);
}

const struct bench_format bench_gdbrecord = {
	.name = "gdbrecord",
	.about = "gdb's own recordings: 2,301 instructions of a walk, repeated",
	.index_rate = 8,
	.record = record,
	.sample = "gdbrecord-samples/walk64.core.gz",
};
