/* SPDX-License-Identifier: MIT */
/*
 * main() of the unit test programs, and the helpers of unit.h. Knows libcheck
 * and nothing of tracestub.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

Suite *unit_suite_of(const char *name, SFun setup, SFun teardown, const TTest *const *tests, size_t n_tests)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	if (setup || teardown)
		tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < n_tests; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

void unit_forks(void)
{
	setenv("CK_FORK", "yes", 1);
}

const char *unit_data_path(const char *name)
{
	static char path[4096];
	int len = snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);

	ck_assert_msg(len > 0 && (size_t)len < sizeof(path), "path too long: %s", name);
	return path;
}

uint8_t *unit_data(const char *name, size_t *len)
{
	FILE *file = fopen(unit_data_path(name), "rb");
	uint8_t *bytes = NULL;
	long end;

	ck_assert_msg(file != NULL, "cannot open %s", unit_data_path(name));
	ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	ck_assert_int_ge(end, 0);
	rewind(file);
	*len = (size_t)end;
	bytes = malloc(*len + 1);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(fread(bytes, 1, *len, file), *len);
	fclose(file);
	return bytes;
}

/* Named after its contents (FNV-1a), so that each is kept once. */
void unit_seed(const void *bytes, size_t len)
{
	const char *folder = getenv("TEST_SEEDS");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	char path[4096];
	FILE *file;

	if (!folder)
		return;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	snprintf(path, sizeof(path), "%s/%016" PRIx64, folder, hash);
	file = fopen(path, "wb");
	ck_assert_msg(file != NULL, "cannot write %s", path);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

int main(void)
{
	SRunner *runner = srunner_create(unit_suite());
	int n_failed;

	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

const char *unit_code_name(int code)
{
	static const char *const names[] = { "ok",          "io",    "truncated", "corrupt",
					     "unsupported", "limit", "memory",    "usage" };

	return (unsigned)code < sizeof(names) / sizeof(names[0]) ? names[code] : "unknown";
}
