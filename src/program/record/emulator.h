/* SPDX-License-Identifier: MIT */
/*
 * Which emulator runs a program, and by what name: a program is looked up as a shell does, in PATH and
 * through the first lines of scripts, and its ELF header says which processor it is for.
 */
#ifndef TS_EMULATOR_H
#define TS_EMULATOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

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
	char **argv;             /* owned; what the program gets, NULL-terminated; the strings are borrowed */
	/* owned; first lines of scripts and their paths, which argv points into */
	char *lines[TS_MAX_SCRIPTS], *scripts[TS_MAX_SCRIPTS];
	unsigned n_scripts;
};

/*
 * Look up @argv[0], and its processor.
 *
 * Returns 0 on success; @p then needs ts_program_fini().  Otherwise why was said on stderr, and this is the
 * status to exit with: 127 if there is no such program, 126 if it cannot be run, 1 if it cannot be recorded.
 */
int ts_program_find(struct ts_program *p, char **argv);

/*
 * Look for QEMU for the program: at @path, a file or a name in PATH, or by its own name if @path is NULL.
 *
 * Returns 0 with p->emulator.  Otherwise why was said on stderr, and this is the status to exit with.
 */
int ts_program_find_emulator(struct ts_program *p, const char *path);

void ts_program_fini(struct ts_program *p);

/* Does this machine's processor execute such programs?  Else Valgrind's tool for them runs in QEMU. */
bool ts_emulated_is_own(const struct ts_emulated *e);

/* The number that signal @sig of this machine has on the processor. */
int ts_emulated_signal(const struct ts_emulated *e, int sig);

#endif
