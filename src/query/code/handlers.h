/* SPDX-License-Identifier: MIT */
/*
 * Handlers of signals: where they begin and end, and which one is active at a position.
 */
#ifndef TS_QUERY_HANDLERS_H
#define TS_QUERY_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"

struct ts_handler {
	uint64_t pos; /* the step after which the signal came; the handler begins at pos + 1 */
	uint64_t end; /* the position at which sigreturn has brought the registers back; TS_NO_POS: none did */
	/*
	 * A signal that was pending comes as sigreturn ends: its handler begins where another one ended.  The step after which the
	 * first of them came, which is of the interrupted code, and the position at which that goes on; TS_NO_POS: never.
	 */
	uint64_t interrupted, back;
};

/*
 * Does a handler of a signal begin after step @pos of @thread?
 *
 * Returns true and sets *handler if one does.
 * Returns false if none does.
 * Returns false and sets *err if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_handler_after(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_handler *handler,
		      struct ts_error *err);

/* Is the code that @thread enters at @pos the one to which handlers return, which only calls sigreturn? */
bool ts_query_is_handler_return(struct ts_query *q, uint32_t thread, uint64_t pos);

/*
 * Set *handler to the innermost handler that @thread executes at @pos.
 *
 * Returns true if it executes one.
 * Returns false if it executes none.
 * Returns false and sets *err if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_query_handler_at(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_handler *handler,
		   struct ts_error *err);

#endif
