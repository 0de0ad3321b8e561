/* SPDX-License-Identifier: MIT */
/*
 * What benchmarks do with a trace: open it, read it, decode all of it, index all of it, ask.  They die on
 * failure.
 */
#ifndef BENCH_PASS_H
#define BENCH_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/index/keys/layout_cache.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

/* A recording, with all that is open over it. */
struct bench_trace {
	struct ts_source *src;
	struct ts_layout_cache keeper; /* of src, if there is a file */
	struct ts_recording *rec;
	struct ts_timeline *tl; /* NULL unless it is indexed */
	struct ts_query *q;     /* NULL unless it can be asked */
	long anon_kb;           /* the most memory that was resident and no file's while it was indexed */
};

enum bench_index {
	BENCH_TO_FILE,  /* PATH.tsindex; in memory where the model keeps no file for the format */
	BENCH_NO_READS, /* the same without what was read */
	BENCH_IN_MEMORY,
	BENCH_COMPARED, /* to a file, with the digests of chunks */
	BENCH_AHEAD, /* to a file, with a job for each processor */
};

void bench_open(struct bench_trace *t, const char *path);
void bench_close(struct bench_trace *t);

/* Index a trace, into a new file. */
void bench_build(struct bench_trace *t, const char *path, enum bench_index how);

/* The finished file is opened again. */
void bench_reopen(struct bench_trace *t, const char *path);

/* Let an indexed trace be asked. */
void bench_ask(struct bench_trace *t);

/*
 * Passes that leave nothing open: read the file's bytes from @off on, as cat does; decode the trace without
 * an index; index it (it decodes too); open its index.
 */
void bench_pass_read(const char *path, uint64_t off);
void bench_pass_decode(const char *path);
void bench_pass_index(const char *path);
void bench_pass_reopen(const char *path);

/* Pass over the steps as several decoders need it.  Returns false, having done nothing, if readers cannot. */
bool bench_pass_skip(const char *path);

/* The address that most of the first instructions of a trace have. */
uint64_t bench_find_hot(const char *path);

#endif
