/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a search share; private to find*.c.
 *
 * find.c goes over the steps, and gives the rows; find_step.c looks at what a step touches, find_memory.c
 * through ranges of memory; find_again.c finds what was not kept again.
 */
#ifndef TS_ASK_FIND_PARTS_H
#define TS_ASK_FIND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ends.h"
#include "matches.h"
#include "sieve.h"
#include "src/query/find_filter.h"
#include "src/ask/verb.h"
#include "waits.h"

/* So many looks at the state take as long as a chunk that is decoded. */
#define TS_FIND_LOOKS_A_CHUNK 16u

/* So many questions to the index for a match's next change cost a look. */
#define TS_FIND_WAITS_A_LOOK 8u

/*
 * So many matches that stand are kept at least.  Of those that are found in a range of memory when there are
 * more, only those whose end takes long to find are kept, up to so many.
 */
#ifndef TS_FIND_KEPT
#define TS_FIND_KEPT ((size_t)1 << 16)
#endif
#define TS_FIND_MAX_KEPT (4 * TS_FIND_KEPT)

/* Memory that started afresh by the step before, or at the start, and has to be looked through. */
struct ts_find_range {
	uint64_t first, last;
	bool is_bare; /* it holds nothing that the value could be */
	uint64_t at;  /* the first address that has not been looked at */
};

/* Not all matches that begin at @pos are kept: those in [first, last] are found again when they are told. */
struct ts_find_rest {
	uint64_t pos;
	uint64_t first, last; /* addresses; those below first have been found */
	bool is_over;         /* all have been found */
};

struct ts_find {
	struct ts_rows rows;
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
	struct ts_find_range *ranges; /* owned; before the next step, or at the start */
	size_t n_ranges, cap_ranges, at_range;
	struct ts_find_rest
		*rests; /* owned; in order of position; those from at_rest on have not been told */
	size_t n_rests, cap_rests, at_rest;
	struct ts_match
		*again; /* owned; matches of the rest that is told: those from at_again on have not been */
	size_t n_again, cap_again, at_again;
	uint64_t start; /* the position at which looking begins */
	uint64_t pos;   /* the next step */
	uint64_t n_looks;
	uint64_t busy_pos, busy_line; /* of the last question whether memory is changed often */
	bool is_busy;                 /* its answer */
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

/*
 * [first, last] is looked through before the next step, also for values that reach into it.  @is_bare: it
 * holds nothing that the value could be.
 */
bool ts_find_add_range(struct ts_find *f, uint64_t first, uint64_t last, bool is_bare, struct ts_error *err);

/*
 * Look through the ranges, for matches that begin or end at f->pos: some pages after the others, while there
 * is budget.  When that is done there are no ranges.
 */
bool ts_find_look_at_ranges(struct ts_find *f, struct ts_budget *budget, struct ts_error *err);

/* Set the step that made the match stand. */
bool ts_find_set_step(struct ts_find *f, struct ts_match *m, struct ts_error *err);

/* The value may stand at @addr from @pos on, the latest position so far: that is not kept. */
bool ts_find_leave(struct ts_find *f, uint64_t addr, uint64_t pos, struct ts_error *err);

/* Is a match that begins at @pos, the latest position so far, left already? */
static inline bool ts_find_has_left(const struct ts_find *f, uint64_t pos)
{
	return f->n_rests && f->rests[f->n_rests - 1].pos == pos;
}

/* The first rest that has not been told; NULL if there is none. */
static inline struct ts_find_rest *ts_find_rest(const struct ts_find *f)
{
	return f->at_rest < f->n_rests ? &f->rests[f->at_rest] : NULL;
}

/*
 * Find some matches of the first rest again, if none of those that were is left to tell.  Returns TS_GOT_END
 * if there are no more: the rest is over then, TS_GOT_PENDING if the budget is used up.
 */
enum ts_got ts_find_some_again(struct ts_find *f, struct ts_budget *budget, struct ts_error *err);

/* The first page in f->pages that ends at @addr or later; they are listed. */
size_t ts_find_page_at(const struct ts_find *f, uint64_t addr);

/* The first offset from @i on at which the value may begin in @n bytes of data; @n if it begins nowhere. */
size_t ts_find_skip_to(const struct ts_find *f, const uint8_t *data, size_t i, size_t n);

/* May a step of the chunk begin or end a match?  Each step that is not passed over must pass, in order. */
bool ts_find_pass_step(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		       struct ts_error *err);

/* What begins and ends by step @pos, which passed last. */
bool ts_find_look_at_step(struct ts_find *f, uint64_t pos, struct ts_error *err);

#endif
