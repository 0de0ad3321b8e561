/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"
#include "writes.h"

/* Orders after those of all operands. */
#define ADDRESS_ORDER 100u

/* A step whose sources are looked for. */
struct work {
	struct ts_sources *out;
	struct ts_query *q;
	uint64_t pos;
	uint32_t thread, process;
	const struct ts_decoded *d;
	const struct ts_location *loc;
	struct ts_op_state state;
	uint64_t addr[TS_MAX_OP_MEM]; /* of memory operands, from registers and the recording */
	bool has_addr[TS_MAX_OP_MEM];
	bool is_used[TS_MAX_OP_MEM];  /* it takes part */
	uint64_t n_turns;             /* of a repeated instruction */
	bool is_down;                 /* it goes from higher to lower addresses */
	bool has_zero, with_addresses;
	uint64_t selected;            /* bytes of the location that are one of a table each, by the selector that is next */
};

/* ------------------------------------------------------------------------------------------------- the list */

static struct ts_made_of *add(struct work *w, enum ts_source_kind kind, unsigned order)
{
	struct ts_sources *s = w->out;

	if (s->n == TS_MAX_SOURCES) {
		s->is_truncated = true;
		return NULL;
	}
	s->items[s->n] = (struct ts_made_of){ .kind = kind, .order = (uint8_t)order };
	return &s->items[s->n++];
}

/* Join it to a source of the same operand that lies near. */
static bool join(struct work *w, const struct ts_location *loc, unsigned order, bool is_copy)
{
	for (unsigned i = 0; i < w->out->n; i++) {
		struct ts_made_of *s = &w->out->items[i];
		uint64_t base, top;

		if (s->kind != TS_FROM_PLACE || s->order != order || s->loc.kind != loc->kind ||
		    s->is_copy != is_copy)
			continue;
		if (loc->kind == TS_IN_FLAGS) {
			s->loc.mask |= loc->mask;
			return true;
		}
		base = s->loc.base < loc->base ? s->loc.base : loc->base;
		top = s->loc.base + 63 - (unsigned)__builtin_clzll(s->loc.mask);
		if (loc->base + 63 - (unsigned)__builtin_clzll(loc->mask) > top)
			top = loc->base + 63 - (unsigned)__builtin_clzll(loc->mask);
		if (top - base >= 32)
			continue;
		s->loc.mask = s->loc.mask << (s->loc.base - base) | loc->mask << (loc->base - base);
		s->loc.base = base;
		return true;
	}
	return false;
}

static void add_place(struct work *w, struct ts_location loc, unsigned order, bool is_copy)
{
	struct ts_made_of *s;

	if (!loc.mask)
		return;
	if (loc.kind != TS_IN_FLAGS) {
		unsigned low = (unsigned)__builtin_ctzll(loc.mask);

		loc.base += low;
		loc.mask >>= low;
	}
	if (join(w, &loc, order, is_copy))
		return;
	s = add(w, TS_FROM_PLACE, order);
	if (s) {
		s->loc = loc;
		s->is_copy = is_copy;
	}
}

/* Bytes [@first, @first + @len) of memory or registers, in pieces. */
static void add_range(struct work *w, enum ts_location_kind kind, uint64_t first, uint64_t len, unsigned order)
{
	for (uint64_t n; len; first += n, len -= n) {
		struct ts_location loc = { .kind = kind, .base = first };

		n = len < 32 ? len : 32;
		loc.owner = kind == TS_IN_MEMORY ? w->process : w->thread;
		loc.mask = ts_mask(0, n);
		add_place(w, loc, order, false);
	}
}

static void add_constant(struct work *w, uint64_t constant, unsigned order)
{
	struct ts_made_of *s;

	for (unsigned i = 0; i < w->out->n; i++) {
		if (w->out->items[i].kind == TS_FROM_CONSTANT && w->out->items[i].constant == constant &&
		    w->out->items[i].order == order)
			return;
	}
	s = add(w, TS_FROM_CONSTANT, order);
	if (s)
		s->constant = constant;
}

static void add_other(struct work *w, enum ts_source_kind kind, unsigned order)
{
	for (unsigned i = 0; i < w->out->n; i++) {
		if (w->out->items[i].kind == kind)
			return;
	}
	add(w, kind, order);
}

/* ------------------------------------------------------------------------------------------------ addresses */

/*
 * Find the address of the recorded access of @len bytes.  Returns false if none is found, or more than one.
 */
static bool find_recorded(struct work *w, unsigned len, bool is_write, uint64_t *addr, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(w->q, w->pos, &b, err);
	unsigned n = 0;

	for (uint32_t i = 0; st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD || ts_query_facts(w->q)->is_physical)
			break;
		if (!ts_effect_is_access(e, is_write) || e->len != len ||
		    (!is_write && st->pc - e->addr < e->len))
			continue;
		n += !n || e->addr != *addr;
		*addr = e->addr;
	}
	return n == 1;
}

/* Does an operand whose address is known cover the bytes? */
static bool is_placed(const struct work *w, const struct ts_effect *e)
{
	for (unsigned i = 0; i < w->d->ops.n_mem; i++) {
		if (w->has_addr[i] && e->addr - w->addr[i] < w->d->ops.mem[i].size)
			return true;
	}
	return false;
}

/*
 * Add a memory operand whose address does not follow from registers, such as the elements that a gather
 * reads.  It is the memory in the recorded reads of the step that no other operand covers; without recorded
 * reads it is unknown.
 */
static void add_unplaced(struct work *w, unsigned order)
{
	const struct ts_steps *b;
	struct ts_error err = { 0 };
	bool is_physical = ts_query_facts(w->q)->is_physical;
	const struct ts_step *st = is_physical ? NULL : ts_query_step(w->q, w->pos, &b, &err);
	bool has_any = false;

	for (uint32_t i = 0; st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind != TS_FX_READ || e->is_hidden || st->pc - e->addr < e->len || is_placed(w, e))
			continue;
		add_range(w, TS_IN_MEMORY, e->addr, e->len, order);
		has_any = true;
	}
	if (!has_any)
		add_other(w, TS_FROM_UNKNOWN, order);
}

static void find_addresses(struct work *w, struct ts_error *err)
{
	const struct ts_operands *ops = &w->d->ops;

	for (unsigned i = 0; i < ops->n_mem; i++) {
		bool is_write = false;

		for (unsigned k = 0; k < ops->n; k++)
			is_write |= ops->transfers[k].to.kind == TS_AT_MEM && ops->transfers[k].to.mem == i;
		w->has_addr[i] = ts_operands_addr(ops, i, &w->state, &w->addr[i]);
		if (!w->has_addr[i])
			w->has_addr[i] = find_recorded(w, ops->mem[i].size, is_write, &w->addr[i], err);
	}
}

/* How often a repeated instruction ran in this step: by how much the count went down. */
static bool count_turns(struct work *w, struct ts_error *err)
{
	const struct ts_operands *ops = &w->d->ops;
	const struct ts_regset *set = ts_query_regset(w->q);
	struct ts_op_state after;
	uint64_t before;
	unsigned len = ops->cond_len < 8 ? ops->cond_len : 8;

	w->n_turns = 1;
	if (!ops->is_repeated)
		return true;
	before = ts_arch_get(set->arch, w->state.g + ops->cond_off, len);
	if (memchr(w->state.known + ops->cond_off, 0, len))
		return true;
	w->is_down = w->state.flags_off != TS_NO_OFF16 && w->state.known[w->state.flags_off + 1] &&
		     w->state.g[w->state.flags_off + 1] >> 2 & 1;
	if (!ts_query_op_state(w->q, w->pos + 1, w->thread, &after, err))
		return false;
	if (!memchr(after.known + ops->cond_off, 0, len))
		w->n_turns = before - ts_arch_get(set->arch, after.g + ops->cond_off, len);
	if (!w->n_turns || w->n_turns > before)
		w->n_turns = 1;
	return ts_query_op_state(w->q, w->pos, w->thread, &w->state, err);
}

/* ---------------------------------------------------------------------------------------- from one transfer */

/* Which bytes of the location the destination has; *start gets the first byte of the destination. */
static uint64_t find_written(const struct work *w, const struct ts_transfer *t, uint64_t *start)
{
	const struct ts_op_place *to = &t->to;
	uint64_t len = to->len;

	*start = 0;
	if (w->loc->kind == TS_IN_PC)
		return to->kind == TS_AT_PC ? w->loc->mask : 0;
	if (w->loc->kind == TS_IN_FLAGS)
		return to->kind == TS_AT_FLAGS ? w->loc->mask & to->flags : 0;
	if (w->loc->kind == TS_IN_REGS) {
		*start = to->off;
		return to->kind == TS_AT_REG ? ts_location_overlap(w->loc, to->off, to->len) : 0;
	}
	if (to->kind != TS_AT_MEM)
		return 0;
	if (!w->has_addr[to->mem])
		return w->loc->mask; /* its address is unknown: it may have written there */
	*start = w->addr[to->mem] + to->off;
	if (w->d->ops.is_repeated)
		return w->loc->mask;
	return ts_location_overlap(w->loc, *start, len);
}

/* Source bytes: @mask of the destination's bytes from @first on, and the source's byte for the first of these. */
static void add_bytes(struct work *w, const struct ts_transfer *t, uint64_t first, uint64_t mask, bool is_copy)
{
	struct ts_location loc = { .owner = w->thread, .kind = TS_IN_REGS, .base = t->from.off + first, .mask = mask };

	if (t->from.kind == TS_AT_MEM) {
		w->is_used[t->from.mem] = true;
		if (!w->has_addr[t->from.mem]) {
			add_unplaced(w, t->order);
			return;
		}
		loc.kind = TS_IN_MEMORY;
		loc.owner = w->process;
		loc.base += w->addr[t->from.mem];
	}
	add_place(w, loc, t->order, is_copy);
}

static void add_whole(struct work *w, const struct ts_transfer *t)
{
	const struct ts_op_place *from = &t->from;
	uint64_t size;

	if (from->kind == TS_AT_FLAGS) {
		add_place(w, (struct ts_location){ TS_IN_FLAGS, w->thread, 0, from->flags }, t->order, false);
	} else if (from->kind == TS_AT_REG) {
		add_range(w, TS_IN_REGS, from->off, from->len, t->order);
	} else if (from->kind == TS_AT_MEM && w->has_addr[from->mem]) {
		w->is_used[from->mem] = true;
		size = w->d->ops.mem[from->mem].size;
		if (w->d->ops.is_repeated)
			add_range(w, TS_IN_MEMORY,
				  w->addr[from->mem] - (w->is_down ? (w->n_turns - 1) * size : 0),
				  w->n_turns * size, t->order);
		else
			add_range(w, TS_IN_MEMORY, w->addr[from->mem] + from->off, from->len, t->order);
	} else if (from->kind == TS_AT_MEM) {
		w->is_used[from->mem] = true;
		add_unplaced(w, t->order);
	} else {
		add_other(w, TS_FROM_UNKNOWN, t->order);
	}
}

/* A string that was moved: a byte came from as far from its source as it is from the destination. */
static void add_string_byte(struct work *w, const struct ts_transfer *t, uint64_t addr)
{
	uint64_t to = w->addr[t->to.mem], size = w->d->ops.mem[t->to.mem].size;
	uint64_t at = addr - to, from, back;

	if (t->from.kind != TS_AT_MEM) { /* stos */
		struct ts_location loc = { TS_IN_REGS, w->thread, t->from.off + (at & (size - 1)), 1 };

		add_place(w, loc, t->order, true);
		return;
	}
	if (!w->has_addr[t->from.mem]) {
		add_other(w, TS_FROM_UNKNOWN, t->order);
		return;
	}
	from = w->addr[t->from.mem];
	back = to - from;
	w->is_used[t->from.mem] = true;
	/* what the instruction wrote in an earlier turn came from its own source */
	if (!w->is_down && back && back < w->n_turns * size && at >= back && back >= size)
		at %= back;
	add_place(w, (struct ts_location){ TS_IN_MEMORY, w->process, from + at, 1 }, t->order, true);
}

static uint64_t lanes_of(uint64_t mask, unsigned unit, unsigned len)
{
	uint64_t lanes = 0;

	for (unsigned i = 0; i < 64 && i < len; i++) {
		if (mask >> i & 1)
			lanes |= ts_mask(i / unit * unit, unit);
	}
	return lanes & ts_mask(0, len);
}

static void add_part(struct work *w, const struct ts_transfer *t, uint64_t first, uint64_t mask)
{
	unsigned len = 64 - (unsigned)__builtin_clzll(mask);
	uint64_t value = t->unit + first < 8 ? t->constant >> 8 * (t->unit + first) : 0;

	if (t->to.kind == TS_AT_REG && ts_query_regset(w->q)->arch->is_big_endian)
		value = t->constant; /* bytes count from the other end: the constant as a whole */
	else if (len < 8)
		value &= UINT64_MAX >> (64 - 8 * len);
	add_constant(w, value, t->order);
}

static void add_moved(struct work *w, const struct ts_transfer *t, uint64_t start, uint64_t written)
{
	unsigned low = (unsigned)__builtin_ctzll(written);
	uint64_t first = w->loc->base + low - start, mask = written >> low; /* bytes of the destination */

	switch ((enum ts_way)t->way) {
	case TS_WAY_COPY: add_bytes(w, t, first, mask, true); break;
	case TS_WAY_PART: add_part(w, t, first, mask); break;
	case TS_WAY_REVERSE:
		for (unsigned i = 0; i < 64 && i + first < t->from.len; i++) {
			if (mask >> i & 1)
				add_bytes(w, t, t->from.len - 1 - (first + i), 1, true);
		}
		break;
	default:
		add_bytes(w, t, 0, lanes_of(first < 64 ? mask << first : 0, t->unit ? t->unit : 1, t->from.len), false);
		break;
	}
}

/* ---------------------------------------------------------------------------------------- bytes of a table */

/* The lowest byte of the selector's element for byte @i of the destination.  Returns false if it is not known. */
static bool find_selector(const struct work *w, const struct ts_transfer *selector, unsigned i, uint8_t *value)
{
	const struct ts_op_place *from = &selector->from;
	unsigned at = i / selector->unit * selector->unit;
	struct ts_error ignored = { 0 };
	uint8_t known = 0;

	if (from->kind == TS_AT_REG) {
		*value = w->state.g[from->off + at];
		return w->state.known[from->off + at];
	}
	return from->kind == TS_AT_MEM && w->has_addr[from->mem] &&
	       ts_virtual_mem(w->q, w->pos, w->process, w->addr[from->mem] + from->off + at, 1, value, &known, &ignored) && known;
}

/* A part of the table: the bytes that the selector names. */
static void take_table(struct work *w, const struct ts_transfer *t)
{
	const struct ts_transfer *selector = t;
	uint64_t start, written = find_written(w, t, &start);
	uint8_t value;

	while (selector->way != TS_WAY_SELECTOR)
		selector++;
	for (; written; written &= written - 1) {
		unsigned low = (unsigned)__builtin_ctzll(written), i = (unsigned)(w->loc->base + low - start), at;

		if (!find_selector(w, selector, i, &value)) {
			add_whole(w, t);
			continue;
		}
		at = ts_operands_selected(t, i, value);
		if (at == t->from.len)
			continue;
		w->selected |= UINT64_C(1) << low;
		add_bytes(w, t, at, 1, true);
	}
}

/* The selector is to a byte that it selected what an address is; one that is zero, or unknown, is made of it. */
static void take_selector(struct work *w, const struct ts_transfer *t)
{
	uint64_t start, written = find_written(w, t, &start);
	struct ts_transfer address = *t;

	address.order = ADDRESS_ORDER;
	for (; written; written &= written - 1) {
		unsigned low = (unsigned)__builtin_ctzll(written), i = (unsigned)(w->loc->base + low - start);
		bool is_address = w->selected >> low & 1;

		if (!is_address || w->with_addresses)
			add_bytes(w, is_address ? &address : t, i / t->unit * t->unit, 1, false);
	}
}

static void take_transfer(struct work *w, const struct ts_transfer *t)
{
	uint64_t start, written = find_written(w, t, &start);
	bool is_exact = w->loc->kind == TS_IN_REGS || w->loc->kind == TS_IN_MEMORY;

	if (!written)
		return;
	if (t->to.kind == TS_AT_MEM)
		w->is_used[t->to.mem] = true;
	switch ((enum ts_way)t->way) {
	case TS_WAY_CONSTANT: add_constant(w, t->constant, t->order); return;
	case TS_WAY_ZERO: w->has_zero = true; return;
	case TS_WAY_PROCESSOR: add_other(w, TS_FROM_PROCESSOR, t->order); return;
	case TS_WAY_SYSTEM:
	case TS_WAY_SYSCALL: add_other(w, TS_FROM_SYSTEM, t->order); return;
	case TS_WAY_UNKNOWN: add_unplaced(w, t->order); return;
	case TS_WAY_MIX: add_whole(w, t); return;
	case TS_WAY_SELECT: take_table(w, t); return;
	case TS_WAY_SELECTOR: take_selector(w, t); return;
	default: break;
	}
	if (!is_exact || (t->to.kind == TS_AT_MEM && !w->has_addr[t->to.mem])) {
		if (t->way == TS_WAY_PART)
			add_constant(w, t->constant, t->order);
		else
			add_whole(w, t);
	} else if (w->d->ops.is_repeated && t->to.kind == TS_AT_MEM) {
		for (unsigned i = 0; i < 64; i++) {
			if (written >> i & 1)
				add_string_byte(w, t, w->loc->base + i);
		}
	} else {
		add_moved(w, t, start, written);
	}
}

static void add_address_register(struct work *w, uint16_t off, unsigned len)
{
	if (off != TS_NO_OFF16)
		add_range(w, TS_IN_REGS, off, len, ADDRESS_ORDER);
}

static void take_addresses(struct work *w)
{
	for (unsigned i = 0; i < w->d->ops.n_mem; i++) {
		const struct ts_op_mem *m = &w->d->ops.mem[i];

		if (!w->is_used[i])
			continue;
		add_address_register(w, m->base, m->base_len);
		add_address_register(w, m->index, m->index_len);
		add_address_register(w, m->extra, m->extra_len);
	}
}

/* ------------------------------------------------------------------------------------ without an instruction */

/*
 * The bytes [*from, *from + *n) of the value that was read are those of w->loc, if the value is that of w->loc's register after
 * the step, as far as both are long.  Otherwise *n is set to 0.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_loaded(struct work *w, const uint8_t *value, uint64_t len, uint64_t *from, uint64_t *n, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(w->q);
	uint64_t first = w->loc->base + (unsigned)__builtin_ctzll(w->loc->mask),
		 end = w->loc->base + 64 - (unsigned)__builtin_clzll(w->loc->mask), common, of_reg, of_value;
	const struct ts_reg *r = w->loc->kind == TS_IN_REGS ? ts_regset_at(set, first) : NULL;
	struct ts_op_state after;

	*n = 0;
	if (!r)
		return true;
	if (!ts_query_op_state(w->q, w->pos + 1, w->thread, &after, err))
		return false;
	common = len < r->len ? len : r->len;
	of_reg = r->off + (set->arch->is_big_endian ? r->len - common : 0);
	of_value = set->arch->is_big_endian ? len - common : 0;
	if (memchr(after.known + of_reg, 0, common) || memcmp(after.g + of_reg, value + of_value, common) != 0)
		return true;
	first = first > of_reg ? first : of_reg;
	end = end < of_reg + common ? end : of_reg + common;
	if (first < end) {
		*from = of_value + (first - of_reg);
		*n = end - first;
	}
	return true;
}

/* Add the recorded reads: each is a source of the locations that hold the same value after the step. */
static bool take_reads(struct work *w, struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(w->q, w->pos, &b, err);

	for (uint32_t i = 0; st && i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		const uint8_t *value = ts_effect_data(b, e);
		uint8_t copy[16];
		uint64_t from, n;

		if (e->kind == TS_FX_THREAD)
			break;
		if (e->kind != TS_FX_READ || e->is_hidden || !value || e->len > sizeof(copy) ||
		    (e->addr <= st->pc && st->pc - e->addr < e->len))
			continue;
		memcpy(copy, value, e->len);
		if (!find_loaded(w, copy, e->len, &from, &n, err))
			return false;
		st = ts_query_step(w->q, w->pos, &b, err);
		if (st && n)
			add_range(w, TS_IN_MEMORY, b->effects[st->first + i].addr + from, n, 0);
	}
	if (!w->out->n)
		add_other(w, TS_FROM_UNKNOWN, 0);
	return st != NULL;
}

/* Bytes that mremap(2) moved.  Returns false if the step moved none of them. */
static bool take_moved(struct work *w)
{
	struct ts_location from = *w->loc;
	struct ts_moved m;

	if (from.kind != TS_IN_MEMORY || !ts_step_moves(w->q, w->pos, &m))
		return false;
	from.mask = ts_location_overlap(&from, m.to, m.len);
	from.base += m.from - m.to;
	add_place(w, from, 0, true);
	return from.mask != 0;
}

/* ------------------------------------------------------------------------------------------------- sources */

/* In the order of the operands; sources of one operand stay as they came. */
static void put_in_order(struct ts_sources *s)
{
	for (unsigned i = 1; i < s->n; i++) {
		for (unsigned k = i; k && s->items[k].order < s->items[k - 1].order; k--) {
			struct ts_made_of x = s->items[k];

			s->items[k] = s->items[k - 1];
			s->items[k - 1] = x;
		}
	}
}

static bool selects(const struct ts_operands *ops)
{
	return ops->n > 1 && ops->transfers[0].way == TS_WAY_SELECT;
}

bool ts_sources_find(struct ts_sources *s, struct ts_query *q, uint64_t pos, const struct ts_location *loc,
		     bool with_addresses, struct ts_error *err)
{
	struct work w = { .out = s, .q = q, .pos = pos, .loc = loc, .thread = ts_query_thread(q, pos), .with_addresses = with_addresses };

	s->n = 0;
	s->is_truncated = false;
	w.process = ts_query_process(q, w.thread);
	w.d = ts_query_insn(q, pos, err);
	if (!w.d)
		return false;
	if ((!w.d->is_insn || w.d->ops.flow == TS_OP_SYSCALL) && take_moved(&w))
		return true;
	if (!w.d->is_insn)
		return take_reads(&w, err);
	if (w.d->ops.n_mem || w.d->ops.is_repeated || selects(&w.d->ops)) {
		if (!ts_query_op_state(q, pos, w.thread, &w.state, err) || !count_turns(&w, err))
			return false;
		w.d = ts_query_insn(q, pos, err);
		if (!w.d)
			return false;
		find_addresses(&w, err);
	}
	for (unsigned i = 0; i < w.d->ops.n; i++)
		take_transfer(&w, &w.d->ops.transfers[i]);
	if (with_addresses)
		take_addresses(&w);
	if (!s->n && w.has_zero)
		add_constant(&w, 0, 0);
	if (!s->n)
		add_other(&w, TS_FROM_UNKNOWN, 0);
	put_in_order(s);
	return true;
}
