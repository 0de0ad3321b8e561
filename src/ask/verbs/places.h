/* SPDX-License-Identifier: MIT */
/* Conversion of WHAT to locations for searches, and the text of a location. */
#ifndef TS_ASK_PLACES_H
#define TS_ASK_PLACES_H

#include "src/query/query.h"
#include "src/search/location.h"
#include "src/ask/grammar/what.h"

/*
 * The locations of @what: @thread's registers, or memory of @process.  *n is set to their number.  The caller
 * frees them with free().
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_location *ts_what_locations(const struct ts_what *what, const struct ts_regset *set, uint32_t thread,
				      uint32_t process, size_t *n);

/* The location of a register, at most 64 bytes of it, or of flags. */
struct ts_location ts_what_register_location(const struct ts_what *what, const struct ts_regset *set,
					     uint32_t thread);

/* The first byte of the flags register that @what is a part of. */
uint32_t ts_what_flags_off(const struct ts_what *what, const struct ts_regset *set);

/* "$eax", "$CF", "$xmm0[4:8]": bytes [@first, @first + @len) of the layout, or the flags @flags. */
void ts_register_text(const struct ts_regset *set, uint64_t first, uint64_t len, uint32_t flags, char *text,
		      size_t size);

#endif
