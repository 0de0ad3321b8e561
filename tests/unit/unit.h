/* SPDX-License-Identifier: MIT */
/*
 * What every unit test program shares. libunit.a has main(): it runs the one
 * suite that the test file defines, with libcheck's own environment variables
 * (CK_FORK=no for a debugger, CK_RUN_CASE, CK_VERBOSITY, CK_TAP_LOG_FILE_NAME).
 * A program runs in an empty directory of its own and may write there.
 *
 *      #include "unit.h"
 *      #include "src/base/cursor.h"
 *
 *      START_TEST(take_fails_past_the_end)
 *      {
 *              ...
 *      }
 *      END_TEST
 *
 *      UNIT_SUITE("cursor", take_fails_past_the_end)
 */
#ifndef TS_TESTS_UNIT_H
#define TS_TESTS_UNIT_H

#include "asserts.h"
#include <stddef.h>
#include <stdint.h>

/*
 * The suite, defined by the test file: by UNIT_SUITE or UNIT_FIXTURE_SUITE, or
 * written out where it needs more (tcase_add_loop_test).
 */
Suite *unit_suite(void);

/*
 * A suite with one case of the same name that holds @tests, each run between @setup and @teardown (NULL:
 * none).
 */
Suite *unit_suite_of(const char *name, SFun setup, SFun teardown, const TTest *const *tests, size_t n_tests);

#define UNIT_SUITE(name, ...) UNIT_FIXTURE_SUITE(name, NULL, NULL, __VA_ARGS__)

#define UNIT_FIXTURE_SUITE(name, setup, teardown, ...) \
	Suite *unit_suite(void) \
	{ \
		const TTest *const tests[] = { __VA_ARGS__ }; \
		return unit_suite_of(name, setup, teardown, tests, sizeof(tests) / sizeof(tests[0])); \
	}

/* The class of a fault in a word, for messages: an enum ts_code. */
const char *unit_code_name(int code);

/*
 * Called by unit_suite(): each test of this program needs a process of its own, because one ends by a signal or changes the
 * process for good.  make check-asan runs the tests of the other programs in one process.
 */
void unit_forks(void);

/* The path of tests/data/@name. Valid until the next call. */
const char *unit_data_path(const char *name);

/*
 * The bytes of tests/data/@name, their number in *len. The caller frees them.
 * The test fails if the file cannot be read.
 */
uint8_t *unit_data(const char *name, size_t *len);

/*
 * A file that a test has put together: kept as a seed for "make fuzz" where the environment's TEST_SEEDS is a
 * folder (tests/tools/fuzz.py), else ignored.
 */
void unit_seed(const void *bytes, size_t len);

#endif
