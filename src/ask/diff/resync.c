/* SPDX-License-Identifier: MIT */
#include "resync.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_steps(const uint64_t *pcs)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < TS_RESYNC_SAME; i++)
		h = (h ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static bool find_same(const struct ts_window *a, const struct ts_window *b, const uint32_t *table,
		      size_t mask, size_t *i, size_t *j)
{
	size_t best = SIZE_MAX;

	for (size_t k = 0; k + TS_RESYNC_SAME <= a->n && k < best; k++) {
		uint32_t at = table[hash_steps(a->pcs + k) & mask];

		if (at && k + at - 1 < best &&
		    !memcmp(a->pcs + k, b->pcs + at - 1, TS_RESYNC_SAME * sizeof(*a->pcs))) {
			best = k + at - 1;
			*i = k;
			*j = at - 1;
		}
	}
	return best != SIZE_MAX;
}

/* Both windows reach the end: the steps that are the same there. */
static void find_end(const struct ts_window *a, const struct ts_window *b, size_t *i, size_t *j)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->pcs[a->n - 1 - n] == b->pcs[b->n - 1 - n])
		n++;
	*i = a->n - n;
	*j = b->n - n;
}

enum ts_resync ts_resync_find(const struct ts_window *a, const struct ts_window *b, size_t *i, size_t *j)
{
	size_t n_table = 1;
	bool is_found = false;
	uint32_t *table;

	while (n_table < 2 * b->n)
		n_table *= 2;
	table = calloc(n_table, sizeof(*table)); /* hash -> first place in B + 1 */
	if (!table)
		return TS_RESYNC_FAILED;
	for (size_t k = b->n < TS_RESYNC_SAME ? 0 : b->n - TS_RESYNC_SAME + 1; k-- > 0;)
		table[hash_steps(b->pcs + k) & (n_table - 1)] = (uint32_t)k + 1;
	is_found = find_same(a, b, table, n_table - 1, i, j);
	free(table);
	while (is_found && *i && *j && a->pcs[*i - 1] == b->pcs[*j - 1]) { /* a place of the table was taken */
		--*i;
		--*j;
	}
	if (is_found)
		return TS_RESYNC_FOUND;
	if (!a->is_end || !b->is_end)
		return TS_RESYNC_NOT;
	find_end(a, b, i, j);
	return TS_RESYNC_FOUND;
}
