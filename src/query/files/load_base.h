/* SPDX-License-Identifier: MIT */
/*
 * Where in memory a file of the program lies: by how much it was moved from where it is linked.
 *
 * A position-independent program is loaded anywhere.  Some recordings say where; in the others the file is
 * found by its own code, of which the recording holds what was executed.
 */
#ifndef TS_LOAD_BASE_H
#define TS_LOAD_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_samples.h"
#include "src/object/object.h"
#include "src/source/source.h"

/* How the samples that lie in the file's executable parts compare with its bytes. */
struct ts_code_match {
	size_t n_same, n_different; /* samples */
};

/*
 * Is the byte at @at of @data (@len bytes of memory), which differs from that of @file, in a word that the loader
 * of a PE file has moved by @moved?
 */
bool ts_is_moved_word(const uint8_t *file, const uint8_t *data, size_t len, size_t at, uint64_t moved);

/*
 * Compare @samples with the executable parts of @o, the headers of @src, moved by @moved.
 * Words that the loader of a PE file has moved are the same.
 *
 * Returns false if @src cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_code_match(const struct ts_code_samples *samples, const struct ts_source *src,
		   const struct ts_object *o, uint64_t moved, struct ts_code_match *match,
		   struct ts_error *err);

/*
 * Returns true if at least nine samples of ten, and at least one sample, equal the file's bytes: self-modifying code and
 * breakpoints differ.
 */
static inline bool ts_code_is_match(const struct ts_code_match *m)
{
	return m->n_same > 0 && m->n_same >= 9 * m->n_different;
}

/*
 * Find where the file lies by @samples: the one place, a whole number of pages from where it is linked, at
 * which its code is what was executed.
 *
 * Returns true with *moved set to the difference to its linked place.
 * Returns false, with err->code TS_OK, if no place or more than one fits.
 * Returns false, with *err set, as ts_code_match() does.
 */
bool ts_load_base_by_code(const struct ts_code_samples *samples, const struct ts_source *src,
			  const struct ts_object *o, uint64_t *moved, struct ts_error *err);

#endif
