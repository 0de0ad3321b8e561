/* SPDX-License-Identifier: MIT */
/*
 * The words of questions, by the grammar of queries.md: numbers, WHAT, VALUE, COND, PLACE, and what is
 * refused.
 */
#include "unit.h"

#include "ask_text.h"
#include "src/ask/grammar/number.h"
#include "src/ask/grammar/place.h"
#include "src/ask/grammar/value.h"

#include <stdio.h>
#include <string.h>

#define N_STEPS 1000u

static struct script *s;
static struct ask_text a;
static struct ts_error err;

/* An x86-64 program of 1,000 steps at 0x401000, 0x401004, ...; step 500 writes four bytes at 0x5000. */
static void setup(void)
{
	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < N_STEPS; i++) {
		if (i == 500)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x5000, "\x01\x02\x03\x04", 4);
		ts_steps_close(&s->steps, 0x401000 + 4 * (i % 100), 4, 0);
	}
	ask_text_init(&a, &s->rec);
	ck_assert(ts_symbols_add(a.symbols, 0x401010, 0x20, 0, "work", true));
	ck_assert(ts_symbols_add(a.symbols, 0x5000, 8, 0, "counter", false));
	ts_error_reset(&err);
}

static void teardown(void)
{
	ask_text_fini(&a);
	script_free(s);
}

/* ----------------------------------------------------------------------------------------------- numbers */

START_TEST(numbers_are_read_as_people_write_them)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = { { "0", 0 },	       { "4711", 4711 },	{ "1,000,000", 1000000 },
		     { "1_000_000", 1000000 }, { "10M", 10000000 },	{ "2k", 2000 },
		     { "0x1f", 31 },	       { "0xABCdef", 0xabcdef }, { "18446744073709551615", UINT64_MAX } };
	static const char *const bad[] = { "",	   "x",	     "1,00",  "1,0000", "1000,000", "1,000_000", "0x",
					   "0x1g", "5m",     "12ab",  "-1",	"1,",	    "1,,000",	 "_1" };
	bool is_large;
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(ts_number_parse(good[i].text, strlen(good[i].text), TS_COMMAS_GROUP, &v,
					      &is_large),
			      "%s", good[i].text);
		ck_assert_uint_eq(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!ts_number_parse(bad[i], strlen(bad[i]), TS_COMMAS_GROUP, &v, &is_large), "%s",
			      bad[i]);
	ck_assert(!ts_number_parse("18446744073709551616", 20, TS_COMMAS_GROUP, &v, &is_large));
	ck_assert(is_large);
	ck_assert(!ts_number_parse("20000000000000M", 15, TS_COMMAS_GROUP, &v, &is_large));
	ck_assert(is_large);
	/* where a comma may mean ",LEN" it ends the number */
	ck_assert_uint_eq(ts_number_take("1,000", 5, TS_COMMAS_END, &v, &is_large), 1);
	ck_assert_uint_eq(v, 1);
}
END_TEST

/* -------------------------------------------------------------------------------------------------- WHAT */

START_TEST(what_is_a_register_a_part_of_one_or_memory)
{
	const struct ts_regset *set = ts_query_regset(a.q);
	uint32_t rax = set->regs[ts_regset_find(set, "rax")].off, eflags = set->regs[set->flags].off;
	static const struct {
		const char *text;
		uint64_t first, last;
	} memory[] = { { "0x5000", 0x5000, 0x5000 },	{ "20480,8", 0x5000, 0x5007 },
		       { "0x5000:0x5010", 0x5000, 0x500f }, { "counter", 0x5000, 0x5007 },
		       { "counter+2", 0x5002, 0x5002 },	{ "counter+2,4", 0x5002, 0x5005 },
		       { "counter,4", 0x5000, 0x5003 },	{ "work", 0x401010, 0x40102f } };
	struct {
		const char *text;
		uint32_t off, len;
	} regs[] = { { "$rax", rax, 8 },     { "$eax", rax, 4 },      { "$ax", rax, 2 },
		     { "$al", rax, 1 },	     { "$ah", rax + 1, 1 },   { "$flags", eflags, 4 },
		     { "$ZF", eflags, 1 },   { "$of", eflags + 1, 1 }, { "$rflags", eflags, 4 }, { "$eflags", eflags, 4 } };
	static const char *const bad[] = { "$nope",	  "nope",   "0x5000,0",	     "0x5000:0x5000", "0x5010:0x5000", "",
					   "0x5000,",	  "0x5000:", "counter+x",    "12ab",	      "$",	       "0x1,2,3",
					   "0x10000000000000000" };
	struct ts_what what;

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		ck_assert_msg(ts_what_parse(&what, memory[i].text, strlen(memory[i].text), set, a.symbols,
					    &err),
			      "%s: %s", memory[i].text, err.text);
		ck_assert_int_eq(what.kind, TS_WHAT_MEM);
		ck_assert_uint_eq(what.addr, memory[i].first);
		ck_assert_uint_eq(what.last, memory[i].last);
	}
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		ck_assert_msg(ts_what_parse(&what, regs[i].text, strlen(regs[i].text), set, a.symbols, &err),
			      "%s: %s", regs[i].text, err.text);
		ck_assert_int_eq(what.kind, TS_WHAT_REG);
		ck_assert_uint_eq(what.off, regs[i].off);
		ck_assert_uint_eq(what.len, regs[i].len);
	}
	ck_assert(ts_what_parse(&what, "$ZF", 3, set, a.symbols, &err) && what.is_flag && what.bit == 6);
	ck_assert(ts_what_parse(&what, "$pc", 3, set, a.symbols, &err) && what.is_pc);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ts_error_reset(&err);
		ck_assert_msg(!ts_what_parse(&what, bad[i], strlen(bad[i]), set, a.symbols, &err), "%s",
			      bad[i]);
		ck_assert_int_eq(err.code, TS_EUSAGE);
	}
}
END_TEST

/* gdb calls it cpsr; the manuals of profiles and of AArch64 have other names. */
START_TEST(the_flags_of_arm_have_the_names_of_manuals)
{
	static const char *const names[] = { "cpsr", "apsr", "xpsr", "nzcv", "flags" }, *const archs[] = { "arm", "aarch64" };

	for (size_t i = 0; i < 10; i++) {
		const char *name = names[i / 2];
		struct ts_regset set;
		struct ts_what what;

		ck_assert(ts_regset_init(&set, ts_arch_find(archs[i % 2]), 0, &err));
		ck_assert_msg(ts_what_register(&what, name, strlen(name), &set), "%s", name);
		ck_assert_uint_eq(what.off, set.regs[ts_regset_find(&set, "cpsr")].off);
		ck_assert_uint_eq(what.len, 4);
		ck_assert(!ts_what_register(&what, "rflags", 6, &set));
		ts_regset_fini(&set);
	}
	ck_assert(!ts_what_register(&(struct ts_what){ 0 }, "cpsr", 4, ts_query_regset(a.q)));
}
END_TEST

/* ------------------------------------------------------------------------------------------------- VALUE */

START_TEST(a_value_is_bytes_a_text_or_a_number)
{
	static const struct {
		const char *text, *bytes;
		unsigned len;
		bool is_big;
	} good[] = {
		{ "41 41 42 rest", "AAB", 3, false },
		{ "\"hi\\n\\x41\\101\\\\\"", "hi\nAA\\", 6, false },
		{ "u16\"hi\"", "h\0i\0", 4, false },
		{ "u16\"\xc3\xa9\"", "\xe9\0", 2, false },
		{ "\"\\u00e9\\u20ac\\U0001f600\\u0041\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" "A", 10, false },
		{ "u16\"\\u00e9\\U0001f600\"", "\xe9\0\x3d\xd8\0\xde", 6, false },
		{ "u32:0x1020304", "\4\3\2\1", 4, false },
		{ "u32:0x1020304", "\1\2\3\4", 4, true },
		{ "u16:1,000", "\xe8\3", 2, false },
		{ "i8:-1", "\xff", 1, false },
		{ "i64:-2", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, false },
		{ "f32:1", "\0\0\x80\x3f", 4, false },
		{ "f64:-2", "\0\0\0\0\0\0\0\xc0", 8, false },
		{ "f32:-inf", "\0\0\x80\xff", 4, false },
		{ "f64:1e39", "\x1d\x4a\x9c\xf4\x87\x82\x07\x48", 8, false },
		{ "f32:1e-50", "\0\0\0\0", 4, false },
	};
	static const char *const bad[] = { "",	   "4",	      "414",	"4141",	  "\"open", "\"\"", "\"a\"b", "u8:256", "i8:128",
					   "i8:-129", "u24:1", "f32:x",	  "u8:-1",   "u16\"",   "?? ??", "\"\\q\"", "f16:1",  "zz",
					   "f32:1e39", "f32:-1e39", "f64:1e400", "\"\\u12\"", "\"\\ud800\"", "\"\\U00110000\"" };
	struct ts_value v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(ts_value_parse(&v, good[i].text, good[i].is_big, &err) > 0, "%s: %s",
			      good[i].text, err.text);
		ck_assert_uint_eq(v.len, good[i].len);
		ck_assert_mem_eq(v.bytes, good[i].bytes, good[i].len);
	}
	ck_assert_uint_eq(ts_value_parse(&v, "41 ?? 42 in memory 1:2", false, &err), 8);
	ck_assert_uint_eq(v.len, 3);
	ck_assert(v.mask[0] && !v.mask[1] && v.mask[2]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ts_error_reset(&err);
		ck_assert_msg(!ts_value_parse(&v, bad[i], false, &err), "%s", bad[i]);
		ck_assert_int_eq(err.code, TS_EUSAGE);
	}
}
END_TEST

/* Patterns are pasted in several forms. */
START_TEST(a_value_that_is_not_understood_is_told_in_the_form_that_would_do)
{
	static const struct {
		const char *text, *form;
	} cases[] = { { "61626364", "61 62 63 64;" },   { "0x64636261", "u32:0x64636261" }, { "0x7", "u8:0x7" },
		      { "0x123", "u16:0x123" },         { "0x1234567890", "u64:0x1234567890" },
		      { "abcdefgh", "\"ab\"" },         { "abc", "u32:97" },
		      { "6162636465666768", "61 62 63 64 65 66 67 68;" } };
	struct ts_value v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ts_error_reset(&err);
		ck_assert(!ts_value_parse(&v, cases[i].text, false, &err));
		ck_assert_msg(strstr(err.text, cases[i].form), "%s: %s", cases[i].text, err.text);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------------- PLACE */

START_TEST(a_place_is_a_position_or_stands_for_one)
{
	static const struct {
		const char *text;
		uint64_t pos;
	} good[] = { { "0", 0 },     { "1k", 1000 },  { "0x10", 16 },  { "+5", 105 },	 { "-100", 0 }, { "12.5%", 125 },
		     { "0.05%", 0 }, { "99.99%", 999 }, { "100%", 1000 }, { "begin", 0 }, { "start", 0 }, { "end", 1000 },
		     { "last", 1000 }, { "1,000", 1000 } };
	static const char *const bad[] = { "1001", "+901", "-101", "101%", "%", "5.%", "#1", "frame", "nowhere", "next", "next foo",
					   "next write", "next write $nope", "previous read $rax", "1e3", "next syscall x" };
	struct ts_ask_place p;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(ts_place_parse(&p, &a.ask, good[i].text, strlen(good[i].text), 100, &err),
			      "%s: %s", good[i].text, err.text);
		ck_assert_int_eq(p.kind, TS_PLACE_POSITION);
		ck_assert_uint_eq(p.pos, good[i].pos);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ts_error_reset(&err);
		ck_assert_msg(!ts_place_parse(&p, &a.ask, bad[i], strlen(bad[i]), 100, &err), "%s", bad[i]);
	}
}
END_TEST

/* next write arrives after the step, previous write before it, as a watchpoint does. */
START_TEST(the_nearest_write_is_arrived_at_as_by_a_watchpoint)
{
	ck_assert(ask_text(&a, TS_FORM_TSV, "goto next write counter"));
	ck_assert_uint_eq(a.n_rows, 0); /* without a session one stands at the end */
	a.ask.has_here = true;
	a.ask.here = 100;
	ck_assert(ask_text(&a, TS_FORM_TEXT, "goto next write counter"));
	ck_assert_uint_eq(a.go, 501);
	ck_assert_str_eq(ts_buf_text(&a.out),
			 "position 501 of 1000 (50.10%), thread 100.1000, pc 0x401004\n");
	a.ask.here = 501;
	ck_assert(ask_text(&a, TS_FORM_TEXT, "goto previous write counter"));
	ck_assert_uint_eq(a.go, 500);
	ck_assert(ask_text(&a, TS_FORM_TEXT, "goto next exec work"));
	ck_assert_uint_eq(a.go, 504);
	ck_assert(ask_text(&a, TS_FORM_TEXT, "goto previous exec work"));
	ck_assert_uint_eq(a.go, 404); /* its first instruction; 411 is its last one */
	ck_assert(ask_text(&a, TS_FORM_TEXT, "goto previous exec 0x401000"));
	ck_assert_uint_eq(a.go, 500);
}
END_TEST

/* --------------------------------------------------------------------------------------------- questions */

START_TEST(what_is_not_understood_is_quoted_with_a_question_that_can_be_asked)
{
	static const char *const bad[] = {
		"nonsense", "", "history", "history nope", "history $rax first", "history $rax first 0",
		"history $rax first 5 last 5", "history $rax in 5", "history $rax in 5:5", "history $rax in 9:5",
		"history $rax in 0:5000", "history $rax thread 99", "history $rax if", "history $rax if value",
		"history $rax if $rbx == 1", "executions work if value == 1", "history $rax bogus", "events nokind",
		"accesses $rax r", "last-read $rax", "accesses counter q", "when --changes", "find", "find zz", "hot x",
		"history $rax first 5 first 5", "goto 5000", "mark 9x", "history $rax first 99999999999999999999",
		"strings min 0", "history $rax in 0:5 in 0:6",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *example;
		char question[600];

		ck_assert_msg(!ask_text(&a, TS_FORM_TEXT, bad[i]), "%s", bad[i]);
		ck_assert_msg(a.err.code == TS_EUSAGE, "%s: %s", bad[i], a.err.text);
		ck_assert_msg(!strchr(a.err.text, '\n'), "%s", a.err.text);
		example = strstr(a.err.text, "; example: ");
		ck_assert_msg(example != NULL, "%s: %s", bad[i], a.err.text);
		if (!strncmp(example + 11, "mark", 4))
			continue; /* nothing is kept here */
		snprintf(question, sizeof(question), "%s", example + 11);
		ck_assert_msg(ask_text(&a, TS_FORM_TEXT, question), "%s", a.err.text);
	}
}
END_TEST

/* `value OP NUMBER` is for 1, 2, 4 or 8 bytes: that there can be no row is said. */
START_TEST(what_no_condition_compares_is_noted)
{
	ck_assert(ask_text(&a, TS_FORM_JSON, "history counter,3 if value != 0"));
	ck_assert_str_eq(ts_buf_text(&a.out), "{\"complete\":true,\"rows\":0,\"total\":0,\"note\":\"value is compared where "
					      "it has 1, 2, 4 or 8 bytes, and here it has 3\"}\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "last-write $xmm0 if value == 0"));
	ck_assert_str_eq(ts_buf_text(&a.end),
			 "value is compared where it has 1, 2, 4 or 8 bytes, and here it has 16\nno rows\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "history counter if value == 99")); /* 8 bytes */
	ck_assert_str_eq(ts_buf_text(&a.end), "no rows\n");
}
END_TEST

START_TEST(a_place_without_what_is_quoted)
{
	ck_assert(!ask_text(&a, TS_FORM_TEXT, "goto next write"));
	ck_assert_str_eq(a.err.text, "'next write' is not a place: a register, an address or a symbol is missing; "
				     "example: goto 50%");
	ck_assert(!ask_text(&a, TS_FORM_TEXT, "when at previous-exec"));
	ck_assert_str_eq(a.err.text, "'previous-exec' is not a place: a register, an address or a symbol is missing; "
				     "example: when at 50%");
}
END_TEST

START_TEST(a_condition_on_a_variable_is_refused_with_what_is_taken)
{
	ck_assert(!ask_text(&a, TS_FORM_TEXT, "executions work if id == 1"));
	ck_assert_ptr_nonnull(strstr(a.err.text, "'if id == 1': it compares value, result, $REG or *(TYPE *)ADDR with a number; "
						 "variables are for gdb: ts calls FUNCTION if ...; example: "));
}
END_TEST

START_TEST(words_may_stand_in_any_order_after_what)
{
	static const char *const same[] = { "executions work in 100:900 first 3 at 7", "executions work at 7 first 3 in 100:900",
					    "executions work first 3 in 0x64:90% at 7" };
	char first[600] = "";

	for (size_t i = 0; i < 3; i++) {
		ck_assert_msg(ask_text(&a, TS_FORM_JSON, same[i]), "%s: %s", same[i], a.err.text);
		if (!i)
			snprintf(first, sizeof(first), "%s", ts_buf_text(&a.out));
		ck_assert_str_eq(ts_buf_text(&a.out), first);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------------- forms */

START_TEST(rows_are_printed_as_text_tsv_and_json)
{
	ck_assert(ask_text(&a, TS_FORM_TEXT, "history counter,4"));
	ck_assert_str_eq(ts_buf_text(&a.out),
			 "#  position  thread  pc        kind   address  length  old          new\n"
			 "1  500       1000    0x401000  write  0x5000   4       ?? ?? ?? ??  0x4030201\n");
	ck_assert_str_eq(ts_buf_text(&a.end), "1 row\n");
	ck_assert(ask_text(&a, TS_FORM_TSV, "history counter"));
	ck_assert_str_eq(ts_buf_text(&a.out),
			 "position\tthread\tpc\tfunction\tfile\tline\tkind\taddress\tlength\told\tnew\n"
			 "500\t1000\t0x401000\t\t\t\twrite\t0x5000\t8\t\t01 02 03 04 ?? ?? ?? ??\n");
	ck_assert(ask_text(&a, TS_FORM_JSON, "history counter"));
	ck_assert_str_eq(ts_buf_text(&a.out),
			 "{\"position\":500,\"thread\":1000,\"pc\":\"0x401000\",\"function\":null,\"file\":null,\"line\":null,"
			 "\"kind\":\"write\",\"address\":\"0x5000\",\"length\":8,\"old\":null,"
			 "\"new\":\"01 02 03 04 ?? ?? ?? ??\",\"old_bytes\":\"?? ?? ?? ?? ?? ?? ?? ??\","
			 "\"new_bytes\":\"01 02 03 04 ?? ?? ?? ??\"}\n{\"complete\":true,\"rows\":1,\"total\":1}\n");
	ck_assert(ask_text(&a, TS_FORM_JSON, "executions work first 1"));
	ck_assert_str_eq(
		ts_buf_text(&a.out),
		"{\"position\":4,\"thread\":1000,\"pc\":\"0x401010\",\"function\":\"work\",\"caller\":null}\n"
		"{\"complete\":false,\"rows\":1,\"total\":10}\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "executions 0x401000:0x401100 last 2"));
	ck_assert_str_eq(ts_buf_text(&a.end), "last 2 rows of 640\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "history $pc first 2"));
	ck_assert_str_eq(ts_buf_text(&a.end), "first 2 rows; there are more\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "executions 0x401000:0x401200"));
	ck_assert_str_eq(ts_buf_text(&a.end), "the recording ends at 0x401190, position 1000: that instruction was not executed and is "
					      "no row\n1,000 rows\n");
	ck_assert(ask_text(&a, TS_FORM_TEXT, "history 0x6000"));
	ck_assert_str_eq(ts_buf_text(&a.out), "");
	ck_assert_str_eq(ts_buf_text(&a.end), "never written in this recording\nno rows\n");
}
END_TEST

START_TEST(a_condition_chooses_rows)
{
	ck_assert(ask_text(&a, TS_FORM_TSV, "history counter,4 if value == 0x4030201"));
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert(ask_text(&a, TS_FORM_TSV, "history counter,4 if value < -1"));
	ck_assert_uint_eq(a.n_rows, 0);
	ck_assert(ask_text(&a, TS_FORM_TSV, "history counter if value != 0")); /* unknown never holds */
	ck_assert_uint_eq(a.n_rows, 0);
	ck_assert(ask_text(&a, TS_FORM_TSV, "executions work if *(u16 *)counter == 513 first 100"));
	ck_assert_uint_eq(a.n_rows, 5);
	ck_assert(ask_text(&a, TS_FORM_TSV,
			   "executions work if $pc == 1 || *(u8 *)0x5000 >= 1 && $pc == 0x401010"));
	ck_assert_uint_eq(a.n_rows, 5);
}
END_TEST

UNIT_FIXTURE_SUITE("ask_words", setup, teardown, numbers_are_read_as_people_write_them,
		   the_flags_of_arm_have_the_names_of_manuals, what_is_a_register_a_part_of_one_or_memory, a_value_is_bytes_a_text_or_a_number,
		   a_value_that_is_not_understood_is_told_in_the_form_that_would_do, a_place_is_a_position_or_stands_for_one,
		   the_nearest_write_is_arrived_at_as_by_a_watchpoint,
		   what_is_not_understood_is_quoted_with_a_question_that_can_be_asked,
		   words_may_stand_in_any_order_after_what, rows_are_printed_as_text_tsv_and_json,
		   a_condition_chooses_rows, a_condition_on_a_variable_is_refused_with_what_is_taken,
		   a_place_without_what_is_quoted, what_no_condition_compares_is_noted)
