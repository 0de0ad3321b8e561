/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

void ts_folds_fini(struct ts_folds *folds)
{
	free(folds->items);
	free(folds->slots);
	*folds = (struct ts_folds){ 0 };
}

/* The place of the stack, or of nothing where it belongs. */
static uint32_t *find_slot(const struct ts_folds *folds, uint32_t parent, uint64_t key)
{
	size_t i = ts_hash(parent, key) & (folds->n_slots - 1);

	while (folds->slots[i] != TS_NO_FOLD && (folds->items[folds->slots[i]].parent != parent ||
						 folds->items[folds->slots[i]].key != key))
		i = (i + 1) & (folds->n_slots - 1);
	return &folds->slots[i];
}

/* Half of the places are free. */
static bool make_slots(struct ts_folds *folds)
{
	size_t n = folds->n_slots ? 2 * folds->n_slots : 1024;
	uint32_t *slots;

	if (2 * (folds->n + 1) <= folds->n_slots)
		return true;
	slots = malloc(n * sizeof(*slots));
	if (!slots)
		return false;
	free(folds->slots);
	folds->slots = slots;
	folds->n_slots = n;
	memset(slots, 0xff, n * sizeof(*slots));
	for (size_t i = 0; i < folds->n; i++)
		*find_slot(folds, folds->items[i].parent, folds->items[i].key) = (uint32_t)i;
	return true;
}

uint32_t ts_folds_get(struct ts_folds *folds, uint32_t parent, uint64_t key)
{
	uint32_t *slot;

	if (folds->n >= TS_NO_FOLD || !make_slots(folds))
		return TS_NO_FOLD;
	slot = find_slot(folds, parent, key);
	if (*slot != TS_NO_FOLD)
		return *slot;
	if (!ts_vec_reserve(&folds->items, folds->n, &folds->cap, 1, sizeof(*folds->items)))
		return TS_NO_FOLD;
	folds->items[folds->n] = (struct ts_fold){
		.parent = parent, .depth = parent == TS_NO_FOLD ? 0 : folds->items[parent].depth + 1, .key = key
	};
	return *slot = (uint32_t)folds->n++;
}
