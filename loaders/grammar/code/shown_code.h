/* SPDX-License-Identifier: MIT */
/*
 * Code that the lines of the trace list: bytes of modules, and bytes of memory at instructions.
 */
#ifndef LOADERS_GRAMMAR_SHOWN_CODE_H
#define LOADERS_GRAMMAR_SHOWN_CODE_H

#include <string.h>

#include "loaders/grammar/language/line.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"
#include "src/source/source.h"

struct ts_point;

/* Limit on the modules that are kept.  A further module replaces the oldest one. */
#define GRAMMAR_MAX_SHOWN 64u

/* The number of entries of the cache of instructions, which is indexed by address; a power of two. */
#define GRAMMAR_N_KEPT_CODE 256u

struct grammar_shown_code {
	struct {
		uint64_t base, len;
		uint64_t off; /* file offset of the digits of its first byte */
	} modules[GRAMMAR_MAX_SHOWN]; /* the oldest first */
	unsigned n;
	struct {
		uint64_t pc;
		uint8_t code[GRAMMAR_MAX_CODE];
		uint8_t n; /* 0: nothing is kept here */
	} kept[GRAMMAR_N_KEPT_CODE];
};

/* Add, or remove, a module of @len bytes at address @base.  Its digits begin at file offset @off. */
void grammar_shown_load(struct grammar_shown_code *s, uint64_t base, uint64_t len, uint64_t off);
void grammar_shown_unload(struct grammar_shown_code *s, uint64_t base, uint64_t len);

/* The index in the cache for the instruction at @pc. */
static inline size_t grammar_shown_place(uint64_t pc)
{
	return (pc ^ pc >> 8) & (GRAMMAR_N_KEPT_CODE - 1);
}

/*
 * Read the code at @pc into the cache, if a module has it.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 */
bool grammar_shown_read(struct grammar_shown_code *s, const struct ts_source *src, uint64_t pc, struct ts_error *err);

/*
 * Copy the code at @pc to @code.  *n is set to the number of known bytes, 0 if no module has them.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC).
 */
static inline bool grammar_shown_find(struct grammar_shown_code *s, const struct ts_source *src, uint64_t pc,
				      uint8_t code[GRAMMAR_MAX_CODE], uint8_t *n, struct ts_error *err)
{
	const size_t k = grammar_shown_place(pc);

	*n = 0;
	if (s->kept[k].pc != pc && !grammar_shown_read(s, src, pc, err))
		return false;
	if (s->kept[k].pc != pc)
		return true;
	*n = s->kept[k].n;
	memcpy(code, s->kept[k].code, GRAMMAR_MAX_CODE);
	return true;
}

/* Their part of a decode point, which determines if it is bad. */
void grammar_shown_point(struct grammar_shown_code *s, struct ts_point *p);

#endif
