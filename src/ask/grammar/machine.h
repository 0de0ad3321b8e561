/* SPDX-License-Identifier: MIT */
/*
 * `process C` and `ring N`: of a recording of a whole machine, the positions at which a program of it runs.
 *
 * A process is its page tables: the address in cr3 (Intel SDM vol. 3A, section 4.5: without the low 12 bits, and without
 * bit 63 of a write).  The ring is the lowest two bits of cs (section 5.5).
 */
#ifndef TS_ASK_MACHINE_H
#define TS_ASK_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

struct ts_machine {
	bool has_process, has_ring;
	uint64_t process; /* cr3 without its low 12 bits */
	unsigned ring;    /* 0 to 3 */
};

/* Where the state was judged last: zeros at first. */
struct ts_machine_at {
	uint64_t next; /* 1 + that position; 0: nowhere */
	bool holds;
};

/* Has the recording the registers that tell?  Only recordings of whole machines have. */
bool ts_machine_is_known(const struct ts_query *q);

/*
 * Is @pos of that process and ring?  If a register of these is unknown there, it is not.  One position after the other
 * is judged by what the steps between them wrote.
 *
 * Returns false if the trace cannot be read any more, or memory is exhausted.
 */
bool ts_machine_holds(const struct ts_machine *m, struct ts_query *q, struct ts_machine_at *at, uint64_t pos, bool *holds,
		      struct ts_error *err);

#endif
