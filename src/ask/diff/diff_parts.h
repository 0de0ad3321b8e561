/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a comparison share; private to diff*.c.
 *
 * diff.c chooses which threads are compared, and gives the rows; diff_start.c compares memory at position 0,
 * diff_step.c steps at the same address; diff_path.c finds where both execute the same again; diff_skip.c
 * passes over what is the same; diff_values.c tells values apart.
 */
#ifndef TS_ASK_DIFF_PARTS_H
#define TS_ASK_DIFF_PARTS_H

#include "diff_options.h"
#include "rebase.h"
#include "stack_moves.h"
#include "src/base/hash_table.h"
#include "src/query/query.h"
#include "src/ask/verb.h"

/* Registers of more bytes are not compared; memory is compared in pieces of so many. */
#define MAX_REG_LEN 64u

/* A register of both. */
struct ts_diff_reg {
	const struct ts_reg *a, *b;
};

/* A difference that was found. */
struct ts_diff_item {
	uint64_t pos, end, pos2, end2;
	bool is_path, is_reg;
	uint64_t at; /* the first byte: its address in A, or its offset in the layout */
	char what[48];
	uint32_t len;
	uint8_t old[MAX_REG_LEN], old_known[MAX_REG_LEN];
	uint8_t new[MAX_REG_LEN], new_known[MAX_REG_LEN];
};

/* A thread of one of the recordings, at one of its steps. */
struct ts_diff_side {
	struct ts_query *q; /* borrowed */
	uint32_t thread;
	bool has_thread;
	uint64_t pos;          /* of its next step; TS_NO_POS after the last */
	uint64_t slice_end;    /* up to there no other thread runs */
	uint64_t end;          /* after the step before it */
	uint8_t *data, *known; /* owned: one allocation; registers at pos */
	uint8_t *is_doubtful;  /* in it; by byte: others' steps, or later ones, may tell what it is */
	const int16_t
		*reg_at; /* borrowed; by byte of the 'g' layout: which of the registers of both, -1 none */
};

/* Steps of a thread of each that stand against each other, not told yet; steps of other threads lie between. */
struct ts_diff_apart {
	bool is_there;
	uint64_t a, end_a, b, end_b;
};

/* Threads that are compared. */
struct ts_diff_lane {
	struct ts_diff_side a, b;
	struct ts_diff_apart apart;
	bool is_over;
	bool is_begun;
};

/* Memory at position 0, a page of A after the other. */
struct ts_diff_start {
	uint32_t process;
	uint64_t *pages; /* owned */
	size_t n, at;
	bool has_pages;
};

/* A chunk that was decoded last of a recording. */
struct ts_diff_held {
	const struct ts_steps *steps; /* borrowed while ts_query_epoch() is epoch; NULL: none */
	uint64_t chunk, epoch;
};

/* Digests of the chunks of both; NULL: they cannot be compared. */
struct ts_diff_digests {
	const uint64_t *a, *b; /* borrowed */
	uint64_t n_a, n_b;
};

/* A piece of memory that a step wrote, or both did, which may differ after it. */
struct ts_diff_suspect {
	uint64_t addr; /* of A */
	uint64_t addr_b; /* where it lies in B */
	uint32_t len;
};

enum ts_diff_kind {
	TS_DIFF_UNKNOWN,
	TS_DIFF_REAL,
	TS_DIFF_BY_NATURE,
};

/* A byte that differed when it was written last. */
struct ts_diff_byte {
	uint64_t owner, at;
	enum ts_diff_kind kind;
};

/* Bytes of memory. */
struct ts_diff_range {
	uint64_t addr, len;
};

#define TS_MAX_GIVEN 4u

/* Differences by nature (diff_noise.c), and how many items were left out for that. */
struct ts_diff_noise {
	struct ts_diff_byte *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_place;
	uint64_t n_items;
	/* what the system gave A's program at position 0 that differs by nature: random bytes, addresses that it chose */
	struct ts_diff_range given[TS_MAX_GIVEN];
	unsigned n_given;
	bool is_off;
};

struct ts_diff {
	struct ts_rows rows;
	struct ts_query *a, *b; /* borrowed */
	struct ts_diff_options options;
	struct ts_code_places *code; /* owned; functions and lines of A */
	bool has_moves;     /* some of what belongs together lies at other addresses in B */
	bool hides_moved;   /* values that are addresses of that are the same */
	bool has_kernel; /* both formats show what system calls write */
	bool is_initial_sure; /* they do, or take the same for initial values */
	struct ts_rebase rebase;
	struct ts_stack_moves stack;
	struct ts_diff_reg *regs; /* owned */
	unsigned n_regs;
	uint32_t *touched;            /* owned; by register: the last step (its low bits) that touched it */
	unsigned *list;               /* owned; registers touched by this step */
	int16_t *reg_at_a, *reg_at_b; /* owned */
	struct ts_diff_start start;
	struct ts_diff_held held_a, held_b;
	struct ts_diff_digests digests;
	struct ts_diff_lane *lanes;           /* owned */
	uint32_t n_lanes;
	struct ts_diff_lane *lane;            /* that is compared; NULL: the next one is to be chosen */
	uint64_t limit;               /* up to this position of A it is */
	struct ts_diff_item *items;           /* owned; found, and not told yet: from at on */
	size_t n, cap, at;
	struct ts_diff_suspect *suspects;     /* owned; of this step */
	size_t n_suspects, cap_suspects;
	struct ts_diff_noise noise;
	uint64_t clock;
	uint32_t n_looked;            /* steps, for the budget */
	bool is_failed; /* memory ran out */
};

/* A step, and the recording that it is of. */
struct ts_diff_acting {
	const struct ts_steps *batch;
	const struct ts_step *step;
	bool is_of_b;
};

/* Values of both at one place, with known flags. */
struct ts_diff_values {
	uint64_t addr; /* of memory, in A; of registers 0 */
	size_t len;
	const uint8_t *a, *a_known, *b, *b_known;
};

/* Returns false; memory is exhausted. */
static inline bool ts_diff_no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to compare");
}

/* An address of B as it is in A, and the other way round. */
static inline uint64_t ts_diff_to_a(struct ts_diff *d, uint64_t addr)
{
	return d->has_moves ? ts_rebase_to_a(&d->rebase, addr) : addr;
}

static inline uint64_t ts_diff_to_b(struct ts_diff *d, uint64_t addr)
{
	return d->has_moves ? ts_rebase_to_b(&d->rebase, addr) : addr;
}

/* The first byte from @at on that differs, and is known in both; the length if there is none. */
size_t ts_diff_next_difference(struct ts_diff *d, const struct ts_diff_values *v, size_t at);

/* The offset, at least @at, of the first byte that is known in both and differs; the length if no byte does. */
size_t ts_diff_next_unequal(const struct ts_diff_values *v, size_t at);

/* Is the word of memory, or of a register, that has byte @at of the values an address of what moved, the same in both? */
bool ts_diff_is_moved(struct ts_diff *d, const struct ts_diff_values *v, size_t at);

/*
 * The values are the same but for addresses of what moved: count that as left out if the row would be wanted.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_count_moved(struct ts_diff *d, const struct ts_diff_item *x, struct ts_error *err);

/*
 * The registers of the side's thread at @pos, as all of the recording tells them.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_diff_read_regs(struct ts_diff_side *s, uint64_t pos, struct ts_error *err);

/* A new item at the end of the list; NULL if memory is exhausted, which is_failed then tells. */
struct ts_diff_item *ts_diff_add_item(struct ts_diff *d);

/*
 * Bytes [@at, @end) of the values differ at the steps where the sides stand, or (@n_steps 0) before them.
 * @reg is the register, NULL for memory.
 */
void ts_diff_put_item(struct ts_diff *d, uint64_t pos, uint64_t pos2, uint64_t n_steps,
		      const struct ts_diff_values *v, size_t at, size_t end, const struct ts_diff_reg *reg);

/*
 * Is the register the same where the sides stand, as far as both know it?  @is_sure gets false if one is in
 * doubt.
 */
bool ts_diff_is_same_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 bool *is_sure);

/*
 * An item if the register differs where the sides stand.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_compare_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 uint64_t n_steps, struct ts_error *err);

/*
 * Both take a step at the same address: items for what differs after it.
 *
 * Returns false if a trace cannot be read, or memory is exhausted.
 */
bool ts_diff_compare_step(struct ts_diff *d, struct ts_diff_lane *l, const struct ts_diff_acting *a,
			  const struct ts_diff_acting *b, struct ts_error *err);

/*
 * The address of the instruction that an item begins with, as it is in A; TS_NO_PC: it is of the state before the first
 * step, or the recording does not know it.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_item_pc(struct ts_diff *d, const struct ts_diff_item *x, uint64_t *pc, struct ts_error *err);

/*
 * Is it one of the rows that the options ask for?
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_is_wanted(struct ts_diff *d, const struct ts_diff_item *x, bool *is_wanted, struct ts_error *err);

/*
 * Leave out the items that the options do not ask for.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_filter(struct ts_diff *d, struct ts_error *err);

/*
 * Begin to tell what differs by nature, unless the caller wants all differences.
 *
 * Returns false if a trace cannot be read or memory is exhausted.
 */
bool ts_diff_noise_begin(struct ts_diff *d, bool is_all, struct ts_error *err);
void ts_diff_noise_fini(struct ts_diff_noise *x);

/*
 * Leave out those of the items that were found of the step where the lane's sides stand which differ by nature.
 *
 * Returns false if a trace cannot be read, or memory is exhausted.
 */
bool ts_diff_sift(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err);

/* The same of memory of @process at position 0. */
bool ts_diff_sift_start(struct ts_diff *d, uint32_t process, struct ts_error *err);

/*
 * The steps that are apart have been passed.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_noise_pass(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err);

/* Find the digests, when the registers and the threads are known. */
void ts_diff_take_digests(struct ts_diff *d);

/*
 * Where lane @l, which stands lowest, begins a chunk: all lanes go over the chunks that are the same from
 * there on.
 *
 * Returns false if a trace cannot be read.
 */
bool ts_diff_skip(struct ts_diff *d, const struct ts_diff_lane *l, bool *is_skipped, struct ts_error *err);

/* The next page of memory that A knows at position 0.  Returns TS_GOT_END after the last. */
enum ts_got ts_diff_run_start(struct ts_diff *d, struct ts_budget *budget, struct ts_error *err);

/* The thread's step after @pos; TS_NO_POS if there is none. */
uint64_t ts_diff_step_after(struct ts_diff_side *s, uint64_t pos);

/* An item for the next piece of what is apart: no other thread runs in it. */
void ts_diff_tell_apart(struct ts_diff *d, struct ts_diff_lane *l);

/*
 * The executed addresses differ: an item for it, and both go to where they are the same again.  apart is what
 * this item does not tell.
 *
 * Returns false if a trace cannot be read, or memory is exhausted.
 */
bool ts_diff_part(struct ts_diff *d, struct ts_diff_lane *l, struct ts_error *err);

#endif
