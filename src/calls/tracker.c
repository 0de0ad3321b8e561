/* SPDX-License-Identifier: MIT */
/*
 * What a step means is known when the thread's next one tells where control went.  So a step is only looked
 * through for what concerns the stack pointer, the link register and the memory at the stack pointer, which
 * costs few nanoseconds; if there is something, the thread's next step settles it.
 */
#include "tracker.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/index/index_file.h"

/* A move of the stack pointer that is not longer stays on its stack: pushes, small frames. */
#define NEAR 128u

/* Longer moves leave the stack, unless they go to a frame's beginning: no frame is that large. */
#define MAX_FRAME_DOWN (UINT64_C(256) << 10)
#define MAX_FRAME_UP   (UINT64_C(1) << 20)

/* Who comes back to a stack, comes back as close to where it was left. */
#define MAX_RESUME 64u

/* After longjmp the stack pointer is as close to the outermost call that it ended: arguments lie between. */
#define MAX_ARGUMENTS 256u

#define N_FILTER 1024u

/* What the thread's next step has to settle. */
enum todo {
	TODO_MOVE = 1, /* the stack pointer changed */
	TODO_CALL = 2, /* it may have been a call */
};

struct open_call {
	uint64_t slot; /* where the return address lies; with a link register: the stack pointer at the
			  beginning */
	uint64_t ret;
	uint64_t least; /* the smallest slot of this call and those outside of it */
	uint32_t ordinal;
	uint32_t unused; /* 0: as it goes to index files */
};

struct stack {
	uint64_t low, high;      /* the stack pointer was there */
	uint64_t left;           /* its value when the thread went elsewhere */
	uint64_t space;          /* of a machine: whose address space it is, 0 the kernel's */
	uint64_t used;           /* when it was left */
	struct open_call *calls; /* owned; outermost first */
	uint32_t n, cap;
};

struct thread {
	unsigned todo;
	uint64_t sp, lr;
	bool has_sp, has_lr;
	bool is_loaded;        /* the step read the stack pointer's new value from memory */
	uint64_t at;           /* the stack pointer as far as it is settled */
	uint64_t top, top_val; /* what was last written at the stack pointer, and where */
	uint8_t top_len;       /* bytes of it; 0: nothing known */
	uint64_t pos;          /* of its last step */
	uint64_t call_pos, call_pc, call_ret, call_slot,
		call_fall; /* call_fall: the next instruction's address */
	bool is_in_slot;   /* of a call that may be: its delay slot has been executed */
	uint32_t id;
	struct stack *stacks; /* owned */
	uint32_t n_stacks, cap_stacks, current;
	uint64_t barrier; /* the lowest slot of a call of other stacks above the stack pointer */
	uint8_t *filter;  /* owned; with a link register: how many open calls return to addresses of a hash */
};

struct range {
	uint32_t off, len; /* in the 'g' layout; len 0: none */
};

struct ts_call_tracker {
	struct ts_calls *out; /* borrowed */
	const struct ts_arch *arch;
	struct range sp, lr, root;
	uint32_t low, high; /* all of them are in these bytes */
	bool is_link;       /* calls leave their return address in a register */
	bool is_physical;
	uint8_t word;       /* bytes of a return address */
	uint8_t behind;     /* of a link: bytes from the call to its return address, 0: the instruction's */
	uint64_t link_mask; /* bits of the link register that are an address */
	uint64_t link_add;  /* the register holds the return address less this */
	uint64_t addr_mask;
	uint64_t space; /* the root of the page tables */
	uint64_t clock;
	struct thread *threads; /* owned; by ordinal */
	uint32_t n_threads;
	uint32_t last;  /* that ran */
	bool is_failed; /* memory ran out */
};

/* ------------------------------------------------------------------------------------------- architectures
 */

static struct range range_of(const struct ts_regset *set, const char *name)
{
	int i = name ? ts_regset_find(set, name) : -1;

	return i < 0 ? (struct range){ 0 } : (struct range){ set->regs[i].off, set->regs[i].len };
}

/* The link registers, by the beginnings of the architectures' names. */
static const struct {
	const char *arch, *reg;
	uint8_t behind, add;
	uint64_t mask;
} links[] = {
	{ "arm", "lr", 0, 0, ~UINT64_C(1) },   { "aarch64", "x30", 0, 0, ~UINT64_C(0) },
	{ "mips", "r31", 8, 0, ~UINT64_C(1) }, { "ppc", "lr", 0, 0, ~UINT64_C(0) },
	{ "riscv", "ra", 0, 0, ~UINT64_C(1) }, { "s390x", "r14", 0, 0, ~UINT64_C(0) },
	{ "s390", "r14", 0, 0, 0x7fffffff },   { "sparc", "o7", 8, 8, ~UINT64_C(0) },
};

static void find_link(struct ts_call_tracker *tr, const struct ts_regset *set)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (strncmp(set->arch->name, links[i].arch, strlen(links[i].arch)))
			continue;
		tr->is_link = true;
		tr->lr = range_of(set, links[i].reg);
		tr->behind = links[i].behind;
		tr->link_add = links[i].add;
		tr->link_mask = links[i].mask;
		return;
	}
}

static void add_range(struct ts_call_tracker *tr, struct range r)
{
	if (!r.len)
		return;
	if (r.off < tr->low)
		tr->low = r.off;
	if (r.off + r.len > tr->high)
		tr->high = r.off + r.len;
}

struct ts_call_tracker *ts_call_tracker_new(struct ts_calls *out, const struct ts_regset *set,
					    bool is_physical)
{
	struct ts_call_tracker *tr = calloc(1, sizeof(*tr));

	if (!tr)
		return NULL;
	tr->out = out;
	tr->arch = set->arch;
	tr->is_physical = is_physical;
	tr->addr_mask = ts_arch_addr_mask(set->arch);
	tr->word = set->arch->addr_bits / 8;
	if (set->sp >= 0 && set->regs[set->sp].len <= 8)
		tr->sp = (struct range){ set->regs[set->sp].off, set->regs[set->sp].len };
	find_link(tr, set);
	if (tr->lr.len > 8)
		tr->lr.len = 0;
	if (is_physical)
		tr->root = range_of(set, "cr3");
	if (tr->root.len > 8)
		tr->root.len = 0;
	tr->low = UINT32_MAX;
	add_range(tr, tr->sp);
	add_range(tr, tr->lr);
	add_range(tr, tr->root);
	return tr;
}

static void drop_threads(struct ts_call_tracker *tr)
{
	for (uint32_t i = 0; i < tr->n_threads; i++) {
		struct thread *t = &tr->threads[i];

		for (uint32_t j = 0; j < t->n_stacks; j++)
			free(t->stacks[j].calls);
		free(t->stacks);
		free(t->filter);
	}
	tr->n_threads = 0;
}

void ts_call_tracker_free(struct ts_call_tracker *tr)
{
	if (!tr)
		return;
	drop_threads(tr);
	free(tr->threads);
	free(tr);
}

static struct thread *thread_of(struct ts_call_tracker *tr, uint32_t id)
{
	struct thread *p;

	if (id < tr->n_threads)
		return &tr->threads[id];
	p = realloc(tr->threads, ((size_t)id + 1) * sizeof(*p));
	if (!p) {
		tr->is_failed = true;
		return NULL;
	}
	tr->threads = p;
	for (; tr->n_threads <= id; tr->n_threads++)
		p[tr->n_threads] = (struct thread){ .id = tr->n_threads };
	return &p[id];
}

/* -------------------------------------------------------------------------------------------------- stacks
 */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Whose address space a stack at @sp is in. */
static uint64_t space_of(const struct ts_call_tracker *tr, uint64_t sp)
{
	bool is_kernel = sp >> (tr->arch->addr_bits - 1) & 1;

	return is_kernel ? 0 : tr->space;
}

/* Would the stack pointer stand in a frame of the stack, if it came to @to? */
static bool is_frame(const struct ts_call_tracker *tr, const struct stack *s, uint64_t to)
{
	uint64_t ended = 0;
	bool has_ended = false;

	for (uint32_t i = s->n; i-- > 0 && s->calls[i].slot < to + tr->is_link; has_ended = true)
		ended = s->calls[i].slot;
	return !has_ended || to - ended <= MAX_ARGUMENTS + tr->word;
}

/* May the move to @to stay on the current stack? */
static bool is_own(const struct ts_call_tracker *tr, const struct thread *t, const struct stack *s,
		   uint64_t to)
{
	uint64_t innermost = s->n ? s->calls[s->n - 1].slot : UINT64_MAX;

	if (space_of(tr, to) != s->space)
		return false;
	if (to < t->at)
		return t->at - to <= MAX_FRAME_DOWN && !t->is_loaded;
	if (to > innermost)
		return is_frame(tr, s, to);
	return to <= s->high || to - t->at <= MAX_FRAME_UP;
}

/* The stack that was left at @to, or about there; UINT32_MAX if none was. */
static uint32_t find_left(const struct ts_call_tracker *tr, const struct thread *t, uint64_t to)
{
	uint64_t space = space_of(tr, to), best = MAX_RESUME + 1;
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < t->n_stacks; i++) {
		const struct stack *s = &t->stacks[i];

		if (i != t->current && s->space == space && distance(s->left, to) < best) {
			best = distance(s->left, to);
			found = i;
		}
	}
	return found;
}

/* The smallest stack in which @to lies, and may be a frame; UINT32_MAX if there is none. */
static uint32_t find_around(const struct ts_call_tracker *tr, const struct thread *t, uint64_t to)
{
	uint64_t space = space_of(tr, to), best = UINT64_MAX;
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < t->n_stacks; i++) {
		const struct stack *s = &t->stacks[i];

		if (i != t->current && s->space == space && s->low <= to && to <= s->high &&
		    s->high - s->low < best && is_frame(tr, s, to)) {
			best = s->high - s->low;
			found = i;
		}
	}
	return found;
}

/* A short move passed the barrier: the thread is on the stack whose call that is after all. */
static uint32_t find_passed(const struct thread *t)
{
	for (uint32_t i = 0; i < t->n_stacks; i++) {
		const struct stack *s = &t->stacks[i];

		if (i != t->current && s->n && s->calls[s->n - 1].slot == t->barrier)
			return i;
	}
	return t->current;
}

static void forget_calls(struct thread *t, struct stack *s);

/* A new stack, in place of the one that was left first if there are too many. */
static uint32_t add_stack(struct ts_call_tracker *tr, struct thread *t, uint64_t to)
{
	uint32_t at = t->n_stacks;

	if (at == TS_MAX_STACKS) {
		at = t->current ? 0 : 1;
		for (uint32_t i = 0; i < t->n_stacks; i++) {
			if (i != t->current && t->stacks[i].used < t->stacks[at].used)
				at = i;
		}
		forget_calls(t, &t->stacks[at]);
	} else if (at == t->cap_stacks) {
		uint32_t cap = t->cap_stacks ? t->cap_stacks * 2 : 4;
		struct stack *p = realloc(t->stacks, cap * sizeof(*p));

		if (!p) {
			tr->is_failed = true;
			return t->current;
		}
		t->stacks = p;
		t->cap_stacks = cap;
	}
	if (at == t->n_stacks)
		t->stacks[t->n_stacks++] = (struct stack){ 0 };
	t->stacks[at].low = t->stacks[at].high = to;
	t->stacks[at].space = space_of(tr, to);
	return at;
}

/* The lowest slot of another stack's innermost call above the stack pointer. */
static void find_barrier(struct thread *t)
{
	t->barrier = UINT64_MAX;
	for (uint32_t i = 0; i < t->n_stacks; i++) {
		const struct stack *s = &t->stacks[i];
		uint64_t slot = s->n ? s->calls[s->n - 1].slot : 0;

		if (i != t->current && s->n && s->space == t->stacks[t->current].space && slot >= t->sp &&
		    slot < t->barrier)
			t->barrier = slot;
	}
}

/* From the step before @pos on the thread is on the stack @to. */
static void switch_stack(struct ts_call_tracker *tr, struct thread *t, uint32_t to, uint64_t pos)
{
	struct stack *s = &t->stacks[t->current], *new = &t->stacks[to];
	const struct ts_call note = {
		.pos = pos - 1,
		.thread = t->id,
		.parent = new->n ? new->calls[new->n - 1].ordinal : TS_NO_CALL,
		.depth = new->n + 1,
		.kind = TS_CALL_SWITCH,
	};

	s->left = t->at;
	s->used = ++tr->clock;
	t->current = to;
	find_barrier(t);
	if (pos && ts_calls_add(tr->out, &note) == TS_NO_CALL)
		tr->is_failed = true;
}

/* The stack pointer made a long way. */
static void move_far(struct ts_call_tracker *tr, struct thread *t, uint64_t pos)
{
	uint32_t to = find_left(tr, t, t->sp);

	if (to == UINT32_MAX && is_own(tr, t, &t->stacks[t->current], t->sp))
		return;
	if (to == UINT32_MAX)
		to = find_around(tr, t, t->sp);
	if (to == UINT32_MAX)
		to = add_stack(tr, t, t->sp);
	if (to != t->current)
		switch_stack(tr, t, to, pos);
}

/* The stack pointer moved; from position @pos on it is t->sp. */
static void move(struct ts_call_tracker *tr, struct thread *t, uint64_t pos)
{
	struct stack *s;

	if (!t->n_stacks)
		t->current = add_stack(tr, t, t->sp);
	else if (distance(t->sp, t->at) > NEAR)
		move_far(tr, t, pos);
	else if (t->sp > t->at && t->sp > t->barrier)
		switch_stack(tr, t, find_passed(t), pos);
	if (tr->is_failed)
		return;
	s = &t->stacks[t->current];
	if (t->sp < s->low)
		s->low = t->sp;
	if (t->sp > s->high)
		s->high = t->sp;
	t->at = t->sp;
}

/* --------------------------------------------------------------------------------------------------- calls
 */

static uint8_t *filter_of(const struct thread *t, uint64_t pc)
{
	return &t->filter[(pc >> 1 ^ pc >> 11) % N_FILTER];
}

/* Counts stay where they are once they are too large to count. */
static void leave_filter(struct thread *t, const struct open_call *x)
{
	if (t->filter && *filter_of(t, x->ret) != UINT8_MAX)
		--*filter_of(t, x->ret);
}

static void forget_calls(struct thread *t, struct stack *s)
{
	while (s->n)
		leave_filter(t, &s->calls[--s->n]);
}

/* The calls of the stack from the @first-th on end at position @pos, where control is at @pc. */
static void end_calls(struct ts_call_tracker *tr, struct thread *t, struct stack *s, uint32_t first,
		      uint64_t pos, uint64_t pc, bool has_pc)
{
	while (s->n > first) {
		const struct open_call *x = &s->calls[--s->n];
		bool is_return = has_pc && pc == x->ret;

		leave_filter(t, x);
		if (!ts_calls_end(tr->out, t->id, x->ordinal, pos,
				  is_return ? TS_CALL_RETURN : TS_CALL_UNWOUND))
			tr->is_failed = true;
	}
}

/* End what is over at position @pos. */
static void end_by_stack(struct ts_call_tracker *tr, struct thread *t, uint64_t pos, uint64_t pc, bool has_pc)
{
	struct stack *s = &t->stacks[t->current];
	uint32_t first = s->n;

	while (first && s->calls[first - 1].slot < t->at)
		first--;
	end_calls(tr, t, s, first, pos, pc, has_pc);
}

static void end_by_address(struct ts_call_tracker *tr, struct thread *t, uint64_t pos, uint64_t pc)
{
	struct stack *s = &t->stacks[t->current];
	uint32_t first = s->n;

	for (uint32_t i = s->n; i-- > 0 && s->calls[i].least <= t->at;) {
		if (s->calls[i].ret == pc && s->calls[i].slot <= t->at)
			first = i;
	}
	end_calls(tr, t, s, first, pos, pc, true);
}

/* The call that may be is one: control went to @target. */
static void open_call(struct ts_call_tracker *tr, struct thread *t, uint64_t target)
{
	struct stack *s = &t->stacks[t->current];
	const struct open_call *outer = s->n ? &s->calls[s->n - 1] : NULL;
	const struct ts_call call = {
		.pos = t->call_pos,
		.pc = t->call_pc,
		.target = target,
		.thread = t->id,
		.parent = outer ? outer->ordinal : TS_NO_CALL,
		.depth = s->n + 1,
	};
	struct open_call x = { .slot = t->call_slot, .ret = t->call_ret, .least = t->call_slot };

	if (outer && outer->least < x.least)
		x.least = outer->least;
	if (s->n == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 16;
		struct open_call *p = realloc(s->calls, cap * sizeof(*p));

		if (!p) {
			tr->is_failed = true;
			return;
		}
		s->calls = p;
		s->cap = cap;
	}
	x.ordinal = ts_calls_add(tr->out, &call);
	if (x.ordinal == TS_NO_CALL) {
		tr->is_failed = true;
		return;
	}
	s->calls[s->n++] = x;
	if (tr->is_link && !t->filter)
		t->filter = calloc(N_FILTER, 1);
	if (tr->is_link && !t->filter)
		tr->is_failed = true;
	else if (tr->is_link && *filter_of(t, x.ret) != UINT8_MAX)
		++*filter_of(t, x.ret);
}

/* A step that may have been a call, and where control is after it (and its delay slot). */
static void settle_call(struct ts_call_tracker *tr, struct thread *t, uint64_t pc)
{
	if (tr->arch->has_delay_slots && !t->is_in_slot && pc == t->call_fall) {
		t->is_in_slot = true;
		return;
	}
	t->todo &= ~(unsigned)TODO_CALL;
	t->is_in_slot = false;
	if (pc != t->call_ret)
		open_call(tr, t, pc);
}

/* The thread is at @pc after its last step: what that step did is settled. */
static void settle(struct ts_call_tracker *tr, struct thread *t, uint64_t pc, bool has_pc)
{
	uint64_t pos = t->pos + 1;

	if (t->todo & TODO_MOVE) {
		t->todo &= ~(unsigned)TODO_MOVE;
		move(tr, t, pos);
		if (!tr->is_link && !tr->is_failed)
			end_by_stack(tr, t, pos, pc, has_pc);
	}
	if (tr->is_failed || !t->n_stacks)
		return;
	if (t->filter && has_pc && *filter_of(t, pc))
		end_by_address(tr, t, pos, pc);
	if (t->todo & TODO_CALL && has_pc)
		settle_call(tr, t, pc);
}

/* --------------------------------------------------------------------------------------------------- steps
 */

/* Registers [addr, addr + len) are now the data (NULL: unknown): those of them that are @reg. */
static bool take_reg(const struct ts_call_tracker *tr, struct range reg, const struct ts_effect *e,
		     const uint8_t *data, uint64_t *value, bool *is_known)
{
	uint64_t lo = e->addr > reg.off ? e->addr : reg.off;
	uint64_t hi = e->addr + e->len < reg.off + reg.len ? e->addr + e->len : reg.off + reg.len;
	uint8_t bytes[8];

	if (lo >= hi)
		return false;
	if (data && hi - lo == reg.len) {
		*value = ts_arch_get(tr->arch, data + (lo - e->addr), reg.len);
		*is_known = true;
		return true;
	}
	if (!data || (hi - lo < reg.len && !*is_known)) {
		*is_known = false;
		return true;
	}
	ts_arch_put(tr->arch, bytes, reg.len, *value);
	memcpy(bytes + (lo - reg.off), data + (lo - e->addr), hi - lo);
	*value = ts_arch_get(tr->arch, bytes, reg.len);
	*is_known = true;
	return true;
}

static void take_regs(struct ts_call_tracker *tr, struct thread *t, const struct ts_effect *e,
		      const uint8_t *data)
{
	uint64_t root = 0, before = t->sp;
	bool has_root = false, had_sp = t->has_sp;

	if (!data && e->kind == TS_FX_REG_READ)
		return;
	if (take_reg(tr, tr->sp, e, data, &t->sp, &t->has_sp) && t->has_sp && (!had_sp || t->sp != before))
		t->todo |= TODO_MOVE;
	if (tr->is_link)
		take_reg(tr, tr->lr, e, data, &t->lr, &t->has_lr);
	if (tr->is_physical && take_reg(tr, tr->root, e, data, &root, &has_root) && has_root)
		tr->space = root & ~UINT64_C(0x1fff);
}

/* Does a write at @addr write at the stack pointer? */
static bool is_top(const struct ts_call_tracker *tr, const struct thread *t, uint64_t addr)
{
	return tr->is_physical ? !((addr ^ t->sp) & 0xfff) : addr == t->sp;
}

/* A write of the step: is it at the stack pointer, as that is after the step? */
static void take_top(const struct ts_call_tracker *tr, struct thread *t, const struct ts_effect *e,
		     const uint8_t *data)
{
	if (e->is_hidden || !is_top(tr, t, e->addr))
		return;
	t->top = t->sp;
	t->top_len = !data || e->len < 2 ? 0 : e->len < tr->word ? (uint8_t)e->len : tr->word;
	t->top_val = t->top_len ? ts_arch_get(tr->arch, data, t->top_len) : 0;
}

static void take_tops(const struct ts_call_tracker *tr, struct thread *t, const struct ts_steps *b,
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

/* Is @ret the address after an instruction at @pc of @len bytes, 0 if unknown? */
static bool is_behind(const struct ts_call_tracker *tr, uint64_t ret, uint64_t pc, uint16_t len)
{
	if (tr->behind)
		return ret == pc + tr->behind;
	if (len)
		return ret == ((pc + len) & tr->addr_mask);
	if (tr->arch->is_fixed_insn)
		return ret == pc + tr->arch->min_insn_len;
	return ret - pc >= 2 && ret - pc <= 15;
}

/* Does the stack's top hold the return address of a call by this step? */
static bool is_pushed(const struct ts_call_tracker *tr, const struct thread *t, const struct ts_step *s,
		      uint64_t *ret)
{
	if ((uint32_t)(t->top_val - s->pc) > UINT16_MAX) /* nearly all: no instruction is that long */
		return false;
	if (t->top != t->sp || !t->has_sp || t->top_len < 4)
		return false;
	*ret = t->top_val;
	if (is_behind(tr, *ret, s->pc, s->insn_len))
		return true;
	*ret = t->top_val & UINT32_MAX; /* 32-bit code of a 64-bit processor */
	return t->top_len == 4 && tr->word == 8 && is_behind(tr, *ret, s->pc, s->insn_len);
}

/* A call pushes one word or, to another code segment, two; an interrupt more.  @before: the stack pointer. */
static void look_for_call(struct ts_call_tracker *tr, struct thread *t, const struct ts_step *s,
			  uint64_t before)
{
	uint64_t ret;

	if (tr->is_link) {
		ret = ((t->lr & tr->link_mask) + tr->link_add) & tr->addr_mask;
		if (!t->has_lr || !t->has_sp || !is_behind(tr, ret, s->pc, s->insn_len))
			return;
	} else if (!is_pushed(tr, t, s, &ret) || (t->todo & TODO_MOVE && before - t->sp > 2u * tr->word)) {
		return;
	}
	t->todo |= TODO_CALL;
	t->is_in_slot = false;
	t->call_pos = t->pos;
	t->call_pc = s->pc;
	t->call_ret = ret;
	t->call_fall = s->pc + s->insn_len;
	t->call_slot = t->sp;
}

/* Is the event an interrupt or a fault?  What those push is no call. */
static bool is_interruption(const struct ts_event *ev)
{
	return ev->kind == TS_EV_INTERRUPT || ev->kind == TS_EV_FAULT;
}

/* Did the step read what is now its stack pointer? */
static bool is_loaded(const struct ts_call_tracker *tr, const struct thread *t, const struct ts_steps *b,
		      const struct ts_step *s)
{
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind == TS_FX_READ && data && e->len == tr->sp.len &&
		    ts_arch_get(tr->arch, data, tr->sp.len) == t->sp)
			return true;
	}
	return false;
}

/* What the step, of thread @t, did.  Returns @t, which lies elsewhere if a thread is new. */
static struct thread *take_step(struct ts_call_tracker *tr, struct thread *t, const struct ts_steps *b,
				const struct ts_step *s)
{
	const struct ts_effect *e = &b->effects[s->first], *end = e + s->n_effects, *write = NULL;
	unsigned n_writes = 0;
	uint64_t before = t->sp;
	bool had_sp = t->has_sp, is_event = false, has_others = false;

	for (; e < end; e++) {
		if (e->kind <= TS_FX_REG_READ) {
			if (__builtin_expect(e->addr < tr->high && e->addr + e->len > tr->low, 0))
				take_regs(tr, t, e, ts_effect_data(b, e));
		} else if (e->kind == TS_FX_WRITE) {
			write = e;
			n_writes++;
		} else if (e->kind == TS_FX_EVENT) {
			is_event |= is_interruption(&b->events[e->item]);
		} else if (e->kind == TS_FX_THREAD) {
			t = thread_of(tr, e->item);
			has_others = true;
			if (!t)
				break;
		}
	}
	if (__builtin_expect(has_others, 0))
		t = &tr->threads[s->thread];
	if (!tr->is_link && n_writes == 1)
		take_top(tr, t, write, ts_effect_data(b, write));
	else if (!tr->is_link && n_writes)
		take_tops(tr, t, b, s);
	if (t->todo & TODO_MOVE)
		t->is_loaded = distance(t->sp, before) > NEAR && is_loaded(tr, t, b, s);
	if (!is_event)
		look_for_call(tr, t, s, had_sp ? before : t->sp);
	return t;
}

bool ts_call_tracker_start(struct ts_call_tracker *tr, const struct ts_steps *initial)
{
	struct thread *t = thread_of(tr, 0);

	for (uint32_t i = 0; t && i < initial->n_effects; i++) {
		const struct ts_effect *e = &initial->effects[i];

		if (e->kind == TS_FX_THREAD)
			t = thread_of(tr, e->item);
		else if (e->kind <= TS_FX_REG_READ)
			take_regs(tr, t, e, ts_effect_data(initial, e));
	}
	for (uint32_t i = 0; i < tr->n_threads && !tr->is_failed; i++) {
		if (tr->threads[i].todo & TODO_MOVE)
			move(tr, &tr->threads[i], 0);
		tr->threads[i].todo = 0;
	}
	return !tr->is_failed;
}

bool ts_call_tracker_take(struct ts_call_tracker *tr, uint64_t pos, const struct ts_steps *steps)
{
	struct thread *t = NULL;

	if (!tr->sp.len)
		return true; /* no stack, no calls */
	for (uint32_t i = 0; i < steps->n_steps && !tr->is_failed; i++) {
		const struct ts_step *s = &steps->steps[i];

		if (!t || t->id != s->thread)
			t = thread_of(tr, s->thread);
		if (!t)
			return false;
		if (t->todo || (t->filter && *filter_of(t, s->pc)))
			settle(tr, t, s->pc, true);
		t->pos = pos + i;
		tr->last = s->thread;
		t = take_step(tr, t, steps, s);
	}
	return !tr->is_failed;
}

bool ts_call_tracker_end(struct ts_call_tracker *tr, uint64_t end_pc)
{
	for (uint32_t i = 0; i < tr->n_threads && !tr->is_failed; i++)
		settle(tr, &tr->threads[i], end_pc, i == tr->last);
	return !tr->is_failed;
}

/* -------------------------------------------------------------------------------------------- index files */

/* As in index files, followed by as many threads, stacks and open calls, in their order. */
struct saved_tracker {
	uint64_t space, clock;
	uint32_t n_threads, last;
};

struct saved_thread {
	uint64_t sp, lr, at, top, top_val, pos;
	uint64_t call_pos, call_pc, call_ret, call_slot, call_fall;
	uint32_t todo, flags, n_stacks, current;
};

enum {
	HAS_SP = 1,
	HAS_LR = 2,
	IS_LOADED = 4,
	IS_IN_SLOT = 8,
	TOP_LEN_SHIFT = 4,
};

struct saved_stack {
	uint64_t low, high, left, space, used;
	uint32_t n, unused;
};

static struct saved_thread save_thread(const struct thread *t)
{
	return (struct saved_thread){
		.sp = t->sp,
		.lr = t->lr,
		.at = t->at,
		.top = t->top,
		.top_val = t->top_val,
		.pos = t->pos,
		.call_pos = t->call_pos,
		.call_pc = t->call_pc,
		.call_ret = t->call_ret,
		.call_slot = t->call_slot,
		.call_fall = t->call_fall,
		.todo = t->todo,
		.flags = (t->has_sp ? HAS_SP : 0) | (t->has_lr ? HAS_LR : 0) |
			 (t->is_loaded ? IS_LOADED : 0) | (t->is_in_slot ? IS_IN_SLOT : 0) |
			 (uint32_t)t->top_len << TOP_LEN_SHIFT,
		.n_stacks = t->n_stacks,
		.current = t->current,
	};
}

static void put_items(struct ts_index_file *f, const struct ts_buf *b, size_t item_len)
{
	ts_index_put(f, b->data, b->len / item_len, item_len);
}

void ts_call_tracker_save(const struct ts_call_tracker *tr, struct ts_index_file *f)
{
	const struct saved_tracker head = { tr->space, tr->clock, tr->n_threads, tr->last };
	struct ts_buf threads, stacks, calls;

	ts_buf_init(&threads);
	ts_buf_init(&stacks);
	ts_buf_init(&calls);
	for (uint32_t i = 0; i < tr->n_threads; i++) {
		const struct thread *t = &tr->threads[i];
		const struct saved_thread saved = save_thread(t);

		ts_buf_put(&threads, &saved, sizeof(saved));
		for (uint32_t j = 0; j < t->n_stacks; j++) {
			const struct stack *s = &t->stacks[j];
			const struct saved_stack st = {
				s->low, s->high, s->left, s->space, s->used, s->n, 0
			};

			ts_buf_put(&stacks, &st, sizeof(st));
			ts_buf_put(&calls, s->calls, s->n * sizeof(*s->calls));
		}
	}
	ts_index_put(f, &head, 1, sizeof(head));
	put_items(f, &threads, sizeof(struct saved_thread)); /* without memory too few: load() sees it */
	put_items(f, &stacks, sizeof(struct saved_stack));
	put_items(f, &calls, sizeof(struct open_call));
	ts_buf_fini(&threads);
	ts_buf_fini(&stacks);
	ts_buf_fini(&calls);
}

/* What is left of the arrays. */
struct saved {
	const struct saved_stack *stacks;
	const struct open_call *calls;
	size_t n_stacks, n_calls;
};

static bool load_stack(struct ts_call_tracker *tr, struct thread *t, struct stack *s, struct saved *in)
{
	const struct saved_stack *st = in->stacks;

	if (!in->n_stacks || st->n > in->n_calls)
		return false;
	*s = (struct stack){ st->low, st->high, st->left, st->space, st->used, NULL, st->n, st->n };
	s->calls = malloc((st->n + 1) * sizeof(*s->calls));
	if (!s->calls) {
		s->n = s->cap = 0;
		return false;
	}
	if (st->n)
		memcpy(s->calls, in->calls, st->n * sizeof(*s->calls));
	for (uint32_t i = 0; i < st->n; i++) {
		if (s->calls[i].ordinal >= ts_calls_n(tr->out, t->id))
			return false;
		if (t->filter && *filter_of(t, s->calls[i].ret) != UINT8_MAX)
			++*filter_of(t, s->calls[i].ret);
	}
	in->stacks++;
	in->n_stacks--;
	in->calls += st->n;
	in->n_calls -= st->n;
	return true;
}

static bool load_thread(struct ts_call_tracker *tr, struct thread *t, const struct saved_thread *x,
			struct saved *in)
{
	if (x->n_stacks > in->n_stacks || x->n_stacks > TS_MAX_STACKS ||
	    (x->n_stacks && x->current >= x->n_stacks))
		return false;
	t->sp = x->sp, t->lr = x->lr, t->at = x->at, t->top = x->top, t->top_val = x->top_val,
	t->pos = x->pos;
	t->call_pos = x->call_pos, t->call_pc = x->call_pc, t->call_ret = x->call_ret;
	t->call_slot = x->call_slot, t->call_fall = x->call_fall;
	t->todo = x->todo & (TODO_MOVE | TODO_CALL);
	t->has_sp = x->flags & HAS_SP;
	t->has_lr = x->flags & HAS_LR;
	t->is_loaded = x->flags & IS_LOADED;
	t->is_in_slot = x->flags & IS_IN_SLOT;
	t->top_len = x->flags >> TOP_LEN_SHIFT & 15;
	t->current = x->current;
	t->stacks = calloc(x->n_stacks + 1, sizeof(*t->stacks));
	t->filter = tr->is_link ? calloc(N_FILTER, 1) : NULL;
	if (!t->stacks || (tr->is_link && !t->filter))
		return false;
	t->cap_stacks = x->n_stacks + 1;
	for (; t->n_stacks < x->n_stacks; t->n_stacks++) {
		if (!load_stack(tr, t, &t->stacks[t->n_stacks], in)) {
			t->n_stacks++; /* to be freed */
			return false;
		}
	}
	find_barrier(t);
	return true;
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
	if (a->is_bad)
		return false;
	drop_threads(tr);
	tr->space = head->space;
	tr->clock = head->clock;
	tr->last = head->last;
	if (head->n_threads && !thread_of(tr, head->n_threads - 1))
		return false;
	for (uint32_t i = 0; i < head->n_threads; i++) {
		if (!load_thread(tr, &tr->threads[i], &threads[i], &in))
			return false;
	}
	return true;
}
