/* SPDX-License-Identifier: MIT */
/*
 * The texts of a short part of the recording that may be older than the part, by the ranges of memory that hold them.
 */
#include "strings_parts.h"

#include "src/ask/grammar/question.h"
#include "src/base/collections/bisect.h"

/* The first range that ends at @addr or after it. */
static size_t find_range(const struct ts_strings *x, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, x->n_ranges, i, x->ranges[i].last < addr);
	return at;
}

bool ts_strings_is_young(const struct ts_strings *x, const struct ts_effect *e)
{
	uint64_t last = e->addr + (e->len - 1);

	for (size_t i = find_range(x, e->addr); i < x->n_ranges && x->ranges[i].first <= last; i++) {
		if (x->ranges[i].n_young)
			return true;
	}
	return false;
}

void ts_strings_seen_before(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide)
{
	struct ts_text like = { .addr = addr, .n = (uint32_t)n, .root = TS_NO_ROOT, .is_wide = is_wide };
	struct ts_text *t;

	like.hash = ts_text_hash_more(ts_text_hash(addr), chars, n);
	t = ts_texts_find(&x->texts, chars, &like);
	if (!t || t->is_old || t->is_hidden || t->pos < x->rows.qn->from)
		return;
	t->is_old = true;
	x->n_young--;
	x->ranges[find_range(x, addr)].n_young--;
}
