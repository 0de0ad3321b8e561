/* SPDX-License-Identifier: MIT */
/*
 * The manifest of a folder of recordings, which `record --follow` writes: a line for each program that a process was.
 *
 * FOLDER/processes is text.  The first line is TS_PROCESSES_HEAD.  The others have, separated by blanks: the order in
 * which the recording began, process id, parent's process id, how many programs the process was before, how it began
 * (start, fork, exec), how it ended (exited, killed, became, unknown), the status or signal, and the arguments, each after
 * a blank, in which bytes that are not printable ASCII, blanks and % are %XX.  The recording is PID.ucir, or PID.N.ucir.
 */
#ifndef TS_PROCESSES_H
#define TS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define TS_PROCESSES_HEAD "tracestub processes 1"
#define TS_MAX_PROCESSES 10000u
#define TS_NO_ORIGIN SIZE_MAX

enum ts_process_began { TS_PROCESS_START, TS_PROCESS_FORK, TS_PROCESS_EXEC, TS_N_PROCESS_BEGAN };
enum ts_process_end { TS_PROCESS_EXITED, TS_PROCESS_KILLED, TS_PROCESS_BECAME, TS_PROCESS_UNKNOWN, TS_N_PROCESS_ENDS };

struct ts_process {
	uint32_t number;    /* in the order in which they began */
	int32_t pid, parent;
	uint32_t image;     /* programs that the process was before */
	enum ts_process_began began;
	enum ts_process_end end;
	uint32_t value;     /* EXITED: the status; KILLED: the signal of this machine */
	char *arguments;    /* owned; as in the manifest */
	size_t origin;      /* where the array has what it began as: its program before, or its parent; TS_NO_ORIGIN: nothing */
};

struct ts_processes {
	struct ts_process *at; /* owned; by number */
	size_t n, cap;
};

/*
 * Append a line for @p to the manifest of @folder; @argv are the arguments, NULL-terminated, and p->arguments is not used.
 *
 * Returns false with @err if it cannot be written.
 */
bool ts_processes_append(const char *folder, const struct ts_process *p, char **argv, struct ts_error *err);

/* Make the manifest of @folder, with no lines but the first.  Returns false with @err. */
bool ts_processes_create(const char *folder, struct ts_error *err);

/* Remove the manifest of @folder, and the folder if nothing else is in it. */
void ts_processes_remove(const char *folder);

/*
 * Read the manifest of @folder.  Call ts_processes_fini() in both cases.
 *
 * Returns true on success.
 * Returns false with @err if it cannot be read (TS_EIO), is none or is damaged (TS_ECORRUPT), is longer than 16 MiB
 * or has more than TS_MAX_PROCESSES (TS_ELIMIT), or memory is exhausted.
 */
bool ts_processes_read(struct ts_processes *all, const char *folder, struct ts_error *err);
void ts_processes_fini(struct ts_processes *all);

/* Is @path a folder with a manifest? */
bool ts_processes_is_folder(const char *path);

/* The next byte of arguments that are as in the manifest: *text is then after it. */
unsigned char ts_process_byte(const char **text);

/* The recording's name in the folder. */
void ts_process_file(const struct ts_process *p, char name[64]);

/*
 * The one that a developer looks for: the first that a signal killed; else, if the first process failed, it, or that
 * of its children whose status it passed on.
 *
 * Returns NULL if none failed so, and there are several.
 */
const struct ts_process *ts_processes_failed(const struct ts_processes *all);

#endif
