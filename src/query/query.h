/* SPDX-License-Identifier: MIT */
/*
 * The questions to a recording, and the only door to its timeline.
 *
 * A query object answers from one published snapshot of the recording: positions 0..end and the steps to
 * them.  While the recording is still being read, the timeline knows more than that; nothing of it is
 * visible here.  ts_query_refresh() moves on to the newest snapshot.  An answer about positions 0..end stays
 * true when more has been read, with one exception: what is unknown may become known.
 *
 * "None" is therefore final only if ts_query_is_complete(), or if the question looks backwards.  A caller
 * that gets TS_NO_POS, NULL or false from a question that looks forwards waits for the next snapshot and asks
 * again from end + 1 on.
 *
 * Positions that are passed in must not exceed ts_query_end() unless a function says otherwise; those that
 * come out never do.  Threads, processes and modules are ordinals.  Pointers into the recording are valid
 * until the recording grows.
 *
 * The object owns a reader and a small cache of decoded chunks, shared by all who ask through it; it is used
 * by one thread at a time.  The cost of a question does not grow with the recording: a look-up in the index
 * and the decoding of a chunk.
 */
#ifndef TS_QUERY_H
#define TS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/arch/cpu_mode.h"
#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/trace/chunk.h"
#include "src/trace/step.h"

struct ts_query;
struct ts_frames;
struct ts_source;
struct ts_timeline;
struct ts_tracing;

/*
 * Questions to @tl (borrowed; must outlive it), of which at least a part has been read.
 *
 * Returns NULL if the recording cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
struct ts_query *ts_query_new(struct ts_timeline *tl, struct ts_error *err);
void ts_query_free(struct ts_query *q);

/* ----------------------------------------------------------------------------------------- the snapshot */

/*
 * Can what was answered so far be believed?  What a damaged index file says is not an answer, nor what a file
 * could not be read for.  Whoever asks something that cannot fail calls this before it tells the answer; the
 * others have done so.  What was unpacked from index files may leave memory here (ts_timeline_give_back()):
 * nobody may be in a walk over the timeline that calls back.
 *
 * Returns false if not, with the reason (TS_ECORRUPT, TS_EIO).
 */
bool ts_query_finish_question(const struct ts_query *q, struct ts_error *err);

/*
 * Take the newest snapshot that the timeline has published.  Must be called after the timeline has grown; it
 * invalidates everything that was borrowed before.
 *
 * Returns true if it differs from the one before: there are more positions, or the recording is complete.
 */
bool ts_query_refresh(struct ts_query *q);

/*
 * The last position that may be stood on: N if the recording is complete, else the last one that is
 * published.
 */
uint64_t ts_query_end(const struct ts_query *q);

/*
 * How many steps can be asked about: N if the recording is complete.  Else there is one step more than
 * ts_query_end(): it tells the pc there, but what it leads to is not published yet.
 */
uint64_t ts_query_n_steps(const struct ts_query *q);

/* Has the recording been read to its end, or to its damage?  Then the end is N. */
bool ts_query_is_complete(const struct ts_query *q);

/* Is the pc at the end a guess?  The trace does not show where the last instruction led. */
bool ts_query_is_end_assumed(const struct ts_query *q);

/*
 * How much of the trace has been read so far, for people: 0..1000 parts of a thousand, by bytes of the file.
 * It is 1000 only if the recording is complete.
 */
unsigned ts_query_permille(const struct ts_query *q);

/* How a complete recording ends. */
struct ts_ending {
	struct ts_error damage; /* why it ends before its time; code TS_OK if it does not */
	bool has_exit;          /* the program's end was recorded */
	bool is_fault;          /* the last instruction did not complete */
};

/* Returns false while the recording is being read. */
bool ts_query_ending(const struct ts_query *q, struct ts_ending *ending);

/*
 * Did the system, not the recording, end the reading early (TS_EIO, TS_ENOMEM)?  Then what was read is good,
 * but it is not known to be all.  *why gets the error.
 */
bool ts_query_is_abandoned(const struct ts_query *q, struct ts_error *why);

/* --------------------------------------------------------------------------- facts of the whole recording */

/* What its loader found out when it opened the trace; constant.  All pointers are borrowed. */
struct ts_facts {
	const char *format;            /* the loader's name */
	const char *variant;           /* the version of the format, for people; "" if unknown */
	const char *os;                /* as recorded, "" if unknown */
	const char *osabi;             /* gdb's name of it ("GNU/Linux"), NULL if unknown */
	const struct ts_regset *regs;
	bool is_physical;              /* a whole machine: accesses have physical addresses */
	uint8_t phys_bits;             /* the width of the machine's physical addresses, 0 if unknown */
	bool has_reads;                /* memory reads are recorded and indexed */
	bool misses_reads;             /* of has_reads: not those of vector, floating-point and atomic instructions */
	bool has_syscalls;             /* the format can record system calls */
	uint32_t absent_events;        /* kinds of events that it cannot record: bits 1 << ts_event_kind */
	bool is_before;                /* registers are recorded before instructions only */
	bool has_long_steps;           /* a step may be several instructions, of which the first one is shown */
	bool guesses_lengths;          /* lengths of x86 instructions are not facts: ts_query_insn_len() */
	const uint8_t *auxv;           /* the auxiliary vector at position 0, NULL if unknown */
	size_t auxv_len;
	const char *exec_path;         /* the program as recorded, NULL if unknown */
	const char *folder;            /* the working directory at the beginning, NULL if unknown */
	const struct ts_buf *cmdline;  /* arguments, each terminated by NUL; empty if unknown */
	const struct ts_buf *notes;    /* more facts for people: names and texts in turn, each terminated by NUL */
	/* of the run of tracepoints that made the recording; NULL: none did */
	struct ts_tracing *tracing;
	struct ts_frames *frames;      /* the same; all are there when the recording is complete */
};

const struct ts_facts *ts_query_facts(const struct ts_query *q);

/* The registers' layout; the same as ts_query_facts()->regs. */
const struct ts_regset *ts_query_regset(const struct ts_query *q);

/*
 * The file on this machine that holds what the recorder called @path, by --sysroot and the like; NULL if
 * there is none.
 */
const struct ts_source *ts_query_file(const struct ts_query *q, const char *path);

/* What the loader found odd so far: the i-th text and how often it holds; NULL after the last. */
const char *ts_query_warning(const struct ts_query *q, unsigned i, uint64_t *count);

/* What the index costs, in bytes, and what it had to infer so far. */
struct ts_index_stats {
	uint64_t points_len, regs_len, memory_len, reads_len, runs_len;
	uint64_t n_inferred, n_unexplained, n_pages, n_runs, n_segments;
};

void ts_query_stats(const struct ts_query *q, struct ts_index_stats *stats);

/* ----------------------------------------------------------------------------------------------- state */

/*
 * Step @pos, which must be below ts_query_n_steps(): *batch gets the chunk that holds its effects.  Both are
 * borrowed until the next question.
 *
 * Returns NULL if the trace cannot be read any more.
 */
const struct ts_step *ts_query_step(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
				    struct ts_error *err);

/*
 * The same; the chunk is decoded as a whole, so that the batch stays where it is while the state around the step is asked
 * for.
 */
const struct ts_step *ts_query_step_whole(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
					  struct ts_error *err);

/*
 * Changes whenever a decoded chunk makes room for another one.  While it does not, what ts_query_step() lent
 * stays where it is, if the chunk's last step was asked for: of others more may be decoded.
 */
uint64_t ts_query_epoch(const struct ts_query *q);

/* The thread that runs at position @pos: that of step @pos; at N that of the last step. */
uint32_t ts_query_thread(const struct ts_query *q, uint64_t pos);

/*
 * The address of the instruction that @thread executes next at position @pos; *has_pc is false where no step
 * of the snapshot tells.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_pc(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *pc, bool *has_pc,
		 struct ts_error *err);

/*
 * The registers of @thread at @pos in the 'g' layout: regset.g_len bytes to @data and to @known (1 or 0 a
 * byte).
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known,
		   struct ts_error *err);

/*
 * The first @len bytes of that, at most regset.g_len; the pc is not filled in.  For questions about a few
 * registers at many positions.
 */
bool ts_query_first_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err);

/*
 * Carry the registers of @thread, which ts_query_regs() gave for position @pos, on to position @pos + 1, if the effects of
 * the two steps tell all that is needed and are decoded.
 *
 * Returns false otherwise; the registers are then lost, and ts_query_regs() is to be asked.
 */
bool ts_query_regs_follow(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known);

/*
 * The value of register @i of the register set, -1 for none, as a number.
 *
 * Returns false if there is no such register, if it has more than 8 bytes or one of them is unknown; if memory is exhausted or
 * the trace cannot be read any more, *err tells, too.
 */
bool ts_query_reg(struct ts_query *q, uint64_t pos, uint32_t thread, int i, uint64_t *value, struct ts_error *err);

/*
 * Memory of @process at @pos: @len bytes at @addr to @data and @known (1 or 0 a byte; data is 0 where
 * unknown).  What passes the end of the address space is unknown.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		  uint8_t *data, uint8_t *known, struct ts_error *err);

/* ------------------------------------------------------------------------------------------ executions */

/* In place of a process: any. */
#define TS_ANY_PROCESS UINT32_MAX

/*
 * The first step >= @pos (@is_reverse: the last step <= @pos) that executed an instruction of @process with an address in
 * [@first, @last], both inclusive.  @pos may be anything.
 *
 * Returns TS_NO_POS if there is none.
 */
uint64_t ts_query_find_execution(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos,
				 bool is_reverse);

/*
 * The same for positions at which such an instruction is the next one: those of its executions, and the end
 * if the next instruction there is one.
 */
uint64_t ts_query_find_arrival(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last, uint64_t pos,
			       bool is_reverse);

/* -------------------------------------------------------------------------------------------- accesses */

/* As a mask: bit i is the i-th of enum ts_space_deed. */
enum ts_access {
	TS_ACCESS_CHANGE = 1,  /* bytes were written and became different, or known */
	TS_ACCESS_WRITE = 2,   /* written, changed or not */
	TS_ACCESS_READ = 4,
	TS_ACCESS_REPLACE = 8, /* mapped, unmapped, or lost: starts afresh without being written */
};

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) in which memory [@first, @last] of @process may have
 * been accessed in one of the ways @accesses, a mask of enum ts_access; its steps are @chunk * TS_CHUNK_STEPS and those
 * after it, below ts_query_n_steps(), and ts_query_step() tells which did.  search.h looks for the exact step.
 *
 * Returns TS_NO_CHUNK if there is none, or if @chunk is TS_NO_CHUNK.
 */
uint64_t ts_query_find_access(const struct ts_query *q, unsigned accesses, uint32_t process, uint64_t first, uint64_t last,
			      uint64_t chunk, bool is_reverse);

/*
 * The same for the registers of a thread: bytes [@first, @last] of the 'g' layout, changed or written; chunks
 * that only write other registers are passed over.  The program counter is not among them: each step writes
 * it.
 */
uint64_t ts_query_find_register(const struct ts_query *q, unsigned accesses, uint32_t thread, uint32_t first, uint32_t last,
				uint64_t chunk, bool is_reverse);

/* ---------------------------------------------------------------------------------------------- events */

/*
 * The first event of a kind at a step >= @step (the last one at a step <= @step); @step may be anything.
 * Several events may belong to one step.
 *
 * Returns NULL if there is none.
 */
const struct ts_event_at *ts_query_find_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t step,
					      bool is_reverse);

/* The i-th event of a kind in the snapshot, NULL after the last. */
const struct ts_event_at *ts_query_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t i);

/* How many of them are at steps below @step: the ordinal of the first one that is not. */
uint64_t ts_query_n_events_below(const struct ts_query *q, enum ts_event_kind kind, uint64_t step);

/* How many events of the kind the snapshot has.  It is the recording's number only if that is complete. */
uint64_t ts_query_n_events(const struct ts_query *q, enum ts_event_kind kind);

/* --------------------------------------------------------------------------------------------- threads */

/* How many threads and processes (address spaces) have appeared. */
uint32_t ts_query_n_threads(const struct ts_query *q);
uint32_t ts_query_n_processes(const struct ts_query *q);

/* What the recorder calls a thread, below ts_query_n_threads(). */
const struct ts_thread *ts_query_thread_facts(const struct ts_query *q, uint32_t thread);

/* The process of a thread. */
uint32_t ts_query_process(const struct ts_query *q, uint32_t thread);

/*
 * Does the thread exist at @pos: it has run, or runs now, and has not ended?  One that runs after its end had
 * not ended.
 */
bool ts_query_is_alive(const struct ts_query *q, uint32_t thread, uint64_t pos);

/*
 * The first step >= @pos (the last step <= @pos) of @thread; @pos may be anything.
 *
 * Returns TS_NO_POS if there is none.
 */
uint64_t ts_query_next_step(const struct ts_query *q, uint32_t thread, uint64_t pos);
uint64_t ts_query_prev_step(const struct ts_query *q, uint32_t thread, uint64_t pos);

/* How many steps of @thread are below @pos. */
uint64_t ts_query_n_steps_of(const struct ts_query *q, uint32_t thread, uint64_t pos);

/* The first step at which another thread runs than at step @pos; the end if there is none. */
uint64_t ts_query_slice_end(const struct ts_query *q, uint64_t pos);

/* ------------------------------------------------------------------------------- what searches keep here */

/*
 * Keep @data in place of the data kept before.  @free_data frees it when it is replaced, when the recording
 * has grown, and with the query object.
 */
void ts_query_keep(struct ts_query *q, void *data, void (*free_data)(void *data));

/* What is kept; NULL: nothing. */
void *ts_query_kept(const struct ts_query *q);

/* ----------------------------------------------------------------------------------- regions and modules */

/* A region of memory, mapped from position @from until before position @until. */
struct ts_region_info {
	uint64_t from;
	uint64_t until;       /* TS_NO_POS: to the end */
	uint64_t first, last; /* addresses, both inclusive */
	uint64_t file_off;    /* of first */
	uint32_t process;
	uint32_t prot;        /* enum ts_prot bits */
	const char *desc;     /* "stack", "exe", ...; NULL if unknown */
	const char *file;     /* its path at recording time, NULL for none */
};

/*
 * The regions of @process at position @pos.  At most @max of them go to @out, sorted by address: if there are
 * more, the @max that began first.
 *
 * Returns how many regions there are, which may be more than @max.
 */
size_t ts_query_regions(const struct ts_query *q, uint32_t process, uint64_t pos, struct ts_region_info *out,
			size_t max);

/* The i-th region in the order in which they began; false after the last. */
bool ts_query_region(const struct ts_query *q, size_t i, struct ts_region_info *r);

/*
 * A module (program, library), there from position @from until before position @until.  Where the recording
 * lists none, these are the files that are mapped from their beginning.
 */
struct ts_module_info {
	uint64_t from;
	uint64_t until;       /* TS_NO_POS: to the end */
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	const char *file;     /* its path at recording time, NULL if unknown */
};

/* The i-th module in the order in which they appeared; false after the last. */
bool ts_query_module(const struct ts_query *q, size_t i, struct ts_module_info *m);

/*
 * The next module of @process at position @pos after the one before *at, in the order in which they appeared;
 * *at is 0 for the first call.
 *
 * Returns false after the last.
 */
bool ts_query_next_module(const struct ts_query *q, uint32_t process, uint64_t pos, size_t *at,
			  struct ts_module_info *m);

/* ------------------------------------------------------------------------------- the mode of a machine */

/* The mode of the machine's processor at @pos; NULL for the recording of a program. */
const struct ts_mode *ts_query_mode(const struct ts_query *q, uint64_t pos);

/* The first position after @pos at which the mode changes, TS_NO_POS if there is none. */
uint64_t ts_query_next_mode(const struct ts_query *q, uint64_t pos);

/*
 * The first position >= @pos (@is_reverse: the last position <= @pos) that the filter admits; NULL admits all.  @pos may
 * be anything.
 *
 * Returns TS_NO_POS if there is none.
 */
uint64_t ts_query_find_admitted(const struct ts_query *q, const struct ts_filter *f, uint64_t pos, bool is_reverse);

#endif
