/* SPDX-License-Identifier: MIT */
#include "kept.h"

#include <stdlib.h>

#include "src/base/collections/vec.h"

#define ROWS_A_BLOCK 256u

static struct ts_row *row_at(const struct ts_kept *k, size_t i)
{
	return &k->blocks[i / ROWS_A_BLOCK][i % ROWS_A_BLOCK];
}

void ts_kept_fini(struct ts_kept *k)
{
	for (size_t i = 0; i < k->n_blocks; i++) {
		for (size_t j = 0; j < ROWS_A_BLOCK; j++)
			ts_row_fini(&k->blocks[i][j]);
		free(k->blocks[i]);
	}
	free(k->blocks);
	*k = (struct ts_kept){ 0 };
}

static bool add_block(struct ts_kept *k)
{
	struct ts_row *block = malloc(ROWS_A_BLOCK * sizeof(*block));

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	if (!block || !TS_PUSH(k->blocks, k->n_blocks, k->cap_blocks, block)) {
		free(block);
		return false;
	}
	for (size_t i = 0; i < ROWS_A_BLOCK; i++)
		ts_row_init(&block[i]);
	return true;
}

bool ts_kept_put(struct ts_kept *k, struct ts_row *row, uint64_t max)
{
	struct ts_row *to, old;

	if (k->n < max) {
		if (k->n == k->n_blocks * ROWS_A_BLOCK && !add_block(k))
			return false;
		to = row_at(k, k->n++);
	} else {
		to = row_at(k, (size_t)(k->n_replaced++ % max));
	}
	old = *to;
	*to = *row;
	*row = old;
	return true;
}

/* Which row is taken after @n others? */
static size_t turn(const struct ts_kept *k, size_t n, bool is_reverse)
{
	return is_reverse ? k->n - 1 - n : (size_t)((k->n_replaced + n) % k->n);
}

struct ts_row *ts_kept_take(struct ts_kept *k, bool is_reverse)
{
	if (k->n_taken)
		ts_row_fini(row_at(k, turn(k, k->n_taken - 1, is_reverse)));
	if (ts_kept_is_empty(k))
		return NULL;
	return row_at(k, turn(k, k->n_taken++, is_reverse));
}

void ts_kept_forget(struct ts_kept *k)
{
	k->n_taken = k->n;
}
