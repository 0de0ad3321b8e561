/* SPDX-License-Identifier: MIT */
/*
 * The questions to a recording, and the only door to its timeline.
 *
 * A query object answers from one published snapshot of the recording: positions 0..end and the steps to
 * them.  While the recording is still being read, the timeline knows more than that; nothing of it is
 * visible here.  ts_query_refresh() moves on to the newest snapshot.  An answer about positions 0..end stays
 * true when more has been read, with one exception: what is unknown may become known.
 *
 * The result "none" is therefore final only if ts_query_is_complete(), or if the search goes backwards.  If a
 * search forwards returns TS_NO_POS, NULL or false before that, the caller waits for the next snapshot and
 * searches again from end + 1 on.
 *
 * Positions that are passed in must not exceed ts_query_end() unless a function says otherwise; those that
 * come out never do.  Threads, processes and modules are ordinals.  Pointers into the recording are valid
 * until the recording grows.
 *
 * The object owns a reader and a small cache of decoded chunks, which all its callers share.  One thread at a
 * time may use it.  A question costs a look-up in the index and the decoding of a chunk or two, independent
 * of the length of the recording.
 *
 * Results with an error: a question that decodes steps fails with TS_EIO if the trace cannot be read, with
 * TS_ETRUNC if it has become shorter, with TS_ECORRUPT if it has changed or the index is damaged, and with
 * TS_ENOMEM if memory is exhausted.
 */
#ifndef TS_QUERY_H
#define TS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/arch/cpu_mode.h"
#include "src/base/collections/buf.h"
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
 * A query object for @tl, which is borrowed and must outlive it.  At least a part of the recording must have
 * been read.
 *
 * Returns the object, which the caller frees with ts_query_free().
 * Returns NULL if the recording cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_query *ts_query_new(struct ts_timeline *tl, struct ts_error *err);
void ts_query_free(struct ts_query *q);

/* ----------------------------------------------------------------------------------------- the snapshot */

/*
 * Check that the results so far are valid.  They are not if the index file was damaged, or could not be
 * read.  After questions that have no error result, the caller must call this before it uses the results.
 * Questions with an error result have called it.  It may release memory that was unpacked from index files
 * (ts_timeline_give_back()), and must not be called inside of a callback of the timeline.
 *
 * Returns false if the index file is damaged (TS_ECORRUPT).
 * Returns false if the index file cannot be read (TS_EIO).
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
 * Returns the last position of the snapshot: N if the recording is complete, else the last published
 * position.
 */
uint64_t ts_query_end(const struct ts_query *q);

/*
 * Returns the number of steps of the snapshot: N if the recording is complete.  Else it is ts_query_end() +
 * 1: the pc of the last step is known, but the state after it is not published yet.
 */
uint64_t ts_query_n_steps(const struct ts_query *q);

/* Has the recording been read to its end, or to its damage?  Then the end is N. */
bool ts_query_is_complete(const struct ts_query *q);

/* Is the pc at the end a guess?  The trace does not show where the last instruction led. */
bool ts_query_is_end_assumed(const struct ts_query *q);

/*
 * Returns how much of the trace has been read, in thousandths of its bytes, for users.  It is 1000 only if
 * the recording is complete.
 */
unsigned ts_query_permille(const struct ts_query *q);

/* How a complete recording ends. */
struct ts_ending {
	struct ts_error damage; /* the reason for which the trace ends early; code TS_OK: it does not */
	bool has_exit;          /* the program's end was recorded */
	bool is_fault;          /* the last instruction did not complete */
};

/* Set *ending.  Returns false while the recording is being read. */
bool ts_query_ending(const struct ts_query *q, struct ts_ending *ending);

/*
 * Did a failure of the system end the reading early (TS_EIO, TS_ENOMEM), rather than the recording?  The
 * positions that were read are valid, but there may be more.  *why is set to the error.
 */
bool ts_query_is_abandoned(const struct ts_query *q, struct ts_error *why);

/* --------------------------------------------------------------------------- facts of the whole recording */

/* Facts that the loader found when it opened the trace; constant.  All pointers are borrowed. */
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
	struct ts_frames *frames;      /* of the same run; complete when the recording is */
};

/* Returns the facts, borrowed until ts_query_free(); never NULL. */
const struct ts_facts *ts_query_facts(const struct ts_query *q);

/* Returns the layout of registers, borrowed until ts_query_free(); the same as ts_query_facts()->regs. */
const struct ts_regset *ts_query_regset(const struct ts_query *q);

/*
 * Returns the file on this machine for the recorded path @path, by --sysroot and similar options, borrowed
 * until ts_query_free(); NULL if the file is not found.
 */
const struct ts_source *ts_query_file(const struct ts_query *q, const char *path);

/*
 * Returns the text of the i-th warning of the loader, borrowed until the recording grows, and sets *count to
 * how often it applies; NULL after the last one.
 */
const char *ts_query_warning(const struct ts_query *q, unsigned i, uint64_t *count);

/* The sizes of the parts of the index in bytes, and counts. */
struct ts_index_stats {
	uint64_t points_len, regs_len, memory_len, reads_len, runs_len;
	uint64_t n_inferred, n_unexplained, n_pages, n_runs, n_segments;
};

/* Set *stats, as of the newest snapshot. */
void ts_query_stats(const struct ts_query *q, struct ts_index_stats *stats);

/* ----------------------------------------------------------------------------------------------- state */

/*
 * Step @pos, which must be below ts_query_n_steps().  *batch is set to the chunk that contains its effects.
 *
 * Returns the step.  It and *batch are borrowed until the next question.
 * Returns NULL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
const struct ts_step *ts_query_step(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
				    struct ts_error *err);

/*
 * As ts_query_step(), with the whole chunk decoded.
 *
 * Returns the step.  It and *batch are valid while ts_query_epoch() does not change, also if other questions about the
 * chunk are asked.
 * Returns NULL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
const struct ts_step *ts_query_step_whole(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
					  struct ts_error *err);

/*
 * Returns a number that changes whenever a decoded chunk replaces another one in the cache.  While it does
 * not change, a step that ts_query_step_whole() returned is valid.
 */
uint64_t ts_query_epoch(const struct ts_query *q);

/* Returns the thread that runs at position @pos: that of step @pos; at N that of the last step. */
uint32_t ts_query_thread(const struct ts_query *q, uint64_t pos);

/*
 * Set *pc to the address of the instruction that @thread executes next at position @pos.  *has_pc is set to
 * false if no step of the snapshot determines it.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_pc(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *pc, bool *has_pc,
		 struct ts_error *err);

/*
 * Copy the registers of @thread at @pos in the 'g' layout: g_len bytes (struct ts_regset) to @data, and as
 * many to @known, each 1 if the byte is known and 0 if it is not.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known,
		   struct ts_error *err);

/*
 * As ts_query_regs(), for the first @len bytes of the layout and without the pc.  For questions about a few
 * registers at many positions.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_first_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err);

/*
 * Update registers of @thread that ts_query_regs() has returned for position @pos to position @pos + 1.
 *
 * Returns false if the effects of the two steps are not decoded, or do not determine all registers.  @data
 * and @known are then undefined, and the caller calls ts_query_regs().
 */
bool ts_query_regs_follow(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known);

/*
 * Set *value to the value of register @i of the register set as a number; @i may be -1, for no register.
 *
 * Returns true with *value set.
 * Returns false with *err unchanged if the register does not exist, if it has more than 8 bytes, or if one of
 * its bytes is unknown.
 * Returns false with *err set if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false with *err set if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_reg(struct ts_query *q, uint64_t pos, uint32_t thread, int i, uint64_t *value, struct ts_error *err);

/*
 * Copy @len bytes of memory of @process at @pos, from @addr on, to @data; @known has 1 or 0 for each byte.
 * @data is 0 where a byte is unknown.  Bytes beyond the end of the address space are unknown.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		  uint8_t *data, uint8_t *known, struct ts_error *err);

/* ------------------------------------------------------------------------------------------ executions */

/* In place of a process: any process. */
#define TS_ANY_PROCESS UINT32_MAX

/*
 * The first step >= @pos (@is_reverse: the last step <= @pos) that executed an instruction of @process with an address in
 * [@first, @last], both inclusive.  @pos may be anything.
 *
 * Returns TS_NO_POS if no step did.
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
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) in which memory [@first, @last] of
 * @process may have been accessed in one of the ways @accesses, a mask of enum ts_access.  The steps of chunk
 * c begin at c * TS_CHUNK_STEPS and are below ts_query_n_steps(); ts_query_step() returns their effects.
 * search.h finds the exact step.
 *
 * Returns TS_NO_CHUNK if no chunk may have accessed it so.
 * Returns TS_NO_CHUNK if @chunk is TS_NO_CHUNK.
 */
uint64_t ts_query_find_access(const struct ts_query *q, unsigned accesses, uint32_t process, uint64_t first, uint64_t last,
			      uint64_t chunk, bool is_reverse);

/*
 * The same for bytes [@first, @last] of the 'g' layout of @thread, which were changed or written.  The
 * program counter cannot be searched for, because each step writes it.
 */
uint64_t ts_query_find_register(const struct ts_query *q, unsigned accesses, uint32_t thread, uint32_t first, uint32_t last,
				uint64_t chunk, bool is_reverse);

/* ---------------------------------------------------------------------------------------------- events */

/*
 * The first event of a kind at a step >= @step (the last one at a step <= @step); @step may have any value.
 * Several events may belong to one step.
 *
 * Returns the event, borrowed until the recording grows.
 * Returns NULL if no event of the kind lies in that direction.
 */
const struct ts_event_at *ts_query_find_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t step,
					      bool is_reverse);

/*
 * Returns the i-th event of a kind in the snapshot, borrowed until the recording grows; NULL after the last
 * one.
 */
const struct ts_event_at *ts_query_event(const struct ts_query *q, enum ts_event_kind kind, uint64_t i);

/*
 * Returns the number of events of a kind at steps below @step, which is the ordinal of the first one that is
 * not.
 */
uint64_t ts_query_n_events_below(const struct ts_query *q, enum ts_event_kind kind, uint64_t step);

/*
 * Returns the number of events of a kind in the snapshot.  The recording may have more until it is complete.
 */
uint64_t ts_query_n_events(const struct ts_query *q, enum ts_event_kind kind);

/* --------------------------------------------------------------------------------------------- threads */

/* Return the number of threads, and of processes (address spaces), that have appeared. */
uint32_t ts_query_n_threads(const struct ts_query *q);
uint32_t ts_query_n_processes(const struct ts_query *q);

/*
 * Returns the ids and the name of @thread, which is below ts_query_n_threads(), borrowed until the recording
 * grows.
 */
const struct ts_thread *ts_query_thread_facts(const struct ts_query *q, uint32_t thread);

/* Returns the process of a thread. */
uint32_t ts_query_process(const struct ts_query *q, uint32_t thread);

/*
 * Does the thread exist at @pos?  It exists if it has run, or runs now, and has not ended.  A thread that
 * runs after its recorded end had not ended.
 */
bool ts_query_is_alive(const struct ts_query *q, uint32_t thread, uint64_t pos);

/*
 * The first step >= @pos (the last step <= @pos) of @thread; @pos may be anything.
 *
 * Returns TS_NO_POS if the thread has no such step.
 */
uint64_t ts_query_next_step(const struct ts_query *q, uint32_t thread, uint64_t pos);
uint64_t ts_query_prev_step(const struct ts_query *q, uint32_t thread, uint64_t pos);

/* Returns the number of steps of @thread below @pos. */
uint64_t ts_query_n_steps_of(const struct ts_query *q, uint32_t thread, uint64_t pos);

/*
 * Returns the first step after @pos at which another thread runs than at step @pos; the end if no other thread runs later.
 */
uint64_t ts_query_slice_end(const struct ts_query *q, uint64_t pos);

/* ------------------------------------------------------------------------------- what searches keep here */

/*
 * Keep @data in place of the data kept before.  @free_data frees it when it is replaced, when the recording
 * has grown, and with the query object.
 */
void ts_query_keep(struct ts_query *q, void *data, void (*free_data)(void *data));

/* Returns the data that is kept, borrowed until it is replaced or freed; NULL if no data is kept. */
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
 * Copy the regions of @process at position @pos to @out, at most @max, sorted by address.  If there are more,
 * those that began first are copied.
 *
 * Returns the number of regions, which may be more than @max.
 */
size_t ts_query_regions(const struct ts_query *q, uint32_t process, uint64_t pos, struct ts_region_info *out,
			size_t max);

/* Set *r to the i-th region in the order in which they began.  Returns false after the last one. */
bool ts_query_region(const struct ts_query *q, size_t i, struct ts_region_info *r);

/*
 * A module (program, library), loaded at positions @from to @until - 1.  If the recording lists no modules,
 * the files that are mapped from their beginning are used.
 */
struct ts_module_info {
	uint64_t from;
	uint64_t until;       /* TS_NO_POS: to the end */
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	const char *file;     /* its path at recording time, NULL if unknown */
};

/* Set *m to the i-th module in the order in which they appeared.  Returns false after the last one. */
bool ts_query_module(const struct ts_query *q, size_t i, struct ts_module_info *m);

/*
 * Set *m to the next module of @process at position @pos, in the order in which they appeared, and advance
 * *at, which is 0 for the first call.
 *
 * Returns false after the last one.
 */
bool ts_query_next_module(const struct ts_query *q, uint32_t process, uint64_t pos, size_t *at,
			  struct ts_module_info *m);

/* ------------------------------------------------------------------------------- the mode of a machine */

/*
 * Returns the mode of the machine's processor at @pos, borrowed until the recording grows; NULL for the
 * recording of a program.
 */
const struct ts_mode *ts_query_mode(const struct ts_query *q, uint64_t pos);

/* Returns the first position after @pos at which the mode changes; TS_NO_POS if it does not change any more. */
uint64_t ts_query_next_mode(const struct ts_query *q, uint64_t pos);

/*
 * The first position >= @pos (@is_reverse: the last position <= @pos) that the filter admits; NULL admits all.  @pos may
 * be anything.
 *
 * Returns TS_NO_POS if the filter admits none of them.
 */
uint64_t ts_query_find_admitted(const struct ts_query *q, const struct ts_filter *f, uint64_t pos, bool is_reverse);

#endif
