/* SPDX-License-Identifier: MIT */
/*
 * Where the program's file lies in the memory of the recording: as the user gives it, by facts of the recording, or by the
 * executed code.
 */
#ifndef TS_LOCATE_H
#define TS_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "load_base.h"

enum ts_located_by {
	TS_LOCATED_NOT,     /* unknown: addresses are shown as linked */
	TS_LOCATED_LINKED,  /* it is not position-independent */
	TS_LOCATED_GIVEN,   /* by the user */
	TS_LOCATED_AUXV,    /* the entry point in the recorded auxiliary vector */
	TS_LOCATED_MODULE,  /* a module or a mapped file that the recording names so */
	TS_LOCATED_CODE,    /* its code is what was executed there */
};

struct ts_located {
	enum ts_located_by by;
	bool is_pe;                 /* it is a PE file, else ELF */
	uint64_t moved;             /* add it to an address as linked; 0 if unknown */
	uint64_t first;             /* where the page of the lowest segment lies */
	struct ts_code_match match; /* how the executed code compares with the file there */
	size_t n_samples;           /* pieces of executed code that are known, there or elsewhere */
};

/*
 * Find where @src, the program's file with the headers @o, lies in @process (an ordinal).  @base is
 * the address of its lowest page as given by the user; NULL: it was not given.  An address of the user or of the recording
 * is not verified; at->match has the comparison with the executed code.  The address is derived from the code only if
 * neither gives one, or if the code contradicts the recording.
 *
 * Returns false if @src cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Returns true with at->by TS_LOCATED_NOT if the place was not found.
 */
bool ts_locate(struct ts_query *q, const struct ts_source *src, const struct ts_object *o, uint32_t process,
	       const uint64_t *base, struct ts_located *at, struct ts_error *err);

/* Does the recorded auxiliary vector say that a dynamic linker was loaded (AT_BASE)?  False if unknown. */
bool ts_has_interpreter(const struct ts_facts *facts);

/* Returns a text for users, a literal: "by the auxiliary vector". */
const char *ts_located_text(enum ts_located_by by);

#endif
