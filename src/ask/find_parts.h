/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a search share; private to find*.c.
 *
 * find.c goes over the steps, and gives the rows; find_step.c looks at what a step touches, find_memory.c
 * through ranges of memory.
 */
#ifndef TS_ASK_FIND_PARTS_H
#define TS_ASK_FIND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ends.h"
#include "matches.h"
#include "sieve.h"
#include "src/query/values.h"
#include "verb.h"
#include "waits.h"

/* So many looks at the state take as long as a chunk that is decoded. */
#define TS_FIND_LOOKS_A_CHUNK 16u

struct ts_find {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	uint64_t first, last; /* addresses */
	struct ts_matches matches;
	uint64_t *pages; /* owned; those that may hold the rare byte */
	size_t n_pages;
	bool has_pages; /* they have been listed: a machine has millions */
	struct ts_sieve sieve;
	uint32_t rare;          /* ordinal of a byte of the value that memory is searched for */
	struct ts_probe *probe; /* owned; NULL: no chunk is passed over */
	bool is_sketched;       /* there is all that the probe needs, or there never will be */
	unsigned n_turns;       /* in which sketches were made */
	struct ts_waits
		waits; /* matches that stand: for the chunk that changes their bytes; 0: not looked for yet */
	bool is_started; /* where the value stands at the start has been looked for, or is not asked for */
	size_t at_page;  /* the first page that has not been looked through there */
	uint64_t start;  /* the position at which looking begins */
	uint64_t pos;    /* the next step */
	uint64_t n_looks;
	bool is_plain; /* the last step that passed: the mirror followed all that it did to memory */
	bool is_over;  /* all steps have been looked at */
	bool is_failed;
	struct ts_ends ends; /* of the match that is the next row, ahead of the scan */
};

/* The budget that the looks since the last call used up.  Returns false if it is used up. */
bool ts_find_has_budget(struct ts_find *f, struct ts_budget *budget);

/* The functions below return false if the trace cannot be read, or memory is exhausted. */

/* Does the value stand at @addr at @pos?  If that has changed it is noted. */
bool ts_find_note(struct ts_find *f, uint64_t addr, uint64_t pos, bool stands, struct ts_error *err);

/*
 * A byte of the value to search memory for: one that counts, and is rare: not 0 if there is another.  Its
 * ordinal.
 */
uint32_t ts_find_rare(const struct ts_value *v);

/* Where the value stands at the start: a page after the other, while there is budget; then f->is_started. */
bool ts_find_look_at_start(struct ts_find *f, struct ts_budget *budget, struct ts_error *err);

/*
 * Matches that begin in [first, last] or reach into it, new ones and old ones: at @pos, after that started
 * afresh.  @is_bare: it holds nothing that the value could be.
 */
bool ts_find_look_at_range(struct ts_find *f, uint64_t first, uint64_t last, bool is_bare, uint64_t pos,
			   struct ts_error *err);

/* May a step of the chunk begin or end a match?  Each step that is not passed over must pass, in order. */
bool ts_find_pass_step(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		       struct ts_error *err);

/* What begins and ends by step @pos, which passed last. */
bool ts_find_look_at_step(struct ts_find *f, uint64_t pos, struct ts_error *err);

#endif
