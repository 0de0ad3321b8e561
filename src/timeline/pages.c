/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

void ts_pages_fini(struct ts_pages *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->by_id[i]->holes);
		free(p->by_id[i]);
	}
	free(p->by_id);
	free(p->slots);
	*p = (struct ts_pages){ 0 };
}

/* The slot that holds the page, or the free one where it belongs. */
static struct ts_page **find_slot(const struct ts_pages *p, uint64_t page, uint32_t layer)
{
	size_t i = (size_t)ts_hash(page, layer) & (p->n_slots - 1);

	while (p->slots[i] && (p->slots[i]->page != page || p->slots[i]->layer != layer))
		i = (i + 1) & (p->n_slots - 1);
	return &p->slots[i];
}

struct ts_page *ts_pages_find(const struct ts_pages *p, uint64_t page, uint32_t layer)
{
	return p->n_slots ? *find_slot(p, page, layer) : NULL;
}

static bool grow_slots(struct ts_pages *p)
{
	size_t n = p->n_slots ? p->n_slots * 2 : 64;
	struct ts_page **slots = calloc(n, sizeof(struct ts_page *));

	if (!slots)
		return false;
	free(p->slots);
	p->slots = slots;
	p->n_slots = n;
	for (size_t i = 0; i < p->n; i++)
		*find_slot(p, p->by_id[i]->page, p->by_id[i]->layer) = p->by_id[i];
	return true;
}

struct ts_page *ts_pages_add(struct ts_pages *p, uint64_t page, uint32_t layer)
{
	struct ts_page *pg;

	if (!ts_vec_reserve(&p->by_id, p->n, &p->cap, 1, sizeof(struct ts_page *)) || (2 * p->n >= p->n_slots && !grow_slots(p)))
		return NULL;
	pg = calloc(1, sizeof(*pg));
	if (!pg)
		return NULL;
	pg->page = page;
	pg->layer = layer;
	pg->id = (uint32_t)p->n;
	p->by_id[p->n++] = pg;
	*find_slot(p, page, layer) = pg;
	if (!layer)
		ts_pages_remember(p, pg);
	return pg;
}

bool ts_page_knows_all(const struct ts_page *p, unsigned off, unsigned len)
{
	while (len) {
		unsigned bit = off % 64, n = len < 64 - bit ? len : 64 - bit;
		uint64_t want = ts_bit_run(bit, n);

		if ((p->known[off / 64] & want) != want)
			return false;
		off += n;
		len -= n;
	}
	return true;
}

void ts_page_know(struct ts_page *p, unsigned off, unsigned len)
{
	while (len) {
		unsigned bit = off % 64, n = len < 64 - bit ? len : 64 - bit;

		ts_page_know_word(p, off / 64, ts_bit_run(bit, n));
		off += n;
		len -= n;
	}
}

void ts_page_forget(struct ts_page *p, unsigned off, unsigned len)
{
	while (len) {
		unsigned bit = off % 64, n = len < 64 - bit ? len : 64 - bit;

		p->known[off / 64] &= ~ts_bit_run(bit, n);
		if (p->holes)
			p->holes->bits[off / 64] &= ~ts_bit_run(bit, n);
		off += n;
		len -= n;
	}
}

bool ts_page_lose(struct ts_page *p, unsigned word, uint64_t bits)
{
	if (!p->holes)
		p->holes = calloc(1, sizeof(*p->holes));
	if (!p->holes)
		return false;
	p->known[word] &= ~bits;
	p->holes->bits[word] |= bits;
	return true;
}
