/* SPDX-License-Identifier: MIT */
/*
 * The constant bytes of the program, from the file that the user names, for recordings that do not contain
 * them.
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

/*
 * Returns the distance of the loaded file @elf from the addresses it is linked for, if its lowest page is at
 * @base.
 */
uint64_t kit_program_moved(const struct ts_elf *elf, uint64_t base);

/*
 * Compare a segment with the known bytes of the program.  The segment is the @len bytes of the file @src from
 * offset @off on, and would be loaded at @addr.  *is_same is set to whether it can be a segment of the
 * program.
 *
 * Returns false if the bytes cannot be read (TS_EIO, TS_ETRUNC).
 */
typedef bool kit_program_compare(void *user, uint64_t addr, uint64_t len, const struct ts_source *src,
				 uint64_t off, bool *is_same, struct ts_error *err);

/*
 * Add the segments of the ELF or PE file @path (NULL: none) that the program cannot write to @memory.  They
 * are memory at position 0.  The lowest page is at *@base, or the entry point is at *@entry; NULL: not
 * known.  If both are NULL the file is at the addresses it is linked for.
 *
 * Nothing is added if the file is position-independent and neither address is known, if a PE file is not at
 * the addresses it is linked for, if the file has another format, or if @compare (may be NULL) finds that a
 * segment is not the program's.
 *
 * Returns true if the segments were added, or if there is nothing to add.
 * Returns false if the file cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool kit_program_add(struct ts_image *memory, const char *path, const uint64_t *base, const uint64_t *entry,
		     kit_program_compare *compare, void *user, struct ts_error *err);

/*
 * Append effects that make all memory unknown, except the program's bytes in @memory.  For recordings with a
 * file for each thread, where the next file begins: it has the memory that this thread saw.
 */
void kit_program_forget(const struct ts_image *memory, struct ts_steps *out);

#endif
