/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a thread, with the open calls on each: coroutines, signal stacks, the stacks of a kernel.
 *
 * The current stack of a thread is inferred from the moves of its stack pointer.  A move leads to another stack if
 * it ends where the thread left that stack, or if it is a long move to an address at which no frame of the current
 * stack begins (stacks.c has the lengths).  At most TS_MAX_STACKS of a thread are distinguished.
 */
#ifndef TS_CALL_STACKS_H
#define TS_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"

#define TS_MAX_STACKS 1024u
#define TS_N_BUCKETS  256u
#define TS_NEAR_MOVE  128u
#define TS_MAX_SIGNALS 8u

struct ts_open_call {
	uint64_t slot;  /* the address of the return address; with a link register: the stack pointer at the
			   beginning */
	uint64_t ret;   /* the return address */
	uint64_t least; /* the smallest slot of this call and those outside of it */
	uint64_t peak;  /* the greatest stack pointer while it was innermost, or a call that ended in it */
	uint64_t
		inner; /* the greatest slot of the calls that ended in it: there its frame ends; 0: unknown */
	uint32_t ordinal; /* in the thread's list (calls.h) */
	uint32_t before;  /* 1 + the index of the previous call with the same bucket; 0: none */
};

/* The frame that the system pushed for a signal: from the handler's stack pointer up to the interrupted frame's. */
struct ts_signal_frame {
	uint64_t low, high;
};

struct ts_stack {
	uint64_t low, high;         /* the range of the stack pointer's values */
	uint64_t left;              /* its value when the thread left the stack */
	uint64_t space;             /* of a machine: the address space, 0 is the kernel's */
	uint64_t used;              /* the clock when it was left */
	struct ts_open_call *calls; /* owned; outermost first */
	uint32_t n;
	uint32_t n_left; /* n when the thread left it, if no call has begun or ended there since; 0: unknown */
	size_t cap;
	struct ts_signal_frame signals[TS_MAX_SIGNALS]; /* the last n_signals, innermost last */
	uint32_t n_signals;
	uint32_t
		*buckets; /* owned; with a link register: by return address, 1 + the index of the last call */
};

struct ts_stacks {
	const struct ts_linkage *linkage; /* borrowed */
	struct ts_stack *items;           /* owned */
	uint32_t n;
	size_t cap;
	uint32_t current;
	uint64_t at;      /* the stack pointer */
	uint64_t barrier; /* the lowest slot above the stack pointer of a call of the other stacks */
	uint64_t clock;
};

/* Initialize @ss without stacks.  @linkage is borrowed. */
void ts_stacks_init(struct ts_stacks *ss, const struct ts_linkage *linkage);
void ts_stacks_fini(struct ts_stacks *ss);

/*
 * Process a move of the stack pointer to @sp, in address space @space of a machine.  @is_loaded: its value was read
 * from memory, or set by an interrupt of a machine, and is no new frame.  *has_switched is set to whether the thread
 * moved to another stack.
 *
 * Returns false if memory is exhausted.
 */
bool ts_stacks_move(struct ts_stacks *ss, uint64_t sp, uint64_t space, bool is_loaded, bool *has_switched);

/*
 * Record that the last move, from @before down on the current stack, was the system's to the handler of a signal.
 * If longjmp leaves the handler, it skips the signal frame.
 */
void ts_stacks_note_signal(struct ts_stacks *ss, uint64_t before);

/* Does a move between these values stay on its stack, as pushes and small frames do? */
static inline bool ts_stacks_is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= TS_NEAR_MOVE;
}

/*
 * Returns the current stack, borrowed until the next ts_stacks_move().  No stack is current before the first move.
 */
static inline struct ts_stack *ts_stacks_current(const struct ts_stacks *ss)
{
	return &ss->items[ss->current];
}

/* Set the stack pointer to @sp, on the current stack. */
static inline void ts_stacks_be_at(struct ts_stacks *ss, uint64_t sp)
{
	struct ts_stack *s = ts_stacks_current(ss);

	ss->at = sp;
	if (sp < s->low)
		s->low = sp;
	if (sp > s->high)
		s->high = sp;
	if (s->n && sp > s->calls[s->n - 1].peak)
		s->calls[s->n - 1].peak = sp;
}

/*
 * ts_stacks_move() for a short move that stays on its stack.  Returns false, without an effect, for other moves.
 */
static inline bool ts_stacks_move_near(struct ts_stacks *ss, uint64_t sp)
{
	if (!ss->n || !ts_stacks_is_near(sp, ss->at) || (sp > ss->at && sp > ss->barrier))
		return false;
	ts_stacks_be_at(ss, sp);
	return true;
}

/*
 * Add an open call to the current stack, with slot, ret and ordinal of @call.  Returns false if memory is
 * exhausted.
 */
bool ts_stacks_push(struct ts_stacks *ss, const struct ts_open_call *call);

/* Remove the innermost call of the current stack.  Returns it, borrowed until the next push. */
const struct ts_open_call *ts_stacks_pop(struct ts_stacks *ss);

/* Returns the number of calls of the current stack that are still open at the current stack pointer. */
static inline uint32_t ts_stacks_n_kept(const struct ts_stacks *ss)
{
	const struct ts_stack *s = ts_stacks_current(ss);
	uint32_t n = s->n;

	while (n && s->calls[n - 1].slot < ss->at)
		n--;
	return n;
}

/* The same for processors with a link register, after a transfer of control to @pc. */
uint32_t ts_stacks_n_kept_at(const struct ts_stacks *ss, uint64_t pc);

/* The bucket of return address @ret. */
static inline uint32_t ts_stacks_bucket(uint64_t ret)
{
	return (ret >> 1 ^ ret >> 9) % TS_N_BUCKETS;
}

/*
 * Returns the buckets of the current stack, borrowed.
 * Returns NULL if the processor has no link register, or before a move.
 */
static inline const uint32_t *ts_stacks_buckets(const struct ts_stacks *ss)
{
	return ss->n ? ss->items[ss->current].buckets : NULL;
}

/* Can a call of the current stack return to @pc?  False without a link register, where the stack pointer decides. */
static inline bool ts_stacks_may_return(const struct ts_stacks *ss, uint64_t pc)
{
	const uint32_t *buckets = ts_stacks_buckets(ss);

	return buckets && buckets[ts_stacks_bucket(pc)];
}

/*
 * Add @n calls from an index file to an empty stack of @ss.  Returns false if memory is exhausted.
 */
bool ts_stacks_fill(const struct ts_stacks *ss, struct ts_stack *s, const struct ts_open_call *calls,
		    uint32_t n);

#endif
