/* SPDX-License-Identifier: MIT */
/* The thread-local variables of the files in memory, by the symbol tables (STT_TLS). */
#ifndef TS_SYMBOLS_THREAD_LOCALS_H
#define TS_SYMBOLS_THREAD_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_source;

struct ts_thread_local {
	char *name, *file;    /* owned by the list */
	uint64_t off, len;    /* in the file's block of each thread */
	uint64_t block_len, block_align;
	bool is_program;      /* of the program; else of a library, whose block the dynamic linker places */
	/* the file's offset from its linked address, and the address of its dynamic section */
	uint64_t moved, dynamic;
};

struct ts_thread_locals {
	struct ts_thread_local *items; /* owned */
	size_t n, cap;
};

void ts_thread_locals_fini(struct ts_thread_locals *l);

/*
 * Add the variables of the ELF file @src at @path, @moved bytes from its linked address.  Returns false if memory is
 * exhausted.
 */
bool ts_thread_locals_add_file(struct ts_thread_locals *l, const struct ts_source *src, const char *path, uint64_t moved,
			       bool is_program);

/*
 * Find the variable @name (@len bytes), as in the file or demangled; the program's own take precedence.  *n is set to
 * the number of such variables at different places.
 *
 * Returns NULL if no variable has this name.
 */
const struct ts_thread_local *ts_thread_locals_find(const struct ts_thread_locals *l, const char *name, size_t len,
						    unsigned *n);

#endif
