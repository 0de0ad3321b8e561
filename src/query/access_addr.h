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
 * Does an operand of the instruction of step @pos lie in the page of the physical address @phys?  *addr gets the virtual
 * address that the page tables at @pos map to @phys in that page; where there is no such operand, as of a system call, the
 * only one that they map to it (paging.h).  *is_found is false if that is not known either.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err);

#endif
