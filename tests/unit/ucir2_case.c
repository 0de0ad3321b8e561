/* SPDX-License-Identifier: MIT */
#include "ucir2_case.h"

#include "unit.h"

struct ucir_trace t;
struct ts_buf got;

void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&got);
}

void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&got);
}

void open_text(const struct ucir_form *form, const char *text)
{
	ts_buf_reset(&t.bytes);
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

void expect_form(const struct ucir_form *form, const char *text, const char *want)
{
	open_text(form, text);
	ts_buf_reset(&got);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), want);
}

void expect(const char *text, const char *want)
{
	expect_form(&ucir_v2, text, want);
}
