/* SPDX-License-Identifier: MIT */
#include "watch_ranges.h"

#include <stdlib.h>

#include "src/query/paging.h"
#include "src/query/snapshot.h"
#include "src/base/collections/vec.h"

/* How many changes of the mode are examined in each direction for a change of the tables. */
#define MAX_CHANGES 4096

void ts_places_fini(struct ts_places *pl)
{
	free(pl->items);
	*pl = (struct ts_places){ 0 };
}

static bool add(struct ts_places *pl, const struct ts_place *place, struct ts_error *err)
{
	return TS_PUSH(pl->items, pl->n, pl->cap, *place) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to watch %zu places", pl->n + 1);
}

/*
 * Add a piece of a watchpoint; it is joined with the piece before it, if that ends here in both kinds of
 * addresses.
 */
static bool add_piece(struct ts_places *pl, const struct ts_watch *w, size_t watch, uint64_t addr,
		      uint64_t phys, uint64_t len, struct ts_error *err)
{
	struct ts_place place = { { w->process, phys, len, w->kind }, watch, addr };

	for (size_t i = pl->n; i-- > 0;) {
		struct ts_place *last = &pl->items[i];

		if (last->watch == TS_NO_WATCH)
			continue;
		if (last->watch != watch || last->at.addr + last->at.len != phys ||
		    last->addr + last->at.len != addr)
			break;
		last->at.len += len;
		return true;
	}
	return add(pl, &place, err);
}

/* Add an entry; those of neighbouring pages are usually adjacent or the same. */
static bool add_entry(struct ts_places *pl, uint32_t process, uint64_t addr, unsigned len,
		      struct ts_error *err)
{
	struct ts_place place = { { process, addr, len, TS_WATCH_WRITE }, TS_NO_WATCH, 0 };

	for (size_t i = pl->n; i-- > 0;) {
		struct ts_place *p = &pl->items[i];
		uint64_t end = p->at.addr + p->at.len;

		if (p->watch != TS_NO_WATCH || p->at.process != process || addr < p->at.addr || addr > end)
			continue;
		if (addr == end)
			p->at.len += len;
		return true;
	}
	return add(pl, &place, err);
}

/* The pieces of a watchpoint by the tables at step @pos. */
static bool translate(struct ts_places *pl, struct ts_query *q, const struct ts_paging *paging,
		      const struct ts_watch *w, size_t watch, uint64_t pos, struct ts_error *err)
{
	uint64_t n;

	for (uint64_t done = 0; done < w->len; done += n) {
		uint64_t addr = w->addr + done, left;
		struct ts_translation t;

		if (!ts_translate(q, paging, pos, w->process, addr, &t, err))
			return false;
		left = t.page_len - (addr & (t.page_len - 1));
		n = w->len - done < left ? w->len - done : left;
		if (t.mapping == TS_MAPPED && !add_piece(pl, w, watch, addr, t.phys, n, err))
			return false;
		for (unsigned i = 0; i < t.n_entries; i++) {
			if (!add_entry(pl, w->process, t.entries[i].addr, t.entry_len, err))
				return false;
		}
	}
	return true;
}

static struct ts_paging paging_of_change(const struct ts_query *q, size_t change)
{
	const struct ts_modes *m = &q->tl->modes;

	return ts_paging_of(&m->modes[m->changes[change].mode], q->facts.phys_bits);
}

static bool is_same_paging(const struct ts_query *q, size_t change, const struct ts_paging *paging)
{
	struct ts_paging p = paging_of_change(q, change);

	return ts_paging_is_same(&p, paging);
}

/*
 * The steps around @pos for which the processor translates in the same way, limited to
 * MAX_CHANGES changes of the mode in each direction.
 */
static struct ts_paging find_span(struct ts_places *pl, const struct ts_query *q, uint64_t pos)
{
	const struct ts_modes *m = &q->tl->modes;
	size_t at = ts_modes_change_at(m, pos), first = at, last = at;
	struct ts_paging paging = paging_of_change(q, at);

	while (first > 0 && at - first < MAX_CHANGES && is_same_paging(q, first - 1, &paging))
		first--;
	while (last + 1 < m->n_changes && last - at < MAX_CHANGES && is_same_paging(q, last + 1, &paging))
		last++;
	pl->first = m->changes[first].pos;
	pl->end = last + 1 < m->n_changes ? m->changes[last + 1].pos : UINT64_MAX;
	return paging;
}

bool ts_places_find(struct ts_places *pl, struct ts_query *q, const struct ts_watch *watches, size_t n,
		    bool is_virtual, uint64_t pos, struct ts_error *err)
{
	struct ts_paging paging;

	pl->n = 0;
	pl->first = 0;
	pl->end = UINT64_MAX;
	if (is_virtual)
		paging = find_span(pl, q, pos);
	for (size_t i = 0; i < n; i++) {
		const struct ts_watch *w = &watches[i];

		if (is_virtual ? !translate(pl, q, &paging, w, i, pos, err) :
				 !add_piece(pl, w, i, w->addr, w->addr, w->len, err))
			return false;
	}
	return true;
}
