/* SPDX-License-Identifier: MIT */
/*
 * What is known of memory after unseen changes, by the model's words, byte by byte.
 *
 * A byte of which nothing was known when TS_FX_UNSEEN happened, and that is seen later, had the value that is
 * seen since the last such moment.  So it is as if the kernel had written it then: these writes are put into
 * the batch, and for the rest of the twin there are no unseen changes.
 */
#ifndef TS_TESTS_SETTLE_H
#define TS_TESTS_SETTLE_H

#include "script.h"

/*
 * @out, which is empty, becomes the steps of @s with these writes.  Returns the number of bytes that they write.
 */
uint64_t settle(const struct script *s, struct ts_steps *out);

#endif
