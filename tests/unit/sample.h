/* SPDX-License-Identifier: MIT */
/*
 * Recordings of each format, with the twin of each: a walk over its steps, which a reader of the loader's
 * gave once, from the first to the last.
 */
#ifndef TS_TESTS_SAMPLE_H
#define TS_TESTS_SAMPLE_H

#include "asserts.h"

#include "naive.h"
#include "script.h"
#include "src/source/source.h"

/* A page of a machine's memory. */
struct sample_page {
	uint64_t virt, phys, len;
};

struct sample {
	struct ts_source *src;     /* owned */
	struct ts_recording *rec;  /* owned */
	struct script *s;          /* owned; its steps */
	struct naive *nv;          /* owned */
	struct sample_page *pages; /* owned; of a machine, those that are mapped at position 0 */
	size_t n_pages;
};

/* Paths in tests/data. */
extern const char *const sample_names[];
extern const int sample_n_names;

/* The test fails if the file cannot be opened. */
void sample_open(struct sample *x, const char *name);
void sample_close(struct sample *x);

/*
 * How many questions of each verb sample @i is asked: those of a format share what is wanted of one (twins.h),
 * and have @few each if nothing is.
 */
unsigned sample_n_questions(int i, unsigned few);

/* The case of a suite that calls @test with the number of each sample whose format is wanted. */
TCase *sample_case(const TTest *test);

/*
 * Positions of a question to @n_steps steps, and " in A:B" added to @words: few steps more often than many,
 * and nearer to the beginning more often, as what an answer costs is its rows, or what is before them.
 * Sometimes they are all, without words.
 */
void sample_range(struct script_random *r, uint64_t n_steps, uint64_t *from, uint64_t *to, char *words);

/*
 * Of a machine: *virt gets an address at which the physical byte @phys is at position @pos; false if there is
 * none.  Of other recordings it is @phys.  *n_left gets how many bytes follow it that are its neighbours in
 * both, itself included.
 */
bool sample_virtual(const struct sample *x, uint64_t pos, uint64_t phys, uint64_t *virt, uint64_t *n_left);

/*
 * A byte at a position, also one that no step touches; returns whether it is known.  Of a machine, a physical
 * address.
 */
bool sample_byte(const struct sample *x, uint64_t pos, uint32_t process, uint64_t addr, uint8_t *value);

/* Of a machine: where a virtual address is at position @pos by its four-level tables; false: nowhere. */
bool sample_physical(const struct sample *x, uint64_t pos, uint64_t virt, uint64_t *phys);

#endif
