/* SPDX-License-Identifier: MIT */
#include "gap.h"

#include <stdlib.h>
#include <string.h>

#include "shadow.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

#define MIN_RANGES 4096u
#define MAX_WRITE 65536u /* bytes of one WRITE */

/* In order, and none meets another one. */
static void join(struct ts_gap *g)
{
	size_t n = 0;

	qsort(g->ranges, g->n, sizeof(*g->ranges), ts_by_u64);
	for (size_t i = 1; i < g->n; i++) {
		struct ts_gap_range *last = &g->ranges[n], *r = &g->ranges[i];

		if (r->start > last->end)
			g->ranges[++n] = *r;
		else if (r->end > last->end)
			last->end = r->end;
	}
	g->n = g->n ? n + 1 : 0;
}

/* Room for one more: ranges are joined before more memory is taken. */
static bool has_room(struct ts_gap *g)
{
	if (g->n < g->cap)
		return true;
	join(g);
	if (g->cap && g->n <= g->cap / 2)
		return true;
	return ts_vec_reserve(&g->ranges, g->n, &g->cap, MIN_RANGES, sizeof(*g->ranges));
}

void ts_gap_add(struct ts_gap *g, uint64_t addr, uint32_t len)
{
	struct ts_gap_range *last = g->n ? &g->ranges[g->n - 1] : NULL;

	if (last && addr >= last->start && addr <= last->end) {
		if (addr + len > last->end)
			last->end = addr + len;
		return;
	}
	if (has_room(g))
		g->ranges[g->n++] = (struct ts_gap_range){ addr, addr + len };
	else
		g->is_failed = true;
}

static void put_write(struct ts_gap *g, uint64_t addr, uint32_t len)
{
	const uint8_t *bytes = ts_shadow_peek(addr);

	if (!bytes || !ts_op_piece_contents(&g->ops, addr, bytes, len))
		g->is_failed = true;
}

void ts_gap_settle(struct ts_gap *g)
{
	if (!g->n)
		return;
	join(g);
	for (size_t i = 0; i < g->n; i++) {
		struct ts_gap_range r = g->ranges[i];

		while (r.start < r.end) {
			uint64_t n = ts_shadow_run(r.start, r.end - r.start);

			n = n < MAX_WRITE ? n : MAX_WRITE;
			put_write(g, r.start, (uint32_t)n);
			r.start += n;
		}
	}
	g->n = 0;
	memset(g->recent, 0, sizeof(g->recent));
}

void ts_gap_reset(struct ts_gap *g)
{
	ts_op_piece_reset(&g->ops);
	g->n = 0;
	memset(g->recent, 0, sizeof(g->recent));
}

void ts_gap_fini(struct ts_gap *g)
{
	ts_op_piece_fini(&g->ops);
	free(g->ranges);
	*g = (struct ts_gap){ 0 };
}
