/* SPDX-License-Identifier: MIT */
/*
 * The program's constant bytes, for recordings that lack them: from the file that the user names.
 */
#ifndef LOADERS_KIT_PROGRAM_H
#define LOADERS_KIT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/object/elf_image.h"
#include "src/object/image.h"
#include "src/source/source.h"
#include "src/trace/step.h"

/* How far the file @elf is moved from where it is linked if its lowest page lies at @base. */
uint64_t kit_program_moved(const struct ts_elf *elf, uint64_t base);

/*
 * Compare @len bytes of the file @src from @off on, a segment that would lie at @addr, with what is known of
 * the program: *is_same gets whether it may be the program's.
 *
 * Returns false if the bytes cannot be read (TS_EIO, TS_ETRUNC).
 */
typedef bool kit_program_compare(void *user, uint64_t addr, uint64_t len, const struct ts_source *src,
				 uint64_t off, bool *is_same, struct ts_error *err);

/*
 * The segments of the ELF or PE file @path (NULL: none) that a program cannot write are memory at position 0, added
 * to @memory: with the lowest page at *@base, else with the entry point at *@entry (both NULL if not known),
 * else where they are linked.  A position-independent file of which neither is known, a PE file that lies elsewhere than where
 * it is linked, and other files add nothing.  Nor does a file of which @compare (may be NULL), which is asked before anything
 * is added, says that a segment is not the program's.
 *
 * Returns false if the file cannot be read (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM).
 */
bool kit_program_add(struct ts_image *memory, const char *path, const uint64_t *base, const uint64_t *entry,
		     kit_program_compare *compare, void *user, struct ts_error *err);

/*
 * Append that memory is unknown from here, except for the program's bytes in @memory: the next file of a recording
 * with a file for each thread begins, and memory was as that thread saw it.
 */
void kit_program_forget(const struct ts_image *memory, struct ts_steps *out);

#endif
