/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses for the questions of all sessions of a server: found with the first question, and again
 * when all of the recording has been read.
 *
 * Which files have symbols is found in slices; they are read and sorted on a thread of its own, and sessions
 * that need the table wait for it (wait.h).  Where the system refuses a thread they are read at once.
 */
#ifndef RSP_SYMBOL_TABLES_H
#define RSP_SYMBOL_TABLES_H

#include <stdbool.h>

#include "src/symbols/find_symbols.h"
#include "src/symbols/symbols.h"
#include "src/base/error.h"
#include "src/query/query.h"

struct rsp_symbol_tables;

/* Returns NULL if memory is exhausted. */
struct rsp_symbol_tables *rsp_symbol_tables_new(void);

/* Waits for the thread. */
void rsp_symbol_tables_free(struct rsp_symbol_tables *t);

/* Have @tell(@user) called when a table has been read, on any thread. */
void rsp_symbol_tables_notify(struct rsp_symbol_tables *t, void (*tell)(void *user), void *user);

/*
 * The table for questions about @q at this time, which stays until the end.  What @places points to stays, too.
 *
 * Returns NULL with err->code TS_OK if it is not there yet: call again, at once unless
 * rsp_symbol_tables_are_being_read().  Returns NULL if a file cannot be read (TS_EIO) or memory is exhausted;
 * the next call tries it again.
 */
struct ts_symbols *rsp_symbol_tables_get(struct rsp_symbol_tables *t, struct ts_query *q,
					 const struct ts_symbols_places *places, struct ts_error *err);

/* Is there nothing to do until the thread is ready? */
bool rsp_symbol_tables_are_being_read(struct rsp_symbol_tables *t);

#endif
