/* SPDX-License-Identifier: MIT */
/*
 * The interface that loaders implement: a recording and readers over it.
 *
 * A recording is the result of opening a trace with a loader: facts that hold for all of it, and the state at
 * position 0.  A reader returns its steps in order.  Sequential and random reading are the same: a reader
 * that resumes at a decode point continues exactly as the one that saved it, whatever it did before.
 */
#ifndef TS_READER_H
#define TS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/object/image.h"
#include "step.h"

struct ts_frames;
struct ts_reader;
struct ts_recording;
struct ts_tracing;

struct ts_reader_ops {
	size_t size; /* of the loader's own struct, for ts_reader_new(); 0: close() frees it */

	/*
	 * Append the next step to @out, which has no open effects.  Not to be called directly: see
	 * ts_reader_next().
	 *
	 * Returns TS_ITEM when one step was appended; the reader stands after it.
	 * Returns TS_END when there is none; the reader's end is then filled.
	 * Returns TS_FAIL if the trace is truncated (TS_ETRUNC) or contradicts itself here (other codes): no
	 * step was appended, the steps before this one stay good.
	 * Open effects that are left after TS_END and TS_FAIL are dropped by ts_reader_next().
	 */
	enum ts_next (*next)(struct ts_reader *r, struct ts_steps *out, struct ts_error *err);

	/* Append to @point all that resume() needs to continue from here.  Called between steps only. */
	void (*save)(const struct ts_reader *r, struct ts_buf *point);

	/*
	 * Continue from a decode point that a reader of the same recording saved.
	 *
	 * Returns false if the trace can no longer be read there (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
	 */
	bool (*resume)(struct ts_reader *r, const uint8_t *point, size_t len, struct ts_error *err);

	/*
	 * Go on @n steps without telling them, much faster than next(): save() then appends what it would
	 * after as many calls of next().  Nothing else but skip() may be called until resume().  NULL: no
	 * step can be passed without being decoded.
	 *
	 * Returns false if that cannot be done here, as where a thread or a warning would be added to the
	 * recording, or the recording ends: the reader then is to be resumed.  It may be wrong without
	 * noticing: see feed.h.
	 */
	bool (*skip)(struct ts_reader *r, uint64_t n);

	/* Free what the loader's own struct owns; it may be half done. */
	void (*close)(struct ts_reader *r);
};

/*
 * How the recording ended; filled by the reader with TS_END, and kept up to date with each step for a
 * truncated trace.
 */
struct ts_end {
	uint64_t pc;     /* address of the instruction that would run at position N */
	/*
	 * If false, it is unknown; the address after the last instruction is used, as a guess.  A loader that
	 * knows that the last instruction cannot have led elsewhere sets it.
	 */
	bool has_pc;
	bool is_assumed; /* pc is a guess: the trace does not show where the last instruction led */
	/*
	 * The trace does not have the state after the last step: the recording ends before that step, which
	 * is there for its pc alone.
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

	/* Free what the loader's own struct owns, after the readers; it may be half done.  NULL: nothing. */
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
 * and afterwards only adds threads and warnings, while a reader goes over the trace for the first time.  An
 * index file brings them back, and readers then may be resumed where none was before.
 */
struct ts_recording {
	const struct ts_recording_ops *ops;
	const char *format;        /* the loader's name; literal */
	char variant[64];          /* which version of the format, for people: "version 1, snappy-framed" */
	char os[33];               /* as recorded, "" if not */
	const char *osabi;         /* gdb's name of it ("GNU/Linux"), NULL if unknown; literal */
	struct ts_regset regs;     /* owned */
	/* owned; effects that make position 0: writes, maps, registers; no steps */
	struct ts_steps initial;
	/* owned; more of position 0: memory whose bytes stay in the trace, ranges of map 0 */
	struct ts_image memory;
	struct ts_thread *threads; /* owned */
	uint32_t n_threads;
	size_t cap_threads;
	uint32_t n_processes;
	/* a whole machine's memory: accesses have physical addresses, instructions virtual ones */
	bool is_physical;
	/* how wide the machine's physical addresses are, 0 if unknown; of is_physical */
	uint8_t phys_bits;
	bool has_reads;            /* the format records memory reads, so that rwatch and awatch can work */
	bool misses_reads;         /* of has_reads: not those of vector, floating-point and atomic instructions */
	/* registers are recorded before instructions only: a waiting thread is where its last one is */
	bool is_before;
	/* the format has no lengths of instructions: those of x86 steps are how far the next address is */
	bool guesses_lengths;
	/* a step may be several instructions, of which only the first one is shown */
	bool has_long_steps;
	bool has_syscalls;         /* system calls are events of this recording */
	uint32_t absent_events;    /* kinds of events that the format cannot record: bits 1 << ts_event_kind */
	/* the format lists no modules, but names the files of its maps: these are the modules */
	bool maps_are_modules;
	/* owned; the auxiliary vector at position 0 in target order, NULL if unknown */
	uint8_t *auxv;
	size_t auxv_len;
	char *exec_path;           /* owned; the program as recorded, NULL if unknown */
	char *folder;              /* owned; the working directory at the beginning, NULL if unknown */
	struct ts_buf cmdline;     /* owned; arguments, each terminated by NUL; empty if unknown */
	/* owned; more facts for people: names and texts in turn, each terminated by NUL */
	struct ts_buf notes;
	/* of the run of tracepoints that made it, borrowed from the loader's struct; NULL: none did */
	struct ts_tracing *tracing;
	struct ts_frames *frames;  /* the same; all its frames are there when it has been read to its end */
	/* threads and warnings come from an index or from a twin (feed.h): its own readers add no warnings */
	bool is_read;
	struct ts_warning warnings[TS_MAX_WARNINGS];
	unsigned n_warnings;
	uint64_t other_files; /* a hash of what tells the recording's other files from others; 0: there are none */
	const struct ts_source *source; /* borrowed; the trace, to tell how far reading is; NULL: unknown */
	uint64_t n_learned;        /* grows with each thread and warning */
	uint64_t max_memory;       /* of --max-memory, in bytes; 0: any */
};

/* For loaders: make the common part empty; give its memory back. */
void ts_recording_init(struct ts_recording *rec, const struct ts_recording_ops *ops, const char *format);
void ts_recording_fini(struct ts_recording *rec);

/*
 * Find the thread with these ids among those that live, or add it; @process is the ordinal of its address
 * space (n_processes grows to hold it).
 *
 * Returns its ordinal, TS_NO_THREAD if memory is exhausted.
 */
uint32_t ts_recording_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid);

/* The same without looking for it: it is new. */
uint32_t ts_recording_add_thread(struct ts_recording *rec, uint32_t process, uint64_t pid, uint64_t tid);

/*
 * Record a warning that does not stop the loading.  The same text again is only counted; past TS_MAX_WARNINGS
 * kinds the last one counts all others.
 */
void ts_recording_warn(struct ts_recording *rec, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a recording learned while it was read. */
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
 * Copy from a recording what it learned; to one, replacing what it knew.  Return false if memory is
 * exhausted.
 */
bool ts_learned_take(struct ts_learned *l, const struct ts_recording *rec);
bool ts_learned_give(const struct ts_learned *l, struct ts_recording *rec);

/*
 * A hash of what the loader made of the recording when it opened it: position 0, threads, architecture.  It
 * differs if an option, or a file that an option names, made a difference.
 */
uint64_t ts_recording_hash_start(const struct ts_recording *rec);

void ts_recording_close(struct ts_recording *rec);

/*
 * Append the next step to @out: see struct ts_reader_ops.  Unless it returns TS_ITEM, @out is as it was, but
 * for is_failed.
 */
static inline enum ts_next ts_reader_next(struct ts_reader *r, struct ts_steps *out, struct ts_error *err)
{
	enum ts_next next = r->ops->next(r, out, err);

	if (__builtin_expect(next != TS_ITEM, 0))
		ts_steps_rollback(out, out->n_closed);
	return next;
}

/* A reader of @ops->size bytes, zero but for ops.  Returns NULL if memory is exhausted (TS_ENOMEM). */
void *ts_reader_new(const struct ts_reader_ops *ops, struct ts_error *err);

void ts_reader_close(struct ts_reader *r);

#endif
