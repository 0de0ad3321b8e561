/* SPDX-License-Identifier: MIT */
/*
 * What benchmarks of loaders do with a trace: open it, decode all of it, index all of it.  They die on
 * failure.
 */
#ifndef BENCH_PASS_H
#define BENCH_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/timeline.h"

/* Die with the sentence unless it is done. */
void bench_check(bool done, const struct ts_error *err);

/* The recording, and its source to *src; both to be closed. */
struct ts_recording *bench_open(const char *path, struct ts_source **src);

/*
 * Read the file's bytes from @off on; decode the trace without an index; index it (it decodes too), *stats
 * may be NULL.
 */
void bench_pass_read(const char *path, uint64_t off);
void bench_pass_decode(const char *path);
void bench_pass_index(const char *path, struct ts_timeline_stats *stats);

/* The least processor seconds of @n_runs calls. */
double bench_best_of(unsigned n_runs, void (*pass)(const char *path), const char *path);

#endif
