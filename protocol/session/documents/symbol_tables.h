/* SPDX-License-Identifier: MIT */
/*
 * The symbols for the questions of all sessions of a server: loaded at the first question, and again
 * when the whole recording has been read.
 *
 * The files with symbols are determined in slices.  A thread of its own reads and sorts the symbols, and sessions
 * that need the table wait for it (wait.h).  If the system refuses a thread, they are read at once.
 */
#ifndef RSP_SYMBOL_TABLES_H
#define RSP_SYMBOL_TABLES_H

#include <stdbool.h>

#include "src/symbols/find_symbols.h"
#include "src/symbols/symbols.h"
#include "src/base/error.h"
#include "src/query/query.h"

struct rsp_symbol_tables;

/* Returns an empty object, which the caller frees with rsp_symbol_tables_free(); NULL if memory is exhausted. */
struct rsp_symbol_tables *rsp_symbol_tables_new(void);

/* Wait for the thread, and free the tables. */
void rsp_symbol_tables_free(struct rsp_symbol_tables *t);

/* Call @tell(@user) on any thread when a table has been read. */
void rsp_symbol_tables_notify(struct rsp_symbol_tables *t, void (*tell)(void *user), void *user);

/*
 * The current table for questions about @q, which remains valid until rsp_symbol_tables_free().  The objects to which
 * @places points must remain valid as long.
 *
 * Returns NULL with err->code TS_OK if the table is not ready: the caller calls again, at once unless
 * rsp_symbol_tables_are_being_read().  Returns NULL with an error if a file cannot be read (TS_EIO) or memory is
 * exhausted; the next call tries again.
 */
struct ts_symbols *rsp_symbol_tables_get(struct rsp_symbol_tables *t, struct ts_query *q,
					 const struct ts_symbols_places *places, struct ts_error *err);

/* Is the thread reading a table? */
bool rsp_symbol_tables_are_being_read(struct rsp_symbol_tables *t);

#endif
