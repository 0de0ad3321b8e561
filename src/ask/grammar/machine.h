/* SPDX-License-Identifier: MIT */
/*
 * `process C` and `ring N` select positions in the recording of a whole machine.
 *
 * A process is identified by its page tables: the address in cr3 (Intel SDM vol. 3A, section 4.5: without the low 12 bits,
 * and without bit 63 of a write).  The ring is the lowest two bits of cs (section 5.5).
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

/* The result for the last position; all zero at first. */
struct ts_machine_at {
	uint64_t next; /* 1 + that position; 0: no result */
	bool holds;
};

/* Does the recording have cr3 and cs?  Only recordings of whole machines do. */
bool ts_machine_is_known(const struct ts_query *q);

/*
 * Is it known that the process whose page tables are at @process never runs? True only if the recording has been read to its
 * end.
 */
bool ts_machine_never_runs(const struct ts_query *q, uint64_t process);

/*
 * Check that names can belong to the process whose page tables are at @process.
 *
 * Returns false (TS_EUSAGE) for the recording of a program, and if the recording has been read and the process never
 * runs in it.
 */
bool ts_machine_check_process(const struct ts_query *q, uint64_t process, struct ts_error *err);

/*
 * Set *holds to whether that process runs at @pos, in that ring; false if cr3 or cs is unknown.  The registers are read
 * only if the step before @pos may have changed them, or if @pos does not follow the position in @at.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_machine_holds(const struct ts_machine *m, struct ts_query *q, struct ts_machine_at *at, uint64_t pos, bool *holds,
		      struct ts_error *err);

/*
 * The process that @thread runs at @pos, as in `process C`.
 *
 * Returns false if cr3 is unknown, or (@err is set) if the trace cannot be read (TS_EIO, TS_ETRUNC,
 * TS_ECORRUPT).
 */
bool ts_machine_process(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *process, struct ts_error *err);

struct ts_what;

/*
 * Translate the virtual addresses of @what, in the recording of a machine, at position @at: *to is set to @what with
 * physical addresses.  If the question has a process, the addresses are translated at the last position <= @at at which it
 * runs, or else at the first one after @at.  *is_mapped is false if the addresses are not mapped, or are in several pages;
 * @note (@size bytes) is set to a sentence that says so, or names the physical address.  Registers, physical addresses and
 * addresses in other recordings are copied unchanged.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_machine_what(struct ts_query *q, const struct ts_machine *m, uint64_t at, uint32_t process, const struct ts_what *what,
		     struct ts_what *to, bool *is_mapped, char *note, size_t size, struct ts_error *err);

/* May the step have changed cr3 or cs? */
bool ts_machine_may_change(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *s);

/* The first chunk >= @chunk in which cr3 of @thread may change; TS_NO_CHUNK: in no chunk. */
uint64_t ts_machine_next_change(const struct ts_query *q, uint32_t thread, uint64_t chunk);

#endif
