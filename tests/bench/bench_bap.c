/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames: how fast are they decoded and indexed, beside reading the file once and beside the parser
 * that protoc makes of their schema?
 *
 * The frames of real recordings are repeated, and an index of the recorder's kind is put behind them.  All is
 * measured in one run, each the best of three, in seconds of the processor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pass.h"
#include "recording.h"
#include "src/buf.h"

#define N_RUNS	    3
#define HEADER_LEN  48
#define TOC_STEP    64
#define DEFAULT_LEN (UINT64_C(150) << 20)

struct trace {
	const char *name;
	char *path; /* owned */
	uint64_t n_frames, len;
};

/* ------------------------------------------------------------------------------------------- a long
 * recording */

static void put64(uint8_t *p, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(n >> 8 * i);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t n = 0;

	for (unsigned i = 8; i--;)
		n = n << 8 | p[i];
	return n;
}

static struct ts_buf sample(const char *name)
{
	const char *folder = getenv("TEST_SRCDIR");
	struct ts_buf b = { 0 };
	uint8_t piece[65536];
	char command[4096];
	size_t got;
	FILE *in;

	snprintf(command, sizeof(command), "gzip -dc '%s/tests/data/bap-samples/%s.frames.gz'",
		 folder ? folder : ".", name);
	in = popen(command, "r");
	while (in && (got = fread(piece, 1, sizeof(piece), in)) > 0)
		ts_buf_put(&b, piece, got);
	if (!in || pclose(in) || b.len < HEADER_LEN + 8)
		bench_die("no recording %s", name);
	return b;
}

static void write_toc(FILE *out, const struct ts_buf *b, uint64_t first, uint64_t body_len, uint64_t n_frames)
{
	uint8_t number[8];
	uint64_t off = first;

	put64(number, TOC_STEP);
	fwrite(number, 8, 1, out);
	for (uint64_t i = 0; i < n_frames; i++) {
		uint64_t in_body = first + (off - first) % body_len;

		if (i && i % TOC_STEP == 0) {
			put64(number, off);
			fwrite(number, 8, 1, out);
		}
		off += 8 + get64(b->data + in_body);
	}
}

/* Repeat a recording's frames until the file has about @len bytes. */
static struct trace record(const char *name, uint64_t len)
{
	struct ts_buf b = sample(name);
	uint64_t first = HEADER_LEN + 8 + get64(b.data + HEADER_LEN), n_each = get64(b.data + 32);
	uint64_t body_len = get64(b.data + 40) - first, n_times = len / body_len + 1;
	struct trace t = { .name = name, .path = bench_temp(name), .n_frames = n_times * n_each };
	FILE *out = fopen(t.path, "wb");

	if (!out)
		bench_die("cannot write %s", t.path);
	put64(b.data + 32, t.n_frames);
	put64(b.data + 40, first + n_times * body_len);
	fwrite(b.data, 1, first, out);
	for (uint64_t i = 0; i < n_times; i++)
		fwrite(b.data + first, 1, body_len, out);
	write_toc(out, &b, first, body_len, t.n_frames);
	t.len = (uint64_t)ftell(out);
	if (fclose(out))
		bench_die("cannot write %s", t.path);
	ts_buf_fini(&b);
	return t;
}

/* ------------------------------------------------------------------------------------------------- one pass
 */

static void pass_read(const char *path)
{
	bench_pass_read(path, 0);
}

static void pass_index(const char *path)
{
	bench_pass_index(path, NULL);
}

/* Seconds of protobuf's own parser, 0 if it was not built. */
static double protobuf_seconds(const struct trace *t)
{
	const char *folder = getenv("TEST_BUILDDIR");
	char program[1024], command[4096];
	uint64_t n = 0;
	double s = 0;
	FILE *in;

	snprintf(program, sizeof(program), "%s/tests/bench/protobuf_bap", folder ? folder : ".");
	if (access(program, X_OK))
		return 0;
	snprintf(command, sizeof(command), "'%s' '%s'", program, t->path);
	in = popen(command, "r");
	if (!in || fscanf(in, "%" SCNu64 " %lf", &n, &s) != 2 || n != t->n_frames)
		bench_die("%s did not parse %" PRIu64 " frames", program, t->n_frames);
	pclose(in);
	return s;
}

/* -------------------------------------------------------------------------------------------------- results
 */

static void put_line(const struct trace *t, const char *what, double s, double read_s)
{
	printf("  %-22s %9.3f s %9.2f million steps/s %8.0f ns/step %8.1f x reading the file\n", what, s,
	       (double)t->n_frames / s / 1e6, s / (double)t->n_frames * 1e9, s / read_s);
}

static void measure(const char *name, uint64_t len)
{
	struct trace t = record(name, len);
	double read_s = bench_best_of(N_RUNS, pass_read, t.path),
	       decode_s = bench_best_of(N_RUNS, bench_pass_decode, t.path);
	double index_s = bench_best_of(N_RUNS, pass_index, t.path), protobuf_s = protobuf_seconds(&t);

	printf("%s: %" PRIu64 " steps, %.0f bytes a step\n", name, t.n_frames,
	       (double)t.len / (double)t.n_frames);
	put_line(&t, "read", read_s, read_s);
	put_line(&t, "decode", decode_s, read_s);
	put_line(&t, "index", index_s, read_s);
	if (protobuf_s > 0) {
		put_line(&t, "protobuf's parser", protobuf_s, read_s);
		printf("  the index takes %.2f of the time of protobuf's parser, the decode %.2f\n",
		       index_s / protobuf_s, decode_s / protobuf_s);
	} else {
		puts("  protobuf's parser was not built: libprotobuf-dev and protobuf-compiler are missing");
	}
	unlink(t.path);
	free(t.path);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint64_t len = argc > 1 ? strtoull(argv[1], NULL, 0) << 20 : DEFAULT_LEN;

	puts("BAP frames");
	measure("tw-x86_64", len);
	measure("tw-arm", len);
	measure("tw-ppc", len);
	measure("plug-i386", len);
	return 0;
}
