/* SPDX-License-Identifier: MIT */
/*
 * Names of one process of a whole machine: in which questions and rows they count.
 *
 * Code of another process at the same virtual address has no name.  A name in a question about code stands for what that
 * process executes there; a name of memory is the memory that it has there at the position asked from.
 */
#ifndef TS_ASK_MACHINE_NAMES_H
#define TS_ASK_MACHINE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "src/ask/verb.h"

struct ts_question;

/* Rows of a question, as ts_machine_row() sees them. */
struct ts_machine_rows {
	const struct ts_ask *ask;
	const struct ts_question *qn;
	unsigned position;  /* the column that says when; the verb's n_columns: none */
	uint32_t columns;   /* bit i: column i has names of code */
	struct ts_machine names;
	struct ts_machine_at at, names_at;
};

/*
 * The places of @qn have been found.  A name in it narrows it to the process that has the name.
 *
 * Returns false if names of the process mean nothing there (TS_EUSAGE), or the trace cannot be read.
 */
bool ts_machine_names_take(const struct ts_ask *ask, struct ts_question *qn, struct ts_error *err);

/* Do the functions and lines of the process count in rows that are about no single position? */
bool ts_machine_names_count(const struct ts_ask *ask, const struct ts_question *qn);

/* Are the names those of what @thread runs at @pos?  Where cr3 is unknown they are not. */
bool ts_machine_names_hold(const struct ts_ask *ask, uint64_t pos, uint32_t thread);

void ts_machine_rows_init(struct ts_machine_rows *m, const struct ts_ask *ask, const struct ts_question *qn);

/* Are rows looked at for their process or ring?  Then the cell of their position is needed. */
bool ts_machine_rows_look(const struct ts_machine_rows *m);

/*
 * Is the row of the process and ring that are asked about?  *is_it tells; cells with names are emptied where another
 * process ran.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_machine_row(struct ts_machine_rows *m, struct ts_row *row, bool *is_it, struct ts_error *err);

#endif
