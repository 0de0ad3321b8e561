/* SPDX-License-Identifier: MIT */
#include "owners.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"

/* More of them are not looked through. */
#define MAX_OWNERS 4096u

void ts_owners_fini(struct ts_owners *o)
{
	free(o->items);
	*o = (struct ts_owners){ 0 };
}

static bool add(struct ts_owners *o, const struct ts_owner *x)
{
	if (!x->name || !*x->name || o->n == MAX_OWNERS)
		return true;
	return TS_PUSH(o->items, o->n, o->cap, *x);
}

/* The longest first; of those that are equal the smaller one, which lies within the other if they overlap. */
static int compare(const void *a, const void *b)
{
	const struct ts_owner *x = a, *y = b;

	return TS_ORDER(y->n, x->n) ?: TS_ORDER(x->last - x->first, y->last - y->first) ?: TS_ORDER(x->first, y->first);
}

bool ts_owners_init(struct ts_owners *o, const struct ts_query *q)
{
	uint64_t end = ts_query_end(q);
	struct ts_module_info m;
	struct ts_region_info r;
	bool done = true;

	*o = (struct ts_owners){ 0 };
	for (size_t i = 0; done && ts_query_module(q, i, &m); i++)
		done = add(o, &(struct ts_owner){ m.first, m.last, m.process, (m.until < end ? m.until : end) - m.from, m.file });
	for (size_t i = 0; done && ts_query_region(q, i, &r); i++)
		done = add(o, &(struct ts_owner){ r.first, r.last, r.process, (r.until < end ? r.until : end) - r.from,
						  r.file && *r.file ? r.file : r.desc });
	if (done && o->n)
		qsort(o->items, o->n, sizeof(*o->items), compare);
	return done;
}

const struct ts_owner *ts_owners_find(const struct ts_owners *o, uint32_t process, uint64_t addr,
				      uint64_t *until)
{
	*until = UINT64_MAX;
	for (size_t i = 0; i < o->n; i++) {
		const struct ts_owner *x = &o->items[i];

		if (x->process != process)
			continue;
		if (addr >= x->first && addr <= x->last) {
			*until = x->last < *until ? x->last : *until;
			return x;
		}
		/* one that goes before others begins there */
		if (x->first > addr && x->first - 1 < *until)
			*until = x->first - 1;
	}
	return NULL;
}

const char *ts_owner_name(const struct ts_owner *x)
{
	const char *slash = x ? strrchr(x->name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : x ? x->name : NULL;
}
