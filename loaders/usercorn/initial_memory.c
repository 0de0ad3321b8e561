/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "src/base/collections/bisect.h"

#include <stdlib.h>

static int compare_contents(const void *a, const void *b)
{
	const struct ucir_content *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

bool ucir_index_contents(struct usercorn *rec, struct ts_error *err)
{
	const struct ts_steps *b = &rec->base.initial;
	uint32_t thread = 0;

	rec->contents = malloc(((size_t)b->n_maps + b->n_effects + 1) * sizeof(*rec->contents));
	if (!rec->contents)
		return ts_no_memory(err, "the initial state");
	for (uint32_t i = 0; i < b->n_effects; i++) {
		if (b->effects[i].kind == TS_FX_THREAD)
			thread = b->effects[i].item;
		if (b->effects[i].kind == TS_FX_WRITE)
			rec->contents[rec->n_contents++] =
				(struct ucir_content){ b->effects[i].addr, thread, i };
	}
	qsort(rec->contents, rec->n_contents, sizeof(*rec->contents), compare_contents);
	return true;
}

const uint8_t *ucir_initial_bytes(const struct usercorn *rec, uint32_t thread, uint64_t addr, size_t *n)
{
	const struct ucir_content key = { .addr = addr, .thread = thread };
	uint32_t at = 0;
	const struct ts_effect *e;

	TS_BISECT(at, rec->n_contents, i, compare_contents(&rec->contents[i], &key) <= 0);
	if (!at || rec->contents[at - 1].thread != thread)
		return NULL;
	e = &rec->base.initial.effects[rec->contents[at - 1].effect];
	if (addr - e->addr >= e->len)
		return NULL;
	*n = (size_t)(e->len - (addr - e->addr));
	return ts_effect_data(&rec->base.initial, e) + (addr - e->addr);
}
