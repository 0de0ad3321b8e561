/* SPDX-License-Identifier: MIT */
/*
 * Inputs that are texts: a line is a word and its operands, which single spaces divide.  "for FIRST LAST STEP" as the first line
 * has the others carried out for each number, and "@" stands for it there; "@6" is six more.
 */
#ifndef TS_TESTS_FUZZ_WORDS_H
#define TS_TESTS_FUZZ_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_MAX_WORDS 12

struct fuzz_words {
	char text[256];
	char *items[FUZZ_MAX_WORDS];
	int n;         /* at least 1 */
	uint64_t turn; /* what "@" is */
};

/* Word @i as a number; @otherwise if it is none, or not there. */
uint64_t fuzz_number(const struct fuzz_words *w, int i, uint64_t otherwise);

/* "" if it is not there. */
const char *fuzz_word(const struct fuzz_words *w, int i);

/* Call @do_line with each line that has a word, up to a bound. */
void fuzz_each_line(const uint8_t *bytes, size_t len, uint64_t turn,
		    void (*do_line)(void *user, const struct fuzz_words *w), void *user);

/* Call @live with the lines for each number, up to a bound, which is lower for a fuzzer; once if there is no "for". */
void fuzz_each_turn(const uint8_t *bytes, size_t len,
		    void (*live)(const uint8_t *bytes, size_t len, uint64_t turn));

#endif
