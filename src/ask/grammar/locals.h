/* SPDX-License-Identifier: MIT */
/*
 * WHAT that is a variable of the function in which the question's position is.
 */
#ifndef TS_ASK_LOCALS_H
#define TS_ASK_LOCALS_H

#include "question.h"
#include "src/ask/verb.h"

/*
 * Once the question's position is known: qn->what is the place of the variable that qn->local names, if one is in scope there,
 * and qn->local_note says so.  A variable comes before a symbol of the same name.  A place in the function's frame is the
 * variable's only during this call: the question's range is narrowed to it, but for questions about what was before.
 *
 * Returns TS_GOT_ROW when qn->what is valid, TS_GOT_PENDING if the budget was used up, TS_GOT_FAIL if there is neither a
 * variable nor a symbol of the name, or the variable has no place there (TS_EUSAGE), or the trace cannot be read.
 */
enum ts_got ts_local_find(struct ts_ask *ask, struct ts_question *qn, struct ts_budget *budget, struct ts_error *err);

#endif
