/* SPDX-License-Identifier: MIT */
/*
 * How long does it take to index an x64dbg trace of 5 million blocks, beside reading the file, and how much
 * memory?
 *
 * The trace is seven pages of a real one again and again, by two threads in turn, so that nothing has to be
 * forgotten where it starts anew.  Reading, decoding and indexing are measured in one run, each the best of
 * three, in a process of its own whose peak memory is shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "recording.h"
#include "src/timeline.h"

#define N_BLOCKS UINT64_C(5000000)
#define N_RUNS 3

extern const struct ts_loader x64dbg_loader;

static void check(bool done, const struct ts_error *err)
{
	if (!done)
		bench_die("%s", err->text);
}

/* The bundled trace: its head's length to *head. */
static uint8_t *read_sample(size_t *len, size_t *head)
{
	const char *dir = getenv("TEST_SRCDIR");
	char command[4200];
	uint8_t *bytes = malloc(1 << 20);
	FILE *pipe;

	snprintf(command, sizeof(command), "gzip -dc '%s/tests/data/x64dbg-samples/list64.trace64.gz'",
		 dir ? dir : ".");
	pipe = popen(command, "r");
	if (!bytes || !pipe)
		bench_die("no memory, or no gzip");
	*len = fread(bytes, 1, 1 << 20, pipe);
	if (pclose(pipe) || *len < 8)
		bench_die("the bundled trace cannot be read");
	*head = 8 + (bytes[4] | (size_t)bytes[5] << 8);
	return bytes;
}

#define PAGE_BLOCKS 512u
#define N_PAGES 7u

static size_t block_len(const uint8_t *b)
{
	size_t len = 4 + (b[3] & 0x80 ? 4 : 0) + (b[3] & 15) + 9 * (size_t)b[1], n_changed = 0;

	for (unsigned i = 0, n = b[2]; i < n; i++)
		n_changed += !(b[len + i] & 1);
	return len + 17 * (size_t)b[2] + 8 * n_changed;
}

/* Where each page begins, and the last one ends. */
static void find_pages(const uint8_t *bytes, size_t len, size_t head, size_t pages[N_PAGES + 1])
{
	size_t at = head;

	for (unsigned n = 0; n <= N_PAGES * PAGE_BLOCKS; n++) {
		if (at >= len)
			bench_die("the bundled trace is too short");
		if (n % PAGE_BLOCKS == 0)
			pages[n / PAGE_BLOCKS] = at;
		at += block_len(bytes + at);
	}
}

/* Returns the file's length. */
static uint64_t write_trace(const char *path)
{
	size_t len, head, pages[N_PAGES + 1];
	uint8_t *bytes = read_sample(&len, &head);
	FILE *f = fopen(path, "wb");
	uint64_t file_len = head;

	find_pages(bytes, len, head, pages);
	len = pages[N_PAGES] - head;
	if (!f || fwrite(bytes, head, 1, f) != 1)
		bench_die("%s cannot be written", path);
	for (uint64_t n = 0; n < N_BLOCKS; n += N_PAGES * PAGE_BLOCKS, file_len += len) {
		for (unsigned i = 0; i < N_PAGES; i++)
			bytes[pages[i] + 4] ^= 1; /* the thread */
		if (fwrite(bytes + head, len, 1, f) != 1)
			bench_die("%s cannot be written", path);
	}
	fclose(f);
	free(bytes);
	return file_len;
}

static void pass_read(const char *path, uint64_t *n)
{
	static uint8_t piece[1 << 20];
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	size_t got = 1;

	check(src, &err);
	for (*n = 0; got; *n += got)
		check(ts_source_read(src, *n, piece, sizeof(piece), &got, &err), &err);
	ts_source_close(src);
}

static struct ts_recording *open_trace(const char *path, struct ts_source **src)
{
	struct ts_error err = { 0 };
	struct ts_recording *rec;

	*src = ts_source_open(path, &err);
	check(*src, &err);
	rec = x64dbg_loader.open(*src, NULL, &err);
	check(rec, &err);
	return rec;
}

static void pass_decode(const char *path, uint64_t *n)
{
	struct ts_source *src;
	struct ts_recording *rec = open_trace(path, &src);
	struct ts_error err = { 0 };
	struct ts_reader *reader = rec->ops->reader(rec, &err);
	enum ts_next next = TS_ITEM;
	struct ts_steps steps;

	check(reader, &err);
	ts_steps_init(&steps);
	for (*n = 0; next == TS_ITEM; *n += next == TS_ITEM) {
		next = reader->ops->next(reader, &steps, &err);
		if (steps.n_steps == 1024)
			ts_steps_reset(&steps);
	}
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
}

static void pass_index(const char *path, uint64_t *n)
{
	struct ts_source *src;
	struct ts_recording *rec = open_trace(path, &src);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(rec, NULL, &err);

	check(tl, &err);
	while (ts_timeline_grow(tl, 1 << 20, &err) == TS_GROW_MORE)
		;
	*n = tl->n_steps;
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
}

static void show(const char *name, double wall, double cpu, uint64_t file_len, long peak_kb)
{
	printf("%-10s %8.2f %8.2f %10.0f %12.2f %10ld\n", name, wall, cpu, (double)file_len / cpu / 1e6,
	       (double)N_BLOCKS / cpu / 1e6, peak_kb / 1024);
	fflush(stdout);
}

/* Best of some runs in a process of its own. */
static void measure(const char *name, const char *path, void (*pass)(const char *path, uint64_t *n),
		    uint64_t file_len)
{
	double wall = 1e9, cpu = 1e9;
	struct rusage usage;
	uint64_t n = 0;
	int status;
	pid_t pid = fork();

	if (pid > 0) {
		if (waitpid(pid, &status, 0) != pid || status)
			bench_die("%s failed", name);
		return;
	}
	for (int i = 0; i < N_RUNS; i++) {
		double wall_start = bench_now(), cpu_start = bench_cpu();

		pass(path, &n);
		wall = bench_now() - wall_start < wall ? bench_now() - wall_start : wall;
		cpu = bench_cpu() - cpu_start < cpu ? bench_cpu() - cpu_start : cpu;
	}
	getrusage(RUSAGE_SELF, &usage);
	show(name, wall, cpu, file_len, usage.ru_maxrss);
	_exit(0);
}

/* The program itself, without an index file that is there already. */
static void measure_info(const char *path, uint64_t file_len)
{
	const char *program = getenv("TRACESTUB");
	double start = bench_now();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (freopen("/dev/null", "w", stdout))
			execlp(program ? program : "./tracestub", "tracestub", "info", "--index", "none",
			       path, (char *)NULL);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) != pid || status)
		bench_die("tracestub info failed");
	show("info", bench_now() - start,
	     (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
	     file_len, usage.ru_maxrss);
}

int main(void)
{
	char *path = bench_temp("x64dbg.trace64");
	uint64_t file_len = write_trace(path);

	printf("\nx64dbg: %" PRIu64 " blocks, %" PRIu64 " MB\n", N_BLOCKS, file_len / 1000000);
	printf("%-10s %8s %8s %10s %12s %10s\n", "", "wall s", "cpu s", "MB/cpu s", "M blocks/s", "peak MiB");
	fflush(stdout);
	measure("read", path, pass_read, file_len);
	measure("decode", path, pass_decode, file_len);
	measure("index", path, pass_index, file_len);
	measure_info(path, file_len);
	free(path);
	return 0;
}
