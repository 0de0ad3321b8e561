/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the comparison; private to diff*.c.
 *
 * diff.c selects the threads to compare, and returns the rows.  diff_start.c compares memory at position 0,
 * diff_step.c steps at the same address.  diff_path.c finds where both execute the same addresses again.
 * diff_skip.c skips equal chunks.  diff_noise.c recognizes differences by nature.  diff_filter.c applies the options.
 */
#ifndef TS_ASK_DIFF_PARTS_H
#define TS_ASK_DIFF_PARTS_H

#include "diff_options.h"
#include "rebase.h"
#include "stack_moves.h"
#include "src/base/collections/hash_table.h"
#include "src/query/query.h"
#include "src/ask/verb.h"

/* Longer registers are not compared.  Memory is compared in pieces of this many bytes. */
#define MAX_REG_LEN 64u

/* A register that both recordings have. */
struct ts_diff_reg {
	const struct ts_reg *a, *b;
};

/* A difference. */
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
	uint64_t slice_end;    /* no other thread runs before this position */
	uint64_t end;          /* after the step before it */
	uint8_t *data, *known; /* owned: one allocation; registers at pos */
	uint8_t *is_doubtful;  /* in it; by byte: may be known only from other threads' steps or later ones */
	const int16_t
		*reg_at; /* borrowed; by byte of the 'g' layout: which of the registers of both, -1 none */
};

/* Unequal steps of both threads of a lane, [a, end_a) and [b, end_b), that have not been reported yet. */
struct ts_diff_apart {
	bool is_there;
	uint64_t a, end_a, b, end_b;
};

/* Two threads that are compared. */
struct ts_diff_lane {
	struct ts_diff_side a, b;
	struct ts_diff_apart apart;
	bool is_over;
	bool is_begun;
};

/* The comparison of memory at position 0, by pages of A. */
struct ts_diff_start {
	uint32_t process;
	uint64_t *pages; /* owned */
	size_t n, at;
	bool has_pages;
};

/* The last chunk decoded of a recording. */
struct ts_diff_held {
	const struct ts_steps *steps; /* borrowed while ts_query_epoch() is epoch; NULL: none */
	uint64_t chunk, epoch;
};

/* Digests of the chunks of both recordings; NULL: they cannot be compared. */
struct ts_diff_digests {
	const uint64_t *a, *b; /* borrowed */
	uint64_t n_a, n_b;
};

/* A piece of memory that the step of one side, or of both, wrote, and which may differ after it. */
struct ts_diff_suspect {
	uint64_t addr; /* in A */
	uint64_t addr_b; /* in B */
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

/* A range of memory. */
struct ts_diff_range {
	uint64_t addr, len;
};

#define TS_MAX_GIVEN 4u

/* Differences by nature (diff_noise.c), and the number of items left out for this reason. */
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
	bool has_moves;     /* some corresponding memory is at other addresses in B */
	bool hides_moved;   /* addresses of such memory count as equal values */
	bool has_kernel; /* both formats record the writes of system calls */
	bool is_initial_sure; /* they do, or both have the same format */
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
	struct ts_diff_lane *lane;            /* the current one; NULL: the next one must be chosen */
	uint64_t limit;               /* lane is compared up to this position of A */
	struct ts_diff_item *items;           /* owned; those from at on have not been reported */
	size_t n, cap, at;
	struct ts_diff_suspect *suspects;     /* owned; of this step */
	size_t n_suspects, cap_suspects;
	struct ts_diff_noise noise;
	uint64_t clock;
	uint32_t n_looked;            /* steps, for the budget */
	bool is_failed; /* memory ran out */
};

/* A step and its recording. */
struct ts_diff_acting {
	const struct ts_steps *batch;
	const struct ts_step *step;
	bool is_of_b;
};

/* The values of one place in both recordings, with known flags. */
struct ts_diff_values {
	uint64_t addr; /* of memory, in A; of registers 0 */
	size_t len;
	const uint8_t *a, *a_known, *b, *b_known;
};

/* Set @err to TS_ENOMEM.  Returns false. */
static inline bool ts_diff_no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to compare");
}

/* Returns the address in A that corresponds to address @addr of B; ts_diff_to_b(): in B, to one of A.  Without moves: @addr. */
static inline uint64_t ts_diff_to_a(struct ts_diff *d, uint64_t addr)
{
	return d->has_moves ? ts_rebase_to_a(&d->rebase, addr) : addr;
}

/* Returns the address in B of an address in A. */
static inline uint64_t ts_diff_to_b(struct ts_diff *d, uint64_t addr)
{
	return d->has_moves ? ts_rebase_to_b(&d->rebase, addr) : addr;
}

/* The first byte from @at on that differs, and is known in both; the length if no byte does. */
size_t ts_diff_next_difference(struct ts_diff *d, const struct ts_diff_values *v, size_t at);

/* The offset, at least @at, of the first byte that is known in both and differs; the length if no byte does. */
size_t ts_diff_next_unequal(const struct ts_diff_values *v, size_t at);

/*
 * Find a word that contains byte @at of the values (memory or a register) and is an address of memory that moved.  In
 * memory the word may begin at any byte, as in x86 code; an aligned word has priority.
 *
 * Returns the offset after the word.
 * Returns 0 if no such word contains the byte.
 */
size_t ts_diff_moved_end(struct ts_diff *d, const struct ts_diff_values *v, size_t at);

/*
 * Count an item whose values differ only in addresses of moved memory as left out, if its row would be
 * wanted.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_count_moved(struct ts_diff *d, const struct ts_diff_item *x, struct ts_error *err);

/*
 * Read the registers of the side's thread at @pos, as known from all of the recording.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_read_regs(struct ts_diff_side *s, uint64_t pos, struct ts_error *err);

/*
 * Append an item, all zero.
 *
 * Returns the item, borrowed until the next one is appended.
 * Returns NULL if memory is exhausted; is_failed is then set.
 */
struct ts_diff_item *ts_diff_add_item(struct ts_diff *d);

/*
 * Append an item: bytes [@at, @end) of the values differ at the current steps of both sides, or (@n_steps 0)
 * before them.  @reg is the register, NULL for memory.
 */
void ts_diff_put_item(struct ts_diff *d, uint64_t pos, uint64_t pos2, uint64_t n_steps,
		      const struct ts_diff_values *v, size_t at, size_t end, const struct ts_diff_reg *reg);

/*
 * Is the register equal at the current positions of both sides, in the bytes that both know?  *is_sure is set
 * to false if a byte is doubtful.
 */
bool ts_diff_is_same_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 bool *is_sure);

/*
 * Append an item if the register differs at the current positions of both sides.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_compare_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 uint64_t n_steps, struct ts_error *err);

/*
 * Both sides execute a step at the same address: append items for the differences after it.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_diff_compare_step(struct ts_diff *d, struct ts_diff_lane *l, const struct ts_diff_acting *a,
			  const struct ts_diff_acting *b, struct ts_error *err);

/*
 * Set *pc to the address, in A, of the first instruction of an item; TS_NO_PC if the item is about the state
 * before the first step, or if the address is not known.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_item_pc(struct ts_diff *d, const struct ts_diff_item *x, uint64_t *pc, struct ts_error *err);

/*
 * Set *is_wanted to whether the options select the item.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_is_wanted(struct ts_diff *d, const struct ts_diff_item *x, bool *is_wanted, struct ts_error *err);

/*
 * Remove the items that the options do not select.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_filter(struct ts_diff *d, struct ts_error *err);

/*
 * Prepare to recognize differences by nature, unless the caller wants all differences (@is_all).
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_diff_noise_begin(struct ts_diff *d, bool is_all, struct ts_error *err);
void ts_diff_noise_fini(struct ts_diff_noise *x);

/*
 * Remove the items of the lane's current step (NULL: of memory of d->start.process at position 0) that differ by nature.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_diff_sift(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err);

/*
 * The steps that are apart have been passed.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_noise_pass(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err);

/* Get the digests.  The registers and the threads must be known. */
void ts_diff_take_digests(struct ts_diff *d);

/*
 * At the chunk that lane @l, the one with the lowest position, begins: all lanes go over the chunks that are the same from
 * there on.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_diff_skip(struct ts_diff *d, const struct ts_diff_lane *l, bool *is_skipped, struct ts_error *err);

/* Compare the next page of memory that A knows at position 0.  Returns TS_END after the last one. */
enum ts_next ts_diff_run_start(struct ts_diff *d, struct ts_budget *budget, struct ts_error *err);

/* The thread's step after @pos; TS_NO_POS if it has no later step. */
uint64_t ts_diff_step_after(struct ts_diff_side *s, uint64_t pos);

/* Append an item for the next piece of l->apart, in which no other thread runs. */
void ts_diff_distinguish(struct ts_diff *d, struct ts_diff_lane *l);

/*
 * The executed addresses differ: append an item, and move both sides to where the addresses are the same
 * again.  l->apart is set to the steps that the item does not cover.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_diff_part(struct ts_diff *d, struct ts_diff_lane *l, struct ts_error *err);

#endif
