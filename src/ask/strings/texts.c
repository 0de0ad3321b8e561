/* SPDX-License-Identifier: MIT */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/free_later.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

void ts_texts_init(struct ts_texts *x)
{
	*x = (struct ts_texts){ 0 };
	ts_buf_init(&x->chars);
}

void ts_texts_fini(struct ts_texts *x)
{
	ts_free_later(x->items, x->cap * sizeof(*x->items));
	ts_hash_table_fini_later(&x->by_text);
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

/* The key of a text. */
struct key {
	const struct ts_text *text;
	const char *chars;
};

static bool is_text(const void *user, uint32_t i, const void *key)
{
	const struct ts_texts *x = user;
	const struct ts_text *t = &x->items[i], *wanted = ((const struct key *)key)->text;

	return t->hash == wanted->hash && t->addr == wanted->addr && t->is_wide == wanted->is_wide && t->n == wanted->n &&
	       (t->root == wanted->root || !memcmp(ts_text_chars(x, t), ((const struct key *)key)->chars, t->n));
}

/* The lower bits of a text's hash depend on few bits of its characters: all are mixed once more. */
static uint64_t hash_of_text(const void *user, uint32_t i)
{
	return ts_hash_end(((const struct ts_texts *)user)->items[i].hash);
}

static uint32_t *find_slot(const struct ts_texts *x, const char *chars, const struct ts_text *wanted)
{
	const struct key key = { wanted, chars };

	return ts_hash_table_slot(&x->by_text, ts_hash_end(wanted->hash), is_text, x, &key);
}

struct ts_text *ts_texts_find(struct ts_texts *x, const char *chars, const struct ts_text *new)
{
	const uint32_t *slot = find_slot(x, chars, new);

	return slot && *slot ? &x->items[*slot - 1] : NULL;
}

struct ts_text *ts_texts_add(struct ts_texts *x, const char *chars, const struct ts_text *new)
{
	struct ts_text *t;
	uint32_t *slot;

	x->is_failed |= x->n >= TS_NO_ROOT - 1 || !ts_vec_reserve(&x->items, x->n, &x->cap, 1, sizeof(*x->items)) ||
			!ts_hash_table_reserve(&x->by_text, x->n, 1, hash_of_text, x);
	if (x->is_failed)
		return NULL;
	slot = find_slot(x, chars, new);
	t = &x->items[x->n++];
	*t = *new;
	if (t->root == TS_NO_ROOT) {
		t->root = ts_text_ordinal(x, t);
		t->off = x->chars.len;
		ts_buf_put(&x->chars, chars, new->n);
		x->is_failed |= !ts_buf_ok(&x->chars);
	}
	*slot = (uint32_t)x->n;
	return x->is_failed ? NULL : t;
}
