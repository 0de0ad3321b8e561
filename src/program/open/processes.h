/* SPDX-License-Identifier: MIT */
/*
 * The manifest of a folder of recordings, which `record --follow` writes: a line for each program that a process
 * executed.
 *
 * FOLDER/processes is text.  The first line is TS_PROCESSES_HEAD.  The other lines have these fields, separated by
 * blanks: the ordinal of the recording by its beginning, the process id, the parent's process id, the number of earlier
 * programs of the process, its beginning (start, fork, exec), its end (exited, killed, became, unknown), the status or
 * signal, and the arguments, each after a blank.  In arguments, blanks, % and bytes that are not printable ASCII are
 * %XX.  The recording is PID.ucir, or PID.N.ucir.
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

/* Their words in the manifest. */
extern const char *const ts_process_began_words[TS_N_PROCESS_BEGAN], *const ts_process_end_words[TS_N_PROCESS_ENDS];

struct ts_process {
	uint32_t number;    /* in the order in which they began */
	int32_t pid, parent;
	uint32_t image;     /* programs that the process was before */
	enum ts_process_began began;
	enum ts_process_end end;
	uint32_t value;     /* EXITED: the status; KILLED: the signal of this machine */
	char *arguments;    /* owned; as in the manifest */
	size_t origin;      /* index in the array of its previous program, or of its parent; TS_NO_ORIGIN: none */
};

struct ts_processes {
	struct ts_process *at; /* owned; by number */
	size_t n, cap;
};

/*
 * Append a line for @p to the manifest of @folder; @argv are the arguments, NULL-terminated, and p->arguments is not used.
 *
 * Returns false if it cannot be written (TS_EIO), or its path is too long (TS_EUSAGE).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_processes_append(const char *folder, const struct ts_process *p, char **argv, struct ts_error *err);

/*
 * Create the manifest of @folder with its first line.
 *
 * Returns false if it exists or cannot be written (TS_EIO), or its path is too long (TS_EUSAGE).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_processes_create(const char *folder, struct ts_error *err);

/* Remove the manifest of @folder, and the folder if it is empty. */
void ts_processes_remove(const char *folder);

/*
 * Read the manifest of @folder.  Call ts_processes_fini() in both cases.
 *
 * Returns true on success.
 * Returns false with @err if it cannot be read (TS_EIO).
 * Returns false with @err if it is no manifest or is damaged (TS_ECORRUPT).
 * Returns false with @err if it is longer than 16 MiB or has more than TS_MAX_PROCESSES (TS_ELIMIT).
 * Returns false with @err if memory is exhausted (TS_ENOMEM).
 */
bool ts_processes_read(struct ts_processes *all, const char *folder, struct ts_error *err);
void ts_processes_fini(struct ts_processes *all);

/* Is @path a folder with a manifest? */
bool ts_processes_is_folder(const char *path);

/* Decode the next byte of arguments in the manifest's form, and advance *text. */
unsigned char ts_process_byte(const char **text);

/* The recording's name in the folder. */
void ts_process_file(const struct ts_process *p, char name[64]);

/*
 * The process to debug, borrowed from the list: the first one that a signal killed; else, if the first process failed, that
 * process, or the child whose status it passed on.
 *
 * Returns NULL if no process failed so, and there are several.
 */
const struct ts_process *ts_processes_failed(const struct ts_processes *all);

#endif
