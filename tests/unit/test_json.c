/* SPDX-License-Identifier: MIT */
#include "src/base/text/json.h"

#include <string.h>

#include "no_memory.h"
#include "unit.h"

START_TEST(a_value_is_appended)
{
	json_t *value = json_pack("{s:i, s:[b, n]}", "one", 1, "two", 1);
	struct ts_buf out;

	ts_buf_init(&out);
	ts_buf_puts(&out, "= ");
	ts_json_put(&out, value, JSON_COMPACT | JSON_SORT_KEYS);
	ck_assert_str_eq(ts_buf_text(&out), "= {\"one\":1,\"two\":[true,null]}");
	ts_buf_fini(&out);
	json_decref(value);
}
END_TEST

START_TEST(no_value_is_a_failure)
{
	struct ts_buf out;

	ts_buf_init(&out);
	ts_json_put(&out, NULL, 0);
	ck_assert(!ts_buf_ok(&out));
	ts_buf_fini(&out);
}
END_TEST

/* Names so long that the buffer grows in the middle of them. */
START_TEST(a_name_is_never_left_out)
{
	static const char digits[] = "0123456789";
	char name[2001], text[2 * sizeof(name) + 20];
	json_t *value = json_object();
	struct ts_buf out;
	uint64_t n = 0;
	bool done;

	for (unsigned i = 0; i < sizeof(name) - 1; i++)
		name[i] = digits[i % 10];
	name[sizeof(name) - 1] = '\0';
	json_object_set_new(value, name, json_string(name));
	snprintf(text, sizeof(text), "{\"%s\":\"%s\"}", name, name);
	do { /* the n-th allocation fails, until there are not so many */
		ts_buf_init(&out);
		no_memory_start(n, n + 1);
		ts_json_put(&out, value, JSON_COMPACT);
		done = no_memory_end(&(int64_t){ 0 }) <= n;
		ck_assert_int_eq(ts_buf_ok(&out), done);
		if (done)
			ck_assert_str_eq(ts_buf_text(&out), text);
		ts_buf_fini(&out);
		n++;
	} while (!done);
	ck_assert_uint_gt(n, 2);
	json_decref(value);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { a_value_is_appended, no_value_is_a_failure, a_name_is_never_left_out };

	return unit_suite_of("json", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
