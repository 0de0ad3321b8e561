/* SPDX-License-Identifier: MIT */
/*
 * Counts by time and row: what a band of a picture shows.
 *
 * A column is a power of two of positions and begins at a multiple of it.  The number of columns is bounded,
 * however long the recording is; columns are joined in pairs to bound the number of cells that are not empty.
 */
#ifndef TS_PLOT_GRID_H
#define TS_PLOT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_grid {
	uint64_t origin;  /* the first position of column 0 */
	unsigned shift;   /* a column is 1 << shift positions */
	uint32_t n_cols, n_rows;
	uint32_t *cells;  /* owned; column by column */
};

/*
 * An empty grid for positions [@from, @to), with at most @max_cols columns (2 or more) of at least 1 <<
 * @shift positions.
 *
 * Returns false if memory is exhausted.
 */
bool ts_grid_init(struct ts_grid *g, uint64_t from, uint64_t to, unsigned shift, uint32_t max_cols,
		  uint32_t n_rows);
void ts_grid_fini(struct ts_grid *g);

static inline uint32_t ts_grid_col(const struct ts_grid *g, uint64_t pos)
{
	return (uint32_t)((pos - g->origin) >> g->shift);
}

/* The first position of a column; it may lie before the grid's range in column 0, and after it for n_cols. */
static inline uint64_t ts_grid_pos(const struct ts_grid *g, uint32_t col)
{
	return g->origin + ((uint64_t)col << g->shift);
}

/* Count @n at a position of the range; a count ends at the largest number. */
static inline void ts_grid_add(struct ts_grid *g, uint64_t pos, uint32_t row, uint64_t n)
{
	uint32_t *cell = &g->cells[(size_t)ts_grid_col(g, pos) * g->n_rows + row];

	*cell = n > UINT32_MAX - *cell ? UINT32_MAX : *cell + (uint32_t)n;
}

/* How many cells are not empty. */
size_t ts_grid_n_filled(const struct ts_grid *g);

/* Join columns until at most @max_filled cells are not empty, or one column is left. */
void ts_grid_fit(struct ts_grid *g, size_t max_filled);

/* Scale a count for display: 0 for none, else 1 to TS_GRID_LEVELS, by the logarithm. */
#define TS_GRID_LEVELS 8u
uint32_t ts_grid_max(const struct ts_grid *g);
unsigned ts_grid_level(uint32_t count, uint32_t max);

#endif
