/* SPDX-License-Identifier: MIT */
/*
 * What the target fuzz_served serves, and how it is served.
 */
#ifndef TS_TESTS_FUZZ_SERVED_H
#define TS_TESTS_FUZZ_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/collections/buf.h"

#define SERVED_MAX_EDITS   16u
#define SERVED_MAX_THREADS 4u

struct served_path {
	char path[160]; /* in tests/data; empty: none */
};

/* Bytes that are written over those of a file, or where it ends. */
struct served_edit {
	bool is_cut;
	uint64_t off;
	size_t len;
	uint8_t bytes[16];
};

struct served_edits {
	struct served_edit items[SERVED_MAX_EDITS];
	size_t n;
};

struct served {
	struct served_path trace, exec, grammar, image;
	struct served_path threads[SERVED_MAX_THREADS];
	unsigned n_threads;
	uint64_t image_addr;
	struct served_edits of_trace, of_exec, of_index;
	struct served_path beside; /* a file beside the trace */
	char name[32], beside_name[32], comm[64];
	uint64_t n_steps;           /* read in a time before, which leaves an unfinished index; 0: none */
	unsigned n_parts;           /* 0: the index is built as usual */
	const struct ts_arch *arch; /* NULL: registers as recorded */
	bool is_live; /* it is read while it is served */
	struct ts_buf said[2];      /* owned; by the clients */
	bool has_asked;             /* commands of monitor: the time divides their rows among packets */
};

/* Returns false if @name is not that of a file in tests/data. */
bool served_take_path(struct served_path *p, const char *name);

/* Any of it may be missing. */
void served_run(const struct served *s);

#endif
