/* SPDX-License-Identifier: MIT */
/*
 * Resolve a WHAT that is a variable of the function that runs at the question's position.
 */
#ifndef TS_ASK_LOCALS_H
#define TS_ASK_LOCALS_H

#include "question.h"
#include "src/ask/verb.h"

/*
 * Set qn->what to the place of the variable that qn->local names, if it is in scope at the question's position, and
 * qn->local_note to a sentence about it.  The position must be known.  A variable takes precedence over a symbol of the
 * same name.  A place in the function's frame belongs to the variable only during this call: the question's range is
 * narrowed to the call, except for questions about earlier positions.
 *
 * Returns TS_ITEM when qn->what is valid.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if there is neither a variable nor a symbol of the name, or the variable has no place there
 * (TS_EUSAGE).
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_local_find(struct ts_ask *ask, struct ts_question *qn, struct ts_budget *budget, struct ts_error *err);

#endif
