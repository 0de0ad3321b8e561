/* SPDX-License-Identifier: MIT */
/*
 * A tracker's state in an index file, so that an interrupted build can go on: a head, and as many threads,
 * stacks, open calls and frames of signals, in their order.
 */
#include "tracker.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/buf.h"
#include "src/index/index_write.h"
#include "tracker_parts.h"

struct saved_tracker {
	uint64_t space;
	uint32_t n_threads, last;
};

struct saved_thread {
	uint64_t sp, lr, top, top_val, pos;
	uint64_t site_pos, site_pc, site_ret, site_slot, site_fall;
	uint64_t at, barrier, clock, held_pos;
	uint32_t todo, flags, n_stacks, current, n_held, unused;
};

enum {
	HAS_SP = 1,
	HAS_LR = 2,
	IS_LOADED = 4,
	IS_IN_SLOT = 8,
	TOP_LEN_SHIFT = 4,
	IS_SIGNAL = 256,
};

struct saved_stack {
	uint64_t low, high, left, space, used;
	uint32_t n, n_left, n_signals, unused;
};

static struct saved_thread save_thread(const struct ts_call_thread *t)
{
	return (struct saved_thread){
		.sp = t->sp,
		.lr = t->lr,
		.top = t->top,
		.top_val = t->top_val,
		.pos = t->pos,
		.site_pos = t->site.pos,
		.site_pc = t->site.pc,
		.site_ret = t->site.ret,
		.site_slot = t->site.slot,
		.site_fall = t->site.fall,
		.at = t->stacks.at,
		.barrier = t->stacks.barrier,
		.clock = t->stacks.clock,
		.held_pos = t->held_pos,
		.n_held = t->n_held,
		.todo = t->todo,
		.flags = (t->has_sp ? HAS_SP : 0) | (t->has_lr ? HAS_LR : 0) |
			 (t->is_loaded ? IS_LOADED : 0) | (t->site.is_in_slot ? IS_IN_SLOT : 0) |
			 (t->is_signal ? IS_SIGNAL : 0) |
			 (uint32_t)t->top_len << TOP_LEN_SHIFT,
		.n_stacks = t->stacks.n,
		.current = t->stacks.current,
	};
}

void ts_call_tracker_save(const struct ts_call_tracker *tr, struct ts_index_file *f)
{
	const struct saved_tracker head = { tr->space, tr->n_threads, tr->last };
	struct ts_buf threads, stacks, calls, signals;

	ts_buf_init(&threads);
	ts_buf_init(&stacks);
	ts_buf_init(&calls);
	ts_buf_init(&signals);
	for (uint32_t i = 0; i < tr->n_threads; i++) {
		const struct ts_call_thread *t = &tr->threads[i];
		const struct saved_thread saved = save_thread(t);

		ts_buf_put(&threads, &saved, sizeof(saved));
		for (uint32_t j = 0; j < t->stacks.n; j++) {
			const struct ts_stack *s = &t->stacks.items[j];
			const struct saved_stack st = {
				s->low, s->high, s->left, s->space, s->used, s->n, s->n_left, s->n_signals, 0
			};

			ts_buf_put(&stacks, &st, sizeof(st));
			ts_buf_put(&calls, s->calls, s->n * sizeof(*s->calls));
			ts_buf_put(&signals, s->signals, s->n_signals * sizeof(*s->signals));
		}
	}
	ts_index_put(f, &head, 1, sizeof(head));
	ts_index_put_buf(f, &threads);
	ts_index_put_buf(f, &stacks);
	ts_index_put_buf(f, &calls);
	ts_index_put_buf(f, &signals);
	ts_buf_fini(&threads);
	ts_buf_fini(&stacks);
	ts_buf_fini(&calls);
	ts_buf_fini(&signals);
}

/* The unread rest of the arrays. */
struct saved {
	const struct saved_stack *stacks;
	const struct ts_open_call *calls;
	const struct ts_signal_frame *signals;
	size_t n_stacks, n_calls, n_signals;
};

static bool load_stack(const struct ts_call_thread *t, const struct ts_calls *out, struct ts_stack *s,
		       struct saved *in)
{
	const struct saved_stack *st = in->stacks;

	if (!in->n_stacks || st->n > in->n_calls || st->n_signals > in->n_signals ||
	    st->n_signals > TS_MAX_SIGNALS)
		return false;
	for (uint32_t i = 0; i < st->n; i++) {
		if (in->calls[i].ordinal >= ts_calls_n(out, t->id))
			return false;
	}
	*s = (struct ts_stack){
		.low = st->low,
		.high = st->high,
		.left = st->left,
		.space = st->space,
		.used = st->used,
		.n_signals = st->n_signals,
	};
	memcpy(s->signals, in->signals, st->n_signals * sizeof(*s->signals));
	if (!ts_stacks_fill(&t->stacks, s, in->calls, st->n))
		return false;
	s->n_left = st->n_left;
	in->stacks++;
	in->n_stacks--;
	in->calls += st->n;
	in->n_calls -= st->n;
	in->signals += st->n_signals;
	in->n_signals -= st->n_signals;
	return true;
}

static bool load_stacks(const struct ts_call_tracker *tr, struct ts_call_thread *t,
			const struct saved_thread *x, struct saved *in)
{
	struct ts_stacks *ss = &t->stacks;

	if (x->n_stacks > in->n_stacks || x->n_stacks > TS_MAX_STACKS ||
	    (x->n_stacks && x->current >= x->n_stacks))
		return false;
	ss->current = x->current;
	ss->at = x->at;
	ss->barrier = x->barrier;
	ss->clock = x->clock;
	ss->items = calloc(x->n_stacks + 1, sizeof(*ss->items));
	if (!ss->items)
		return false;
	ss->cap = x->n_stacks + 1;
	while (ss->n < x->n_stacks) {
		if (!load_stack(t, tr->out, &ss->items[ss->n++], in))
			return false;
	}
	return true;
}

static bool load_thread(const struct ts_call_tracker *tr, struct ts_call_thread *t,
			const struct saved_thread *x, struct saved *in)
{
	t->sp = x->sp, t->lr = x->lr, t->top = x->top, t->top_val = x->top_val, t->pos = x->pos;
	t->todo = x->todo & (TS_TODO_MOVE | TS_TODO_CALL | TS_TODO_LATE | TS_TODO_HELD);
	t->held_pos = x->held_pos;
	t->n_held = x->n_held;
	t->has_sp = x->flags & HAS_SP;
	t->has_lr = x->flags & HAS_LR;
	t->is_loaded = x->flags & IS_LOADED;
	t->is_signal = x->flags & IS_SIGNAL;
	t->top_len = x->flags >> TOP_LEN_SHIFT & 15;
	t->site = (struct ts_call_site){
		.pos = x->site_pos,
		.pc = x->site_pc,
		.ret = x->site_ret,
		.slot = x->site_slot,
		.fall = x->site_fall,
		.is_in_slot = x->flags & IS_IN_SLOT,
	};
	return load_stacks(tr, t, x, in) &&
	       (!(t->todo & TS_TODO_HELD) || (t->stacks.n && ts_stacks_current(&t->stacks)->n));
}

bool ts_call_tracker_load(struct ts_call_tracker *tr, struct ts_index_arrays *a, uint32_t n_threads)
{
	const struct saved_tracker *head = ts_index_take_n(a, sizeof(*head), 1);
	const struct saved_thread *threads;
	struct saved in;

	if (!head || head->n_threads > n_threads || (head->last && head->last >= head->n_threads))
		return false;
	threads = ts_index_take_n(a, sizeof(*threads), head->n_threads);
	in.stacks = ts_index_take(a, sizeof(*in.stacks), &in.n_stacks);
	in.calls = ts_index_take(a, sizeof(*in.calls), &in.n_calls);
	in.signals = ts_index_take(a, sizeof(*in.signals), &in.n_signals);
	if (a->is_bad)
		return false;
	ts_call_tracker_reset(tr);
	tr->space = head->space;
	tr->last = head->last;
	if (head->n_threads && !ts_call_tracker_thread(tr, head->n_threads - 1))
		return false;
	for (uint32_t i = 0; i < head->n_threads; i++) {
		if (!load_thread(tr, &tr->threads[i], &threads[i], &in))
			return false;
	}
	return true;
}
