/* SPDX-License-Identifier: MIT */
/*
 * Matches of a value: intervals of positions at addresses.  They are added in order of begin, and returned in
 * order of begin and address as soon as no match before them can be added.
 *
 * A match is open until its end is known.
 */
#ifndef TS_ASK_MATCHES_H
#define TS_ASK_MATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the step before the match created it. */
enum ts_match_kind {
	TS_MATCH_START, /* no step did: the match begins at position 0 */
	TS_MATCH_WRITE,
	TS_MATCH_MAP,
	TS_MATCH_UNEXPLAINED,
};

/* Memory at @addr holds the value at positions [begin, end). */
struct ts_match {
	uint64_t addr;
	uint64_t begin, end; /* end: TS_NO_POS while the match is open */
	uint64_t pc;         /* of the step before */
	uint32_t thread;     /* of the step before */
	enum ts_match_kind kind;
};

/* Open matches are counted by the block in which they begin; blocks share counters. */
#define TS_MATCH_BLOCK    64u
#define TS_N_MATCH_BLOCKS 4096u

/* Open matches by address: a hash table of ordinals. */
struct ts_standing {
	uint32_t *slots; /* owned; ordinal + 1, 0: empty, UINT32_MAX: removed */
	size_t n_slots, n_used, n;
	uint32_t in_block[TS_N_MATCH_BLOCKS];
};

/* A match in a run: the matches that begin at one position. */
struct ts_match_key {
	uint64_t addr;
	uint32_t item;
};

struct ts_matches {
	uint32_t len;           /* of the value */
	struct ts_match *items; /* owned; by begin, except those before the question's range */
	size_t n, cap;
	struct ts_standing standing;
	struct ts_match_key *run; /* owned; items [at - n_run, at) in order of address */
	size_t n_run, cap_run, at_run;
	size_t at; /* the first item that has not been in a run */
};

void ts_matches_fini(struct ts_matches *m);

/* Add an open match; there must be none at its address.  Returns false if memory is exhausted. */
bool ts_matches_begin(struct ts_matches *m, const struct ts_match *match);

/* End the open match at @addr, which must exist: the value is not there from @pos on. */
void ts_matches_end(struct ts_matches *m, uint64_t addr, uint64_t pos);

/* Is there an open match at @addr? */
bool ts_matches_stands(const struct ts_matches *m, uint64_t addr);

/* Does an open match overlap [first, last]?  May return true although none does. */
bool ts_matches_may_overlap(const struct ts_matches *m, uint64_t first, uint64_t last);

/* May an open match begin in the block with @addr? */
static inline bool ts_matches_has_block(const struct ts_matches *m, uint64_t addr)
{
	return m->standing.in_block[addr / TS_MATCH_BLOCK % TS_N_MATCH_BLOCKS];
}

/*
 * Set *match to the next match that begins in [@from, @settled), where no more matches will be added; NULL if
 * no match is known yet.  The match stays the next one until ts_matches_pass().  Matches that begin at 0 are
 * added in order of address, and are returned whatever @settled is.
 *
 * Returns false if memory is exhausted.
 */
bool ts_matches_next(struct ts_matches *m, uint64_t from, uint64_t settled, const struct ts_match **match);
void ts_matches_pass(struct ts_matches *m);

#endif
