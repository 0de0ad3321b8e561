/* SPDX-License-Identifier: MIT */
/*
 * What a step means is known when the thread's next one determines where control went.  So a step is only looked
 * through for what concerns the stack pointer, the link register and the memory at the stack pointer, which
 * costs few nanoseconds; if there is something, the thread's next step settles it.
 */
#include "tracker.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "tracker_parts.h"

/* A call pushes one word or, to another code segment, two. */
#define MAX_PUSHED(linkage) (2u * (linkage)->word)

/*
 * The most instructions between the load of another stack pointer and the jump: code that resumes a stack restores registers
 * there.
 */
#define MAX_HELD 32u

static struct ts_reg_range range_of(const struct ts_regset *set, const char *name)
{
	int i = name ? ts_regset_find(set, name) : -1;

	if (i < 0 || set->regs[i].len > 8)
		return (struct ts_reg_range){ 0 };
	return (struct ts_reg_range){ set->regs[i].off, set->regs[i].len };
}

static void add_range(struct ts_call_tracker *tr, struct ts_reg_range r)
{
	if (!r.len)
		return;
	if (r.off < tr->low)
		tr->low = r.off;
	if (r.off + r.len > tr->high)
		tr->high = r.off + r.len;
}

struct ts_call_tracker *ts_call_tracker_new(struct ts_calls *out, const struct ts_regset *set,
					    bool is_physical, bool is_before)
{
	struct ts_call_tracker *tr = calloc(1, sizeof(*tr));

	if (!tr)
		return NULL;
	tr->out = out;
	tr->is_physical = is_physical;
	tr->is_before = is_before;
	tr->top_mask = is_physical ? 0xfff : UINT64_MAX; /* the stack pointer is virtual, the memory physical */
	ts_linkage_init(&tr->linkage, set->arch);
	tr->below_top = is_before ? MAX_PUSHED(&tr->linkage) : 0;
	if (set->sp >= 0)
		tr->sp = range_of(set, set->regs[set->sp].name);
	tr->lr = range_of(set, tr->linkage.reg);
	if (is_physical)
		tr->root = range_of(set, "cr3");
	tr->low = UINT32_MAX;
	add_range(tr, tr->sp);
	add_range(tr, tr->lr);
	add_range(tr, tr->root);
	return tr;
}

void ts_call_tracker_reset(struct ts_call_tracker *tr)
{
	for (uint32_t i = 0; i < tr->n_threads; i++)
		ts_stacks_fini(&tr->threads[i].stacks);
	tr->n_threads = 0;
}

void ts_call_tracker_free(struct ts_call_tracker *tr)
{
	if (!tr)
		return;
	ts_call_tracker_reset(tr);
	free(tr->threads);
	free(tr);
}

struct ts_call_thread *ts_call_tracker_thread(struct ts_call_tracker *tr, uint32_t id)
{
	size_t n = tr->n_threads;

	if (id < n)
		return &tr->threads[id];
	if (!ts_vec_extend(&tr->threads, &n, id, sizeof(*tr->threads))) {
		tr->is_failed = true;
		return NULL;
	}
	for (; tr->n_threads < n; tr->n_threads++) {
		tr->threads[tr->n_threads].id = tr->n_threads;
		ts_stacks_init(&tr->threads[tr->n_threads].stacks, &tr->linkage);
	}
	return &tr->threads[id];
}

/* ------------------------------------------------------------------------------------------- settling */

/* The list notes that the thread is on another stack from the step before @pos on. */
static void note_switch(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pos)
{
	const struct ts_stack *s = ts_stacks_current(&t->stacks);
	const struct ts_call note = {
		.pos = pos - 1,
		.thread = t->id,
		.parent = s->n ? s->calls[s->n - 1].ordinal : TS_NO_CALL,
		.depth = s->n + 1,
		.kind = TS_CALL_SWITCH,
	};

	if (pos && ts_calls_add(tr->out, &note) == TS_NO_CALL)
		tr->is_failed = true;
}

/* The stack pointer moved; from position @pos on it is t->sp. */
static inline void move(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pos)
{
	uint64_t before = t->stacks.at;
	bool has_switched;

	if (ts_stacks_move_near(&t->stacks, t->sp))
		return;
	if (!ts_stacks_move(&t->stacks, t->sp, tr->space, t->is_loaded, &has_switched))
		tr->is_failed = true;
	else if (has_switched)
		note_switch(tr, t, pos);
	else if (t->is_signal && t->sp < before)
		ts_stacks_note_signal(&t->stacks, before);
}

/*
 * The same where nothing else depends on the move: it stays on its stack, and no call ends by it.  Returns
 * false if there is more to do, for which the thread's next step is awaited.
 */
static inline bool move_at_once(const struct ts_call_tracker *tr, struct ts_call_thread *t)
{
	if (t->todo & TS_TODO_HELD || !ts_stacks_move_near(&t->stacks, t->sp) ||
	    (!tr->linkage.is_link && ts_stacks_n_kept(&t->stacks) < ts_stacks_current(&t->stacks)->n))
		return false;
	t->todo &= ~(unsigned)TS_TODO_MOVE;
	return true;
}

/* All calls of the stack but the @n outermost end at position @pos, where control is at @pc. */
static void end_calls(struct ts_call_tracker *tr, struct ts_call_thread *t, uint32_t n, uint64_t pos,
		      uint64_t pc, bool has_pc)
{
	while (ts_stacks_current(&t->stacks)->n > n) {
		const struct ts_open_call *x = ts_stacks_pop(&t->stacks);
		bool is_return = has_pc && pc == x->ret;

		if (!ts_calls_end(tr->out, t->id, x->ordinal, pos,
				  is_return ? TS_CALL_RETURN : TS_CALL_UNWOUND))
			tr->is_failed = true;
	}
}

/* The call that may be is one: control went to @target. */
static void open_call(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t target)
{
	const struct ts_stack *s = ts_stacks_current(&t->stacks);
	struct ts_open_call x = { .slot = t->site.slot, .ret = t->site.ret };
	const struct ts_call call = {
		.pos = t->site.pos,
		.pc = t->site.pc,
		.target = target,
		.thread = t->id,
		.parent = s->n ? s->calls[s->n - 1].ordinal : TS_NO_CALL,
		.depth = s->n + 1,
	};

	x.ordinal = ts_calls_add(tr->out, &call);
	if (x.ordinal == TS_NO_CALL || !ts_stacks_push(&t->stacks, &x))
		tr->is_failed = true;
}

/* A step that may have been a call, and where control is after it (and its delay slot). */
static void settle_call(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pc)
{
	if (tr->linkage.arch->has_delay_slots && !t->site.is_in_slot && pc == t->site.fall) {
		t->site.is_in_slot = true;
		return;
	}
	t->todo &= ~(unsigned)TS_TODO_CALL;
	t->site.is_in_slot = false;
	if (pc != t->site.ret)
		open_call(tr, t, pc);
}

/* Is the return address of the call the last thing that was written at the top of its stack? */
static bool is_untouched(const struct ts_call_tracker *tr, const struct ts_call_thread *t, const struct ts_open_call *x)
{
	return t->top == x->slot && t->top_len == tr->linkage.word && t->top_val == x->ret;
}

/*
 * swapcontext and its like leave a stack inside of a call, the innermost one of that stack.  When the stack is resumed the
 * stack pointer is just above the return address at first, as if the call were over; then that address is pushed again, and
 * the call returns, or control jumps there.  A function may also note its return address by popping it before it does
 * anything else, and take the stack pointer back (OCaml's caml_c_call).  Is that beginning here?  All but the @n outermost calls
 * would end at @pc.
 */
static bool is_resuming(const struct ts_call_tracker *tr, const struct ts_call_thread *t, uint32_t n, uint64_t pc,
			bool has_pc)
{
	const struct ts_stack *s = ts_stacks_current(&t->stacks);

	return s->n == n + 1 && (s->n_left == s->n || is_untouched(tr, t, &s->calls[n])) && s->calls[n].slot + tr->linkage.word == t->sp &&
	       !(has_pc && pc == s->calls[n].ret);
}

/* A call is held: did it end at t->held_pos, or here, or does it go on? */
static void settle_held(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pos, uint64_t pc, bool has_pc)
{
	const struct ts_stack *s = ts_stacks_current(&t->stacks);
	struct ts_open_call *x = &s->calls[s->n - 1];
	bool is_moved = t->todo & TS_TODO_MOVE, is_call = t->todo & (TS_TODO_CALL | TS_TODO_LATE);

	if (!is_moved && has_pc && pc == x->ret) {
		end_calls(tr, t, s->n - 1, pos, pc, true);
	} else if (is_moved || ++t->n_held == MAX_HELD) {
		if (is_call || t->sp != x->slot || t->top != t->sp || t->top_len < tr->linkage.word || t->top_val != x->ret)
			end_calls(tr, t, s->n - 1, t->held_pos, 0, false);
		else
			x->peak = x->slot; /* the stack pointer has not passed it */
	} else {
		return;
	}
	t->todo &= ~(unsigned)TS_TODO_HELD;
}

/* The stack pointer moved: calls end. */
static void settle_ends(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pos, uint64_t pc, bool has_pc)
{
	uint32_t n = ts_stacks_n_kept(&t->stacks);

	if (!is_resuming(tr, t, n, pc, has_pc)) {
		end_calls(tr, t, n, pos, pc, has_pc);
		return;
	}
	t->todo |= TS_TODO_HELD;
	t->held_pos = pos;
	t->n_held = 0;
}

/*
 * A call while the stack pointer is not known, as in traces that do not list it.  It is taken to be where it was, or below
 * the innermost call that was made there: such calls nest by their return addresses alone.
 */
static void assume_sp(struct ts_call_tracker *tr, struct ts_call_thread *t)
{
	const struct ts_stack *s;
	bool has_switched;

	if (t->stacks.n) {
		s = ts_stacks_current(&t->stacks);
		t->sp = s->n && s->calls[s->n - 1].slot <= t->stacks.at ? s->calls[s->n - 1].slot - tr->linkage.word : t->stacks.at;
		ts_stacks_be_at(&t->stacks, t->sp);
	} else {
		t->sp = UINT64_C(1) << (tr->linkage.arch->addr_bits - 2); /* as good as any: it is compared with itself */
		if (!ts_stacks_move(&t->stacks, t->sp, tr->space, false, &has_switched))
			tr->is_failed = true;
	}
}

/* Control is at @pc while the stack pointer is not known: the innermost call that returns there ends. */
static void assume_return(struct ts_call_thread *t, uint64_t pc)
{
	const struct ts_stack *s = ts_stacks_current(&t->stacks);

	for (uint32_t i = s->buckets[ts_stacks_bucket(pc)]; i; i = s->calls[i - 1].before) {
		if (s->calls[i - 1].ret != pc)
			continue;
		t->sp = s->calls[i - 1].slot;
		ts_stacks_be_at(&t->stacks, t->sp);
		return;
	}
}

/* The thread is at @pc after its last step: what that step did is settled. */
static void settle(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pc, bool has_pc)
{
	uint64_t pos = t->pos + 1;

	if (t->todo & TS_TODO_HELD)
		settle_held(tr, t, pos, pc, has_pc);
	if (t->todo & TS_TODO_MOVE) {
		t->todo &= ~(unsigned)TS_TODO_MOVE;
		move(tr, t, pos);
		if (!tr->linkage.is_link && !tr->is_failed)
			settle_ends(tr, t, pos, pc, has_pc);
	}
	if (tr->is_failed || !t->stacks.n)
		return;
	if (t->todo & TS_TODO_LATE)
		t->todo = (t->todo & ~(unsigned)TS_TODO_LATE) | (t->sp == t->site.slot ? TS_TODO_CALL : 0);
	if (has_pc && !t->has_sp && ts_stacks_may_return(&t->stacks, pc))
		assume_return(t, pc);
	if (has_pc && ts_stacks_may_return(&t->stacks, pc))
		end_calls(tr, t, ts_stacks_n_kept_at(&t->stacks, pc), pos, pc, true);
	if (t->todo & TS_TODO_CALL && has_pc)
		settle_call(tr, t, pc);
}

/* ---------------------------------------------------------------------------------------------- steps */

/* As above, of registers of which the effect has a part only, or no value. */
static void take_part(const struct ts_call_tracker *tr, struct ts_reg_range reg, const struct ts_effect *e,
		      const uint8_t *data, uint64_t *value, bool *is_known)
{
	uint64_t lo = e->addr > reg.off ? e->addr : reg.off;
	uint64_t hi = e->addr + e->len < reg.off + reg.len ? e->addr + e->len : reg.off + reg.len;
	uint8_t bytes[8];

	if (!data || !*is_known) {
		*is_known = false;
		return;
	}
	ts_arch_put(tr->linkage.arch, bytes, reg.len, *value);
	memcpy(bytes + (lo - reg.off), data + (lo - e->addr), hi - lo);
	*value = ts_arch_get(tr->linkage.arch, bytes, reg.len);
}

/* Registers [addr, addr + len) are now the data (NULL: unknown): those of them that are @reg. */
static inline bool take_reg(const struct ts_call_tracker *tr, struct ts_reg_range reg,
			    const struct ts_effect *e, const uint8_t *data, uint64_t *value, bool *is_known)
{
	uint64_t end = e->addr + e->len, reg_end = (uint64_t)reg.off + reg.len;

	if (e->addr >= reg_end || end <= reg.off)
		return false;
	if (data && e->addr <= reg.off && end >= reg_end) {
		*value = ts_arch_get(tr->linkage.arch, data + (reg.off - e->addr), reg.len);
		*is_known = true;
	} else {
		take_part(tr, reg, e, data, value, is_known);
	}
	return true;
}

static void take_regs(struct ts_call_tracker *tr, struct ts_call_thread *t, const struct ts_effect *e,
		      const uint8_t *data)
{
	uint64_t root = 0, before = t->sp;
	bool has_root = false, had_sp = t->has_sp;

	if (!data && e->kind == TS_FX_REG_READ)
		return;
	if (take_reg(tr, tr->sp, e, data, &t->sp, &t->has_sp) && t->has_sp && (!had_sp || t->sp != before))
		t->todo |= TS_TODO_MOVE;
	if (tr->linkage.is_link)
		take_reg(tr, tr->lr, e, data, &t->lr, &t->has_lr);
	if (tr->is_physical && take_reg(tr, tr->root, e, data, &root, &has_root) && has_root)
		tr->space = root & ~UINT64_C(0x1fff);
}

/* Does a write at @addr write at the stack pointer? */
static inline bool is_top(const struct ts_call_tracker *tr, const struct ts_call_thread *t, uint64_t addr)
{
	return !((addr ^ t->sp) & tr->top_mask);
}

/* A write of the step: is it at the stack pointer, as that is after the step? */
static void take_top(const struct ts_call_tracker *tr, struct ts_call_thread *t, const struct ts_effect *e,
		     const uint8_t *data)
{
	if (e->is_hidden || !is_top(tr, t, e->addr))
		return;
	t->top = t->sp;
	t->top_len = !data || e->len < 2 ? 0 : e->len < tr->linkage.word ? (uint8_t)e->len : tr->linkage.word;
	t->top_val = t->top_len ? ts_arch_get(tr->linkage.arch, data, t->top_len) : 0;
}

static void take_tops(const struct ts_call_tracker *tr, struct ts_call_thread *t, const struct ts_steps *b,
		      const struct ts_step *s)
{
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (e->kind == TS_FX_THREAD)
			return;
		if (e->kind == TS_FX_WRITE)
			take_top(tr, t, e, ts_effect_data(b, e));
	}
}

/* May a return address be that of an instruction which lies @distance below it?  None is that long. */
static inline bool is_near(uint64_t distance, uint64_t mask)
{
	return (distance & mask) <= UINT16_MAX;
}

/* Does the stack's top hold the return address of a call by this step? */
static bool is_pushed(const struct ts_call_tracker *tr, const struct ts_call_thread *t,
		      const struct ts_step *s, uint64_t *ret)
{
	if (!is_near(t->top_val - s->pc, UINT32_MAX))
		return false;
	if (t->top != t->sp || !t->has_sp || t->top_len < 4)
		return false;
	*ret = t->top_val;
	if (ts_linkage_is_return_of(&tr->linkage, *ret, s->pc, s->insn_len))
		return true;
	*ret = t->top_val & UINT32_MAX; /* 32-bit code of a 64-bit processor */
	return t->top_len == 4 && tr->linkage.word == 8 &&
	       ts_linkage_is_return_of(&tr->linkage, *ret, s->pc, s->insn_len);
}

/* An interrupt pushes more than a call.  @before: the stack pointer. */
static void look_for_call(struct ts_call_tracker *tr, struct ts_call_thread *t, const struct ts_step *s,
			  uint64_t before)
{
	uint64_t ret;

	if (tr->linkage.is_link) {
		ret = ts_linkage_return(&tr->linkage, t->lr);
		if (!t->has_lr || !ts_linkage_is_return_of(&tr->linkage, ret, s->pc, s->insn_len))
			return;
		if (!t->has_sp)
			assume_sp(tr, t);
	} else if (!is_pushed(tr, t, s, &ret) ||
		   (t->todo & TS_TODO_MOVE && before - t->sp > MAX_PUSHED(&tr->linkage))) {
		return;
	}
	t->todo |= TS_TODO_CALL;
	t->site = (struct ts_call_site){
		.pos = t->pos,
		.pc = s->pc,
		.ret = ret,
		.slot = t->sp,
		.fall = s->pc + s->insn_len,
	};
}

/*
 * The same for what may be the last step before another thread's: its stack pointer does not show yet, but
 * the return address was written.
 */
static void look_for_late_call(const struct ts_call_tracker *tr, struct ts_call_thread *t,
			       const struct ts_steps *b, const struct ts_step *s)
{
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		const uint8_t *data = e->kind == TS_FX_WRITE ? ts_effect_data(b, e) : NULL;
		uint64_t ret;

		if (!data || e->len != tr->linkage.word || t->sp - e->addr > MAX_PUSHED(&tr->linkage))
			continue;
		ret = ts_arch_get(tr->linkage.arch, data, tr->linkage.word);
		if (!ts_linkage_is_return_of(&tr->linkage, ret, s->pc, s->insn_len))
			continue;
		t->todo |= TS_TODO_LATE;
		t->site = (struct ts_call_site){ t->pos, s->pc, ret, e->addr, s->pc + s->insn_len, false };
		return;
	}
}

/* Is the event an interrupt or a fault?  What those push is no call. */
static bool is_interruption(const struct ts_event *ev)
{
	return ev->kind == TS_EV_INTERRUPT || ev->kind == TS_EV_FAULT;
}

/* Did the step read what is now its stack pointer? */
static bool is_loaded(const struct ts_call_tracker *tr, const struct ts_call_thread *t,
		      const struct ts_steps *b, const struct ts_step *s)
{
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind == TS_FX_READ && data && e->len == tr->sp.len &&
		    ts_arch_get(tr->linkage.arch, data, tr->sp.len) == t->sp)
			return true;
	}
	return false;
}

/* Does the step concern the registers or the memory at stack pointer @sp, or do something rare? */
static inline bool is_loud(const struct ts_call_tracker *tr, uint64_t sp, const struct ts_effect *e,
			   const struct ts_effect *end)
{
	for (; e < end; e++) {
		if (e->kind <= TS_FX_REG_READ) {
			if (e->addr < tr->high && e->addr + e->len > tr->low)
				return true;
		} else if (e->kind == TS_FX_WRITE) {
			if (((sp - e->addr) & tr->top_mask) <= tr->below_top)
				return true;
		} else if (e->kind != TS_FX_READ) {
			return true;
		}
	}
	return false;
}

/*
 * The first of the steps [s, end) that is not of thread @t, or that may call or return.  The others, nearly
 * all, leave the registers and the memory at the stack pointer as they are, and are not just before the
 * return address that is there.  The effects of steps follow each other.
 */
static const struct ts_step *pass_pushed(const struct ts_call_tracker *tr, const struct ts_call_thread *t,
					 const struct ts_step *s, const struct ts_step *end,
					 const struct ts_effect *e)
{
	uint32_t id = t->id;

	for (; s < end && s->thread == id; s++) {
		const struct ts_effect *e_end = e + s->n_effects;

		if (is_near(t->top_val - s->pc, UINT32_MAX) || is_loud(tr, t->sp, e, e_end))
			break;
		e = e_end;
	}
	return s;
}

/* The same for a processor with a link register; calls may return to where a bucket is not empty. */
static const struct ts_step *pass_linked(const struct ts_call_tracker *tr, const struct ts_call_thread *t,
					 const struct ts_step *s, const struct ts_step *end,
					 const struct ts_effect *e)
{
	uint64_t ret = ts_linkage_return(&tr->linkage, t->lr);

	for (; s < end && s->thread == t->id; s++) {
		const struct ts_effect *e_end = e + s->n_effects;

		if (is_near(ret - s->pc, tr->linkage.addr_mask) || ts_stacks_may_return(&t->stacks, s->pc) ||
		    is_loud(tr, t->sp, e, e_end))
			break;
		e = e_end;
	}
	return s;
}

/* The ordinal of the first step from @i on that is not of thread @t, or that has to be examined. */
static uint32_t pass_over(const struct ts_call_tracker *tr, const struct ts_call_thread *t,
			  const struct ts_steps *b, uint32_t i)
{
	const struct ts_step *s = b->steps + i, *end = b->steps + b->n_steps;

	if (t->todo || i == b->n_steps)
		return i;
	s = (tr->linkage.is_link ? pass_linked : pass_pushed)(tr, t, s, end, b->effects + s->first);
	return (uint32_t)(s - b->steps);
}

/* Take in a step of thread @t.  Returns @t, which has moved if a thread is new. */
static struct ts_call_thread *take_step(struct ts_call_tracker *tr, struct ts_call_thread *t,
					const struct ts_steps *b, const struct ts_step *s)
{
	const struct ts_effect *e = &b->effects[s->first], *end = e + s->n_effects, *write = NULL;
	unsigned n_writes = 0;
	uint64_t before = t->sp;
	bool had_sp = t->has_sp, is_event = false, is_signal = false, has_others = false;

	for (; e < end; e++) {
		if (e->kind <= TS_FX_REG_READ) {
			if (e->addr < tr->high && e->addr + e->len > tr->low)
				take_regs(tr, t, e, ts_effect_data(b, e));
		} else if (e->kind == TS_FX_WRITE) {
			write = e;
			n_writes++;
		} else if (e->kind == TS_FX_EVENT) {
			is_event |= is_interruption(&b->events[e->item]);
			is_signal |= b->events[e->item].kind == TS_EV_SIGNAL;
		} else if (e->kind == TS_FX_THREAD) {
			t = ts_call_tracker_thread(tr, e->item);
			has_others = true;
			if (!t)
				break;
		}
	}
	if (has_others)
		t = &tr->threads[s->thread];
	if (!tr->linkage.is_link && n_writes == 1)
		take_top(tr, t, write, ts_effect_data(b, write));
	else if (!tr->linkage.is_link && n_writes)
		take_tops(tr, t, b, s);
	/* a call that pushes its return address writes memory and moves the stack pointer */
	if (!is_event && (tr->linkage.is_link || n_writes || t->todo & TS_TODO_MOVE || !had_sp))
		look_for_call(tr, t, s, had_sp ? before : t->sp);
	if (tr->is_before && !is_event && n_writes && !tr->linkage.is_link && !(t->todo & TS_TODO_CALL) &&
	    t->has_sp)
		look_for_late_call(tr, t, b, s);
	if (t->todo & TS_TODO_MOVE && !move_at_once(tr, t)) {
		t->is_signal = is_signal;
		t->is_loaded = !ts_stacks_is_near(t->sp, before) &&
			       ((is_event && tr->is_physical) || is_loaded(tr, t, b, s));
	}
	return t;
}

bool ts_call_tracker_start(struct ts_call_tracker *tr, const struct ts_steps *initial)
{
	struct ts_call_thread *t = ts_call_tracker_thread(tr, 0);

	for (uint32_t i = 0; t && i < initial->n_effects; i++) {
		const struct ts_effect *e = &initial->effects[i];

		if (e->kind == TS_FX_THREAD)
			t = ts_call_tracker_thread(tr, e->item);
		else if (e->kind <= TS_FX_REG_READ)
			take_regs(tr, t, e, ts_effect_data(initial, e));
	}
	for (uint32_t i = 0; i < tr->n_threads && !tr->is_failed; i++) {
		if (tr->threads[i].todo & TS_TODO_MOVE)
			move(tr, &tr->threads[i], 0);
		tr->threads[i].todo = 0;
	}
	return !tr->is_failed;
}

/*
 * The steps from ordinal @i on, at position @pos + @i, up to one that is not of thread @t.  Returns the
 * ordinal of that one.
 */
static uint32_t take_turn(struct ts_call_tracker *tr, struct ts_call_thread *t, uint64_t pos,
			  const struct ts_steps *b, uint32_t i)
{
	uint32_t id = t->id;

	for (;;) {
		const struct ts_step *s;
		uint32_t from = i;

		i = pass_over(tr, t, b, i);
		if (i > from)
			t->pos = pos + i - 1;
		s = &b->steps[i];
		if (i == b->n_steps || s->thread != id || tr->is_failed)
			return i;
		if (t->todo || ts_stacks_may_return(&t->stacks, s->pc))
			settle(tr, t, s->pc, true);
		t->pos = pos + i++;
		t = take_step(tr, t, b, s);
	}
}

bool ts_call_tracker_take(struct ts_call_tracker *tr, uint64_t pos, const struct ts_steps *steps)
{
	if (!tr->sp.len)
		return true; /* no stack, no calls */
	for (uint32_t i = 0; i < steps->n_steps && !tr->is_failed;) {
		struct ts_call_thread *t = ts_call_tracker_thread(tr, steps->steps[i].thread);

		tr->last = steps->steps[i].thread;
		if (t)
			i = take_turn(tr, t, pos, steps, i);
	}
	return !tr->is_failed;
}

bool ts_call_tracker_end(struct ts_call_tracker *tr, uint64_t end_pc)
{
	for (uint32_t i = 0; i < tr->n_threads && !tr->is_failed; i++) {
		struct ts_call_thread *t = &tr->threads[i];

		t->n_held = MAX_HELD - 1; /* no steps follow */
		settle(tr, t, end_pc, i == tr->last);
		if (t->todo & TS_TODO_HELD && !tr->is_failed)
			end_calls(tr, t, ts_stacks_current(&t->stacks)->n - 1, t->held_pos, 0, false);
		t->todo &= ~(unsigned)TS_TODO_HELD;
	}
	return !tr->is_failed;
}
