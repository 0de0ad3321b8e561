/* SPDX-License-Identifier: MIT */
#include "ordered.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "vec.h"

#define BLOCK_LEN 256u

struct ts_ordered_block {
	unsigned n;
	uint64_t keys[BLOCK_LEN];
};

void ts_ordered_fini(struct ts_ordered *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->blocks[i]);
	free(o->blocks);
	*o = (struct ts_ordered){ 0 };
}

/* The last block that begins at or below @key; the first one, which may be empty, if all begin above. */
static size_t find_block(const struct ts_ordered *o, uint64_t key)
{
	size_t at = 1;

	TS_BISECT(at, o->n, i, o->blocks[i]->keys[0] <= key);
	return at - 1;
}

/* The ordinal of the first key in the block that is not below @key; n if all are. */
static unsigned find_key(const struct ts_ordered_block *b, uint64_t key)
{
	unsigned at = 0;

	TS_BISECT(at, b->n, i, b->keys[i] < key);
	return at;
}

/* An empty block in place @at. */
static struct ts_ordered_block *add_block(struct ts_ordered *o, size_t at)
{
	struct ts_ordered_block *b = ts_vec_reserve(&o->blocks, o->n, &o->cap, 1, sizeof(struct ts_ordered_block *))
					     ? malloc(sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->n = 0;
	memmove(o->blocks + at + 1, o->blocks + at, (o->n - at) * sizeof(o->blocks[0]));
	o->blocks[at] = b;
	o->n++;
	return b;
}

/* The upper half of the block goes to a new one after it. */
static bool split(struct ts_ordered *o, size_t at)
{
	struct ts_ordered_block *upper = add_block(o, at + 1), *b = o->blocks[at];

	if (!upper)
		return false;
	upper->n = b->n - b->n / 2;
	b->n /= 2;
	memcpy(upper->keys, b->keys + b->n, upper->n * sizeof(b->keys[0]));
	return true;
}

bool ts_ordered_add(struct ts_ordered *o, uint64_t key)
{
	struct ts_ordered_block *b;
	size_t at;
	unsigned i;

	if (!o->n && !add_block(o, 0))
		return false;
	at = find_block(o, key);
	if (o->blocks[at]->n == BLOCK_LEN) {
		if (!split(o, at))
			return false;
		at = find_block(o, key);
	}
	b = o->blocks[at];
	i = find_key(b, key);
	memmove(b->keys + i + 1, b->keys + i, (b->n - i) * sizeof(b->keys[0]));
	b->keys[i] = key;
	b->n++;
	return true;
}

/* Where the smallest key that is not below @from is: at @i of block *at.  Returns false if none is found. */
static bool find(const struct ts_ordered *o, uint64_t from, size_t *at, unsigned *i)
{
	*at = o->n ? find_block(o, from) : 0;
	*i = o->n ? find_key(o->blocks[*at], from) : 0;
	if (o->n && *i == o->blocks[*at]->n) {
		++*at;
		*i = 0;
	}
	return *at < o->n && o->blocks[*at]->n;
}

bool ts_ordered_take(struct ts_ordered *o, uint64_t from, uint64_t to, uint64_t *key)
{
	struct ts_ordered_block *b;
	size_t at;
	unsigned i;

	if (!find(o, from, &at, &i) || o->blocks[at]->keys[i] > to)
		return false;
	b = o->blocks[at];
	*key = b->keys[i];
	b->n--;
	memmove(b->keys + i, b->keys + i + 1, (b->n - i) * sizeof(b->keys[0]));
	if (!b->n) {
		free(b);
		o->n--;
		memmove(o->blocks + at, o->blocks + at + 1, (o->n - at) * sizeof(o->blocks[0]));
	}
	return true;
}
