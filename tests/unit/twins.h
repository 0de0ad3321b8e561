/* SPDX-License-Identifier: MIT */
/*
 * What `make check-twins` asks of the tests that compare answers with those of a naive twin, by the
 * environment: TEST_QUESTIONS are so many, TEST_SEED other ones, TEST_FORMAT those to recordings of one format.
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

/* What random numbers begin with that are told apart by @i: @i itself without TEST_SEED. */
uint64_t twins_seed(uint64_t i);

/* Is it TEST_FORMAT?  Any is, without that. */
bool twins_has_format(const char *name);

/* A case of tests that compare with a twin, which may take as long as so many questions need. */
TCase *twins_case(void);

/* The rows of an answer are those that are wanted; if not, the first that differ are told, and some after them. */
void twins_check_rows(const char *question, const char *got, const char *wanted);

#endif
