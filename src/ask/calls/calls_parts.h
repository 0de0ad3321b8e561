/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the verb calls share; private to calls*.c.
 *
 * calls.c finds the calls that are rows, in batches; calls_rows.c gets what their rows show, and makes the rows.
 */
#ifndef TS_ASK_CALLS_PARTS_H
#define TS_ASK_CALLS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "entries.h"
#include "src/ask/grammar/state.h"
#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"
#include "src/base/buf.h"

/* What is left of a thread's list: [from, to). */
struct ts_call_left {
	uint32_t from, to;
	struct ts_call *block; /* owned; the calls of a block, n_block of them */
	uint32_t n_block;
	const struct ts_call *next; /* in block; NULL: not looked for yet */
};

/* What a row is called. */
enum ts_call_shown {
	TS_SHOWN_RETURN = TS_CALL_RETURN,
	TS_SHOWN_UNWOUND = TS_CALL_UNWOUND,
	TS_SHOWN_OPEN = TS_CALL_OPEN,
	TS_SHOWN_TAIL,
	TS_SHOWN_HANDLER,
	TS_SHOWN_UNSEEN, /* what called is not recorded */
	TS_SHOWN_FIRST, /* nothing called: the thread begins there */
};

/* A call that is a row, and where in the batch's texts its cells are. */
struct ts_call_found {
	struct ts_call call;
	enum ts_call_shown shown;
	uint64_t begin; /* the position of the first instruction of what was called */
	size_t arguments, result;
	unsigned n_arguments;
	bool has_result;
};

/* The end of a call that returned. */
struct ts_call_end {
	uint64_t pos;
	uint32_t found; /* index */
};

/* Entries of linkage tables that lead to one function: each module that calls it has one. */
#define TS_CALLS_MAX_LINKS 256u

/*
 * Calls are found in batches: a first small one, then larger ones.  What their rows need of the trace is
 * asked for in the order of positions, so that a chunk is decoded once for all of them.
 */
struct ts_call_rows {
	struct ts_rows rows;
	struct ts_what what; /* of the question, or the function that runs under its name */
	struct ts_abi abi;
	struct ts_call_left *lists; /* owned; by thread; NULL: not begun */
	uint32_t n_lists;
	struct ts_entries entries; /* of functions, by other ways than calls */
	struct ts_entry entry;     /* has_entry: the next one */
	bool has_entry, has_no_entries;
	bool is_entry;             /* the call is one */
	uint64_t links[TS_CALLS_MAX_LINKS]; /* entries of linkage tables by which the function is called */
	unsigned n_links;
	size_t n_symbols;          /* that were looked at for entries */
	uint64_t last_function;    /* the address of the last one that was added */
	unsigned n_looked;
	bool has_call; /* the condition of the call is to be judged */
	struct ts_call call;
	enum ts_call_shown shown;
	struct ts_judged judged;
	struct ts_call_found *found; /* owned; TS_CALLS_MAX_BATCH */
	struct ts_call_end *ends;    /* owned; TS_CALLS_MAX_BATCH; by position once the batch is found */
	struct ts_buf texts;
	uint32_t n_found, n_given, n_ends;
	uint32_t n_arguments, n_results; /* how many calls have them */
	uint64_t got_chunk;              /* where the last of them came from */
	uint32_t batch; /* how many are looked for */
	bool has_row;
	size_t n_matched; /* symbols that the pattern does not match, without a row */
};

#define TS_N_CALL_COLUMNS 13u

extern const struct ts_column ts_call_columns[TS_N_CALL_COLUMNS];

/* Say that memory is exhausted (TS_ENOMEM).  Returns false. */
bool ts_call_rows_no_memory(struct ts_error *err);

/*
 * Reading at @pos costs a chunk that is decoded, if the last reading was in another one.  Returns false if the budget is
 * used up.
 */
bool ts_call_rows_take_chunk(struct ts_call_rows *x, uint64_t pos, struct ts_budget *budget);

/* Get arguments and results of the batch.  Returns TS_GOT_ROW when they are there, or not wanted. */
enum ts_got ts_call_rows_get_values(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err);

/* Give the next row of the batch, in which one is left.  Returns false if the trace cannot be read. */
bool ts_call_rows_give(struct ts_call_rows *x, struct ts_row *row, struct ts_error *err);

#endif
