/* SPDX-License-Identifier: MIT */
/*
 * Cells that rows of several verbs have.
 */
#ifndef TS_ASK_CELLS_H
#define TS_ASK_CELLS_H

#include <stdint.h>

#include "src/ask/row.h"
#include "src/ask/verb.h"

/* Columns of a place in the recording, from ordinal @first on. */
#define TS_PLACE_COLUMNS(first)                                          \
	[first] = { .name = "position", .type = TS_COLUMN_NUMBER },      \
	[(first) + 1] = { .name = "thread", .type = TS_COLUMN_NUMBER },  \
	[(first) + 2] = { .name = "pc", .type = TS_COLUMN_ADDR },        \
	[(first) + 3] = { .name = "function", .type = TS_COLUMN_TEXT },  \
	[(first) + 4] = { .name = "file", .type = TS_COLUMN_TEXT },      \
	[(first) + 5] = { .name = "line", .type = TS_COLUMN_NUMBER }

/*
 * Step @pos to the cells from @first on: those of TS_PLACE_COLUMNS, with @thread (TS_NO_THREAD: the step's own), then its
 * instruction.  Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_cell_step(struct ts_row *row, unsigned first, const struct ts_ask *ask, uint64_t pos, uint32_t thread,
		  struct ts_error *err);

/* The thread or the process as clients call it. */
void ts_cell_thread(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t thread);

/*
 * Beside the physical address @phys that step @pos accessed in a machine: the virtual one by which it did.  The cell stays
 * null where that is not known, and in other recordings.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_cell_virtual(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, uint64_t phys, struct ts_error *err);

/* An address as it is taken as WHAT: a physical one is phys:0x9051. */
void ts_cell_addr(struct ts_row *row, unsigned i, uint64_t addr, bool is_physical);
void ts_cell_process(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t process);

/* The name of the function that @addr is in, borrowed from the symbols; NULL if none is known. */
const char *ts_ask_function(const struct ts_ask *ask, uint64_t addr);

/* Fill the cell with the name of the function that @addr is in. */
void ts_cell_function(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr);

/*
 * The line of the source that @addr is in: its file to cell @i, its number to cell @i + 1; null if none is
 * known.
 */
void ts_cell_line(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr);

#endif
