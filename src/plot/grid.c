/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include <stdlib.h>

bool ts_grid_init(struct ts_grid *g, uint64_t from, uint64_t to, unsigned shift, uint32_t max_cols,
		  uint32_t n_rows)
{
	uint64_t last = to > from ? to - 1 : from;

	while ((last >> shift) - (from >> shift) >= max_cols)
		shift++;
	*g = (struct ts_grid){ .origin = from >> shift << shift, .shift = shift, .n_rows = n_rows };
	g->n_cols = (uint32_t)((last >> shift) - (from >> shift)) + 1;
	g->cells = calloc((size_t)g->n_cols * (n_rows ? n_rows : 1), sizeof(*g->cells));
	return g->cells != NULL;
}

void ts_grid_fini(struct ts_grid *g)
{
	free(g->cells);
	*g = (struct ts_grid){ 0 };
}

size_t ts_grid_n_filled(const struct ts_grid *g)
{
	size_t n = 0;

	for (size_t i = 0; i < (size_t)g->n_cols * g->n_rows; i++)
		n += g->cells[i] != 0;
	return n;
}

/* Columns of twice the width; the first one gets the first only, if that is where the wider one begins. */
static void join_columns(struct ts_grid *g)
{
	uint32_t odd = (uint32_t)(g->origin >> g->shift & 1), n_cols = (g->n_cols + odd + 1) / 2;

	for (uint32_t col = 0; col < g->n_cols; col++) {
		uint32_t *from = g->cells + (size_t)col * g->n_rows;
		uint32_t *to = g->cells + (size_t)((col + odd) / 2) * g->n_rows;

		for (uint32_t row = 0; row < g->n_rows && from != to; row++) {
			uint64_t sum = from[row] + (uint64_t)((col + odd) % 2 ? to[row] : 0);

			to[row] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
		}
	}
	g->shift++;
	g->origin = g->origin >> g->shift << g->shift;
	g->n_cols = n_cols;
}

void ts_grid_fit(struct ts_grid *g, size_t max_filled)
{
	while (g->n_cols > 1 && ts_grid_n_filled(g) > max_filled)
		join_columns(g);
}

uint32_t ts_grid_max(const struct ts_grid *g)
{
	uint32_t max = 0;

	for (size_t i = 0; i < (size_t)g->n_cols * g->n_rows; i++)
		max = g->cells[i] > max ? g->cells[i] : max;
	return max;
}

/* Eight times the logarithm to the base of 2, roughly; @n is not 0. */
static unsigned log8(uint32_t n)
{
	unsigned whole = 31u - (unsigned)__builtin_clz(n);

	return whole * 8 + (unsigned)((((uint64_t)n << 3) >> whole) & 7);
}

unsigned ts_grid_level(uint32_t count, uint32_t max)
{
	if (!count || max <= 1)
		return count ? TS_GRID_LEVELS : 0;
	return 1 + (TS_GRID_LEVELS - 1) * log8(count) / log8(max);
}
