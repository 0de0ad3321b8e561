/* SPDX-License-Identifier: MIT */
/*
 * Recordings of any length, in each format, for the benchmarks: what a maker offers and which there are.
 *
 * A maker repeats what a real recording has, or a loop, until there are as many steps as are wanted: what the
 * steps do is what programs do, only the memory that they touch does not grow.  Near the beginning eight
 * bytes are written that nothing else touches: a watchpoint there is hit once.
 */
#ifndef BENCH_RECORDING_H
#define BENCH_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/collections/buf.h"

struct bench_recording {
	uint64_t n_steps; /* that were written */
	uint64_t file_len;
	uint64_t steps_at; /* file offset of the steps; before it are facts about all of them */
	uint64_t mark;     /* the address that is written once; 0: there is none */
};

struct bench_format {
	const char *name;   /* one word, for BENCH_FORMATS */
	const char *about;  /* for people: what is repeated */
	bool is_extra;      /* measured only if it is named */
	double index_rate;  /* million steps a second that indexing it should reach; 0: not said */
	uint64_t max_steps; /* longer ones make no sense; 0: no bound */

	/* Make @path a recording of @n_steps steps or a few more.  @sample is that of this format. */
	void (*record)(const struct bench_format *format, const char *path, uint64_t n_steps,
		       struct bench_recording *rec);
	const char *sample;  /* what is repeated, in tests/data; NULL: nothing */
	const char *program; /* the same with the lines of its source; NULL: none is there */

	/*
	 * Processor seconds that other people's library needs for one pass over it, 0 if it is not here;
	 * NULL: there is none.
	 */
	double (*library)(const char *path, const struct bench_recording *rec);
	const char *library_name;
};

extern const struct bench_format bench_usercorn_v0, bench_usercorn_snappy, bench_rvnbintrace, bench_x64dbg,
	bench_tenet, bench_gdbrecord;
extern const struct bench_format bench_bap, bench_bap_arm, bench_bap_ppc, bench_bap_plugin, bench_tfile;

/* All, NULL-terminated. */
extern const struct bench_format *const bench_formats[];

/* For makers: the bytes of format->sample, unpacked; a file to write, and its end. */
struct ts_buf bench_sample(const struct bench_format *format);
FILE *bench_create(const char *path);
void bench_write(FILE *out, const void *data, size_t len);
uint64_t bench_finish(FILE *out); /* Returns its length. */

/* Little-endian numbers. */
uint64_t bench_get(const uint8_t *p, unsigned len);
void bench_put(uint8_t *p, unsigned len, uint64_t n);

#endif
