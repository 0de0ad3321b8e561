/* SPDX-License-Identifier: MIT */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/free_in_steps.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

void ts_texts_init(struct ts_texts *x)
{
	*x = (struct ts_texts){ 0 };
	ts_buf_init(&x->chars);
}

bool ts_texts_give_back_some(struct ts_texts *x)
{
	void *items = x->items, *slots = x->slots;
	bool has_more = ts_give_back_items(&items, &x->cap, sizeof(*x->items)) ||
			ts_give_back_items(&slots, &x->n_slots, sizeof(*x->slots));

	x->items = items;
	x->slots = slots;
	x->n = 0;
	return has_more;
}

void ts_texts_fini(struct ts_texts *x)
{
	free(x->items);
	free(x->slots);
	ts_buf_fini(&x->chars);
}

uint64_t ts_text_hash(uint64_t addr)
{
	return ts_hash(addr, 0);
}

uint64_t ts_text_hash_more(uint64_t hash, const char *chars, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)chars[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static size_t slot_of(uint64_t hash, size_t n_slots)
{
	return (size_t)(hash >> 24) & (n_slots - 1);
}

static bool grow_slots(struct ts_texts *x)
{
	size_t n = x->n_slots ? 2 * x->n_slots : 1024;
	uint32_t *slots;

	if (x->n < x->n_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(x->slots);
	x->slots = slots;
	x->n_slots = n;
	for (size_t i = 0; i < x->n; i++) {
		size_t slot = slot_of(x->items[i].hash, n);

		x->items[i].next = slots[slot];
		slots[slot] = (uint32_t)i + 1;
	}
	return true;
}

static bool grow_items(struct ts_texts *x)
{
	return x->n < TS_NO_ROOT - 1 && ts_vec_reserve(&x->items, x->n, &x->cap, 1, sizeof(*x->items));
}

struct ts_text *ts_texts_find(struct ts_texts *x, const char *chars, const struct ts_text *new)
{
	if (!x->n_slots)
		return NULL;
	for (uint32_t i = x->slots[slot_of(new->hash, x->n_slots)]; i; i = x->items[i - 1].next) {
		struct ts_text *t = &x->items[i - 1];

		if (t->hash == new->hash && t->addr == new->addr && t->is_wide == new->is_wide &&
		    t->n == new->n && (t->root == new->root || !memcmp(ts_text_chars(x, t), chars, t->n)))
			return t;
	}
	return NULL;
}

struct ts_text *ts_texts_add(struct ts_texts *x, const char *chars, const struct ts_text *new)
{
	struct ts_text *t;
	size_t slot;

	x->is_failed |= !grow_slots(x) || !grow_items(x);
	if (x->is_failed)
		return NULL;
	slot = slot_of(new->hash, x->n_slots);
	t = &x->items[x->n++];
	*t = *new;
	if (t->root == TS_NO_ROOT) {
		t->root = ts_text_ordinal(x, t);
		t->off = x->chars.len;
		ts_buf_put(&x->chars, chars, new->n);
		x->is_failed |= !ts_buf_ok(&x->chars);
	}
	t->next = x->slots[slot];
	x->slots[slot] = (uint32_t)x->n;
	return x->is_failed ? NULL : t;
}
