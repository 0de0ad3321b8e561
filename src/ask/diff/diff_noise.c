/* SPDX-License-Identifier: MIT */
/*
 * Differences that two runs of one program have by nature: the random bytes that the system gives a program, clocks and
 * other values of the processor, process numbers; and what was made of nothing else.
 *
 * Of each byte that differs it is kept which kind of difference it is.  A step whose result differs has it from its
 * sources that differ: if each of those does so by nature, the result does, too.  Where the sources are not known, or a
 * path of execution that only one recording has wrote them, the difference is real.
 */
#include "diff_parts.h"

#include <stdlib.h>
#include <string.h>

#include "initial_stack.h"
#include "src/arch/syscall_name.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/query/paging.h"
#include "src/search/sources.h"
#include "src/search/writes.h"

/* The longest path of one recording alone, in steps, whose writes are followed. After a longer one every byte is of an unknown kind. */
#define MAX_APART (UINT64_C(1) << 20)

/* System calls whose results differ by nature. */
static const char *const varying[] = {
	"getpid",	 "gettid",  "getppid",	"getpgid",    "getpgrp",    "getsid", "set_tid_address", "clone",
	"clone3",	 "fork",    "vfork",	"wait4",      "waitid",	    "waitpid", "clock_gettime",	  "clock_gettime64",
	"gettimeofday",	 "time",    "times",	"getrandom",  "getrusage",  "sysinfo", "getcpu",
};

/* System calls that write struct stat, and which of their arguments says where. */
static const struct {
	const char *name;
	uint8_t argument;
} stats[] = { { "stat", 1 }, { "fstat", 1 }, { "lstat", 1 }, { "newfstatat", 2 }, { "fstatat", 2 } };

/* Of struct stat of 64-bit systems: the device and the number of the file are before this, times from there on. */
enum { STAT_KEPT = 16, STAT_TIMES = 72 };

/* ---------------------------------------------------------------------------------------------- the table */

static bool is_byte(const void *user, uint32_t i, const void *key)
{
	const struct ts_diff_byte *x = &((const struct ts_diff_noise *)user)->items[i], *y = key;

	return x->owner == y->owner && x->at == y->at;
}

static uint64_t hash_of_byte(const void *user, uint32_t i)
{
	const struct ts_diff_byte *x = &((const struct ts_diff_noise *)user)->items[i];

	return ts_hash(x->owner, x->at);
}

static uint32_t *find_slot(const struct ts_diff_noise *x, uint64_t owner, uint64_t at)
{
	const struct ts_diff_byte key = { .owner = owner, .at = at };

	return ts_hash_table_slot(&x->by_place, ts_hash(owner, at), is_byte, x, &key);
}

/* Registers of a thread and memory of a process, as one number each. */
static uint64_t owner_of(enum ts_location_kind kind, uint32_t owner)
{
	return (uint64_t)owner << 1 | (kind == TS_IN_MEMORY);
}

static void set_kind(struct ts_diff *d, uint64_t owner, uint64_t at, enum ts_diff_kind kind)
{
	struct ts_diff_noise *x = &d->noise;
	uint32_t *slot;

	d->is_failed |= !ts_vec_reserve(&x->items, x->n, &x->cap, 1, sizeof(*x->items)) ||
			!ts_hash_table_reserve(&x->by_place, x->n, 1, hash_of_byte, x);
	if (d->is_failed)
		return;
	slot = find_slot(x, owner, at);
	if (!*slot) {
		x->items[x->n++] = (struct ts_diff_byte){ .owner = owner, .at = at };
		*slot = (uint32_t)x->n;
	}
	x->items[*slot - 1].kind = kind;
}

static enum ts_diff_kind kind_of(const struct ts_diff_noise *x, uint64_t owner, uint64_t at)
{
	const uint32_t *slot = find_slot(x, owner, at);

	return slot && *slot ? x->items[*slot - 1].kind : TS_DIFF_UNKNOWN;
}

void ts_diff_noise_fini(struct ts_diff_noise *x)
{
	free(x->items);
	ts_hash_table_fini(&x->by_place);
	*x = (struct ts_diff_noise){ 0 };
}

/* ----------------------------------------------------------------------------------------------- position 0 */

static void add_given(struct ts_diff_noise *x, uint64_t addr, uint64_t len)
{
	if (x->n_given < TS_MAX_GIVEN)
		x->given[x->n_given++] = (struct ts_diff_range){ addr, len };
}

/*
 * What the system gave the program that differs by nature: random bytes, and the address of the kernel's own object, which it
 * chooses at random.  Valgrind leaves the latter's value, and makes its type AT_IGNORE.
 */
static void find_given(struct ts_diff_noise *x, const struct ts_initial_stack *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct ts_given *g = &s->items[i];

		if (g->kind != TS_GIVEN_AUXILIARY)
			continue;
		if (g->key == TS_AUX_RANDOM)
			add_given(x, g->text, g->text_len);
		if (g->key == TS_AUX_IGNORE || g->key == TS_AUX_SYSINFO_EHDR)
			add_given(x, g->slot + g->slot_len / 2, g->slot_len / 2);
	}
}

static bool is_given(const struct ts_diff_noise *x, const struct ts_diff_item *item)
{
	for (unsigned i = 0; i < x->n_given; i++) {
		if (item->at - x->given[i].addr < x->given[i].len &&
		    item->len <= x->given[i].len - (item->at - x->given[i].addr))
			return true;
	}
	return false;
}

bool ts_diff_noise_begin(struct ts_diff *d, bool is_all, struct ts_error *err)
{
	struct ts_initial_stack s = { 0 };
	bool done;

	d->noise.is_off = is_all || ts_query_facts(d->a)->is_physical;
	done = d->noise.is_off || ts_initial_stack_read(&s, d->a, err);
	if (done)
		find_given(&d->noise, &s);
	ts_initial_stack_fini(&s);
	return done;
}

/* -------------------------------------------------------------------------------------------------- a step */

/* Are the bytes that differ a device, the number of a file, or its times? */
static bool is_in_stat(const struct ts_query *q, const char *name, const struct ts_event *ev, const struct ts_diff_item *item)
{
	for (size_t k = 0; k < sizeof(stats) / sizeof(*stats); k++) {
		uint64_t from = stats[k].argument < ev->n_args ? item->at - ev->args[stats[k].argument] : 0;

		if (strcmp(name, stats[k].name) != 0 || stats[k].argument >= ev->n_args || item->is_reg ||
		    ts_query_regset(q)->arch->addr_bits != 64)
			continue;
		for (uint32_t i = 0; i < item->len; i++) {
			bool differs = item->old[i] != item->new[i] || item->old_known[i] != item->new_known[i];

			if (differs && from + i >= STAT_KEPT && from + i < STAT_TIMES)
				return false;
		}
		return true;
	}
	return false;
}

static bool is_varying(const char *name)
{
	for (size_t k = 0; k < sizeof(varying) / sizeof(*varying); k++) {
		if (!strcmp(name, varying[k]))
			return true;
	}
	return false;
}

/* Is the item a result of a system call, and one that differs by nature? */
static bool is_varying_call(struct ts_query *q, uint32_t thread, const struct ts_diff_item *item, bool *is_call)
{
	uint64_t i = ts_query_n_events_below(q, TS_EV_SYSCALL, item->pos);
	const struct ts_event_at *h;
	char text[32];

	*is_call = false;
	for (; (h = ts_query_event(q, TS_EV_SYSCALL, i)) && h->step == item->pos; i++) {
		const char *name = ts_syscall_name(ts_query_regset(q)->arch, h->event.number, text, sizeof(text));

		if (h->thread != thread)
			continue;
		*is_call = true;
		if (name && (is_varying(name) || is_in_stat(q, name, &h->event, item)))
			return true;
	}
	return false;
}

/* Of a step: what its sources are in both recordings. */
struct looking {
	struct ts_diff *d;
	const struct ts_diff_lane *l;
	uint64_t a, b; /* its positions */
	bool has_noise, has_real;
};

static void take_byte(struct looking *x, uint64_t owner, uint64_t at)
{
	if (kind_of(&x->d->noise, owner, at) == TS_DIFF_BY_NATURE)
		x->has_noise = true;
	else
		x->has_real = true;
}

static bool take_memory(struct looking *x, const struct ts_location *loc, struct ts_error *err)
{
	uint8_t data[4][64];
	const struct ts_diff_values v = { loc->base, 64, data[0], data[1], data[2], data[3] };

	if (!ts_query_mem(x->l->a.q, x->a, ts_query_process(x->l->a.q, x->l->a.thread), loc->base, 64, data[0], data[1], err) ||
	    !ts_query_mem(x->l->b.q, x->b, ts_query_process(x->l->b.q, x->l->b.thread), ts_diff_to_b(x->d, loc->base), 64,
			  data[2], data[3], err))
		return false;
	for (unsigned i = 0; i < 64; i++) {
		if (!(loc->mask >> i & 1) || (data[1][i] && data[3][i] && data[0][i] == data[2][i]))
			continue;
		if (ts_diff_moved_end(x->d, &v, i))
			x->has_noise = true;
		else
			take_byte(x, owner_of(TS_IN_MEMORY, loc->owner), loc->base + i);
	}
	return true;
}

/* Bytes of registers of A: they have the same names in B. */
static bool take_registers(struct looking *x, const struct ts_location *loc, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(x->l->a.q), *set_b = ts_query_regset(x->l->b.q);
	uint8_t *a = malloc(2 * (size_t)(set->g_len + set_b->g_len)), *b = a ? a + 2 * (size_t)set->g_len : NULL;
	struct ts_diff_values v;
	bool done = a && ts_query_regs(x->l->a.q, x->a, x->l->a.thread, a, a + set->g_len, err) &&
		    ts_query_regs(x->l->b.q, x->b, x->l->b.thread, b, b + set_b->g_len, err);

	if (!a)
		ts_diff_no_memory(err);
	for (unsigned i = 0; done && i < 64; i++) {
		uint64_t at = loc->base + i;
		const struct ts_diff_reg *r = loc->mask >> i & 1 && at < set->g_len && x->l->a.reg_at[at] >= 0 ?
						      &x->d->regs[x->l->a.reg_at[at]] :
						      NULL;
		uint64_t at_b = r ? r->b->off + (at - r->a->off) : 0;

		if (!r || (a[set->g_len + at] && b[set_b->g_len + at_b] && a[at] == b[at_b]))
			continue;
		v = (struct ts_diff_values){ 0, r->a->len, a + r->a->off, a + set->g_len + r->a->off, b + r->b->off, b + set_b->g_len + r->b->off };
		if (ts_diff_moved_end(x->d, &v, at - r->a->off))
			x->has_noise = true;
		else
			take_byte(x, owner_of(TS_IN_REGS, x->l->a.thread), at);
	}
	free(a);
	return done;
}

static bool take_source(struct looking *x, const struct ts_made_of *s, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(x->d->a);
	struct ts_location flags = { .kind = TS_IN_REGS, .owner = x->l->a.thread, .mask = 15 };

	switch (s->kind) {
	case TS_FROM_CONSTANT: return true;
	case TS_FROM_PROCESSOR: x->has_noise = true; return true;
	case TS_FROM_PLACE: break;
	default: x->has_real = true; return true;
	}
	if (s->loc.kind == TS_IN_MEMORY)
		return take_memory(x, &s->loc, err);
	if (s->loc.kind != TS_IN_FLAGS)
		return take_registers(x, &s->loc, err);
	flags.base = set->regs[set->flags].off;
	return take_registers(x, &flags, err);
}

/* The bytes of the item that differ; of the flags register the flags. */
static struct ts_location location_of(const struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_item *item)
{
	const struct ts_regset *set = ts_query_regset(d->a);
	struct ts_location loc = { .kind = item->is_reg ? TS_IN_REGS : TS_IN_MEMORY, .base = item->at };
	bool is_flags = item->is_reg && set->flags >= 0 && set->regs[set->flags].off == item->at;

	loc.owner = item->is_reg ? l->a.thread : ts_query_process(d->a, l->a.thread);
	for (uint32_t i = 0; i < item->len; i++) {
		uint8_t diff = item->old_known[i] && item->new_known[i] ? item->old[i] ^ item->new[i] : 0;

		if (is_flags && i < 4)
			loc.mask |= (uint64_t)diff << 8 * (set->arch->is_big_endian ? 3 - i : i);
		else if (diff)
			loc.mask |= UINT64_C(1) << i;
	}
	if (is_flags) {
		loc.kind = TS_IN_FLAGS;
		loc.base = 0;
	}
	return loc;
}

/* The byte of a register that has bit @i of the location's mask: the flags have a bit each, registers a byte. */
static uint64_t byte_of(const struct ts_regset *set, const struct ts_location *loc, unsigned i)
{
	if (loc->kind == TS_IN_REGS)
		return loc->base + i;
	return set->regs[set->flags].off + (set->arch->is_big_endian ? 3 - i / 8 : i / 8);
}

/* Bytes of a register that the instruction does not write, though the recording has all of it, differ as they did before. */
static uint64_t take_unwritten(struct looking *x, const struct ts_location *loc, uint64_t written)
{
	bool is_in_regs = loc->kind == TS_IN_REGS || loc->kind == TS_IN_FLAGS;
	uint64_t rest = is_in_regs ? loc->mask & ~written : 0;

	for (unsigned i = 0; i < 64; i++) {
		if (rest >> i & 1)
			take_byte(x, owner_of(TS_IN_REGS, loc->owner), byte_of(ts_query_regset(x->d->a), loc, i));
	}
	return loc->mask & ~rest;
}

/* Is what differs after the step where the sides were made of nothing but what differs by nature? */
static bool is_by_nature(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_item *item, bool *is_it,
			 struct ts_error *err)
{
	struct looking x = { .d = d, .l = l, .a = item->pos, .b = item->pos2 };
	struct ts_location loc = location_of(d, l, item);
	struct ts_sources sources = { .n = 0 };
	const struct ts_decoded *insn;
	uint64_t written = 0;
	bool is_call;

	*is_it = is_varying_call(d->a, l->a.thread, item, &is_call);
	if (is_call || !loc.mask || !ts_query_has_operands(d->a))
		return true;
	insn = ts_query_insn(d->a, item->pos, err);
	if (!insn || (insn->is_insn && !ts_writes_by_operands(d->a, item->pos, insn, &loc, &written, err)))
		return false;
	loc.mask = take_unwritten(&x, &loc, written);
	if (loc.mask && !ts_sources_find(&sources, d->a, item->pos, &loc, true, err))
		return false;
	x.has_real = sources.is_truncated;
	for (unsigned i = 0; i < sources.n && !x.has_real; i++) {
		if (!take_source(&x, &sources.items[i], err))
			return false;
	}
	if (!x.has_noise && !x.has_real)
		take_unwritten(&x, &loc, 0); /* flags that the manual leaves undefined and the processor leaves alone */
	*is_it = x.has_noise && !x.has_real;
	return true;
}

static bool count_left_out(struct ts_diff *d, const struct ts_diff_item *x, struct ts_error *err)
{
	bool is_wanted;

	if (!ts_diff_is_wanted(d, x, &is_wanted, err))
		return false;
	d->noise.n_items += is_wanted;
	return true;
}

bool ts_diff_count_moved(struct ts_diff *d, const struct ts_diff_item *x, struct ts_error *err)
{
	return d->noise.is_off || count_left_out(d, x, err);
}

static void keep_kind(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_item *item,
		      enum ts_diff_kind kind)
{
	uint32_t owner = !l ? d->start.process : item->is_reg ? l->a.thread : ts_query_process(d->a, l->a.thread);

	for (uint32_t i = 0; i < item->len; i++) {
		if (item->old[i] != item->new[i] || !item->old_known[i] || !item->new_known[i])
			set_kind(d, owner_of(item->is_reg ? TS_IN_REGS : TS_IN_MEMORY, owner), item->at + i, kind);
	}
}

bool ts_diff_sift(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err)
{
	size_t n = d->at;

	if (d->noise.is_off)
		return true;
	for (size_t i = d->at; i < d->n; i++) {
		struct ts_diff_item *item = &d->items[i];
		bool is_it = !l && is_given(&d->noise, item);

		if ((l && !item->is_path && !is_by_nature(d, l, item, &is_it, err)) || (is_it && !count_left_out(d, item, err)))
			return false;
		if (!item->is_path)
			keep_kind(d, l, item, is_it ? TS_DIFF_BY_NATURE : TS_DIFF_REAL);
		if (!is_it)
			d->items[n++] = *item;
	}
	d->n = n;
	return true;
}

/* ------------------------------------------------------------------------------------------- only one's path */

/* What the side's thread wrote in steps [@from, @to): how it differs from now on is not known. */
static bool forget_written(struct ts_diff *d, const struct ts_diff_side *s, bool is_of_b, uint64_t from, uint64_t to,
			   struct ts_error *err)
{
	const struct ts_steps *b;

	for (uint64_t pos = from; pos < to; pos++) {
		const struct ts_step *st = ts_query_step(s->q, pos, &b, err);

		if (!st)
			return false;
		for (uint32_t i = 0; i < st->n_effects && st->thread == s->thread; i++) {
			const struct ts_effect *e = &b->effects[st->first + i];
			uint64_t owner = owner_of(e->kind == TS_FX_WRITE ? TS_IN_MEMORY : TS_IN_REGS,
						  e->kind == TS_FX_WRITE ? ts_query_process(s->q, s->thread) : s->thread);

			if (e->kind != TS_FX_WRITE && e->kind != TS_FX_REG_WRITE)
				continue;
			for (uint64_t k = 0; k < e->len; k++) {
				uint64_t at = e->kind == TS_FX_WRITE && is_of_b ? ts_diff_to_a(d, e->addr) + k : e->addr + k;

				if (kind_of(&d->noise, owner, at) == TS_DIFF_BY_NATURE)
					set_kind(d, owner, at, TS_DIFF_REAL);
			}
		}
	}
	return true;
}

bool ts_diff_noise_pass(struct ts_diff *d, const struct ts_diff_lane *l, struct ts_error *err)
{
	const struct ts_diff_apart *x = &l->apart;

	if (d->noise.is_off || !d->noise.n)
		return true;
	if (x->end_a - x->a > MAX_APART || x->end_b - x->b > MAX_APART) {
		struct ts_diff_noise kept = d->noise;

		ts_diff_noise_fini(&d->noise);
		d->noise.n_items = kept.n_items;
		d->noise.n_given = kept.n_given;
		memcpy(d->noise.given, kept.given, sizeof(kept.given));
		return true;
	}
	return forget_written(d, &l->a, false, x->a, x->end_a, err) && forget_written(d, &l->b, true, x->b, x->end_b, err);
}
