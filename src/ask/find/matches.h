/* SPDX-License-Identifier: MIT */
/*
 * Where and when a value stands: intervals of positions at addresses, found in order of their begin, and told
 * in order of begin and address as soon as no other can come before them.
 */
#ifndef TS_ASK_MATCHES_H
#define TS_ASK_MATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What made the value stand: the step before. */
enum ts_match_kind {
	TS_MATCH_START, /* nothing: it stood at position 0 */
	TS_MATCH_WRITE,
	TS_MATCH_MAP,
	TS_MATCH_UNEXPLAINED,
};

/* The value stands at @addr at positions [begin, end). */
struct ts_match {
	uint64_t addr;
	uint64_t begin, end; /* end: TS_NO_POS while it stands */
	uint64_t pc;         /* of the step before */
	uint32_t thread;     /* of the step before */
	enum ts_match_kind kind;
};

/* How many matches begin in blocks of so many bytes is counted, by a hash of the block. */
#define TS_MATCH_BLOCK    64u
#define TS_N_MATCH_BLOCKS 4096u

/* Matches that stand, by address: ordinals in a hash table. */
struct ts_standing {
	uint32_t *slots; /* owned; ordinal + 1, 0: empty, UINT32_MAX: was removed */
	size_t n_slots, n_used, n;
	uint32_t in_block[TS_N_MATCH_BLOCKS];
};

/* One of a run of matches that begin at one position. */
struct ts_match_key {
	uint64_t addr;
	uint32_t item;
};

struct ts_matches {
	uint32_t len;           /* of the value */
	struct ts_match *items; /* owned; in order of begin, but for some that nobody asks for */
	size_t n, cap;
	struct ts_standing standing;
	struct ts_match_key *run; /* owned; items [at - n_run, at) in order of address */
	size_t n_run, cap_run, at_run;
	size_t at; /* the first item that is in no run yet */
};

void ts_matches_fini(struct ts_matches *m);

/* It begins to stand at match->addr, where it does not.  Returns false if memory is exhausted. */
bool ts_matches_begin(struct ts_matches *m, const struct ts_match *match);

/* It stands at @addr, and no longer from @pos on. */
void ts_matches_end(struct ts_matches *m, uint64_t addr, uint64_t pos);

bool ts_matches_stands(const struct ts_matches *m, uint64_t addr);

/* Does a match stand that has a byte in [first, last]?  May return true although no match does. */
bool ts_matches_may_overlap(const struct ts_matches *m, uint64_t first, uint64_t last);

/* May a match stand that begins in the block with @addr? */
static inline bool ts_matches_has_block(const struct ts_matches *m, uint64_t addr)
{
	return m->standing.in_block[addr / TS_MATCH_BLOCK % TS_N_MATCH_BLOCKS];
}

/*
 * The match that comes next, of those that began at @from or later, and below @settled: no more is found that
 * began there.  It stays the next one until ts_matches_pass().  What began at 0 is found in order of address,
 * and told at once.
 *
 * Returns true with *match NULL if there is none yet; false if memory is exhausted.
 */
bool ts_matches_next(struct ts_matches *m, uint64_t from, uint64_t settled, const struct ts_match **match);
void ts_matches_pass(struct ts_matches *m);

#endif
