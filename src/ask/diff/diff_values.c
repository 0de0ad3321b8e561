/* SPDX-License-Identifier: MIT */
#include "diff_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/base/vec.h"

/* Are the bytes from @at on an address, the same one? */
static bool is_same_address(struct ts_diff *d, const struct ts_diff_values *v, size_t at, size_t word)
{
	const struct ts_arch *arch = ts_query_regset(d->a)->arch;

	if (at > v->len || v->len - at < word || memchr(v->a_known + at, 0, word) || memchr(v->b_known + at,
											    0, word))
		return false;
	return ts_arch_get(arch, v->a + at, word) == ts_diff_to_a(d, ts_arch_get(arch, v->b + at, word));
}

size_t ts_diff_next_unequal(const struct ts_diff_values *v, size_t at)
{
	while (at < v->len && (v->a[at] == v->b[at] || !v->a_known[at] || !v->b_known[at]))
		at++;
	return at;
}

/* Bytes of the word that has byte @at which come before it. */
static size_t bytes_before(const struct ts_diff_values *v, size_t at, size_t word)
{
	return v->len == word ? at : (v->addr + at) % word;
}

bool ts_diff_is_moved(struct ts_diff *d, const struct ts_diff_values *v, size_t at)
{
	size_t word = ts_query_regset(d->a)->arch->addr_bits / 8u, before = bytes_before(v, at, word);

	return d->has_moves && before <= at && is_same_address(d, v, at - before, word);
}

size_t ts_diff_next_difference(struct ts_diff *d, const struct ts_diff_values *v, size_t at)
{
	size_t word = ts_query_regset(d->a)->arch->addr_bits / 8u;

	for (; (at = ts_diff_next_unequal(v, at)) < v->len; at++) {
		if (!d->hides_moved || !ts_diff_is_moved(d, v, at))
			return at;
		at += word - bytes_before(v, at, word) - 1;
	}
	return v->len;
}

struct ts_diff_item *ts_diff_add_item(struct ts_diff *d)
{
	if (!ts_vec_reserve(&d->items, d->n, &d->cap, 1, sizeof(*d->items))) {
		d->is_failed = true;
		return NULL;
	}
	d->items[d->n] = (struct ts_diff_item){ 0 };
	return &d->items[d->n++];
}

void ts_diff_put_item(struct ts_diff *d, uint64_t pos, uint64_t pos2, uint64_t n_steps,
		      const struct ts_diff_values *v, size_t at, size_t end, const struct ts_diff_reg *reg)
{
	struct ts_diff_item *x = ts_diff_add_item(d);

	if (!x)
		return;
	x->pos = pos;
	x->end = pos + n_steps;
	x->pos2 = pos2;
	x->end2 = pos2 + n_steps;
	x->is_reg = reg != NULL;
	x->at = (reg ? reg->a->off : v->addr) + at;
	x->len = (uint32_t)(end - at);
	if (reg)
		snprintf(x->what, sizeof(x->what), "$%s", reg->a->name);
	else
		snprintf(x->what, sizeof(x->what), "0x%" PRIx64 ",%zu", v->addr + at, end - at);
	memcpy(x->old, v->a + at, end - at);
	memcpy(x->old_known, v->a_known + at, end - at);
	memcpy(x->new, v->b + at, end - at);
	memcpy(x->new_known, v->b_known + at, end - at);
}
