/* SPDX-License-Identifier: MIT */
/* The tree of causes: its nodes, their order, and which bytes have been followed. */
#include <stdlib.h>
#include <string.h>

#include "cause_parts.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"
#include "src/query/paging.h"

/* Answers do not grow beyond this. */
#define MAX_NODES 2000u

/* Ranges of memory of one node. */
#define MAX_RANGES 4096u

/* ---------------------------------------------------------------------------------------------------- nodes */

/* Put the last node among its parent's children, after those of the same order. */
static void link_node(struct ts_cause *c, uint32_t node)
{
	uint32_t *at = c->nodes[node].parent == TS_NO_NODE ? &c->root
							   : &c->nodes[c->nodes[node].parent].first_child;

	while (*at != TS_NO_NODE && c->nodes[*at].order <= c->nodes[node].order)
		at = &c->nodes[*at].next_sibling;
	c->nodes[node].next_sibling = *at;
	*at = node;
}

struct ts_cause_node *ts_cause_add_node(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind,
					unsigned order)
{
	struct ts_cause_node *n;

	if (c->n_nodes == MAX_NODES) {
		c->is_cut = true;
		return NULL;
	}
	if (!ts_vec_reserve(&c->nodes, c->n_nodes, &c->cap_nodes, 1, sizeof(*c->nodes))) {
		c->is_failed = true;
		return NULL;
	}
	n = &c->nodes[c->n_nodes++];
	*n = (struct ts_cause_node){ .kind = kind, .pos = TS_NO_POS, .pc = TS_NO_PC, .count = 1 };
	n->before = c->asked_at;
	n->parent = parent;
	n->order = (uint8_t)order;
	n->first_child = n->next_sibling = TS_NO_NODE;
	n->depth = parent == TS_NO_NODE ? 0 : c->nodes[parent].depth + 1;
	link_node(c, c->n_nodes - 1);
	return n;
}

/* Bytes [@first, @last] belong to the node. */
static void join_range(struct ts_cause *c, struct ts_cause_node *n, uint64_t first, uint64_t last)
{
	unsigned i = 0, end;

	TS_BISECT(i, n->n_ranges, k, n->ranges[k].last < first && first - n->ranges[k].last > 1);
	for (end = i; end < n->n_ranges && (n->ranges[end].first <= last || n->ranges[end].first - last == 1); end++) {
		first = n->ranges[end].first < first ? n->ranges[end].first : first;
		last = n->ranges[end].last > last ? n->ranges[end].last : last;
	}
	if (end == i) {
		struct ts_cause_range *p = n->n_ranges < MAX_RANGES ? realloc(n->ranges, (n->n_ranges + 1) * sizeof(*p)) : NULL;

		if (!p) {
			c->is_failed |= n->n_ranges < MAX_RANGES;
			c->is_cut = true;
			return;
		}
		n->ranges = p;
		memmove(p + i + 1, p + i, (n->n_ranges++ - i) * sizeof(*p));
	} else if (end > i + 1) {
		memmove(n->ranges + i + 1, n->ranges + end, (n->n_ranges - end) * sizeof(*n->ranges));
		n->n_ranges -= end - i - 1;
	}
	n->ranges[i] = (struct ts_cause_range){ first, last };
}

void ts_cause_add_range(struct ts_cause *c, struct ts_cause_node *n, const struct ts_location *loc)
{
	unsigned first, len;

	if (loc->kind == TS_IN_FLAGS || loc->kind == TS_IN_PC)
		return;
	for (unsigned at = 0; ts_mask_run(loc->mask, at, &first, &len); at = first + len)
		join_range(c, n, loc->base + first, loc->base + first + len - 1);
}

static bool is_same_leaf(const struct ts_cause_node *n, enum ts_cause_kind kind, uint64_t pos, bool has_place)
{
	return n->kind == kind && n->has_place == has_place && n->pos == pos;
}

static uint32_t first_below(const struct ts_cause *c, uint32_t parent)
{
	return parent == TS_NO_NODE ? c->root : c->nodes[parent].first_child;
}

void ts_cause_add_leaf(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind, unsigned order,
		       uint64_t pos, uint64_t constant)
{
	struct ts_cause_node *n;

	if (kind != TS_CAUSE_PROCESSOR && kind != TS_CAUSE_INPUT)
		pos = TS_NO_POS;
	for (uint32_t at = first_below(c, parent); at != TS_NO_NODE; at = c->nodes[at].next_sibling) {
		n = &c->nodes[at];
		if (is_same_leaf(n, kind, pos, false) && n->constant == constant)
			return;
	}
	n = ts_cause_add_node(c, parent, kind, order);
	if (!n)
		return;
	n->constant = constant;
	n->pos = pos;
	if (pos != TS_NO_POS)
		n->thread = ts_query_thread(c->q, pos);
}

uint64_t ts_cause_of_one_register(const struct ts_cause *c, const struct ts_location *loc)
{
	const struct ts_reg *r = ts_regset_at(ts_query_regset(c->q), loc->base + (unsigned)__builtin_ctzll(loc->mask));

	return r ? ts_location_overlap(loc, r->off, r->len) : loc->mask;
}

/* Registers beside each other are places of their own. */
static bool is_same_space(const struct ts_cause *c, const struct ts_location *a, const struct ts_location *b)
{
	struct ts_location both = *a;

	if (a->kind != b->kind || a->owner != b->owner)
		return false;
	if (a->kind != TS_IN_REGS)
		return true;
	if (a->base != b->base)
		return false;
	both.mask |= b->mask;
	return ts_cause_of_one_register(c, &both) == both.mask;
}

void ts_cause_add_place(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind, unsigned order,
			const struct ts_writer *w, const struct ts_location *loc)
{
	struct ts_cause_node *n;

	for (uint32_t at = first_below(c, parent); at != TS_NO_NODE; at = c->nodes[at].next_sibling) {
		n = &c->nodes[at];
		if (!is_same_leaf(n, kind, w->pos, true) || !is_same_space(c, &n->loc, loc))
			continue;
		if (loc->kind == TS_IN_FLAGS)
			n->loc.mask |= loc->mask;
		ts_cause_add_range(c, n, loc);
		return;
	}
	n = ts_cause_add_node(c, parent, kind, order);
	if (!n)
		return;
	n->pos = w->pos;
	n->pc = w->pc;
	n->thread = w->thread;
	n->has_place = true;
	n->loc = *loc;
	ts_cause_add_range(c, n, loc);
}

void ts_cause_cut(struct ts_cause *c, uint32_t node)
{
	c->is_cut = true;
	if (node == TS_NO_NODE && !c->question.only_leaves)
		return;
	ts_cause_add_leaf(c, node, TS_CAUSE_CUT, UINT8_MAX, TS_NO_POS, 0);
}

const struct ts_cause_node *ts_cause_next(const struct ts_cause *c, const struct ts_cause_node *node)
{
	uint32_t at = node ? (uint32_t)(node - c->nodes) : TS_NO_NODE;

	if (at == TS_NO_NODE) {
		at = c->root;
	} else if (c->nodes[at].first_child != TS_NO_NODE) {
		at = c->nodes[at].first_child;
	} else {
		while (at != TS_NO_NODE && c->nodes[at].next_sibling == TS_NO_NODE)
			at = c->nodes[at].parent;
		at = at == TS_NO_NODE ? at : c->nodes[at].next_sibling;
	}
	return at == TS_NO_NODE ? NULL : &c->nodes[at];
}

/* -------------------------------------------------------------------------------------------- what was followed */

static bool is_done(const void *user, uint32_t i, const void *key)
{
	const struct ts_cause_done *x = &((const struct ts_cause *)user)->done[i], *y = key;

	return x->pos == y->pos && x->base == y->base && x->owner == y->owner && x->kind == y->kind;
}

static uint64_t hash(const struct ts_cause_done *x)
{
	return ts_hash_end(ts_hash_add(ts_hash_begin(x->pos, x->base), (uint64_t)x->owner << 32 | x->kind));
}

static uint64_t hash_of_done(const void *user, uint32_t i)
{
	return hash(&((const struct ts_cause *)user)->done[i]);
}

uint64_t *ts_cause_done(struct ts_cause *c, uint64_t pos, const struct ts_location *loc)
{
	struct ts_cause_done key = { .pos = pos, .base = loc->base, .owner = loc->owner, .kind = loc->kind };
	uint32_t *slot;

	if (!ts_vec_reserve(&c->done, c->n_done, &c->cap_done, 1, sizeof(*c->done)) ||
	    !ts_hash_table_reserve(&c->by_place, c->n_done, 1, hash_of_done, c)) {
		c->is_failed = true;
		return NULL;
	}
	slot = ts_hash_table_slot(&c->by_place, hash(&key), is_done, c, &key);
	if (!*slot) {
		c->done[c->n_done++] = key;
		*slot = (uint32_t)c->n_done;
	}
	return &c->done[*slot - 1].mask;
}

/* ---------------------------------------------------------------------------------------------------- values */

bool ts_cause_known(struct ts_cause *c, const struct ts_location *loc, uint64_t pos, uint64_t *known,
		    struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(c->q);
	uint8_t data[64], is_known[64] = { 0 };
	struct ts_op_state state;
	uint64_t base = loc->base;

	*known = 0;
	if (loc->kind == TS_IN_MEMORY) {
		if (!ts_virtual_mem(c->q, pos, loc->owner, loc->base, 64, data, is_known, err))
			return false;
	} else {
		if (!ts_query_op_state(c->q, pos, loc->owner, &state, err))
			return false;
		if (loc->kind == TS_IN_FLAGS)
			base = set->regs[set->flags].off;
		for (unsigned i = 0; i < 64 && base + i < set->g_len; i++)
			is_known[i] = state.known[base + i];
	}
	for (unsigned i = 0; i < 64; i++) {
		bool is_it = loc->kind == TS_IN_FLAGS ? is_known[set->arch->is_big_endian ? 3 - i / 8 % 4 : i / 8] : is_known[i];

		*known |= (uint64_t)(is_it ? 1 : 0) << i;
	}
	return true;
}
