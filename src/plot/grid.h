/* SPDX-License-Identifier: MIT */
/*
 * The counts that a band of a picture shows, by column (time) and row.
 *
 * All columns have the same number of positions, a power of two, and begin at a multiple of it.  The number
 * of columns is bounded.  Columns are joined in pairs until the number of cells that are not empty is
 * bounded, too.
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
 * Initialize an empty grid for positions [@from, @to), with at most @max_cols columns (2 or more) of at least
 * 1 << @shift positions.
 *
 * Returns false if memory is exhausted.
 */
bool ts_grid_init(struct ts_grid *g, uint64_t from, uint64_t to, unsigned shift, uint32_t max_cols,
		  uint32_t n_rows);
void ts_grid_fini(struct ts_grid *g);

/* Returns the column of position @pos, which is not before the grid's first one. */
static inline uint32_t ts_grid_col(const struct ts_grid *g, uint64_t pos)
{
	return (uint32_t)((pos - g->origin) >> g->shift);
}

/*
 * The first position of a column.  Column 0 may begin before the grid's range; @col may be n_cols, the end.
 */
static inline uint64_t ts_grid_pos(const struct ts_grid *g, uint32_t col)
{
	return g->origin + ((uint64_t)col << g->shift);
}

/* Add @n to the count at a position of the range.  Counts saturate at UINT32_MAX. */
static inline void ts_grid_add(struct ts_grid *g, uint64_t pos, uint32_t row, uint64_t n)
{
	uint32_t *cell = &g->cells[(size_t)ts_grid_col(g, pos) * g->n_rows + row];

	*cell = n > UINT32_MAX - *cell ? UINT32_MAX : *cell + (uint32_t)n;
}

/* Returns the number of cells that are not empty. */
size_t ts_grid_n_filled(const struct ts_grid *g);

/* Join columns until at most @max_filled cells are not empty, or one column is left. */
void ts_grid_fit(struct ts_grid *g, size_t max_filled);

#define TS_GRID_LEVELS 8u

/* Returns the largest count of the grid. */
uint32_t ts_grid_max(const struct ts_grid *g);

/* Returns the level at which @count is displayed: 0 for 0, else 1 to TS_GRID_LEVELS, by the logarithm. */
unsigned ts_grid_level(uint32_t count, uint32_t max);

#endif
