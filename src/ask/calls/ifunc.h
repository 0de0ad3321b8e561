/* SPDX-License-Identifier: MIT */
/*
 * Indirect functions (STT_GNU_IFUNC): the symbol's address is that of a resolver, which returns the address of the
 * function that runs under this name (ELF's gABI supplement; glibc's sysdeps/generic/ifunc-init.h).
 */
#ifndef TS_ASK_IFUNC_H
#define TS_ASK_IFUNC_H

#include <stdint.h>

#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"

/*
 * If *what is the symbol of an indirect function, replace it by the function that its resolver chose, as a whole; what->is_indirect
 * is false then.  A sentence about it is written to rows->note.  If the recording does not show what the resolver returned,
 * *what stays the resolver, and rows->is_cut is set.
 *
 * Returns TS_ITEM when this is done.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_ifunc_resolve(struct ts_rows *rows, struct ts_what *what, struct ts_budget *budget, struct ts_error *err);

#endif
