/* SPDX-License-Identifier: MIT */
/*
 * Groups of cells as they were printed, so that rows with the same group print it again without its cells.
 */
#ifndef TS_ASK_PRINTED_H
#define TS_ASK_PRINTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/row.h"
#include "src/base/buf.h"

struct ts_printed;

/*
 * Returns an empty set of groups, which the caller frees with ts_printed_free().
 * Returns NULL if memory is exhausted; the other functions accept NULL, and every group is then printed cell by cell.
 */
struct ts_printed *ts_printed_new(void);
void ts_printed_free(struct ts_printed *p);

/* Returns the TS_KEPT_GROUPS ids of the groups that are kept, borrowed from @p, for ts_row_repeats(); NULL if @p is NULL. */
const uint64_t *ts_printed_ids(const struct ts_printed *p);

/* Append the group with this id to @out.  Returns false, and does nothing, if it is not kept. */
bool ts_printed_put(const struct ts_printed *p, uint64_t id, struct ts_buf *out);

/* The group was printed as @text.  It is not kept if it is long, or memory is exhausted. */
void ts_printed_keep(struct ts_printed *p, uint64_t id, const uint8_t *text, size_t len);

#endif
