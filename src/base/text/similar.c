/* SPDX-License-Identifier: MIT */
#include "similar.h"

#include <string.h>

#define MAX_WORD 32u

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The number of slips (optimal string alignment distance); both texts are at most MAX_WORD long. */
static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	unsigned d[MAX_WORD + 1][MAX_WORD + 1];

	for (unsigned i = 0; i <= n_a; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= n_b; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		for (size_t j = 1; j <= n_b; j++) {
			unsigned differs = a[i - 1] != b[j - 1];

			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n_a][n_b];
}

bool ts_is_similar(const char *word, const char *typed)
{
	size_t n_word = strlen(word), n_typed = strlen(typed);
	unsigned slips;

	if (n_word > MAX_WORD || n_typed > MAX_WORD)
		return false;
	slips = distance(word, n_word, typed, n_typed);
	return slips && slips <= (n_word <= 3 ? 1u : 2u);
}
