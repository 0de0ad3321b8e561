/* SPDX-License-Identifier: MIT */
/*
 * Index files of recordings that tests make up, and the comparison of one with an index in memory.
 */
#ifndef TESTS_INDEX_CASE_H
#define TESTS_INDEX_CASE_H

#include <stdint.h>

#include "script.h"
#include "src/index/index_write.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#define PATH     "trace.tsindex"
#define PART     PATH ".part"
#define N_STEPS  700
#define N_PLACES 200

extern const struct ts_index_key the_key;

/* One recording, opened. */
struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
};

/* Give the timeline the index file at PATH: the finished one, or one that is begun or continued at PART. */
void use_index(struct ts_timeline *tl, bool is_finished);

/* Read @n_steps more steps, or more than that; all of them if @n_steps is UINT64_MAX. */
void grow(struct ts_timeline *tl, uint64_t n_steps);

/* Script @seed, of N_STEPS, of which nothing is read. */
void open_script(struct opened *o, uint64_t seed);

/* Read the rest of it. */
void finish(struct opened *o);
void close_script(struct opened *o);

/* Continue the index at PART, or start one. */
void build(struct opened *o, uint64_t seed);

/* Build the index of script @seed at PATH, from the start. */
void build_and_close(uint64_t seed);

/* Two timelines over one recording agree about registers and memory at @pos. */
void compare_state(const struct opened *a, const struct opened *b, uint64_t pos);

/* Two timelines over one recording agree about what is asked at @n random positions. */
void compare(const struct opened *a, const struct opened *b, unsigned n);

/* The length of a file in bytes; 0 if it does not exist. */
uint64_t file_len(const char *path);

#endif
