/* SPDX-License-Identifier: MIT */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"

/* Moves that are not near leave the stack, unless they go to a frame's beginning: no frame is that large. */
#define MAX_FRAME_DOWN (UINT64_C(256) << 10)
#define MAX_FRAME_UP   (UINT64_C(1) << 20)

/* A thread that comes back to a stack comes back as close to where it left it. */
#define MAX_RESUME 64u

/* After longjmp the stack pointer is as close to the outermost call that it ended: arguments lie between. */
#define MAX_ARGUMENTS 256u

/* The maximum number of calls that longjmp left among which one that goes on is searched. */
#define MAX_PASSED 64u

#define NO_STACK UINT32_MAX

void ts_stacks_init(struct ts_stacks *ss, const struct ts_linkage *linkage)
{
	*ss = (struct ts_stacks){ .linkage = linkage, .barrier = UINT64_MAX };
}

void ts_stacks_fini(struct ts_stacks *ss)
{
	for (uint32_t i = 0; i < ss->n; i++) {
		free(ss->items[i].calls);
		free(ss->items[i].buckets);
	}
	free(ss->items);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---------------------------------------------------------------------------------------------- calls */

/* Room for @n calls more.  Returns false if memory is exhausted. */
static bool make_room(const struct ts_stacks *ss, struct ts_stack *s, uint32_t n)
{
	if (ss->linkage->is_link && !s->buckets)
		s->buckets = calloc(TS_N_BUCKETS, sizeof(*s->buckets));
	if (ss->linkage->is_link && !s->buckets)
		return false;
	return ts_vec_reserve(&s->calls, s->n, &s->cap, n, sizeof(*s->calls));
}

static void push(struct ts_stack *s, const struct ts_open_call *call)
{
	struct ts_open_call *x = &s->calls[s->n];

	*x = *call;
	x->least = s->n && x[-1].least < x->slot ? x[-1].least : x->slot;
	s->n++;
	s->n_left = 0;
	if (s->buckets) {
		x->before = s->buckets[ts_stacks_bucket(x->ret)];
		s->buckets[ts_stacks_bucket(x->ret)] = s->n;
	}
}

static const struct ts_open_call *pop(struct ts_stack *s)
{
	struct ts_open_call *x = &s->calls[--s->n];

	s->n_left = 0;
	if (s->buckets)
		s->buckets[ts_stacks_bucket(x->ret)] = x->before;
	if (s->n) {
		x[-1].peak = greater(x[-1].peak, x->peak);
		x[-1].inner = greater(x[-1].inner, greater(x->slot, x->inner));
	}
	return x;
}

bool ts_stacks_push(struct ts_stacks *ss, const struct ts_open_call *call)
{
	struct ts_stack *s = ts_stacks_current(ss);

	if (!make_room(ss, s, 1))
		return false;
	push(s, call);
	s->calls[s->n - 1].peak = ss->at;
	return true;
}

const struct ts_open_call *ts_stacks_pop(struct ts_stacks *ss)
{
	return pop(ts_stacks_current(ss));
}

bool ts_stacks_fill(const struct ts_stacks *ss, struct ts_stack *s, const struct ts_open_call *calls,
		    uint32_t n)
{
	if (!make_room(ss, s, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		push(s, &calls[i]);
	return true;
}

uint32_t ts_stacks_n_kept_at(const struct ts_stacks *ss, uint64_t pc)
{
	const struct ts_stack *s = ts_stacks_current(ss);
	uint32_t n = s->n;

	for (uint32_t i = s->buckets[ts_stacks_bucket(pc)]; i && s->calls[i - 1].least <= ss->at;
	     i = s->calls[i - 1].before) {
		if (s->calls[i - 1].ret == pc && s->calls[i - 1].slot <= ss->at)
			n = i - 1;
	}
	return n;
}

/* ---------------------------------------------------------------------------------------------- moves */

/* Whose address space a stack at @sp is in: the kernel's is part of all. */
static uint64_t space_of(const struct ts_stacks *ss, uint64_t sp, uint64_t space)
{
	bool is_kernel = sp >> (ss->linkage->arch->addr_bits - 1) & 1;

	return is_kernel ? 0 : space;
}

/*
 * How many of the stack's calls stay open if the stack pointer moves up to @to; *outermost gets the slot of
 * the outermost one that it passes.  Calls that it passed before do not count: with a link register they stay
 * open until control is at their return address, but longjmp left them.
 */
static uint32_t pass(const struct ts_stacks *ss, const struct ts_stack *s, uint64_t to, uint64_t *outermost)
{
	uint64_t peak = 0;
	uint32_t n = s->n;

	*outermost = 0;
	for (uint32_t i = s->n; i-- > 0 && s->calls[i].slot < to + ss->linkage->is_link && peak <= to;) {
		peak = greater(peak, s->calls[i].peak);
		if (s->calls[i].slot < peak || s->calls[i].slot < *outermost)
			continue;
		*outermost = s->calls[i].slot;
		n = i;
	}
	return n;
}

void ts_stacks_note_signal(struct ts_stacks *ss, uint64_t before)
{
	struct ts_stack *s = ts_stacks_current(ss);

	while (s->n_signals && s->signals[s->n_signals - 1].low < before)
		s->n_signals--; /* the thread has left that handler */
	if (s->n_signals == TS_MAX_SIGNALS)
		memmove(s->signals, s->signals + 1, --s->n_signals * sizeof(*s->signals));
	s->signals[s->n_signals++] = (struct ts_signal_frame){ ss->at, before };
}

/*
 * Where the frames end that a move up to @to passes, if the outermost call that it passes begins at
 * @outermost: there, or above the frame of a signal whose handler made that call.
 */
static uint64_t passed_end(const struct ts_stack *s, uint64_t to, uint64_t outermost)
{
	uint64_t end = outermost;

	for (uint32_t i = 0; i < s->n_signals; i++) {
		if (s->signals[i].low > outermost && s->signals[i].high <= to)
			end = greater(end, s->signals[i].high);
	}
	return end;
}

/*
 * Would that be a move to a frame?  It ends near the beginning of the outermost call that it passes.  With a
 * link register that call may have ended already, together with one that longjmp left: then it ends in one of
 * the frames of calls that ended in the innermost one that stays open, or at that one's own.
 */
static bool is_frame(const struct ts_stacks *ss, const struct ts_stack *s, uint64_t to)
{
	uint64_t limit = MAX_ARGUMENTS + ss->linkage->word, outermost;
	uint32_t n = pass(ss, s, to, &outermost);

	return n == s->n || to - passed_end(s, to, outermost) <= limit ||
	       (ss->linkage->is_link && n && to <= s->calls[n - 1].inner + limit);
}

/* May the move to @to stay on the current stack? */
static bool is_own(const struct ts_stacks *ss, uint64_t to, uint64_t space, bool is_loaded)
{
	const struct ts_stack *s = ts_stacks_current(ss);
	uint64_t innermost = s->n ? s->calls[s->n - 1].slot : UINT64_MAX;

	if (space != s->space)
		return false;
	if (to < ss->at)
		return ss->at - to <= MAX_FRAME_DOWN && !is_loaded;
	if (to > innermost)
		return is_frame(ss, s, to);
	return to <= s->high || to - ss->at <= MAX_FRAME_UP;
}

/* The stack that was left at @to, or about there; NO_STACK if none was. */
static uint32_t find_left(const struct ts_stacks *ss, uint64_t to, uint64_t space)
{
	uint64_t best = MAX_RESUME + 1;
	uint32_t found = NO_STACK;

	for (uint32_t i = 0; i < ss->n; i++) {
		const struct ts_stack *s = &ss->items[i];

		if (i != ss->current && s->space == space && distance(s->left, to) < best) {
			best = distance(s->left, to);
			found = i;
		}
	}
	return found;
}

/* The smallest stack in which @to lies, and may be a frame; NO_STACK if none is found. */
static uint32_t find_around(const struct ts_stacks *ss, uint64_t to, uint64_t space)
{
	uint64_t best = UINT64_MAX;
	uint32_t found = NO_STACK;

	for (uint32_t i = 0; i < ss->n; i++) {
		const struct ts_stack *s = &ss->items[i];

		if (i != ss->current && s->space == space && s->low <= to && to <= s->high &&
		    s->high - s->low < best && is_frame(ss, s, to)) {
			best = s->high - s->low;
			found = i;
		}
	}
	return found;
}

/* The slot of the innermost call that the stack pointer has not passed; UINT64_MAX if none is near. */
static uint64_t innermost_slot(const struct ts_stack *s)
{
	uint64_t peak = 0;

	for (uint32_t i = s->n, n = 0; i-- > 0 && n < MAX_PASSED; n++) {
		peak = greater(peak, s->calls[i].peak);
		if (s->calls[i].slot >= peak)
			return s->calls[i].slot;
	}
	return UINT64_MAX;
}

/* A short move passed the barrier: the thread is on the stack whose call that is. */
static uint32_t find_passed(const struct ts_stacks *ss)
{
	for (uint32_t i = 0; i < ss->n; i++) {
		if (i != ss->current && innermost_slot(&ss->items[i]) == ss->barrier)
			return i;
	}
	return ss->current;
}

static void find_barrier(struct ts_stacks *ss)
{
	ss->barrier = UINT64_MAX;
	for (uint32_t i = 0; i < ss->n; i++) {
		const struct ts_stack *s = &ss->items[i];
		uint64_t slot = i == ss->current ? UINT64_MAX : innermost_slot(s);

		if (s->space == ts_stacks_current(ss)->space && slot >= ss->at && slot < ss->barrier)
			ss->barrier = slot;
	}
}

/* The stack that was left first, which goes. */
static uint32_t drop_oldest(struct ts_stacks *ss)
{
	uint32_t at = ss->current ? 0 : 1;
	struct ts_stack *s;

	for (uint32_t i = 0; i < ss->n; i++) {
		if (i != ss->current && ss->items[i].used < ss->items[at].used)
			at = i;
	}
	s = &ss->items[at];
	while (s->n)
		pop(s);
	return at;
}

/* A new stack; NO_STACK if memory is exhausted. */
static uint32_t add_stack(struct ts_stacks *ss, uint64_t to, uint64_t space)
{
	uint32_t at = ss->n;

	if (at == TS_MAX_STACKS) {
		at = drop_oldest(ss);
	} else if (!ts_vec_reserve(&ss->items, ss->n, &ss->cap, 1, sizeof(*ss->items))) {
		return NO_STACK;
	}
	if (at == ss->n)
		ss->items[ss->n++] = (struct ts_stack){ 0 };
	ss->items[at].low = ss->items[at].high = to;
	ss->items[at].n_signals = 0;
	ss->items[at].space = space;
	return at;
}

/*
 * The thread came to its stack unnoticed, since that lies below another one: a first move there looks like
 * that of a large frame.  Now it leaves, into the midst of the calls that were open before: those that it
 * passes are on a stack that is taken off here.  Returns the stack below, NO_STACK if none is found or memory
 * is exhausted.
 */
static uint32_t take_apart(struct ts_stacks *ss, uint64_t to, uint64_t space)
{
	uint32_t below = ss->current, above, n;
	uint64_t outermost;
	struct ts_stack *s = ts_stacks_current(ss), *own;

	n = to > ss->at && space == s->space ? pass(ss, s, to, &outermost) : 0;
	if (!n || n == s->n || to > s->high)
		return NO_STACK;
	above = add_stack(ss, ss->at, space);
	if (above == NO_STACK)
		return NO_STACK;
	s = &ss->items[below];
	own = &ss->items[above];
	if (!ts_stacks_fill(ss, own, &s->calls[n], s->n - n))
		return NO_STACK;
	own->low = s->low;
	own->high = outermost;
	while (s->n > n)
		pop(s);
	s->low = to;
	ss->current = above;
	return below;
}

/* The stack on which a long move to @to ends; NO_STACK if memory is exhausted. */
static uint32_t find_far(struct ts_stacks *ss, uint64_t to, uint64_t space, bool is_loaded)
{
	uint32_t found = find_left(ss, to, space);

	if (found == NO_STACK && is_own(ss, to, space, is_loaded))
		return ss->current;
	if (found == NO_STACK)
		found = find_around(ss, to, space);
	if (found == NO_STACK)
		found = take_apart(ss, to, space);
	return found == NO_STACK ? add_stack(ss, to, space) : found;
}

static uint32_t find_stack(struct ts_stacks *ss, uint64_t to, uint64_t space, bool is_loaded)
{
	if (!ss->n)
		return add_stack(ss, to, space);
	if (!ts_stacks_is_near(to, ss->at))
		return find_far(ss, to, space, is_loaded);
	return to > ss->at && to > ss->barrier ? find_passed(ss) : ss->current;
}

bool ts_stacks_move(struct ts_stacks *ss, uint64_t sp, uint64_t space, bool is_loaded, bool *has_switched)
{
	uint32_t to = find_stack(ss, sp, space_of(ss, sp, space), is_loaded);
	struct ts_stack *s;

	if (to == NO_STACK)
		return false;
	*has_switched = to != ss->current;
	if (*has_switched) {
		s = ts_stacks_current(ss);
		s->left = ss->at;
		s->n_left = s->n;
		s->used = ++ss->clock;
		ss->current = to;
	}
	ts_stacks_be_at(ss, sp);
	if (*has_switched)
		find_barrier(ss);
	return true;
}
