/* SPDX-License-Identifier: MIT */
/* Where values of two recordings differ: bytes, and addresses of memory that moved. */
#include "diff_parts.h"

#include <string.h>

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

size_t ts_diff_moved_end(struct ts_diff *d, const struct ts_diff_values *v, size_t at)
{
	size_t word = ts_query_regset(d->a)->arch->addr_bits / 8u, before = v->len == word ? at : (v->addr + at) % word;

	if (!d->has_moves)
		return 0;
	if (before <= at && is_same_address(d, v, at - before, word))
		return at - before + word;
	for (size_t first = at < word ? 0 : at - word + 1; v->len > word && first <= at; first++) {
		if (is_same_address(d, v, first, word))
			return first + word;
	}
	return 0;
}

size_t ts_diff_next_difference(struct ts_diff *d, const struct ts_diff_values *v, size_t at)
{
	while ((at = ts_diff_next_unequal(v, at)) < v->len) {
		size_t end = d->hides_moved ? ts_diff_moved_end(d, v, at) : 0;

		if (!end)
			return at;
		at = end;
	}
	return v->len;
}
