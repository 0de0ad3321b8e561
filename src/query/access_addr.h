/* SPDX-License-Identifier: MIT */
/*
 * The virtual address by which an instruction of a whole machine accessed a physical one.
 */
#ifndef TS_ACCESS_ADDR_H
#define TS_ACCESS_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "query.h"

/*
 * Find the virtual address by which step @pos accessed physical address @phys.  A memory operand in the page
 * of @phys decides.  Without one, *addr is set by ts_untranslate_at().  *is_found is false if no address is
 * found.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err);

#endif
