/* SPDX-License-Identifier: MIT */
/*
 * What `tracestub record` and its two engines share: QEMU with a plugin, and a tool of Valgrind.
 */
#ifndef TS_RECORDER_H
#define TS_RECORDER_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "emulator.h"
#include "loaders/usercorn/write.h"
#include "src/base/error.h"
#include "src/program/cli/cli.h"
#include "src/program/cli/memory_cap.h"

struct ts_recorder;

/* How a program is run and what it does comes to the file. */
struct ts_record_engine {
	const char *name; /* for messages */

	/* Look for what the engine needs, before the output is opened.  Returns false with r->err. */
	bool (*find)(struct ts_recorder *r);

	/* Create the memory that is shared with the program's process.  Returns false with r->err. */
	bool (*open)(struct ts_recorder *r);

	/* Add the NOTEs of the engine.  Returns false with r->err. */
	bool (*add_facts)(struct ts_recorder *r);

	/* In the child: become the engine that runs the program, for the recorder of process @reader.  Does not return. */
	void (*become)(const struct ts_recorder *r, pid_t reader);

	/* The program has ended: in another thread than read(), which is to see it. */
	void (*wake)(struct ts_recorder *r);

	/* Write what comes until the program has ended. */
	void (*read)(struct ts_recorder *r);

	/* SIGUSR1 came: begin or end the recording.  In a signal's handler.  NULL: the signal is the program's. */
	void (*toggle)(struct ts_recorder *r);

	/*
	 * Why nothing of the program was recorded, although it ran; NULL if something was.  The text is the engine's.
	 * NULL: the engine records from the start.
	 */
	const char *(*nothing)(struct ts_recorder *r);

	/* Was an instruction executed? */
	bool (*is_started)(const struct ts_recorder *r);

	/* Why the engine does not record; NULL if it does. */
	const char *(*refusal)(const struct ts_recorder *r);

	/* Write the rest and fill r->counts.  Returns whether the stream is complete, so that an END can follow. */
	bool (*finish)(struct ts_recorder *r);
};

extern const struct ts_record_engine ts_record_qemu, ts_record_valgrind;

struct ts_record_counts {
	uint64_t n_steps, n_unexplained;
	uint64_t n_lost; /* steps that --last has left out */
	uint64_t n_elsewhere; /* instructions that --module has left out */
	unsigned n_children;
	const char *exec_path; /* the program that an exec started; NULL if none did */
	const char *note;      /* a sentence about the engine that the user is to know; NULL: there is none */
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
	const char *cut_at; /* with is_cut: where, for a message */
	int64_t told_ns; /* when progress was said last; 0: not yet */
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
	uint64_t n_kept;   /* with is_cut: what follows after this byte of the stream is dropped */
	uint64_t n_kept_steps; /* instructions until there */

	/* Valgrind */
	char launcher[PATH_MAX]; /* with --follow: what starts the tool again after exec */
	struct ts_record_log *log; /* owned */
};

/*
 * Start the program, by the engine.
 *
 * Returns false with r->err if there can be no process.
 */
bool ts_recorder_start(struct ts_recorder *r);

/* End as the program did: returns its status, or ends this process by the same signal. */
int ts_recorder_end_alike(int status);

/*
 * Record a program that was started by another process: r->pid, whose log is r->engine_fd.  @wait is run in a thread
 * with r: it returns when the program has ended, after it has set r->status, r->has_status and r->is_dead and called
 * r->engine->wake().
 *
 * Returns -1 when it has ended, else what was said on stderr, as a status.
 */
int ts_recorder_run_followed(struct ts_recorder *r, void *(*wait)(void *r));

/*
 * @path is mapped as code: keep a copy of it beside the recording, if it is a library of the program and not of the
 * system.
 */
void ts_recorder_keep_library(const struct ts_recorder *r, const char *path);

/*
 * Make what r->out names then: PROGRAM and @suffix, where that exists PROGRAM.1 and @suffix, and so on: the recording that shows
 * a rare bug is not lost by the next try.  @make returns a number below 0 and errno if it fails; EEXIST: the name is taken.
 *
 * Returns what @make returned.
 */
int ts_recorder_make_next(struct ts_recorder *r, const char *suffix, int (*make)(const char *path));

/* A NOTE of text.  Returns false with r->err if it cannot be written. */
bool ts_recorder_add_text(struct ts_recorder *r, uint8_t key, const char *text);

/*
 * The path of an installed file of tracestub: beside the program in a build directory, else where it was
 * installed.
 *
 * Returns false with r->err if it is at neither place.
 */
bool ts_recorder_find_file(struct ts_recorder *r, const char *name, char path[PATH_MAX]);

#endif
