/* SPDX-License-Identifier: MIT */
/*
 * The choice of the emulator for a program.  The program is searched as a shell does, in PATH and through the first
 * lines of scripts, and its ELF header determines the processor.
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
	char **argv;             /* owned; the program's arguments, NULL-terminated; the strings are borrowed */
	/* owned; first lines of scripts and their paths, which argv points into */
	char *lines[TS_MAX_SCRIPTS], *scripts[TS_MAX_SCRIPTS];
	unsigned n_scripts;
};

/*
 * Find the program @argv[0], and its processor.
 *
 * Returns 0 on success; the caller must then call ts_program_fini().  Otherwise returns the status to exit with, after
 * a message: 127 if there is no such program, 126 if it cannot be run, 1 if it cannot be recorded.
 */
int ts_program_find(struct ts_program *p, char **argv);

/*
 * Find QEMU for the program: at @path, a file or a name in PATH, or by the emulator's name if @path is NULL.
 *
 * Returns 0 with p->emulator set.  Otherwise returns the status to exit with, after a message.
 */
int ts_program_find_emulator(struct ts_program *p, const char *path);

void ts_program_fini(struct ts_program *p);

/* Does this machine's processor execute such programs?  If not, Valgrind's tool for them runs in QEMU. */
bool ts_emulated_is_own(const struct ts_emulated *e);

/* The number of this machine's signal @sig on the emulated processor. */
int ts_emulated_signal(const struct ts_emulated *e, int sig);

#endif
