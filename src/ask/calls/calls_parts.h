/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the verb calls; private to calls*.c.
 *
 * calls.c selects the calls that are rows, in batches.  calls_rows.c reads the values that they show, and
 * makes the rows.
 */
#ifndef TS_ASK_CALLS_PARTS_H
#define TS_ASK_CALLS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "entries.h"
#include "stepped.h"
#include "src/ask/grammar/state.h"
#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"
#include "src/base/collections/buf.h"

/* The rest of a thread's list of calls: [from, to). */
struct ts_call_left {
	uint32_t from, to;
	struct ts_call *block; /* owned; the calls of a block, n_block of them */
	uint32_t n_block;
	const struct ts_call *next; /* in block; NULL: not read yet */
};

/* The kind that a row shows. */
enum ts_call_shown {
	TS_SHOWN_RETURN = TS_CALL_RETURN,
	TS_SHOWN_UNWOUND = TS_CALL_UNWOUND,
	TS_SHOWN_OPEN = TS_CALL_OPEN,
	TS_SHOWN_TAIL,
	TS_SHOWN_HANDLER,
	TS_SHOWN_STEPPED, /* what the callee did is not recorded */
	TS_SHOWN_UNSEEN, /* the caller is not recorded */
	TS_SHOWN_FIRST, /* no caller: the thread begins there */
};

/* A call that is a row, and the offsets of its cells in the batch's texts. */
struct ts_call_found {
	struct ts_call call;
	enum ts_call_shown shown;
	uint64_t begin; /* the position of the callee's first instruction */
	size_t arguments, result;
	unsigned n_arguments;
	bool has_result;
};

/* The end of a call that returned. */
struct ts_call_end {
	uint64_t pos;
	uint32_t found; /* index */
};

/* Linkage table entries of one function: each module that calls it has one. */
#define TS_CALLS_MAX_LINKS 256u

/*
 * Calls are found in batches: first a small one, then larger ones.  The trace data of a batch is read in
 * order of position, so that each chunk is decoded once.
 */
struct ts_call_rows {
	struct ts_rows rows;
	struct ts_what what; /* the question's WHAT, or the function that its resolver chose (ifunc.h) */
	struct ts_abi abi;
	struct ts_call_left *lists; /* owned; by thread; NULL: not begun */
	uint32_t n_lists;
	struct ts_entries entries; /* entries of functions without a call instruction */
	struct ts_entry entry;     /* has_entry: the next one */
	bool has_entry, has_no_entries;
	bool is_entry;             /* call comes from entry */
	struct ts_stepped stepped;
	struct ts_call over;       /* has_over: the next call that was stepped over */
	bool has_over, has_no_over;
	uint64_t links[TS_CALLS_MAX_LINKS]; /* addresses of the function's linkage table entries */
	unsigned n_links;
	size_t n_symbols;          /* symbols examined for entries */
	uint64_t last_function;    /* the address of the last function added */
	unsigned n_looked;
	bool has_call; /* the condition must be evaluated for call */
	struct ts_call call;
	enum ts_call_shown shown;
	struct ts_judged judged;
	struct ts_call_found *found; /* owned; TS_CALLS_MAX_BATCH */
	struct ts_call_end *ends;    /* owned; TS_CALLS_MAX_BATCH; by position once the batch is found */
	struct ts_buf texts;
	uint32_t n_found, n_given, n_ends;
	uint32_t n_arguments, n_results; /* calls of the batch whose arguments, results have been read */
	uint64_t got_chunk;              /* the chunk of the last read */
	uint32_t batch; /* the size of the next batch */
	bool has_row;
	size_t n_matched; /* number of symbols compared with the pattern, for an answer without rows */
};

#define TS_N_CALL_COLUMNS 13u

extern const struct ts_column ts_call_columns[TS_N_CALL_COLUMNS];

/* Set @err to TS_ENOMEM.  Returns false. */
bool ts_call_rows_no_memory(struct ts_error *err);

/*
 * Charge the decoding of the chunk with @pos to the budget, unless the last read was in the same chunk.
 *
 * Returns false if the budget is used up.
 */
bool ts_call_rows_take_chunk(struct ts_call_rows *x, uint64_t pos, struct ts_budget *budget);

/*
 * Read the arguments and results of the batch.
 *
 * Returns TS_ITEM when this is done, or the question does not show them.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_call_rows_get_values(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err);

/*
 * Fill in the batch's next row; there must be one.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_call_rows_give(struct ts_call_rows *x, struct ts_row *row, struct ts_error *err);

/*
 * stack.c: if the program moves stacks while calls are open on them, as Go does: mark the answer as incomplete, because the ends of
 * these calls are not found, and say so in its note if it has none.
 */
void ts_note_moved_stacks(struct ts_rows *rows);

#endif
