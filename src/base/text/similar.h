/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean ...?": words that differ by a typing error.
 */
#ifndef TS_SIMILAR_H
#define TS_SIMILAR_H

#include <stdbool.h>

/*
 * Does @typed differ from @word by one or two typing errors (a missing, additional or wrong letter, or two swapped
 * letters)?  Words of up to three letters may differ by one error.  False if they are equal, or if a text is long.
 */
bool ts_is_similar(const char *word, const char *typed);

#endif
