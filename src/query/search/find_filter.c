/* SPDX-License-Identifier: MIT */
#include "find_filter.h"

#include "scan.h"
#include "src/query/snapshot.h"
#include "src/sketch/probe.h"
#include "src/timeline/backfill.h"
#include "src/timeline/file/sketch_section.h"

struct ts_probe *ts_query_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len)
{
	return ts_probe_new(bytes, mask, len);
}

void ts_query_probe_free(struct ts_probe *p)
{
	ts_probe_free(p);
}

bool ts_query_has_values(const struct ts_query *q)
{
	return ts_timeline_has(q->tl, &ts_sketch_section) && ts_sketches_fit(q->tl);
}

enum ts_next ts_query_need_values(struct ts_query *q, uint64_t n_steps, struct ts_error *err)
{
	if (ts_query_has_values(q))
		return TS_END;
	if (ts_timeline_has(q->tl, &ts_sketch_section))
		ts_timeline_give_up(q->tl, &ts_sketch_section); /* of other files */
	return ts_timeline_fill(q->tl, &ts_sketch_section, n_steps, err);
}

uint64_t ts_query_n_values_read(const struct ts_query *q)
{
	return q->tl->backfill ? ts_backfill_n_read(q->tl->backfill) : 0;
}

uint64_t ts_query_next_begin(const struct ts_query *q, struct ts_probe *p, uint64_t chunk, uint64_t end)
{
	uint64_t found = ts_sketches_next(q->tl, p, chunk, end);
	uint64_t inferred = ts_query_next_inferred(q, chunk); /* the sketches are of the trace's effects alone */

	return inferred < found ? inferred : found;
}
