/* SPDX-License-Identifier: MIT */
#include "matches.h"

#include <stdlib.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/free_later.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"
#include "src/trace/step.h"

#define NONE UINT32_MAX

void ts_matches_fini(struct ts_matches *m)
{
	ts_free_later(m->items, m->cap * sizeof(*m->items));
	ts_free_later(m->standing.slots, m->standing.n_slots * sizeof(*m->standing.slots));
	ts_free_later(m->run, m->cap_run * sizeof(*m->run));
	*m = (struct ts_matches){ 0 };
}

/* ------------------------------------------------------------------------------------- open matches */

static size_t slot_of(const struct ts_standing *st, uint64_t addr)
{
	return (size_t)ts_hash(addr, 0) & (st->n_slots - 1);
}

static uint32_t *block_of(struct ts_matches *m, uint64_t addr)
{
	return &m->standing.in_block[addr / TS_MATCH_BLOCK % TS_N_MATCH_BLOCKS];
}

bool ts_matches_may_overlap(const struct ts_matches *m, uint64_t first, uint64_t last)
{
	uint64_t before = m->len - 1;

	first = first < before ? 0 : first - before;
	if (!m->standing.n || (last - first) / TS_MATCH_BLOCK >= TS_N_MATCH_BLOCKS)
		return m->standing.n;
	for (uint64_t block = first / TS_MATCH_BLOCK; block <= last / TS_MATCH_BLOCK; block++) {
		if (m->standing.in_block[block % TS_N_MATCH_BLOCKS])
			return true;
	}
	return false;
}

static uint32_t *find_slot(const struct ts_matches *m, uint64_t addr)
{
	const struct ts_standing *st = &m->standing;
	size_t i;

	if (!st->n || !ts_matches_has_block(m, addr))
		return NULL;
	for (i = slot_of(st, addr); st->slots[i]; i = (i + 1) & (st->n_slots - 1)) {
		if (st->slots[i] != NONE && m->items[st->slots[i] - 1].addr == addr)
			return &st->slots[i];
	}
	return NULL;
}

bool ts_matches_stands(const struct ts_matches *m, uint64_t addr)
{
	return find_slot(m, addr);
}

static void put_slot(struct ts_matches *m, uint32_t item)
{
	struct ts_standing *st = &m->standing;
	size_t i = slot_of(st, m->items[item].addr);

	while (st->slots[i] && st->slots[i] != NONE)
		i = (i + 1) & (st->n_slots - 1);
	st->n_used += !st->slots[i];
	st->slots[i] = item + 1;
	st->n++;
}

static bool grow_standing(struct ts_matches *m)
{
	struct ts_standing *st = &m->standing, old = *st;

	if (st->n_used * 2 < st->n_slots)
		return true;
	st->n_slots = 64;
	while (st->n_slots < 4 * (old.n + 1))
		st->n_slots *= 2;
	st->slots = calloc(st->n_slots, sizeof(*st->slots));
	st->n = st->n_used = 0;
	if (!st->slots) {
		*st = old;
		return false;
	}
	for (size_t i = 0; i < old.n_slots; i++) {
		if (old.slots[i] && old.slots[i] != NONE)
			put_slot(m, old.slots[i] - 1);
	}
	free(old.slots);
	return true;
}

bool ts_matches_begin(struct ts_matches *m, const struct ts_match *match)
{
	if (m->n >= NONE - 2 || !grow_standing(m) || !TS_PUSH(m->items, m->n, m->cap, *match))
		return false;
	put_slot(m, (uint32_t)m->n - 1);
	++*block_of(m, match->addr);
	return true;
}

void ts_matches_end(struct ts_matches *m, uint64_t addr, uint64_t pos)
{
	uint32_t *slot = find_slot(m, addr);

	m->items[*slot - 1].end = pos;
	--*block_of(m, addr);
	*slot = NONE;
	m->standing.n--;
}

/* ---------------------------------------------------------------------------------------------- in order */

/* Take the run that comes next.  A match of no position is left out. */
static bool take_run(struct ts_matches *m, uint64_t from, uint64_t settled)
{
	uint64_t begin = 0;

	m->n_run = m->at_run = 0;
	for (; m->at < m->n; m->at++) {
		const struct ts_match *item = &m->items[m->at];

		if (item->begin < from || item->begin == item->end)
			continue;
		if ((item->begin && item->begin >= settled) || (m->n_run && (item->begin != begin || !begin)))
			break;
		begin = item->begin;
		if (!TS_PUSH(m->run, m->n_run, m->cap_run, (struct ts_match_key){ item->addr, (uint32_t)m->at }))
			return false;
	}
	TS_SORT_BY(m->run, m->n_run, addr);
	return true;
}

bool ts_matches_next(struct ts_matches *m, uint64_t from, uint64_t settled, const struct ts_match **match)
{
	*match = NULL;
	if (m->at_run == m->n_run && !take_run(m, from, settled))
		return false;
	if (m->at_run < m->n_run)
		*match = &m->items[m->run[m->at_run].item];
	return true;
}

void ts_matches_pass(struct ts_matches *m)
{
	m->at_run++;
}
