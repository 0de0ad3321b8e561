/* SPDX-License-Identifier: MIT */
/*
 * The linkage of a processor: its calls store the return address at the stack pointer, or in a link register.
 */
#ifndef TS_CALL_LINKAGE_H
#define TS_CALL_LINKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/arch.h"

struct ts_linkage {
	const struct ts_arch *arch; /* borrowed */
	const char *reg;            /* the link register's name; NULL: calls push */
	bool is_link;               /* the processor has a link register */
	uint8_t word;               /* bytes of a return address */
	uint8_t distance;           /* from the call to its return address; 0: the instruction's length */
	uint8_t add;                /* the link register holds the return address minus this */
	uint64_t mask;              /* the bits of the link register that are an address */
	uint64_t addr_mask;         /* the bits of an address */
};

/* The linkage of @arch (borrowed).  If the link register of a processor is unknown, its calls are assumed to push. */
void ts_linkage_init(struct ts_linkage *l, const struct ts_arch *arch);

/* Returns the return address if the link register has the value @lr. */
uint64_t ts_linkage_return(const struct ts_linkage *l, uint64_t lr);

/* Is @ret the return address of a call at @pc whose instruction has @insn_len bytes, 0 if unknown? */
bool ts_linkage_is_return_of(const struct ts_linkage *l, uint64_t ret, uint64_t pc, uint16_t insn_len);

#endif
