/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdlib.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

void ts_pages_fini(struct ts_pages *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->by_id[i]->holes);
		free(p->by_id[i]);
	}
	free(p->by_id);
	ts_hash_table_fini(&p->by_page);
	*p = (struct ts_pages){ 0 };
}

/* The key of a page. */
struct key {
	uint64_t page;
	uint32_t layer;
};

static bool is_page(const void *user, uint32_t i, const void *key)
{
	const struct ts_page *x = ((const struct ts_pages *)user)->by_id[i];
	const struct key *y = key;

	return x->page == y->page && x->layer == y->layer;
}

static uint64_t hash_of_page(const void *user, uint32_t i)
{
	const struct ts_page *x = ((const struct ts_pages *)user)->by_id[i];

	return ts_hash(x->page, x->layer);
}

static uint32_t *find_slot(const struct ts_pages *p, uint64_t page, uint32_t layer)
{
	const struct key key = { page, layer };

	return ts_hash_table_slot(&p->by_page, ts_hash(page, layer), is_page, p, &key);
}

struct ts_page *ts_pages_find(const struct ts_pages *p, uint64_t page, uint32_t layer)
{
	const uint32_t *slot = find_slot(p, page, layer);

	return slot && *slot ? p->by_id[*slot - 1] : NULL;
}

struct ts_page *ts_pages_add(struct ts_pages *p, uint64_t page, uint32_t layer)
{
	struct ts_page *pg;

	if (!ts_vec_reserve(&p->by_id, p->n, &p->cap, 1, sizeof(struct ts_page *)) ||
	    !ts_hash_table_reserve(&p->by_page, p->n, 1, hash_of_page, p))
		return NULL;
	pg = calloc(1, sizeof(*pg));
	if (!pg)
		return NULL;
	pg->page = page;
	pg->layer = layer;
	pg->id = (uint32_t)p->n;
	p->by_id[p->n++] = pg;
	*find_slot(p, page, layer) = (uint32_t)p->n;
	if (!layer)
		ts_pages_remember(p, pg);
	return pg;
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
