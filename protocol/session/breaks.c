/* SPDX-License-Identifier: MIT */
#include "breaks.h"

#include <stdlib.h>
#include <string.h>

#include "src/agent/ax.h"
#include "src/base/room.h"

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

static void free_break(struct rsp_break *item)
{
	free_code(item->conditions, item->n_conditions);
	free_code(item->commands, item->n_commands);
}

void rsp_breaks_fini(struct rsp_breaks *b)
{
	for (size_t i = 0; i < b->n_items; i++)
		free_break(&b->items[i]);
	free(b->items);
	free(b->places);
	free(b->watches);
	rsp_breaks_init(b);
}

static bool is_same_place(struct ts_break a, struct ts_break b)
{
	return a.process == b.process && a.addr == b.addr;
}

static struct rsp_break *find(const struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at)
{
	for (size_t i = 0; i < b->n_items; i++) {
		if (b->items[i].kind == kind && is_same_place(b->items[i].at, at))
			return &b->items[i];
	}
	return NULL;
}

const struct rsp_break *rsp_breaks_at(const struct rsp_breaks *b, enum rsp_break_kind kind,
				      struct ts_break at)
{
	return find(b, kind, at);
}

static bool grow(struct rsp_breaks *b)
{
	size_t cap = b->cap_items ? b->cap_items * 2 : 8;
	struct rsp_break *items = realloc(b->items, cap * sizeof(*items));
	struct ts_break *places;

	if (!items)
		return false;
	b->items = items;
	places = realloc(b->places, cap * sizeof(*places));
	if (!places)
		return false;
	b->places = places;
	b->cap_items = cap;
	return true;
}

bool rsp_breaks_insert(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
		       struct ts_ax **conditions, size_t n_conditions)
{
	struct rsp_break *item = find(b, kind, at);

	if (item) {
		free_break(item);
	} else if (b->n_items == RSP_MAX_BREAKS || (b->n_items == b->cap_items && !grow(b))) {
		free_code(conditions, n_conditions);
		return false;
	} else {
		b->places[b->n_items] = at;
		item = &b->items[b->n_items++];
	}
	*item = (struct rsp_break){
		.at = at, .kind = kind, .conditions = conditions, .n_conditions = n_conditions
	};
	return true;
}

void rsp_breaks_set_commands(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at,
			     struct ts_ax **commands, size_t n_commands)
{
	struct rsp_break *item = find(b, kind, at);

	if (!item) {
		free_code(commands, n_commands);
		return;
	}
	free_code(item->commands, item->n_commands);
	item->commands = commands;
	item->n_commands = n_commands;
}

void rsp_breaks_remove(struct rsp_breaks *b, enum rsp_break_kind kind, struct ts_break at)
{
	struct rsp_break *item = find(b, kind, at);

	if (!item)
		return;
	free_break(item);
	*item = b->items[--b->n_items];
	b->places[item - b->items] = b->places[b->n_items];
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
	if (!ts_room(&b->watches, b->n_watches, &b->cap_watches, 8, sizeof(*b->watches)))
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
