/* SPDX-License-Identifier: MIT */
/* Shared declarations of the search for where bytes went; private to flow*.c. */
#ifndef TS_SEARCH_FLOW_PARTS_H
#define TS_SEARCH_FLOW_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"
#include "sources.h"
#include "taint.h"

#define TS_FLOW_MAX_DEST 512u /* the maximum number of places that one step writes; further ones are not followed, and the answer is cut */

struct ts_flow_touch;

struct ts_flow {
	struct ts_query *q; /* borrowed */
	struct ts_flow_question question;
	struct ts_location *arguments; /* owned; the question's */
	struct ts_taint taint;
	struct ts_flow_touch *touches; /* owned */
	uint64_t pos;          /* the next step to examine */
	uint64_t look_until;   /* steps before it are examined one by one, because one of them touches tainted memory */
	uint64_t busy_until;   /* all steps from pos to here are executed by busy_thread */
	uint32_t busy_thread;
	unsigned n_looked;
	uint64_t n_unknown;    /* the number of steps whose instruction is unknown, and which may have used tainted bytes */
	struct ts_flow_hop *hops; /* owned; the hops of the last step: those from next_hop on have not been returned */
	size_t n_hops, cap_hops, next_hop;
	struct ts_location dest[TS_FLOW_MAX_DEST]; /* the places that the current step writes */
	unsigned n_dest;
	unsigned n_described;  /* the first ones are what the instruction writes by its operands ... */
	unsigned n_registers;  /* ... then come registers that the recording lists, then memory */
	bool is_described;     /* the instruction's operands are all that it writes */
	bool is_full;          /* it writes more */
	bool loses_registers;  /* all become unknown in it */
	struct ts_sources sources;
	bool is_physical, has_reads;
};

/*
 * Translate @loc to the form that effects have: of a machine, physical addresses.
 *
 * Returns false if the page tables do not map it.
 * Returns false, with *err set, if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_flow_as_recorded(struct ts_flow *f, uint64_t pos, struct ts_location *loc, struct ts_error *err);

/*
 * As ts_taint_any(), for @loc translated at position @pos (ts_flow_as_recorded()).
 *
 * Returns 1 + the step through which the first tainted byte of @loc came, with *i set to that byte.
 * Returns 0 if no byte of @loc is tainted, or its address is not mapped.
 * Returns 0, with *err set, if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
uint64_t ts_flow_find_from(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, unsigned *i, struct ts_error *err);

/*
 * Examine step @pos: set f->hops to what it does with tainted bytes, and update f->taint.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_flow_take_step(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err);

#endif
