/* SPDX-License-Identifier: MIT */
/*
 * How fast are text traces decoded?  A bundled log of each dialect, again and again.
 *
 * Times are the processor's for this process, the file in the page cache: the least of some runs, in turns with
 * reading the same file and doing nothing with it, so that the ratio of the two does not depend on the machine.
 * BENCH_FORMATS="spike execlog" are the dialects, all by default; BENCH_SIZES the size in MiB, 64 by default.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pass.h"
#include "recording.h"

#define N_RUNS 5
#define TABLE  "text traces, decoding"
#define MIN_MB 300 /* a second: 10 million lines of 30 bytes */

static const struct bench_format dialects[] = {
	{ .name = "spike", .sample = "text-samples/commits-rv64fd.log.gz" },
	{ .name = "execlog", .sample = "text-samples/real-one-x86_64.log.gz" },
	{ .name = "execlog-a64", .sample = "text-samples/made-aarch64.log.gz" },
	{ .name = "tenetpp", .sample = "text-samples/insn-walk64.trace.gz" },
	{ .name = "qemu", .sample = "text-samples/cpu-aarch64.log.gz" },
	{ .name = "ibex", .sample = "text-samples/ibex.log.gz" },
	{ .name = "qbdi", .sample = "text-samples/qbdi-walk.log.gz" },
	{ .name = "tarmac", .sample = "text-samples/es-walk-a64.tarmac.gz" },
	{ .name = "tenet", .sample = "tenet-samples/wtf-walk64.log.gz" },
};

struct measured {
	const struct bench_format *format;
	uint64_t len, n_lines;
	double read_s, decode_s;
};

static uint64_t count_lines(const struct ts_buf *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

/* Images of modules are at the beginning, once. */
static size_t head_len(const struct ts_buf *b)
{
	size_t at = 0;

	while (at < b->len && !strncmp((const char *)b->data + at, "Loaded image", 12)) {
		const uint8_t *end = memchr(b->data + at, '\n', b->len - at);

		at = end ? (size_t)(end - b->data) + 1 : b->len;
	}
	return at;
}

static void make(struct measured *m, const char *path, uint64_t len)
{
	struct ts_buf sample = bench_sample(m->format);
	FILE *out = bench_create(path);
	size_t head = head_len(&sample);
	uint64_t n_lines = count_lines(&sample);

	bench_write(out, sample.data, head);
	for (m->len = 0; m->len < len; m->n_lines += n_lines, m->len += sample.len)
		bench_write(out, sample.data + head, sample.len - head);
	m->len = bench_finish(out);
	ts_buf_fini(&sample);
}

static void measure(void *arg)
{
	struct measured *m = arg;
	char *path = bench_temp(m->format->name);
	uint64_t mib[1] = { 64 };

	if (getenv("BENCH_SIZES"))
		bench_sizes(mib, 1);
	make(m, path, mib[0] << 20);
	for (unsigned i = 0; i < N_RUNS; i++) {
		double start = bench_cpu();

		bench_pass_read(path, 0);
		bench_keep_least(&m->read_s, bench_cpu() - start);
		start = bench_cpu();
		bench_pass_decode(path);
		bench_keep_least(&m->decode_s, bench_cpu() - start);
	}
	bench_remove(path);
	free(path);
}

static void tell(const struct measured *m)
{
	const char *name = m->format->name;
	double length = (double)m->len / (double)m->n_lines;

	bench_figure(TABLE, name, "bytes a line", length, BENCH_NOTHING, 0, NULL);
	bench_figure(TABLE, name, "million lines/s", (double)m->n_lines / m->decode_s / 1e6, BENCH_NOTHING, 0, NULL);
	bench_figure(TABLE, name, "MB/s", (double)m->len / m->decode_s / 1e6, BENCH_AT_LEAST, MIN_MB, NULL);
	bench_figure(TABLE, name, "ns a line", m->decode_s / (double)m->n_lines * 1e9, BENCH_NOTHING, 0, NULL);
	bench_figure(TABLE, name, "time : that of reading", m->decode_s / m->read_s, BENCH_NOTHING, 0, NULL);
}

int main(void)
{
	struct measured *m = bench_shared(sizeof(*m));

	bench_about(TABLE, "text traces: bundled logs repeated, decoded by one processor without an index");
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (!bench_is_wanted(dialects[i].name))
			continue;
		*m = (struct measured){ .format = &dialects[i] };
		bench_in_child(measure, m);
		tell(m);
	}
	return 0;
}
