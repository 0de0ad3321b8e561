/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean ...?": words that differ by a slip of the finger.
 */
#ifndef TS_SIMILAR_H
#define TS_SIMILAR_H

#include <stdbool.h>

/*
 * Is @typed @word but for one or two slips: a letter that is missing, added, another one, or swapped with the
 * next?  Of a word of up to three letters, one slip.  False if they are the same, or if a text is long.
 */
bool ts_is_similar(const char *word, const char *typed);

#endif
