/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"

bool ts_loops_init(struct ts_loops *l, const struct ts_loop_edge *edges, size_t n_edges, const uint64_t *steps,
		   uint32_t n_blocks)
{
	size_t n = (size_t)n_blocks + 1, at = 0;

	*l = (struct ts_loops){ .edges = edges, .n_edges = n_edges, .steps = steps, .n_blocks = n_blocks };
	l->first = calloc(n, sizeof(*l->first));
	l->is_off = calloc(n_edges + 1, sizeof(*l->is_off));
	l->number = calloc(n, sizeof(*l->number));
	l->low = calloc(n, sizeof(*l->low));
	l->component = calloc(n, sizeof(*l->component));
	l->stack = calloc(n, sizeof(*l->stack));
	l->path = calloc(n, sizeof(*l->path));
	l->edge = calloc(n, sizeof(*l->edge));
	l->entries = calloc(n, sizeof(*l->entries));
	l->is_entry = calloc(n, sizeof(*l->is_entry));
	l->loop_of = calloc(n + 1, sizeof(*l->loop_of));
	if (!l->first || !l->is_off || !l->number || !l->low || !l->component || !l->stack || !l->path || !l->edge ||
	    !l->entries || !l->is_entry || !l->loop_of)
		return false;
	for (uint32_t i = 0; i <= n_blocks; i++) {
		while (at < n_edges && edges[at].from < i)
			at++;
		l->first[i] = at;
	}
	return true;
}

void ts_loops_fini(struct ts_loops *l)
{
	free(l->first);
	free(l->is_off);
	free(l->number);
	free(l->low);
	free(l->component);
	free(l->stack);
	free(l->path);
	free(l->edge);
	free(l->entries);
	free(l->is_entry);
	free(l->loop_of);
	free(l->loops);
	*l = (struct ts_loops){ 0 };
}

static void enter(struct ts_loops *l, uint32_t block)
{
	l->number[block] = l->low[block] = ++l->n_numbers;
	l->stack[l->n_stack++] = block;
	l->edge[l->n_path] = l->first[block];
	l->path[l->n_path++] = block;
}

/* All edges of the path's last block were followed: it goes back to the one before it. */
static void leave(struct ts_loops *l)
{
	uint32_t block = l->path[--l->n_path], before = l->n_path ? l->path[l->n_path - 1] : block, member;

	if (l->low[block] == l->number[block]) {
		l->n_components++;
		do {
			member = l->stack[--l->n_stack];
			l->component[member] = l->n_components;
		} while (member != block);
	}
	if (l->low[block] < l->low[before])
		l->low[before] = l->low[block];
}

static void follow(struct ts_loops *l, size_t edge)
{
	uint32_t block = l->path[l->n_path - 1], to = l->edges[edge].to;

	if (l->is_off[edge])
		return;
	if (!l->number[to])
		enter(l, to);
	else if (!l->component[to] && l->number[to] < l->low[block])
		l->low[block] = l->number[to];
}

/* A step of the search.  Returns false when all blocks have their component. */
static bool search_on(struct ts_loops *l)
{
	if (!l->n_path) {
		while (l->next < l->n_blocks && l->number[l->next])
			l->next++;
		if (l->next == l->n_blocks)
			return false;
		enter(l, l->next);
		return true;
	}
	if (l->edge[l->n_path - 1] < l->first[l->path[l->n_path - 1] + 1])
		follow(l, l->edge[l->n_path - 1]++);
	else
		leave(l);
	return true;
}

static bool is_inside(const struct ts_loops *l, const struct ts_loop_edge *e)
{
	return e->from != TS_OUTSIDE && l->component[e->from] == l->component[e->to];
}

/* The loop of a component, which is made; NULL if memory is exhausted. */
static struct ts_loop *loop_of(struct ts_loops *l, uint32_t component)
{
	if (!l->loop_of[component]) {
		if (!TS_PUSH(l->loops, l->n, l->cap, (struct ts_loop){ .header = TS_OUTSIDE })) {
			l->is_failed = true;
			return NULL;
		}
		l->loop_of[component] = (uint32_t)l->n;
	}
	return &l->loops[l->loop_of[component] - 1];
}

/* Components with an edge inside are loops.  Returns whether there is one. */
static bool make_loops(struct ts_loops *l)
{
	size_t n_before = l->n;

	memset(l->loop_of, 0, ((size_t)l->n_components + 1) * sizeof(*l->loop_of));
	memset(l->entries, 0, l->n_blocks * sizeof(*l->entries));
	memset(l->is_entry, 0, l->n_blocks * sizeof(*l->is_entry));
	for (size_t i = 0; i < l->n_edges && !l->is_failed; i++) {
		if (!l->is_off[i] && is_inside(l, &l->edges[i]))
			loop_of(l, l->component[l->edges[i].to]);
	}
	return l->n > n_before && !l->is_failed;
}

static void count_entries(struct ts_loops *l)
{
	for (size_t i = 0; i < l->n_edges; i++) {
		const struct ts_loop_edge *e = &l->edges[i];
		uint32_t loop = l->loop_of[l->component[e->to]];

		if (!loop || is_inside(l, e) || !e->n)
			continue;
		l->entries[e->to] += e->n;
		l->is_entry[e->to] = true;
		l->loops[loop - 1].executions += e->n;
	}
}

/* A loop that was never entered, as one in which a thread began, has its first block as header. */
static void choose_headers(struct ts_loops *l)
{
	for (uint32_t i = 0; i < l->n_blocks; i++) {
		uint32_t ordinal = l->loop_of[l->component[i]];
		struct ts_loop *loop = ordinal ? &l->loops[ordinal - 1] : NULL;

		if (!loop)
			continue;
		loop->n_blocks++;
		loop->steps += l->steps[i];
		if (loop->header == TS_OUTSIDE || l->entries[i] > l->entries[loop->header])
			loop->header = i;
	}
	for (size_t i = 0; i < l->n; i++)
		l->is_entry[l->loops[i].header] |= l->loop_of[l->component[l->loops[i].header]] == i + 1;
}

static void cut_entries(struct ts_loops *l)
{
	for (size_t i = 0; i < l->n_edges; i++)
		l->is_off[i] |= l->is_entry[l->edges[i].to] && is_inside(l, &l->edges[i]);
}

/* After the search of a level.  Returns false if the level has no loops. */
static bool end_level(struct ts_loops *l)
{
	if (!make_loops(l))
		return false;
	count_entries(l);
	choose_headers(l);
	cut_entries(l);
	memset(l->number, 0, l->n_blocks * sizeof(*l->number));
	memset(l->component, 0, l->n_blocks * sizeof(*l->component));
	l->n_numbers = l->n_components = l->next = 0;
	return true;
}

bool ts_loops_find_some(struct ts_loops *l, size_t max)
{
	while (max--) {
		if (search_on(l))
			continue;
		if (l->level++ == TS_MAX_NESTING) {
			size_t n = l->n;

			l->is_cut = make_loops(l);
			l->n = n;
			return false;
		}
		return end_level(l);
	}
	return true;
}
