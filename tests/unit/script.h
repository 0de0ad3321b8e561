/* SPDX-License-Identifier: MIT */
/*
 * Recordings made up from a seed, and readers over them: what a loader gives, without a trace.
 *
 * A script is all steps of a recording in one batch.  Its random effects keep to a few arenas of memory, so
 * that they meet each other; arenas lie at both ends of the address space and across borders of lines and
 * pages.  A decode point is a step number, in a varying number of bytes.
 */
#ifndef TS_TESTS_SCRIPT_H
#define TS_TESTS_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/trace/reader.h"

struct ts_query;
struct ts_timeline;

#define SCRIPT_MAX_THREADS 6
#define SCRIPT_MAX_PROCESSES 3
#define SCRIPT_N_ARENAS 7

/* A range of memory in which effects happen, both ends inclusive. */
struct script_arena {
	uint64_t first, last;
};
extern const struct script_arena script_arenas[SCRIPT_N_ARENAS];

/* Random numbers that are the same everywhere. */
struct script_random {
	uint64_t state;
};

uint64_t script_random(struct script_random *r);

/* A number below @n; true in @percent of 100 cases. */
static inline uint64_t script_below(struct script_random *r, uint64_t n)
{
	return script_random(r) % n;
}

static inline bool script_chance(struct script_random *r, unsigned percent)
{
	return script_below(r, 100) < percent;
}

/* A random range of 1 to @max_len bytes within an arena. */
void script_range(struct script_random *r, unsigned max_len, uint64_t *addr, uint64_t *len);

struct script {
	struct ts_recording rec; /* first: this is the recording */
	struct ts_steps steps;   /* all of them */
	struct ts_end end;       /* what its readers say at the end */
	enum ts_next ending;     /* how they end: TS_END, or TS_FAIL with damage */
	enum ts_code damage;
	uint32_t process_of[SCRIPT_MAX_THREADS];
	uint64_t *bytes;         /* owned; addresses that its effects may touch, ascending */
	size_t n_bytes, cap_bytes;
	uint32_t n_threads;      /* that it uses; the recording may learn of them while it is read */
	uint64_t n_reads;        /* steps read so far, by all readers */
	/* a reader that is to read this step finds the trace gone, whatever ending says */
	uint64_t fail_at;
	uint32_t odd_every;      /* every n-th step has something odd, of which its first reader warns; 0: none has */
	uint64_t odd_until;      /* which was before this step */
	uint32_t lie_every;      /* every n-th skip() arrives one step before the right place; 0: none does */
	uint32_t n_skips;
};

/* An empty recording of @n_threads threads, thread i of process @process_of[i]; NULL: all of process 0. */
struct script *script_new(const char *arch, uint32_t n_threads, const uint32_t *process_of);

/* A random recording of @n_steps steps, and anything in it. */
struct script *script_random_new(uint64_t seed, uint64_t n_steps);

/* If true, nothing changes memory unseen in the random recordings that are made from now on. */
extern bool script_has_no_unseen;

/*
 * The steps of a recording that a loader opened, all in one batch: for a walk over them, not to be read.  Its
 * rec is a copy of the recording's facts, which stay the caller's.
 */
struct script *script_read(struct ts_recording *rec);

/* A random range of 1 to @max_len of the script's bytes, which are neighbours. */
void script_bytes(const struct script *s, struct script_random *r, unsigned max_len, uint64_t *addr,
		  uint64_t *len);

/* The next step of @thread, with the effects that were added to s->steps.  Instruction i lies at 16 * i. */
void script_step(struct script *s, uint32_t thread);

/* @n steps of the first thread. */
void script_steps(struct script *s, unsigned n);

/*
 * Read the whole recording.  Returns a query over the timeline in *tl; the caller frees both.
 * Returns NULL if that fails: @err says why, and the caller still frees *tl.
 */
struct ts_query *script_query(struct script *s, struct ts_timeline **tl, struct ts_error *err);

/* Its readers and the recording itself go. */
void script_free(struct script *s);

/* Of some recordings this range is left in the trace. */
#define SCRIPT_MEMORY_ADDR (UINT64_C(0x1000) - 45)
#define SCRIPT_MEMORY_LEN 40u
uint8_t script_memory_byte(uint64_t off);

/* Name of the one file that scripts map, and what it holds. */
#define SCRIPT_FILE "lib/part.so"
#define SCRIPT_FILE_LEN 150u
uint8_t script_file_byte(uint64_t off);

#endif
