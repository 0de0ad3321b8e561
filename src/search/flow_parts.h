/* SPDX-License-Identifier: MIT */
/* What the files of the search for where bytes went share.  Included by flow*.c only. */
#ifndef TS_SEARCH_FLOW_PARTS_H
#define TS_SEARCH_FLOW_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"
#include "sources.h"
#include "taint.h"

#define TS_FLOW_MAX_DEST 512u /* places that one step writes; what is beyond them is not followed, and the answer is cut */

struct ts_flow_touch;

struct ts_flow {
	struct ts_query *q; /* borrowed */
	struct ts_flow_question question;
	struct ts_location *arguments; /* owned; the question's */
	struct ts_taint taint;
	struct ts_flow_touch *touches; /* owned */
	uint64_t pos;          /* the next step to look at */
	uint64_t look_until;   /* steps before it are looked at one by one: one of them touches memory that comes from others */
	uint64_t busy_until;   /* steps before it are those of busy_thread */
	uint32_t busy_thread;
	unsigned n_looked;
	uint64_t n_unknown;    /* steps of unknown instructions that were looked at as a whole */
	struct ts_flow_hop *hops; /* owned; of the last step: those from next_hop on are not reported yet */
	size_t n_hops, cap_hops, next_hop;
	struct ts_location dest[TS_FLOW_MAX_DEST]; /* of the step that is looked at */
	unsigned n_dest;
	bool is_full;          /* it writes more */
	bool loses_registers;  /* all become unknown in it */
	struct ts_sources sources;
	bool is_physical, has_reads;
};

/* The bytes as effects have them.  Returns false if a machine's tables do not map them, or the trace cannot be read. */
bool ts_flow_as_recorded(struct ts_flow *f, uint64_t pos, struct ts_location *loc, struct ts_error *err);

/* ts_taint_any() of @loc as recorded at @pos; also 0 if its address is not mapped, or (*err) on failure. */
uint64_t ts_flow_find_from(struct ts_flow *f, uint64_t pos, const struct ts_location *loc, unsigned *i, struct ts_error *err);

/*
 * Look at step @pos as a whole: f->hops become what it does with bytes that come from others, and f->taint what does so
 * after it.  Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_flow_take_step(struct ts_flow *f, uint64_t pos, uint32_t thread, struct ts_error *err);

#endif
