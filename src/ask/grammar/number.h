/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them: 4711, 1,000,000, 1_000_000, 10M, 2k, 0x1f, and 12.5%.
 */
#ifndef TS_ASK_NUMBER_H
#define TS_ASK_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* May commas separate groups of three digits? */
enum ts_commas {
	TS_COMMAS_END,   /* a comma ends the number: it means something else */
	TS_COMMAS_GROUP,
};

/*
 * The number at the start of the @len bytes at @text.
 *
 * Returns its length in bytes; 0 if the text does not start with a number, if its commas group it badly, or if it needs more
 * than 64 bits (*is_large is set).
 */
size_t ts_number_take(const char *text, size_t len, enum ts_commas commas, uint64_t *value, bool *is_large);

/*
 * As ts_number_take(), for a number that is the whole text.  Returns false where that function returns less
 * than @len.
 */
bool ts_number_parse(const char *text, size_t len, enum ts_commas commas, uint64_t *value, bool *is_large);

/* A share of a whole: part / scale <= 1. */
struct ts_percentage {
	uint64_t part, scale;
};

/*
 * "12.5%": up to 14 digits.
 *
 * Returns NULL on success.
 * Returns the end of a sentence, a literal ("is not a percentage"), if it is malformed or above 100 %.
 */
const char *ts_percentage_parse(const char *text, size_t len, struct ts_percentage *share);

/* The share of @n, rounded down, exactly. */
uint64_t ts_percentage_of(const struct ts_percentage *share, uint64_t n);

#endif
