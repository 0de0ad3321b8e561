/* SPDX-License-Identifier: MIT */
/*
 * Cells that are common to rows of several verbs.
 */
#ifndef TS_ASK_CELLS_H
#define TS_ASK_CELLS_H

#include <stdint.h>

#include "src/ask/row.h"
#include "src/ask/verb.h"
#include "src/search/location.h"

/* Columns of a place in the recording, from ordinal @first on. */
#define TS_PLACE_COLUMNS(first)                                          \
	[first] = { .name = "position", .type = TS_COLUMN_NUMBER },      \
	[(first) + 1] = { .name = "thread", .type = TS_COLUMN_NUMBER },  \
	[(first) + 2] = { .name = "pc", .type = TS_COLUMN_ADDR },        \
	[(first) + 3] = { .name = "function", .type = TS_COLUMN_TEXT },  \
	[(first) + 4] = { .name = "file", .type = TS_COLUMN_TEXT },      \
	[(first) + 5] = { .name = "line", .type = TS_COLUMN_NUMBER }
#define TS_N_PLACE_COLUMNS 6

/*
 * Fill the cells from @first on with step @pos: the cells of TS_PLACE_COLUMNS, with @thread (TS_NO_THREAD:
 * the step's thread), then its instruction.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_cell_step(struct ts_row *row, unsigned first, const struct ts_ask *ask, uint64_t pos, uint32_t thread,
		  struct ts_error *err);

/* Fill the cell with the thread's id for clients. */
void ts_cell_thread(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t thread);

/*
 * Fill the cell with the virtual address through which step @pos accessed the physical address @phys of a machine.  The
 * cell stays null if that address is unknown, and in recordings of programs.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_cell_virtual(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, uint64_t phys, struct ts_error *err);

/* Bytes of memory, bytes of a register, or flags, as a row shows them. */
struct ts_cell_place {
	enum ts_location_kind kind;
	uint32_t owner;       /* of memory: the process; else the thread */
	uint64_t first, last; /* addresses, or offsets in the layout */
	uint64_t flags;       /* of TS_IN_FLAGS: the mask */
};

/* The bytes of a value, and whether each is known: one byte more than a cell stores. */
struct ts_cell_bytes {
	uint8_t data[TS_MAX_VALUE_BYTES + 1], known[TS_MAX_VALUE_BYTES + 1];
};

/* Fill the cell with the name of the place: "0x404000,4", "$eax", "$CF". */
void ts_cell_place_name(struct ts_row *row, unsigned i, const struct ts_ask *ask, const struct ts_cell_place *place);

/*
 * Fill the cell with the value of the place at position @pos: of one flag 0 or 1, of several flags the flags register.  @bytes
 * is overwritten.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_cell_place_value(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t pos, const struct ts_cell_place *place,
			 struct ts_cell_bytes *bytes, struct ts_error *err);

/* Fill the cell with an address in the form of a WHAT: a physical address is phys:0x9051. */
void ts_cell_addr(struct ts_row *row, unsigned i, uint64_t addr, bool is_physical);
void ts_cell_process(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint32_t process);

/* The name of the function that contains @addr, borrowed from the symbols; NULL if none is known. */
const char *ts_ask_function(const struct ts_ask *ask, uint64_t addr);

/* Fill the cell with the name of the function that contains @addr. */
void ts_cell_function(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr);

/*
 * Fill cell @i with the source file of @addr, and cell @i + 1 with its line; null if they are unknown.
 */
void ts_cell_line(struct ts_row *row, unsigned i, const struct ts_ask *ask, uint64_t addr);

#endif
