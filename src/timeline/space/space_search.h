/* SPDX-License-Identifier: MIT */
/*
 * The parts of lines by which a space is searched; private to its files.
 */
#ifndef TS_SPACE_SEARCH_H
#define TS_SPACE_SEARCH_H

#include "space_parts.h"

/* ts_space_parts() of a space that was divided. */
uint16_t ts_space_divided_parts(const struct ts_space *sp, uint64_t addr, uint16_t bytes);

/* The bytes of the parts of the line at @addr of which @bytes has one or more; bit i: byte i of the line. */
static inline uint16_t ts_space_parts(const struct ts_space *sp, uint64_t addr, uint16_t bytes)
{
	if (__builtin_expect(sp->starts != NULL, 0))
		return ts_space_divided_parts(sp, addr, bytes);
	return (uint16_t)((bytes & 0xff ? 0xff : 0) | (bytes & 0xff00 ? 0xff00 : 0));
}

#endif
