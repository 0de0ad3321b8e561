/* SPDX-License-Identifier: MIT */
/*
 * What the debugging information of an ELF file says of its functions: names and types of their parameters, and the type
 * of their result (DWARF, by libdw).
 *
 * Units are read when an address of theirs is asked for.
 */
#ifndef TS_PROTOTYPES_H
#define TS_PROTOTYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/source/source.h"
#include "value_type.h"

#define TS_MAX_PARAMETERS 16u

struct ts_parameter {
	const char *name; /* borrowed from the table; NULL: it has none */
	struct ts_value_type type;
	int reg;      /* DWARF's number of the register that holds it at the function's entry; -1: not said */
};

struct ts_prototype {
	uint64_t addr; /* of the first instruction, as linked */
	struct ts_value_type result;
	struct ts_parameter parameters[TS_MAX_PARAMETERS];
	unsigned n;       /* more parameters than fit are left out */
	bool is_foreign;  /* of a language that passes arguments by another convention */
};

struct ts_prototypes;

/*
 * The functions of the file @src (owned then, closed at once).  A file that is damaged, or that has no debugging information,
 * has no functions.
 *
 * Returns NULL if memory is exhausted; @src is closed then, too.
 */
struct ts_prototypes *ts_prototypes_new(struct ts_source *src);
void ts_prototypes_free(struct ts_prototypes *p);

/*
 * The program @src (owned, closed at once), of which the file has the debugging information only: it has the tables that tell
 * where frames lie.  One that cannot be read has none.
 */
void ts_prototypes_add_frames(struct ts_prototypes *p, struct ts_source *src);

/* The function that begins at @addr; NULL if nothing is said of it.  Valid until ts_prototypes_free(). */
const struct ts_prototype *ts_prototypes_find(struct ts_prototypes *p, uint64_t addr);

#endif
