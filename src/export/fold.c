/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

void ts_folds_fini(struct ts_folds *folds)
{
	free(folds->items);
	ts_hash_table_fini(&folds->by_stack);
	*folds = (struct ts_folds){ 0 };
}

static bool is_stack(const void *user, uint32_t i, const void *key)
{
	const struct ts_fold *x = &((const struct ts_folds *)user)->items[i], *y = key;

	return x->parent == y->parent && x->key == y->key;
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	const struct ts_fold *x = &((const struct ts_folds *)user)->items[i];

	return ts_hash(x->parent, x->key);
}

uint32_t ts_folds_get(struct ts_folds *folds, uint32_t parent, uint64_t key)
{
	struct ts_fold wanted = { .parent = parent, .key = key };
	uint32_t *slot;

	if (folds->n >= TS_NO_FOLD || !ts_hash_table_reserve(&folds->by_stack, folds->n, 1, hash_of_item, folds))
		return TS_NO_FOLD;
	slot = ts_hash_table_slot(&folds->by_stack, ts_hash(parent, key), is_stack, folds, &wanted);
	if (*slot)
		return *slot - 1;
	if (!ts_vec_reserve(&folds->items, folds->n, &folds->cap, 1, sizeof(*folds->items)))
		return TS_NO_FOLD;
	wanted.depth = parent == TS_NO_FOLD ? 0 : folds->items[parent].depth + 1;
	folds->items[folds->n] = wanted;
	*slot = (uint32_t)++folds->n;
	return *slot - 1;
}
