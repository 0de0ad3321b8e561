/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <string.h>

#include "bench.h"

const struct bench_format *const bench_formats[] = {
	&bench_usercorn_v0, &bench_usercorn_snappy, &bench_rvnbintrace, &bench_x64dbg,     &bench_bap,
	&bench_tfile,       &bench_tenet,           &bench_gdbrecord,   &bench_bap_arm,    &bench_bap_ppc,
	&bench_bap_plugin,  NULL,
};

struct ts_buf bench_sample(const struct bench_format *format)
{
	const char *path = bench_data(format->sample);
	bool is_packed = strlen(path) > 3 && !strcmp(path + strlen(path) - 3, ".gz");
	char command[4200];
	uint8_t piece[65536];
	struct ts_buf b;
	size_t got;
	FILE *in;

	ts_buf_init(&b);
	snprintf(command, sizeof(command), "%s '%s'", is_packed ? "gzip -dc" : "cat", path);
	in = popen(command, "r");
	while (in && (got = fread(piece, 1, sizeof(piece), in)) > 0)
		ts_buf_put(&b, piece, got);
	if (!in || pclose(in) || !b.len || !ts_buf_ok(&b))
		bench_die("%s cannot be read", path);
	return b;
}

FILE *bench_create(const char *path)
{
	FILE *out = fopen(path, "wb");

	if (!out)
		bench_die("%s cannot be written", path);
	return out;
}

void bench_write(FILE *out, const void *data, size_t len)
{
	if (len && fwrite(data, len, 1, out) != 1)
		bench_die("a recording cannot be written");
}

uint64_t bench_finish(FILE *out)
{
	long len;

	if (fseek(out, 0, SEEK_END) || (len = ftell(out)) < 0 || fclose(out))
		bench_die("a recording cannot be written");
	return (uint64_t)len;
}

uint64_t bench_get(const uint8_t *p, unsigned len)
{
	uint64_t n = 0;

	while (len--)
		n = n << 8 | p[len];
	return n;
}

void bench_put(uint8_t *p, unsigned len, uint64_t n)
{
	for (unsigned i = 0; i < len; i++)
		p[i] = (uint8_t)(n >> 8 * i);
}
