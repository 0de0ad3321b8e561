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
 * Replace *what, the symbol of an indirect function, by the function that its resolver chose.  A sentence
 * about it is written to @note.
 *
 * Returns TS_ITEM when this is done.
 * Returns TS_END if the recording does not show what the resolver returned (*what is unchanged).
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_ifunc_resolve(struct ts_ask *ask, struct ts_what *what, char note[200], struct ts_budget *budget,
			      struct ts_error *err);

#endif
