/* SPDX-License-Identifier: MIT */
/*
 * Executed addresses, posted by fall-through runs.
 *
 * A run is a sequence of instructions of one thread that follow each other in memory and in time; none passes
 * the end of the address space.  A program has few distinct runs, however long it executes: each is stored
 * once with the lengths of its instructions, and the positions at which it began are posted a segment at a
 * time.  "When was this address executed" is then exact without decoding anything.
 */
#ifndef TS_RUNS_H
#define TS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

/* Longer runs are split. */
#define TS_MAX_RUN 128u

struct ts_runs;
struct ts_index_file;
struct ts_index_arrays;

/* New and empty; NULL if memory is exhausted. */
struct ts_runs *ts_runs_new(void);
void ts_runs_free(struct ts_runs *r);

/* The run that is being collected; visible so that ts_runs_step() is inline. */
struct ts_open_run {
	uint64_t pos, pc, next_pc;
	uint32_t process, thread;
	uint32_t n;         /* instructions, 0 = no run is open */
	uint32_t len;       /* bytes */
	uint8_t last_len;   /* of the last instruction; 0 (unknown) ends a run */
	uint8_t lens[TS_MAX_RUN];
};

struct ts_open_run *ts_runs_open(struct ts_runs *r);

/* End the open run.  Returns false if memory is exhausted. */
bool ts_runs_flush(struct ts_runs *r);

/* Start a run with the step at @pos, ending the open one.  Returns false if memory is exhausted. */
bool ts_runs_start(struct ts_runs *r, uint64_t pos, uint32_t process, uint32_t thread, uint64_t pc,
		   uint16_t insn_len);

/*
 * The step at @pos (they come in order) executed the instruction at @pc of @insn_len bytes, 0 = unknown.
 * @open is ts_runs_open(@r).
 *
 * Returns false if memory is exhausted.
 */
static inline bool ts_runs_step(struct ts_runs *r, struct ts_open_run *open, uint64_t pos, uint32_t process,
				uint32_t thread, uint64_t pc, uint16_t insn_len)
{
	if (__builtin_expect(open->n == 0 || pc != open->next_pc || thread != open->thread ||
				     open->n == TS_MAX_RUN || !open->last_len || insn_len > UINT8_MAX ||
				     pc < open->pc,
			     0))
		return ts_runs_start(r, pos, process, thread, pc, insn_len);
	open->lens[open->n++] = (uint8_t)insn_len;
	open->last_len = (uint8_t)insn_len;
	open->len += insn_len;
	open->next_pc = pc + insn_len;
	return true;
}

/*
 * After ts_runs_flush(), sort what was noted so far, for the call of ts_runs_seal() or ts_runs_seal_copy() that
 * follows, which is quick then (else it does all this itself).  Takes long; another thread may do it while
 * this one asks, and notes nothing.  False: no memory.
 */
bool ts_runs_pack(struct ts_runs *r);

/* Seal the steps before position @end, where the next segment begins.  False: no memory. */
bool ts_runs_seal(struct ts_runs *r, uint64_t end);

/* The same for now: queries see what was noted so far, until the segment is sealed or copied again. */
bool ts_runs_seal_copy(struct ts_runs *r);

/*
 * To an index file: the segment that was sealed last, and the runs that are new in it.  From there: the next
 * segment, which ends at position @end, and the runs that are new in it; or only the arrays of the one that
 * was sealed last, in place of those in memory.
 *
 * Return false if memory is exhausted, or the arrays contradict each other.
 */
void ts_runs_save(struct ts_runs *r, struct ts_index_file *f);
bool ts_runs_load(struct ts_runs *r, struct ts_index_arrays *a, uint64_t end);
bool ts_runs_load_sealed(struct ts_runs *r, struct ts_index_arrays *a);

/*
 * The first position >= @pos (last position <= @pos) at which an instruction of @process with an address in
 * [first, last] was executed.  Sees sealed segments only.
 *
 * Returns it, TS_NO_POS if there is none.
 */
uint64_t ts_runs_next(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos);
uint64_t ts_runs_prev(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos);

/*
 * The lowest address >= @addr at which a run of @process begins, in sealed segments: to go over all executed
 * code in the order of addresses.
 *
 * Returns false if there is no such run.
 */
bool ts_runs_next_start(const struct ts_runs *r, uint32_t process, uint64_t addr, uint64_t *start);

/* An instruction of a run, and how often it was executed. */
struct ts_run_count {
	uint32_t process;
	uint64_t pc;
	uint8_t len; /* bytes, 0 if unknown */
	uint64_t n;
};

/*
 * Call @use with each instruction of each distinct run that was executed at positions [@from, @to); one address
 * may come several times.  Sees sealed segments only.
 */
void ts_runs_each(const struct ts_runs *r, uint64_t from, uint64_t to,
		  void (*use)(void *user, const struct ts_run_count *c), void *user);

/* For `info` and the benchmark: distinct runs, bytes of the sealed part. */
uint64_t ts_runs_n_distinct(const struct ts_runs *r);
uint64_t ts_runs_mem(const struct ts_runs *r);

#endif
