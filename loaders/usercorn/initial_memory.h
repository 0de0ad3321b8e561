/* SPDX-License-Identifier: MIT */
/*
 * The memory at position 0: what leading keyframes give to regions.
 */
#ifndef LOADERS_USERCORN_INITIAL_MEMORY_H
#define LOADERS_USERCORN_INITIAL_MEMORY_H

#include "trace.h"

/*
 * Fill rec->contents from the initial effects, which are complete.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_index_contents(struct usercorn *rec, struct ts_error *err);

/* The initial bytes from @addr on of a thread's process, *n of them; NULL where the trace has none. */
const uint8_t *ucir_initial_bytes(const struct usercorn *rec, uint32_t thread, uint64_t addr, size_t *n);

#endif
