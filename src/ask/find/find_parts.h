/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the verb find; private to find*.c.
 *
 * find.c scans the steps and returns the rows.  find_step.c examines the memory that a step accesses,
 * find_memory.c searches ranges of memory, and searches again for matches that were not kept.
 */
#ifndef TS_ASK_FIND_PARTS_H
#define TS_ASK_FIND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matches.h"
#include "sieve.h"
#include "src/query/search/find_filter.h"
#include "src/ask/verb.h"
#include "src/base/collections/heap.h"

/*
 * Up to TS_FIND_KEPT open matches are always kept.  Above that, a match found in a range of memory is kept
 * only if its end takes long to find, and never more than TS_FIND_MAX_KEPT.
 */
#ifndef TS_FIND_KEPT
#define TS_FIND_KEPT ((size_t)1 << 16)
#endif
#define TS_FIND_MAX_KEPT (4 * TS_FIND_KEPT)

/*
 * Memory that must be searched: all of it at the start, or a range that the previous step changed as a whole.
 */
struct ts_find_range {
	uint64_t first, last;
	bool is_bare; /* no match lies wholly inside the range */
	uint64_t at;  /* the first address that has not been searched */
};

/* Matches that begin at @pos and are not kept: [first, last] is searched again when their rows are due. */
struct ts_find_rest {
	uint64_t pos;
	uint64_t first, last; /* addresses; matches below first have been found again */
	bool is_over;         /* all have been found again */
};

/* An open match, and the next chunk that changes its bytes; 0: not searched yet. */
struct ts_find_wait {
	uint64_t chunk;
	uint32_t item; /* ordinal of the match */
};

/*
 * The search for the end of the next row's match: the index lists the chunks that change its bytes, which are decoded in
 * order, however far ahead of the scan they are.
 *
 * It has a credit, counted in memory reads, which grows in proportion to the work of the scan.  So the first rows are
 * returned at once, and looking ahead costs no more than the scan.
 */
struct ts_find_ends {
	uint64_t addr;  /* of the last match */
	uint64_t chunk; /* for addr, chunks before this one have been searched; 0: none */
	int64_t credit; /* memory reads that may still be spent */
	uint64_t n;     /* the number of questions to the index */
};

struct ts_find {
	struct ts_rows rows;
	uint32_t process;
	uint64_t first, last; /* addresses */
	struct ts_matches matches;
	uint64_t *pages; /* owned; the pages that may hold the rare byte */
	size_t n_pages;
	bool has_pages; /* pages has been filled; done late, as a whole machine has millions of pages */
	struct ts_sieve sieve;
	uint32_t rare;          /* ordinal of a byte of the value that memory is searched for */
	struct ts_probe *probe; /* owned; NULL: no chunk can be skipped */
	bool is_sketched;       /* the probe has all sketches that it will get */
	unsigned n_turns;       /* calls that built sketches */
	struct ts_heap waits; /* struct ts_find_wait, lowest chunk first */
	struct ts_find_range *ranges; /* owned; before the next step, or at the start */
	size_t n_ranges, cap_ranges, at_range;
	struct ts_find_rest
		*rests; /* owned; in order of position; those from at_rest on have not been reported */
	size_t n_rests, cap_rests, at_rest;
	struct ts_match
		*again; /* owned; of the current rest; those from at_again on have not been reported */
	size_t n_again, cap_again, at_again;
	uint64_t start; /* the position at which the search begins */
	uint64_t pos;   /* the next step */
	uint64_t n_looks;             /* memory reads that have not been charged to the budget */
	uint64_t busy_pos, busy_line; /* arguments of the last is_busy() */
	bool is_busy;                 /* its result */
	bool is_plain; /* the mirror followed all memory effects of the last step passed */
	bool is_over;  /* all steps have been scanned */
	bool is_failed;
	struct ts_find_ends ends;
};

/* Charge the memory reads since the last call to @budget.  Returns false if the budget is used up. */
static inline bool ts_find_has_budget(struct ts_find *f, struct ts_budget *budget)
{
	return ts_mirror_pay(&f->sieve.mirror, &f->n_looks, budget);
}

/*
 * Add an open match, ordinal @item, whose bytes chunk @chunk changes next.  Returns false if memory is
 * exhausted.
 */
static inline bool ts_find_add_wait(struct ts_find *f, uint64_t chunk, uint32_t item)
{
	return ts_heap_put(&f->waits, &(struct ts_find_wait){ chunk, item });
}

/*
 * Record whether the value is at @addr at @pos (@stands is true): begins or ends a match if that changed.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_note(struct ts_find *f, uint64_t addr, uint64_t pos, bool stands, struct ts_error *err);

/*
 * Returns the ordinal of the value's byte that memory is searched for.  It is not masked out and, if
 * possible, not 0, as zeros are common.
 */
uint32_t ts_find_rare(const struct ts_value *v);

/*
 * Search [first, last] before the next step, including values that extend into it.  @is_bare: no match lies
 * wholly inside the range.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_add_range(struct ts_find *f, uint64_t first, uint64_t last, bool is_bare, struct ts_error *err);

/*
 * Search the ranges for matches that begin or end at f->pos, a few pages at a time while the budget lasts.
 * f->n_ranges is 0 when all ranges have been searched.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_look_at_ranges(struct ts_find *f, struct ts_budget *budget, struct ts_error *err);

/* Is a match left out, not kept, that begins at @pos, the highest position so far? */
static inline bool ts_find_has_left(const struct ts_find *f, uint64_t pos)
{
	return f->n_rests && f->rests[f->n_rests - 1].pos == pos;
}

/* The first rest that has not been reported, borrowed until a rest is added; NULL if all have been reported. */
static inline struct ts_find_rest *ts_find_rest(const struct ts_find *f)
{
	return f->at_rest < f->n_rests ? &f->rests[f->at_rest] : NULL;
}

/*
 * Find more matches of the first rest, unless f->again still has some to report.
 *
 * Returns TS_ITEM if f->again has a match to report.
 * Returns TS_END if the rest has no more (the next rest becomes the first one).
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_find_some_again(struct ts_find *f, struct ts_budget *budget, struct ts_error *err);

/*
 * Set *may to whether step @pos can begin or end a match.  Each step of a scanned chunk must pass, in order.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_pass_step(struct ts_find *f, const struct ts_steps *batch, uint64_t pos, bool *may,
		       struct ts_error *err);

/*
 * Record the matches that begin and end at step @pos, the last one that passed.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_look_at_step(struct ts_find *f, uint64_t pos, struct ts_error *err);

#endif
