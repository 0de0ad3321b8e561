/* SPDX-License-Identifier: MIT */
/*
 * The interface between `tracestub record` and its two engines: QEMU with a plugin, and a Valgrind tool.
 */
#ifndef TS_RECORDER_H
#define TS_RECORDER_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loaders/usercorn/write.h"
#include "src/base/error.h"
#include "src/program/cli/cli.h"
#include "src/program/cli/memory_cap.h"
#include "src/record/log.h"

#define TS_MAX_SCRIPTS 4

/* A processor of QEMU's user mode that can be recorded. */
struct ts_emulated {
	unsigned machine; /* EM_... */
	bool is_64, is_big_endian;
	const char *qemu;  /* the emulator's file name */
	const char *arch;  /* name in a recording */
	const char *model; /* -cpu; NULL: QEMU's default */
	const char *vg_arch; /* Valgrind's name of it; NULL if its tool was not built */
};

struct ts_program {
	const struct ts_emulated *emulated;
	char path[PATH_MAX];     /* of the ELF file */
	char emulator[PATH_MAX]; /* of QEMU */
	char **argv;             /* owned; the program's arguments, NULL-terminated; the strings are borrowed */
	/* owned; first lines of scripts and their paths, which argv points into */
	char *lines[TS_MAX_SCRIPTS], *scripts[TS_MAX_SCRIPTS];
	unsigned n_scripts;
};

/*
 * Find the program @argv[0], and its processor.
 *
 * Returns 0 on success; the caller must then call ts_program_fini().  Otherwise returns the status to exit with, after
 * a message: 127 if the program is not found, 126 if it cannot be run, 1 if it cannot be recorded.
 */
int ts_program_find(struct ts_program *p, char **argv);

/*
 * Find QEMU for the program: at @path, a file or a name in PATH, or by the emulator's name if @path is NULL.
 *
 * Returns 0 with p->emulator set.  Otherwise returns the status to exit with, after a message.
 */
int ts_program_find_emulator(struct ts_program *p, const char *path);

void ts_program_fini(struct ts_program *p);

/*
 * Does the kernel of this machine, for x86-64, execute programs for i386?
 *
 * Returns true if a small one was executed.  Returns false if the kernel refuses it, or if no process can be made.
 */
bool ts_kernel_runs_i386(void);

/* Does this machine execute such programs itself?  If not, Valgrind's tool for them runs in QEMU. */
bool ts_emulated_is_own(const struct ts_emulated *e);

/* Returns the number of this machine's signal @sig on the emulated processor. */
int ts_emulated_signal(const struct ts_emulated *e, int sig);

struct ts_recorder;

/* An engine: it runs a program and writes its steps to the file. */
struct ts_record_engine {
	const char *name; /* for messages */

	/* Find the engine's files, before the output is opened.  Returns false with r->err. */
	bool (*find)(struct ts_recorder *r);

	/* Create the memory that is shared with the program's process.  Returns false with r->err. */
	bool (*open)(struct ts_recorder *r);

	/* Add the NOTEs of the engine.  Returns false with r->err. */
	bool (*add_facts)(struct ts_recorder *r);

	/* In the child: become the engine that runs the program, for the recorder of process @reader.  Does not return. */
	void (*become)(const struct ts_recorder *r, pid_t reader);

	/* Inform read() that the program has ended.  Called in another thread than read(). */
	void (*wake)(struct ts_recorder *r);

	/* Write the steps until the program has ended. */
	void (*read)(struct ts_recorder *r);

	/* Begin or end the recording at SIGUSR1; called in a signal handler.  NULL: the signal is passed to the program. */
	void (*toggle)(struct ts_recorder *r);

	/*
	 * The reason for which no step of the program was recorded, although it ran; NULL if steps were recorded.  The
	 * engine owns the text.  A NULL member: the engine records from the start.
	 */
	const char *(*nothing)(struct ts_recorder *r);

	/* Was an instruction executed? */
	bool (*is_started)(const struct ts_recorder *r);

	/* The reason for which the engine does not record; NULL if it does.  A NULL member: it always does. */
	const char *(*refusal)(const struct ts_recorder *r);

	/* Write the rest and fill r->counts.  Returns whether the stream is complete, so that an END can follow. */
	bool (*finish)(struct ts_recorder *r);
};

extern const struct ts_record_engine ts_record_qemu, ts_record_valgrind;

struct ts_record_counts {
	uint64_t n_steps, n_unexplained;
	uint64_t n_lost; /* steps that --last dropped */
	uint64_t n_elsewhere; /* instructions that --module excluded */
	unsigned n_children;
	const char *exec_path; /* the program that an exec started; NULL if none did */
	const char *note;      /* a sentence about the engine for the user; NULL: none */
};

struct ts_recorder {
	const struct ts_cli *cli;
	const struct ts_record_engine *engine;
	struct ts_program program;
	char out[PATH_MAX];
	struct ucir_writer *writer; /* owned */
	int out_fd, memory_fd;
	struct ts_error err;
	bool is_cut; /* the recording ended before the program */
	const char *cut_at; /* with is_cut: the place, for a message */
	int64_t told_ns; /* the time of the last progress line; 0: none */
	struct ts_memory_cap memory;
	bool is_too_large; /* the program was killed for its memory */
	pid_t pid;
	int status; /* of waitpid(), when is_dead */
	_Atomic bool is_dead;
	struct ts_record_counts counts; /* after finish() */

	/* --follow */
	const char *follow; /* of the first process: the folder; else NULL */
	bool is_followed;   /* the program is one of several, and not started by this process */
	bool has_status;    /* status is known; with is_followed */
	bool is_recorded;   /* out is a recording; set at the end */
	int engine_fd;      /* its log's memory, with is_followed */

	/* QEMU */
	char plugin[PATH_MAX];
	char version[64];
	bool is_new;       /* it is 9.2 or later */
	struct ts_ring *ring; /* mapped */
	uint64_t ring_len; /* TRACESTUB_RING, for tests of a ring that is full all the time */
	uint64_t n_kept;   /* with is_cut: later bytes of the stream are dropped */
	uint64_t n_kept_steps; /* instructions in the first n_kept bytes */

	/* Valgrind */
	char launcher[PATH_MAX]; /* with --follow: the program that restarts the tool after exec */
	struct ts_record_log *log; /* owned */
};

/*
 * Start the program with the engine.
 *
 * Returns false with r->err if there can be no process.
 */
bool ts_recorder_start(struct ts_recorder *r);

/* Return the program's exit status, or end this process by the program's signal. */
int ts_recorder_end_alike(int status);

/*
 * Record the program, which the engine starts.
 *
 * Returns the program's exit status, or ends this process by the program's signal.  Returns the status to exit with, after
 * a message, on failure.
 */
int ts_recorder_run(struct ts_recorder *r);

/*
 * Record a program that another process started: r->pid, whose log is r->engine_fd.  @wait is run in a thread with the
 * argument @r.  When the program has ended it must set r->status, r->has_status and r->is_dead, call r->engine->wake(),
 * and return.
 *
 * Returns -1 when the program has ended.  Returns the status to exit with, after a message, on failure.
 */
int ts_recorder_run_followed(struct ts_recorder *r, void *(*wait)(void *r));

/*
 * Keep a copy of @path, which is mapped as code, beside the recording, if it is a library of the program and not of the
 * system.
 */
void ts_recorder_keep_library(const struct ts_recorder *r, const char *path);

/*
 * Create the default output: PROGRAM with @suffix, or the first of PROGRAM.1, PROGRAM.2, ... with @suffix that does not
 * exist, so that no earlier recording is overwritten.  r->out is set to its path.  @make creates the file or folder; it
 * returns a negative number with errno on failure, EEXIST if the name is taken.
 *
 * Returns the result of @make.
 */
int ts_recorder_make_next(struct ts_recorder *r, const char *suffix, int (*make)(const char *path));

/* Write a NOTE of text.  Returns false with r->err if it cannot be written. */
bool ts_recorder_add_text(struct ts_recorder *r, uint8_t key, const char *text);

/*
 * The path of an installed file of tracestub: beside the program in a build directory, or else in the installed tree.
 *
 * Returns false with r->err if it is at neither place.
 */
bool ts_recorder_find_file(struct ts_recorder *r, const char *name, char path[PATH_MAX]);

/* ------------------------------------------------------------------------------------ sanitizer.c */

/*
 * Returns the name of the sanitizer that the program at @path is built with, a literal.
 * Returns NULL if it has none, or if the file cannot be read.
 */
const char *ts_sanitizer_of(const char *path);

/* After an exec: warn on stderr if the new program cannot run in a recorder. */
void ts_record_warn(const struct ts_recorder *r);

/* ------------------------------------------------------------------------------ record_progress.c */

/*
 * Print on stderr that @n_steps instructions are recorded, in @n_bytes of the file, if the last line is older than 10
 * seconds (or TRACESTUB_PROGRESS of the environment).  Nothing is printed with --quiet and --follow, if stderr is no
 * terminal, if this process is in the terminal's background, or if the program has switched off echo or line editing.
 */
void ts_record_progress_show(struct ts_recorder *r, uint64_t n_steps, uint64_t n_bytes);

/* --------------------------------------------------------------------------------------- follow.c */

#define TS_FOLLOW_FIFO ".logs"
#define TS_FOLLOW_TEXT ".engine." /* what the engine says; the process id follows */

/*
 * Record the program of @r and all its descendants, until all of them have ended.
 *
 * Returns the status to exit with, as ts_run_record() does.
 */
int ts_run_follow(struct ts_recorder *r);

/* ------------------------------------------------------------------------------------- followed.c */

/*
 * Record the process of @announced, which is the @number-th program and has executed @image programs before, into
 * @folder, with the options of @first, and add it to the manifest.  SIGUSR2 reports that it executed another program.
 *
 * Returns the status to exit with.
 */
int ts_followed_run(const struct ts_recorder *first, const char *folder, const struct ts_log_process *announced,
		    uint32_t number, uint32_t image);

/* ---------------------------------------------------------------------------------- record_last.c */

struct ts_record_part {
	int fd;               /* owned; -1: not open */
	uint64_t first;       /* steps of the run before it */
	uint64_t n_state;     /* bytes of the file that hold the state at its beginning */
	struct ucir_writer writer;
};

struct ts_record_last {
	uint64_t max;  /* bytes of both parts, without the states */
	unsigned n;    /* parts that have begun */
	struct ts_record_part parts[2];
};

/*
 * Initialize @last without parts.
 *
 * Returns false if no files can be created in the folder of @path, the output (TS_EIO).
 * The caller calls ts_record_last_fini() in both cases.
 */
bool ts_record_last_init(struct ts_record_last *last, uint64_t max, const char *path, struct ts_error *err);

/*
 * Begin a part after @n_steps steps of the run.
 *
 * Returns the writer of the part, to which the caller first writes the state of the program.
 * The writer is borrowed from @last.
 * Returns NULL if the file cannot be truncated (TS_EIO).
 */
struct ucir_writer *ts_record_last_begin(struct ts_record_last *last, uint64_t n_steps, struct ts_error *err);

/* Called after the state was written and flushed: later bytes count towards the size. */
void ts_record_last_end_state(struct ts_record_last *last);

/* The file length at which the newest part has half of the size. */
uint64_t ts_record_last_bound(const struct ts_record_last *last);

/* The number of steps of the run that are in no kept part. */
uint64_t ts_record_last_n_lost(const struct ts_record_last *last);

/*
 * Append the kept parts, which must be flushed, to @w.
 *
 * Returns false if a part cannot be read or @w cannot be written (TS_EIO).
 */
bool ts_record_last_copy(const struct ts_record_last *last, struct ucir_writer *w, struct ts_error *err);

void ts_record_last_fini(struct ts_record_last *last);

#endif
