/* SPDX-License-Identifier: MIT */
/*
 * Tenet logs: a real one again and again.  Its first line lists all registers, so that nothing is left of the
 * time before.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "recording.h"

#define MARK_AT UINT64_C(0x7ffe00001000)
#define MARK    "rip=0x4011a8,mw=0x7ffe00001000:0102030405060708\n"

static uint64_t count_lines(const struct ts_buf *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	struct ts_buf sample = bench_sample(format);
	uint64_t n_lines = count_lines(&sample);
	FILE *out = bench_create(path);
	const uint8_t *end = memchr(sample.data, '\n', sample.len);

	if (!end || sample.data[sample.len - 1] != '\n')
		bench_die("the bundled log does not consist of lines");
	bench_write(out, sample.data, (size_t)(end - sample.data) + 1);
	bench_write(out, MARK, strlen(MARK));
	rec->mark = MARK_AT;
	/* the first line and the mark make one step; the last line makes none */
	for (rec->n_steps = 1; rec->n_steps < n_steps; rec->n_steps += n_lines)
		bench_write(out, sample.data, sample.len);
	rec->file_len = bench_finish(out);
	ts_buf_fini(&sample);
}

const struct bench_format bench_tenet = {
	.name = "tenet",
	.about = "tenet: a log in wtf's style of 2,302 lines, repeated",
	.index_rate = 4,
	.record = record,
	.sample = "tenet-samples/wtf-walk64.log.gz",
};
