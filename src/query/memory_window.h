/* SPDX-License-Identifier: MIT */
/*
 * Memory that many questions about consecutive positions examine.  Bytes that were read once are updated by the effects of the
 * steps, and not read again from the beginning of the chunk.
 */
#ifndef TS_MEMORY_WINDOW_H
#define TS_MEMORY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"

struct ts_memory_window;

/* For questions to @q (borrowed).  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_memory_window *ts_memory_window_new(struct ts_query *q, struct ts_error *err);
void ts_memory_window_free(struct ts_memory_window *w);

/*
 * As ts_virtual_mem(); positions that ascend by little are the cheap ones.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_memory_window_read(struct ts_memory_window *w, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
			   uint8_t *data, uint8_t *known, struct ts_error *err);

#endif
