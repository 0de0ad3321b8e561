/* SPDX-License-Identifier: MIT */
#include "breaks.h"

#include <stdlib.h>

#include "protocol/tracing/frame_store.h"
#include "src/agent/ax.h"
#include "src/base/collections/vec.h"

void rsp_breaks_init(struct rsp_breaks *b)
{
	*b = (struct rsp_breaks){ 0 };
}

static void free_code(struct ts_ax **code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ts_ax_free(code[i]);
	free(code);
}

/* An expression has a struct beside its code. */
#define AX_MEM 128u

static uint64_t mem_of(struct ts_ax *const *code, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len;

		ts_ax_code(code[i], &len);
		sum += len + AX_MEM;
	}
	return sum;
}

/* Count @mem bytes more.  Returns false, having counted nothing, if that is more than there may be. */
static bool count(struct rsp_breaks *b, uint64_t mem)
{
	if (!mem)
		return true;
	if (mem > RSP_MAX_CODE - b->mem || (b->budget && b->budget->used > b->budget->max / 2))
		return false;
	b->mem += mem;
	if (b->budget)
		b->budget->used += mem;
	return true;
}

static void uncount(struct rsp_breaks *b, uint64_t mem)
{
	b->mem -= mem;
	if (b->budget)
		b->budget->used -= mem;
}

static void free_break(struct rsp_breaks *b, struct rsp_break *item)
{
	uncount(b, item->mem);
	free_code(item->conditions, item->n_conditions);
	free_code(item->commands, item->n_commands);
}

void rsp_breaks_fini(struct rsp_breaks *b)
{
	struct rsp_frame_budget *budget = b->budget;

	for (size_t i = 0; i < b->n_items; i++)
		free_break(b, &b->items[i]);
	free(b->items);
	free(b->heads);
	free(b->places);
	free(b->watches);
	rsp_breaks_init(b);
	b->budget = budget;
}

static bool is_same_place(struct ts_break a, struct ts_break b)
{
	return a.process == b.process && a.addr == b.addr;
}

/* Where the list of those with the same hash begins.  There is room for at least one. */
static uint32_t *head_of(const struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at)
{
	uint64_t hash = (at.addr ^ (uint64_t)at.process << 32 ^ (uint64_t)kind << 63) * UINT64_C(0x9e3779b97f4a7c15);

	return &b->heads[(hash >> 32) & (b->cap_items - 1)];
}

static struct rsp_break *find(const struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at)
{
	uint32_t i = b->cap_items ? *head_of(b, kind, at) : 0;

	while (i && !(b->items[i - 1].kind == kind && is_same_place(b->items[i - 1].at, at)))
		i = b->items[i - 1].next;
	return i ? &b->items[i - 1] : NULL;
}

const struct rsp_break *rsp_breaks_at(const struct rsp_breaks *b, enum rsp_break_kind kind,
				      struct ts_break at)
{
	return find(b, kind, at);
}

/* Put the @i-th breakpoint into its list. */
static void link_item(struct rsp_breaks *b, size_t i)
{
	uint32_t *head = head_of(b, b->items[i].kind, b->items[i].at);

	b->items[i].next = *head;
	*head = (uint32_t)i + 1;
}

/* What points at the @i-th breakpoint points at @to instead: an ordinal and 1, or 0. */
static void relink(struct rsp_breaks *b, size_t i, uint32_t to)
{
	uint32_t *link = head_of(b, b->items[i].kind, b->items[i].at);

	while (*link != i + 1)
		link = &b->items[*link - 1].next;
	*link = to;
}

/* The capacity is a power of two. */
static bool grow(struct rsp_breaks *b)
{
	size_t cap = b->cap_items ? b->cap_items * 2 : 8;
	struct rsp_break *items = realloc(b->items, cap * sizeof(*items));
	struct ts_break *places;
	uint32_t *heads;

	if (!items)
		return false;
	b->items = items;
	places = realloc(b->places, cap * sizeof(*places));
	if (!places)
		return false;
	b->places = places;
	heads = calloc(cap, sizeof(*heads));
	if (!heads)
		return false;
	free(b->heads);
	b->heads = heads;
	b->cap_items = cap;
	for (size_t i = 0; i < b->n_items; i++)
		link_item(b, i);
	return true;
}

bool rsp_breaks_insert(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
		       struct ts_ax **conditions, size_t n_conditions)
{
	struct rsp_break *item = find(b, kind, at);
	uint64_t mem = mem_of(conditions, n_conditions);

	if ((!item && (b->n_items == RSP_MAX_BREAKS || (b->n_items == b->cap_items && !grow(b)))) ||
	    !count(b, mem)) {
		free_code(conditions, n_conditions);
		return false;
	}
	if (item) {
		free_break(b, item);
	} else {
		b->places[b->n_items] = at;
		item = &b->items[b->n_items++];
		item->at = at;
		item->kind = kind;
		link_item(b, b->n_items - 1);
	}
	item->conditions = conditions;
	item->n_conditions = n_conditions;
	item->commands = NULL;
	item->n_commands = 0;
	item->mem = mem;
	return true;
}

bool rsp_breaks_set_commands(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
			     struct ts_ax **commands, size_t n_commands)
{
	struct rsp_break *item = find(b, kind, at);
	uint64_t mem = mem_of(commands, n_commands), was = item ? mem_of(item->commands, item->n_commands) : 0;

	if (item) {
		free_code(item->commands, item->n_commands);
		item->commands = NULL;
		item->n_commands = 0;
		item->mem -= was;
		uncount(b, was);
	}
	if (!item || !count(b, mem)) {
		free_code(commands, n_commands);
		return !item;
	}
	item->commands = commands;
	item->n_commands = n_commands;
	item->mem += mem;
	return true;
}

void rsp_breaks_remove(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at)
{
	struct rsp_break *item = find(b, kind, at);
	size_t i = item ? (size_t)(item - b->items) : 0, last = b->n_items - 1;

	if (!item)
		return;
	free_break(b, item);
	relink(b, i, item->next);
	if (i != last) {
		relink(b, last, (uint32_t)i + 1);
		*item = b->items[last];
		b->places[i] = b->places[last];
	}
	b->n_items--;
}

static struct ts_watch *find_watch(const struct rsp_breaks *b, const struct ts_watch *w)
{
	for (size_t i = 0; i < b->n_watches; i++) {
		struct ts_watch *x = &b->watches[i];

		if (x->process == w->process && x->addr == w->addr && x->len == w->len && x->kind == w->kind)
			return x;
	}
	return NULL;
}

bool rsp_breaks_watch(struct rsp_breaks *b, const struct ts_watch *w)
{
	if (find_watch(b, w))
		return true;
	if (b->n_watches == RSP_MAX_WATCHES || w->len > RSP_MAX_WATCHED - b->watched_len)
		return false;
	if (!ts_vec_reserve(&b->watches, b->n_watches, &b->cap_watches, 1, sizeof(*b->watches)))
		return false;
	b->watches[b->n_watches++] = *w;
	b->watched_len += w->len;
	return true;
}

void rsp_breaks_unwatch(struct rsp_breaks *b, const struct ts_watch *w)
{
	struct ts_watch *x = find_watch(b, w);

	if (!x)
		return;
	b->watched_len -= x->len;
	*x = b->watches[--b->n_watches];
}

void rsp_breaks_stops(const struct rsp_breaks *b, struct ts_stops *stops)
{
	stops->breaks = b->places;
	stops->n_breaks = b->n_items;
	stops->watches = b->watches;
	stops->n_watches = b->n_watches;
}
