/* SPDX-License-Identifier: MIT */
/*
 * The interface that loaders implement: a recording and readers over it.
 *
 * A recording is the result of opening a trace with a loader: facts about the whole recording, and the state at
 * position 0.  A reader returns its steps in order.  Sequential and random reading use the same functions: a reader
 * that resumes at a decode point continues exactly as the reader that saved it, independent of its own past.
 */
#ifndef TS_READER_H
#define TS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/object/image.h"
#include "step.h"

struct ts_frames;
struct ts_point;
struct ts_reader;
struct ts_recording;
struct ts_tracing;

struct ts_reader_ops {
	size_t size; /* of the loader's own struct, for ts_reader_new(); 0: close() frees it */

	/*
	 * Append the next step to @out, which has no open effects.  Callers use ts_reader_next() instead.
	 *
	 * Returns TS_ITEM if one step was appended; the reader is at the position after it.
	 * Returns TS_END after the last step; the reader's end is then filled.
	 * Returns TS_FAIL if the trace is truncated (TS_ETRUNC) or contradicts itself here (other codes): no step was
	 * appended, earlier steps remain valid. ts_reader_next() drops open effects that are left after TS_END and TS_FAIL.
	 */
	enum ts_next (*next)(struct ts_reader *r, struct ts_steps *out, struct ts_error *err);

	/*
	 * Append up to @max steps, exactly as @max calls of next() do, but with less work for each.  It stops before the
	 * first step that needs more: next() appends that one.  NULL: next() appends all.
	 */
	void (*next_plain)(struct ts_reader *r, uint32_t max, struct ts_steps *out);

	/*
	 * Pass all data that is needed to continue from here to the functions of point.h, and the reader continues there if
	 * @p is parsed.  Callers use ts_reader_save() and ts_reader_resume() instead.
	 *
	 * Returns false as ts_reader_resume().
	 */
	bool (*point)(struct ts_reader *r, struct ts_point *p);

	/*
	 * Advance by @n steps without returning them, much faster than next(): ts_reader_save() then appends the same bytes
	 * as after @n calls of next().  Only ts_reader_save() and skip() may be called before ts_reader_resume().  NULL:
	 * steps cannot be skipped without decoding.
	 *
	 * Returns false if that is impossible here, for example because a thread or a warning would be added to the
	 * recording, or the recording ends: the reader must then be resumed.  The result may be wrong without
	 * an error: see feed.h.
	 */
	bool (*skip)(struct ts_reader *r, uint64_t n);

	/* Free what the loader's own struct owns; it may be partly initialized. */
	void (*close)(struct ts_reader *r);
};

/*
 * The end of the recording; the reader fills it with TS_END, and updates it with each step for a
 * truncated trace.
 */
struct ts_end {
	uint64_t pc;     /* address of the instruction that would run at position N */
	/*
	 * If false, pc is unknown; the address after the last instruction is used, as a guess.  A loader sets it if the
	 * last instruction cannot have transferred control elsewhere.
	 */
	bool has_pc;
	bool is_assumed; /* pc is a guess: the trace does not show the address after the last instruction */
	/*
	 * The trace does not have the state after the last step: the recording ends before that step, of which only
	 * the pc is used.
	 */
	bool is_absent;
	bool has_exit;   /* an end of the program was recorded */
	bool is_fault;   /* the last instruction did not complete */
};

/* Embedded as first member in the loader's own struct. */
struct ts_reader {
	const struct ts_reader_ops *ops;
	struct ts_end end;
};

struct ts_recording_ops {
	size_t size; /* of the loader's own struct, which ts_loader_open() allocates; 0: close() frees all */

	/*
	 * A new reader at position 0.  Several may be open; each is used by one thread at a time.
	 *
	 * Returns NULL on failure (TS_EIO, TS_ENOMEM, ...).
	 */
	struct ts_reader *(*reader)(struct ts_recording *rec, struct ts_error *err);

	/* Free what the loader's own struct owns, after the readers; it may be partly initialized.  May be NULL. */
	void (*close)(struct ts_recording *rec);
};

#define TS_MAX_WARNINGS 32

/* One kind of warning, counted. */
struct ts_warning {
	char text[256];
	uint64_t count;
};

/*
 * Facts about a trace.  Embedded as first member in the loader's own struct; the loader fills it in open()
 * and afterwards only adds threads and warnings, while a reader reads the trace for the first time.  An
 * index file restores them, and readers may then resume at positions that no reader has read in this process.
 */
struct ts_recording {
	const struct ts_recording_ops *ops;
	const char *format;        /* the loader's name; literal */
	char variant[64];          /* the version of the format, for users: "version 1, snappy-framed" */
	char os[33];               /* the recorded system, "" if unknown */
	const char *osabi;         /* gdb's name of it ("GNU/Linux"), NULL if unknown; literal */
	struct ts_regset regs;     /* owned */
	/* owned; the effects that define position 0: writes, maps, registers; no steps */
	struct ts_steps initial;
	/* owned; more memory at position 0 whose bytes are read from the trace on demand, ranges of map 0 */
	struct ts_image memory;
	struct ts_thread *threads; /* owned */
	uint32_t n_threads;
	size_t cap_threads;
	uint32_t n_processes;
	/* a whole machine's memory: accesses have physical addresses, instructions virtual ones */
	bool is_physical;
	/* with is_physical: the width of the machine's physical addresses in bits, 0 if unknown */
	uint8_t phys_bits;
	bool has_reads;            /* the format records memory reads, which rwatch and awatch need */
	bool misses_reads;         /* with has_reads: except the reads of vector, floating-point and atomic instructions */
	/* registers are recorded only before instructions (src/query/registers.c) */
	bool is_before;
	/* the format has no lengths of instructions: for x86 steps the distance to the next address is used */
	bool guesses_lengths;
	/* a step may be several instructions, of which only the first one is recorded */
	bool has_long_steps;
	bool has_syscalls;         /* system calls are events of this recording */
	uint32_t absent_events;    /* kinds of events that the format cannot record: bits 1 << ts_event_kind */
	/* the format lists no modules, but names the files of its maps, which are used as modules */
	bool maps_are_modules;
	/* owned; the auxiliary vector at position 0 in target order, NULL if unknown */
	uint8_t *auxv;
	size_t auxv_len;
	char *exec_path;           /* owned; the recorded path of the program, NULL if unknown */
	char *folder;              /* owned; the working directory at the beginning, NULL if unknown */
	struct ts_buf cmdline;     /* owned; arguments, each terminated by NUL; empty if unknown */
	/* owned; more facts for users: alternating names and texts, each terminated by NUL */
	struct ts_buf notes;
	/* the run of tracepoints that made the recording, borrowed from the loader's struct; NULL: none */
	struct ts_tracing *tracing;
	struct ts_frames *frames;  /* of that run; complete when the recording has been read to its end */
	/* threads and warnings come from an index or from a twin (feed.h): its own readers add no warnings */
	bool is_read;
	struct ts_warning warnings[TS_MAX_WARNINGS];
	unsigned n_warnings;
	uint64_t other_files; /* a hash that identifies the recording's other files; 0: it has no other files */
	const struct ts_source *source; /* borrowed; the trace, for the progress of reading; NULL: unknown */
	uint64_t n_learned;        /* grows with each thread and warning */
	uint64_t max_memory;       /* of --max-memory, in bytes; 0: any */
};

/* For loaders: initialize and free the common part. */
void ts_recording_init(struct ts_recording *rec, const struct ts_recording_ops *ops, const char *format);
void ts_recording_fini(struct ts_recording *rec);

/*
 * Find the running thread with these ids, or add it; @process is the ordinal of its address
 * space (n_processes is increased if necessary).
 *
 * Returns its ordinal.
 * Returns TS_NO_THREAD if memory is exhausted.
 */
uint32_t ts_recording_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid);

/* Add a thread with these ids without a search. */
uint32_t ts_recording_add_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid);

/*
 * Record a warning that does not stop the loading.  A repeated text is only counted; after TS_MAX_WARNINGS
 * kinds the last one counts all others.
 */
void ts_recording_warn(struct ts_recording *rec, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The threads and warnings that a recording learned while it was read. */
struct ts_learned {
	struct ts_thread *threads; /* owned */
	uint32_t n_threads;
	size_t cap_threads;
	uint32_t n_processes;
	struct ts_warning warnings[TS_MAX_WARNINGS];
	unsigned n_warnings;
};

void ts_learned_init(struct ts_learned *l);
void ts_learned_fini(struct ts_learned *l);

/*
 * Copy these facts from a recording, or to a recording, replacing its own.  Return false if memory is
 * exhausted.
 */
bool ts_learned_take(struct ts_learned *l, const struct ts_recording *rec);
bool ts_learned_give(const struct ts_learned *l, struct ts_recording *rec);

/*
 * A hash of the recording after it was opened: position 0, threads, architecture.  It
 * differs if an option, or a file that an option names, changes any of these.
 */
uint64_t ts_recording_hash_start(const struct ts_recording *rec);

void ts_recording_close(struct ts_recording *rec);

/*
 * Append the next step to @out.  Unless it returns TS_ITEM, @out is unchanged, except for is_failed.
 *
 * Returns TS_ITEM, TS_END or TS_FAIL (TS_EIO, TS_ETRUNC, TS_ECORRUPT, TS_ENOMEM) as next() of struct ts_reader_ops.
 */
static inline enum ts_next ts_reader_next(struct ts_reader *r, struct ts_steps *out, struct ts_error *err)
{
	enum ts_next next = r->ops->next(r, out, err);

	if (__builtin_expect(next != TS_ITEM, 0))
		ts_steps_rollback(out, out->n_closed);
	return next;
}

/*
 * Append up to @max (at least 1) steps to @out.
 *
 * Returns TS_ITEM if at least one step was appended.
 * Returns TS_END or TS_FAIL (TS_EIO, TS_ETRUNC, TS_ECORRUPT, TS_ENOMEM) as ts_reader_next() if none was.
 */
static inline enum ts_next ts_reader_next_steps(struct ts_reader *r, uint32_t max, struct ts_steps *out,
						struct ts_error *err)
{
	const uint32_t n = out->n_steps;

	if (r->ops->next_plain)
		r->ops->next_plain(r, max, out);
	return out->n_steps > n ? TS_ITEM : ts_reader_next(r, out, err);
}

/* The end of the recording, as far as the reader knows it, as a field of a decode point. */
void ts_point_end(struct ts_point *p, struct ts_end *end);

/* Append a decode point of all data that is needed to continue from here to @point.  Called between steps only. */
void ts_reader_save(struct ts_reader *r, struct ts_buf *point);

/*
 * Continue from a decode point that a reader of the same recording saved.
 *
 * Returns false if the trace can no longer be read there (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_reader_resume(struct ts_reader *r, const uint8_t *point, size_t len, struct ts_error *err);

/* A reader of @ops->size bytes, zero except for ops; the caller frees it.  Returns NULL if memory is exhausted (TS_ENOMEM). */
void *ts_reader_new(const struct ts_reader_ops *ops, struct ts_error *err);

void ts_reader_close(struct ts_reader *r);

#endif
