/* SPDX-License-Identifier: MIT */
/*
 * Names in pictures: nothing of them is markup, whatever bytes they have.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "src/plot/escape.h"

static struct ts_buf out;

static const char *xml(const char *text)
{
	ts_buf_reset(&out);
	ts_put_xml(&out, text);
	return ts_buf_text(&out);
}

static const char *json(const char *text)
{
	ts_buf_reset(&out);
	ts_put_json(&out, text);
	return ts_buf_text(&out);
}

static void setup(void)
{
	ts_buf_init(&out);
}

static void teardown(void)
{
	ts_buf_fini(&out);
}

START_TEST(markup_is_text)
{
	ck_assert_str_eq(xml("operator<< <a&b>(\"'"), "operator&#60;&#60; &#60;a&#38;b&#62;(&#34;&#39;");
	ck_assert_str_eq(xml("]]></title><script>"), "]]&#62;&#60;/title&#62;&#60;script&#62;");
	ck_assert_str_eq(json("</script><!--&\"\\"),
			 "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u0022\\u005c\"");
}
END_TEST

START_TEST(control_characters_are_no_xml)
{
	ck_assert_str_eq(xml("a\x01\n\x7f"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	ck_assert_str_eq(xml("\xef\xbf\xbe"), "\xef\xbf\xbd");
	ck_assert_str_eq(json("\n\x1f"), "\"\\u000a\\u001f\"");
	ck_assert_str_eq(json("\xe2\x80\xa8\xe2\x80\xa9"), "\"\\u2028\\u2029\"");
}
END_TEST

START_TEST(utf8_stays)
{
	const char *text = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";

	ck_assert_str_eq(xml(text), text);
	ck_assert_mem_eq(json(text) + 1, text, strlen(text));
}
END_TEST

/*
 * A byte that begins no character, overlong forms, a surrogate, beyond Unicode, and characters that end too
 * early.
 */
START_TEST(other_bytes_are_replaced)
{
	static const char r[] = "\xef\xbf\xbd";
	char want[32];

	ck_assert_str_eq(xml("\xff"), r);
	ck_assert_str_eq(xml("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd");
	snprintf(want, sizeof(want), "%s%s%s", r, r, r);
	ck_assert_str_eq(xml("\xed\xa0\x80"), want);
	ck_assert_str_eq(xml("\xe0\x80\xbc"), want);
	ck_assert_str_eq(xml("\xe2\x82<"), "\xef\xbf\xbd\xef\xbf\xbd&#60;");
	ck_assert_str_eq(xml("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
	ck_assert_str_eq(json("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}
END_TEST

UNIT_FIXTURE_SUITE("plot_escape", setup, teardown, markup_is_text, control_characters_are_no_xml, utf8_stays,
		   other_bytes_are_replaced)
