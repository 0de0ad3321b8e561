/* SPDX-License-Identifier: MIT */
/*
 * The environment by which `make check-twins` controls the tests that compare answers with those of a naive twin:
 * TEST_QUESTIONS is the number of questions, TEST_SEED selects other ones, TEST_FORMAT selects recordings of one format.
 */
#ifndef TS_TESTS_TWINS_H
#define TS_TESTS_TWINS_H

#include "asserts.h"
#include <stdbool.h>
#include <stdint.h>

/* The format of recordings that tests make up. */
#define TWINS_MADE_UP "made-up"

/* How many questions are asked of a verb and a format: TEST_QUESTIONS, 0 without it. */
uint64_t twins_n_questions(void);

/* The seed of the @i-th sequence of random numbers: @i itself without TEST_SEED. */
uint64_t twins_seed(uint64_t i);

/* Is it TEST_FORMAT?  Any is, without that. */
bool twins_has_format(const char *name);

/* A case of tests that compare with a twin.  Its timeout grows with the number of questions. */
TCase *twins_case(void);

/* The rows of an answer are those that are wanted; if not, the test fails with the first that differ, and some after them. */
void twins_check_rows(const char *question, const char *got, const char *wanted);

#endif
