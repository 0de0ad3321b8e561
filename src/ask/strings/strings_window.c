/* SPDX-License-Identifier: MIT */
/*
 * The memory around an access, as it is after a step.
 */
#include "strings_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/state.h"
#include "src/query/query.h"

/* The window as it is after the step, a line of the mirror after the other. */
static bool copy_window(struct ts_strings *x, struct ts_error *err)
{
	if (x->len > TS_STRINGS_MAX_MIRRORED)
		return ts_query_mem(x->rows.ask->q, x->pos + 1, x->process, x->addr, x->len, x->data,
				    x->data + x->len, err);
	for (size_t i = 0, n; i < x->len; i += n) {
		const struct ts_mirror_line *line = ts_mirror_load(&x->mirror, x->pos + 1, x->addr + i, err);
		size_t at = (x->addr + i) % TS_MIRROR_LINE;

		if (!line)
			return false;
		n = TS_MIRROR_LINE - at < x->len - i ? TS_MIRROR_LINE - at : x->len - i;
		memcpy(x->data + i, line->data + at, n);
		memcpy(x->data + x->len + i, line->known + at, n);
	}
	return true;
}

bool ts_strings_read_window(struct ts_strings *x, uint64_t first, uint64_t last, uint64_t before,
			    uint64_t after, struct ts_error *err)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(x->rows.ask->q)->arch), lo, hi;

	lo = first > before ? first - before : 0;
	hi = mask - last > after ? last + after : mask;
	x->addr = lo;
	x->len = (size_t)(hi - lo) + 1;
	x->n_looks += x->len / TS_STRINGS_MAX_MIRRORED;
	if (2 * x->len > x->cap_data) {
		free(x->data);
		x->cap_data = 2 * x->len;
		x->data = malloc(x->cap_data);
		if (!x->data) {
			x->cap_data = 0;
			return ts_no_memory(err, "texts");
		}
	}
	return copy_window(x, err);
}
