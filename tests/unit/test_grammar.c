/* SPDX-License-Identifier: MIT */
/*
 * Text traces by grammar: the language, and what a reader makes of lines.
 */
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/grammar/language/grammar.h"
#include "loaders/loader.h"
#include "ucir_text.h"

static struct ucir_trace t;
static struct ts_buf steps;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&steps);
	ts_buf_init(&t.bytes);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&steps);
}

static enum ts_next read_text(const char *format, const char *text)
{
	t.format = format;
	ts_buf_reset(&t.bytes);
	ts_buf_puts(&t.bytes, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	return ucir_read_all(&t, &steps);
}

static void expect(const char *format, const char *text, const char *wanted)
{
	ck_assert_int_eq(read_text(format, text), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), wanted);
}

/* ---------------------------------------------------------------------------------------------- language */

START_TEST(grammars_that_are_built_in_compile)
{
	for (const struct grammar_text *g = grammar_texts; g->name; g++) {
		struct grammar *compiled = malloc(sizeof(*compiled));
		struct ts_error err = { 0 };

		ck_assert_msg(compiled && grammar_compile(compiled, g->text, strlen(g->text), &err), "%s: %s", g->name,
			      err.text);
		ck_assert_str_eq(compiled->name, g->name);
		ck_assert_msg(compiled->probe_bits, "%s has no probe", g->name);
		free(compiled);
	}
}
END_TEST

/* Is the literal one of the texts that a head of the grammar must have? */
static bool is_tell(const struct grammar_text *text, const struct grammar *g, uint32_t at, uint32_t len)
{
	char tell[64];

	snprintf(tell, sizeof(tell), "%.*s\n", (int)len, g->texts + at);
	for (const char *p = text->tells; (p = strstr(p, tell)); p++) {
		if (p == text->tells || p[-1] == '\n')
			return true;
	}
	return false;
}

/* Does a line of the pattern have such a text? */
static bool is_told(const struct grammar_text *text, const struct grammar *g, const struct grammar_pattern *p)
{
	for (unsigned i = p->first; i < p->first + p->n; i++) {
		const struct grammar_part *part = &g->parts[i];

		if ((part->kind == EL_LITERAL || part->kind == EL_AHEAD) && is_tell(text, g, part->at, part->n))
			return true;
		i += part->kind == EL_OPTION ? part->n : 0;
	}
	return false;
}

static bool is_evidence(const struct grammar_pattern *p)
{
	return p->kind == GRAMMAR_STEP || p->kind == GRAMMAR_STATE || p->kind == GRAMMAR_JOIN || p->kind == GRAMMAR_REFUSE ||
	       p->kind == GRAMMAR_SKIP || p->kind == GRAMMAR_TAKE;
}

/* A file without one of these texts is not looked at any further: each line that is evidence must have one. */
START_TEST(no_trace_is_without_a_text_that_tells_its_grammar)
{
	for (const struct grammar_text *text = grammar_texts; text->name; text++) {
		struct grammar *g = malloc(sizeof(*g));
		struct ts_error err = { 0 };
		bool has_sign;

		ck_assert(g && grammar_compile(g, text->text, strlen(text->text), &err));
		has_sign = g->sign_len && is_tell(text, g, g->sign, g->sign_len);
		ck_assert_msg(*text->tells, "%s: nothing tells it: each file is compared with it", text->name);
		ck_assert_msg(!g->begin_len || is_tell(text, g, g->begin, g->begin_len), "%s: begin", text->name);
		for (unsigned i = 0; i < g->n_patterns && !has_sign; i++)
			ck_assert_msg(!is_evidence(&g->patterns[i]) || is_told(text, g, &g->patterns[i]),
				      "%s, line %u", text->name, g->patterns[i].line);
		free(g);
	}
}
END_TEST

#define HEAD "tracestub grammar 1 x\narch arm\n"

START_TEST(bad_grammars_are_refused_where_they_are_bad)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{ "", "line 1, column 1: the first line is not" },
		{ "tracestub grammar 1 \n", "a word is missing" },
		{ HEAD, "the grammar has no step and no state" },
		{ HEAD "jump pc\n", "line 3, column 1: \"jump\" does not begin a statement" },
		{ HEAD "step \"x\n", "line 3, column 6: the quote has no end" },
		{ HEAD "step \"\" pc\n", "line 3, column 6: an empty literal" },
		{ HEAD "step \"a\\n\" pc\n", "line 3, column 9: only" },
		{ HEAD "step pc pc\n", "line 3, column 6: two pc fields in one line" },
		{ HEAD "step hex\n", "line 3, column 6: a step without a pc" },
		{ HEAD "step [ pc\n", "line 3, column 6: the bracket is not closed" },
		{ HEAD "step pc ]\n", "line 3, column 9: this bracket was not opened" },
		{ HEAD "step pc | \n", "an empty pattern" },
		{ HEAD "step pc reg\n", "one reg and one value belong together" },
		{ HEAD "step pc bytes\n", "bytes without an address" },
		{ HEAD "step pc address:up\n", "line 3, column 17: \"up\" is not allowed after this element" },
		{ HEAD "step pc address size:0\n", "line 3, column 22: \"0\" is not allowed after this element" },
		{ HEAD "step pc address size:1000\n", "line 3, column 22: \"1000\" is not allowed after this element" },
		{ HEAD "next bytes\nstep pc\n", "line 3, column 6: bytes without an address" },
		{ HEAD "step pc !jump\n", "line 3, column 9: \"!jump\" is not known" },
		{ HEAD "step pc things\n", "line 3, column 9: \"things\" is neither an element nor the name of items" },
		{ HEAD "step pc text hex\n", "line 3, column 9: a text, a module or an item list must be followed by the end" },
		{ HEAD "step pc\nstate pc\n", "a grammar has steps or states, not both" },
		{ HEAD "step pc (\n", "line 3, column 9: \"(\" is neither an element nor the name of items" },
		{ HEAD "probe x 3\n", "line 3, column 7: not a decimal number" },
		{ HEAD "probe 65 3\n", "line 3, column 7: a number of at most 64 is expected" },
		{ HEAD "missing never\n", "line 3, column 9: \"never\" is not one of the words" },
		{ HEAD "name r1\n", "line 3, column 6: NAME=REGISTER is expected" },
		{ HEAD "step pc [ [ [ [ [ \"a\" ] ] ] ] ]\n", "nested more than 4 deep" },
		{ "tracestub grammar 1 x\nstep pc\n", "\"arch\" is missing" },
		{ "tracestub grammar 1 x\narch arm x86_65\nstep pc\n", "line 2, column 10: \"x86_65\" is not the name of a processor" },
		{ HEAD "items a \"x\"\nitems a \"y\"\n", "line 4, column 7: the items of \"a\" are listed twice" },
		{ HEAD "summary a\n  b \nstep pc\n \"c\" |\n\n", "an empty pattern" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct grammar *g = malloc(sizeof(*g));
		struct ts_error err = { 0 };

		ck_assert(g && !grammar_compile(g, bad[i].text, strlen(bad[i].text), &err));
		ck_assert_int_eq(err.code, TS_EUSAGE);
		ck_assert_msg(strstr(err.text, bad[i].words), "%s: %s, not %s", bad[i].text, err.text, bad[i].words);
		free(g);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------------- steps */

#define LINE "0, 0x401000, 0x90, \"\""

START_TEST(registers_and_accesses_are_those_of_the_line)
{
	expect("execlog",
	       "0, 0x401000, 0x53, \"push rbx\", store, 0x7000, rsp -> 0x0000000000007000\n"
	       "0, 0x401001, 0x8b, \"\", load, 0x7010, eax -> 0x12345678\n"
	       "0, 0x401003, 0x90, \"\"\n",
	       "401000/1@0 R401000,1=! W7000,8 rsp=7000\n"
	       "401001/2@0 R401001,2=! R7010,4 rax=12345678\n"
	       "401003/1@0 R401003,1=!\n");
}
END_TEST

/*
 * Four bytes of code tell the length and the size of an access where what is cut off is a displacement or a constant: "mov
 * [rsp+0x1234], rbx", "mov dword [rsp+8], 5".  Where it is the mode byte, "pcmpestri", they do not.
 */
START_TEST(code_that_is_cut_tells_sizes)
{
	expect("execlog",
	       "0, 0x1000, 0xc03148, \"\", rbx -> 0x0000000011223344\n"
	       "0, 0x1003, 0x249c8948, \"\", store, 0x7000\n"
	       "0, 0x100b, 0x82444c7, \"\", store, 0x7000\n"
	       "0, 0x1013, 0x613a0f66, \"\", load, 0x7000\n"
	       "0, 0x101c, 0x90, \"\"\n",
	       "1000/3@0 R1000,3=! rbx=11223344\n"
	       "1003/8@0 R1003,4=! W7000=4433221100000000\n"
	       "100b/8@0 R100b,4=! W7000,4\n"
	       "1013/0@0 R1013,4=! R7000,1\n"
	       "101c/1@0 R101c,1=!\n");
}
END_TEST

/* The line of "call rax" leaves out what it pushes: the address after it. */
START_TEST(what_a_call_pushes_is_known)
{
	expect("execlog",
	       "0, 0x1000, 0xd0ff, \"\", store, 0x7000, rsp -> 0x0000000000007000\n0, 0x2000, 0x90, \"\"\n",
	       "1000/2@0 R1000,2=! W7000=0210000000000000 rsp=7000\n2000/1@0 R2000,1=!\n");
}
END_TEST

START_TEST(threads_count_from_zero)
{
	ck_assert_int_eq(read_text("execlog", "0, 0x1000, 0x90, \"\", rax -> 0x1\n1, 0x1001, 0x90, \"\", rax -> 0x2\n"
					      "0, 0x1002, 0x90, \"\", rax -> 0x3\n"),
			 TS_END);
	ck_assert_uint_eq(t.rec->n_threads, 2);
	ck_assert_uint_eq(t.rec->threads[1].tid, 2);
	ck_assert_str_eq(t.rec->threads[1].name, "CPU 1");
}
END_TEST

START_TEST(junk_is_counted_and_says_where_it_is)
{
	read_text("execlog", "0, 0x1000, 0x90, \"\", rax -> 0x1\nhello\nwarning: x\n0, 0x1001, 0x90, \"\", rax -> 0x2\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "first at offset 0x20: the line does not belong to this format"), 2);
}
END_TEST

/* A line that cannot be read may have written any register. */
START_TEST(a_lost_step_forgets_registers)
{
	expect("execlog", "0, 0x1000, 0x90, \"\", rax -> 0x1\n0, 0xzz, 0x90\n0, 0x1001, 0x90, \"\"\n",
	       "1000/1@0 R1000,1=! rax=1 Fregs\n1001/1@0 R1001,1=!\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "begins as an instruction does"), 1);
}
END_TEST

START_TEST(a_bad_value_is_unknown)
{
	read_text("execlog", "0, 0x1000, 0x90, \"\", rax -> 0x1\n0, 0x1001, 0x90, \"\", rax -> 0x11112222333344445\n"
			     "0, 0x1002, 0x90, \"\"\n");
	ck_assert(strstr(ts_buf_text(&steps), "1001/1@0 R1001,1=! rax="));
	ck_assert_uint_eq(ucir_warned(t.rec, "a value or an access cannot be read"), 1);
}
END_TEST

/* Names are looked up by bytes whose bit of the case is set, as it is in digits: \030 is 8 with that bit. */
START_TEST(characters_of_no_name_are_in_no_name)
{
	expect("execlog", "0, 0x1000, 0x90, \"\", r\030 -> 0x5, rbx -> 0x6\n0, 0x1001, 0x90, \"\"\n",
	       "1000/1@0 R1000,1=! rbx=6\n1001/1@0 R1001,1=!\n");
	ck_assert(ucir_warned(t.rec, "a word is neither a register nor an access"));
}
END_TEST

START_TEST(a_line_without_end_is_half_a_line)
{
	read_text("execlog", "0, 0x1000, 0x90, \"\", rax -> 0x1\n0, 0x1001, 0x90, \"\", rax -> 0x2");
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	ck_assert(strstr(t.rec->warnings[0].text, "the last line has no line end"));
}
END_TEST

START_TEST(a_line_of_many_megabytes_is_passed_over)
{
	static char junk[3 << 20];

	memset(junk, 'x', sizeof(junk) - 1);
	t.format = "execlog";
	ts_buf_puts(&t.bytes, "0, 0x1000, 0x90, \"\", rax -> 0x1\n");
	ts_buf_puts(&t.bytes, junk);
	ts_buf_puts(&t.bytes, "\n0, 0x1001, 0x90, \"\", rbx -> 0x1\n");
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 R1000,1=! rax=1 Fregs\n1001/1@0 R1001,1=! rbx=1\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "more than 1 MiB"), 1);
}
END_TEST

#define TRACE(cpu, pc) "Trace " #cpu ": 0x7f00 [0000000000000000/000000000000" #pc "/00000000/00000201] f\n"
#define DUMP(pc, ra)   " pc       000000000000" #pc "\n x31/t6   0000000000000000 x1/ra    000000000000000" #ra "\n"

/* QEMU writes a Trace line and its dump one after the other, but another CPU's lines may lie between them. */
START_TEST(a_dump_is_that_of_the_thread_at_its_address)
{
	static const char *const wanted[] = { "@0 T1 t6=0! ra=5!\n2000/", "@1 T0 ra=2!\n1002/", "@0 T1 ra=6!\n2002/",
					     "@1 T0 ra=3!\n" };
	const char *at;

	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) TRACE(1, 2000) TRACE(0, 1002) DUMP(2000, 5)
						 TRACE(1, 2002) DUMP(1002, 2) DUMP(2002, 6) TRACE(0, 1004) DUMP(1004, 3)),
			 TS_END);
	ck_assert_uint_eq(t.rec->n_threads, 2);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	at = ts_buf_text(&steps);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ck_assert_msg(strstr(at, wanted[i]), "%s: no %s", at, wanted[i]);
}
END_TEST

/* Which of two dumps is whose cannot be told where both CPUs are at one address. */
START_TEST(registers_of_two_threads_at_one_address_are_unknown)
{
	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) TRACE(0, 2000) TRACE(1, 2000) DUMP(2000, 5)
						 DUMP(2000, 6) TRACE(0, 1004) DUMP(1004, 3) TRACE(1, 2002) DUMP(2002, 7)),
			 TS_END);
	ck_assert(!strstr(ts_buf_text(&steps), "ra=5") && !strstr(ts_buf_text(&steps), "ra=6"));
	ck_assert(strstr(ts_buf_text(&steps), "ra=3") && strstr(ts_buf_text(&steps), "ra=7"));
}
END_TEST

/* The dump of a thread that waits at the same address may come much later. */
START_TEST(a_dump_mostly_follows_its_thread)
{
	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) TRACE(1, 2000) TRACE(0, 2000) DUMP(2000, 2)
						 TRACE(0, 2002) DUMP(2002, 3) DUMP(2000, 5) TRACE(1, 2002) DUMP(2002, 6)),
			 TS_END);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	ck_assert_msg(!strncmp(ts_buf_text(&steps), "1000/0@0", 8) && strstr(ts_buf_text(&steps), "\n2000/0@0") &&
			      strstr(ts_buf_text(&steps), "\n2002/0@0") && strstr(ts_buf_text(&steps), "\n2000/0@1"),
		      "%s", ts_buf_text(&steps));
}
END_TEST

/* A block is translated just before it runs first: its bytes are there then, the last one's after the step before it. */
START_TEST(code_lines_show_memory_when_their_instruction_begins)
{
	expect("qemu",
	       "0x00001000:  00000013  nop\n" TRACE(0, 1000) DUMP(1000, 1) "0x00001004:  4505  li a0,1\n" TRACE(0, 1004)
		       DUMP(1004, 1) TRACE(0, 1000) DUMP(1000, 1) "0x00001004:  00100513  li a0,1\n" TRACE(0, 1004)
			       DUMP(1004, 2) "0x00002000:  4509  li a0,2\n" TRACE(0, 2000) DUMP(2000, 2),
	       "1000/0@0 R1000,4=!\n1004/0@0 R1004,2=! gap(code that is not listed) unseen\n1000/0@0 ra=2\n"
	       "1004/0@0 R1004,4=! gap(code that is not listed) unseen W2000=0945!\n");
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ucir_resume_everywhere(&t);
}
END_TEST

/* QEMU without a disassembler: the address alone, then bytes; x86's ninth byte and those after it stand on a line of their own. */
START_TEST(code_without_an_address_goes_on)
{
	static const char *const codes[] = {
		"0x00001000:  \nOBJD-T: 48b8000102030405060790\n",
		"0x00001000:  48 b8 00 01 02 03 04 05  movabsq  $0x706050403020100, %rax\n0x00001008:  06 07 90\n",
	};

	for (size_t i = 0; i < 2; i++) {
		struct ts_buf text;

		setup();
		ts_buf_init(&text);
		ts_buf_puts(&text, codes[i]);
		ts_buf_puts(&text, TRACE(0, 1000) "RAX=0000000000000001 RBX=0000000000000002\nRIP=0000000000001000 RFL=00000202 [\n"
				   TRACE(0, 100b) "RAX=0000000000000003 RBX=0000000000000002\nRIP=000000000000100b RFL=00000202 [\n");
		ck_assert_int_eq(read_text("qemu", ts_buf_text(&text)), TS_END);
		ck_assert_str_eq(ts_buf_text(&steps), "1000/0@0 R1000,b=! rax=3\n");
		ck_assert_uint_eq(t.rec->n_warnings, 0);
		ts_buf_fini(&text);
		teardown();
	}
	setup();
}
END_TEST

/* A block that did not run was translated nevertheless; and another CPU's lines between a Trace line and its dump are not about it. */
START_TEST(code_of_what_did_not_run_is_there)
{
	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) "0x00001004:  4505  li a0,1\n" TRACE(0, 1004) DUMP(1004, 1)
						 "Stopped execution of TB chain before 0x7f00 [0000000000001004] f\n" TRACE(0, 1008)
							 DUMP(1008, 3)),
			 TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/0@0 R1004,2=! ra=3\n");
	teardown();
	setup();
	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) TRACE(0, 1004) "0x00002000:  4505  li a0,1\n" DUMP(1004, 3)), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/0@0 R2000,2=! ra=3\n");
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ucir_resume_everywhere(&t);
}
END_TEST

/* -d cpu without exec. */
START_TEST(dumps_without_threads_are_warned_of)
{
	ck_assert_int_eq(read_text("qemu", DUMP(1000, 1) DUMP(1002, 2) DUMP(1004, 3)), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "no line names the thread of a dump of registers"), 1);
	teardown();
	setup();
	ck_assert_int_eq(read_text("qemu", TRACE(0, 1000) DUMP(1000, 1) TRACE(0, 1002) DUMP(1002, 2)), TS_END);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* As read_text(), of one text after another. */
static void read_next(struct ts_buf *text)
{
	ucir_close(&t);
	ts_buf_init(&t.bytes);
	ts_buf_reset(&steps);
	ck_assert_int_eq(read_text("tenetpp", ts_buf_text(text)), TS_END);
}

/* Two instructions of thread 0, @n_other of thread 1 with @among in the middle, and the line that says what the last of thread 0 did. */
static bool tells_switch(unsigned n_other, const char *among)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_puts(&text, "tid=0,rax=0x1,rip=0x1000\ntid=0,rip=0x1003\n");
	for (unsigned i = 0; i < n_other; i++)
		ts_buf_printf(&text, "%stid=1,rax=0x%x,rip=0x%x\n", i == n_other / 2 ? among : "", i, 0x2000 + i);
	ts_buf_puts(&text, "tid=0,rip=0x1006,mr=0x6000:02000000,mw=0x7000:0100000000000000\n");
	read_next(&text);
	ts_buf_fini(&text);
	return !strstr(ts_buf_text(&steps), "\n1003/0@0 F0,");
}

/* Nobody knows what it wrote, which others may have overwritten since then; the rest of memory stays known. */
START_TEST(what_a_thread_did_last_is_on_its_next_line)
{
	ck_assert(tells_switch(3, ""));
	ck_assert_msg(strstr(ts_buf_text(&steps), "\n1003/0@0 W7000,8 "), "%s", ts_buf_text(&steps));
	ck_assert(tells_switch(2400, ""));
	ck_assert(tells_switch(3, "something else\n"));
}
END_TEST

static bool tells_nowhere(void)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_puts(&text, "tid=0,rax=0x1,rip=0x1000\ntid=0,rip=0x1003\ntid=1,rax=0x1,rip=0x2000\ntid=1,rip=0x2001\n");
	read_next(&text);
	ts_buf_fini(&text);
	return !strstr(ts_buf_text(&steps), "\n1003/0@0 F0,");
}

static bool is_unseen(const char *before, const char *line)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_printf(&text, "%stid=0,rax=0x1,rip=0x1000\n%stid=0,rip=0x1004\n", before, line);
	read_next(&text);
	ts_buf_fini(&text);
	return strstr(ts_buf_text(&steps), "unseen");
}

/* What the kernel wrote is in no line: what is seen later tells nothing of before. */
START_TEST(memory_may_change_in_a_system_call)
{
	const char *call = "Loaded image: 0x1000:0x1fff -> /x Bytes: 0f05c3\n", *other = "Loaded image: 0x1000:0x1fff -> /x Bytes: 31c0c3\n";

	ck_assert(is_unseen(call, "tid=0,rax=0x5,rip=0x1002\n"));
	ck_assert(!is_unseen(other, "tid=0,rax=0x5,rcx=0x1002,rip=0x1002\n"));
	ck_assert(!is_unseen(call, "tid=0,rax=0x5,rip=0x1003\n"));
	ck_assert(is_unseen("", "tid=0,rax=0x5,rcx=0x1002,rip=0x1002\n"));
	ck_assert(!is_unseen("", "tid=0,rax=0x5,rcx=0x1003,rip=0x1002\n"));
	ck_assert(is_unseen("", "tid=1,rip=0x2000\ntid=1,rip=0x2001\n"));
	ck_assert(is_unseen(call, "tid=1,rip=0x2000\ntid=1,rip=0x2001\n"));
	ck_assert(!is_unseen("", "tid=1,rip=0x2000\ntid=0,rip=0x1003,mr=0x7000:01\n"));
}
END_TEST

/* Far away, behind a line that may be the thread's, or nowhere: then anything may have been written. */
START_TEST(what_a_thread_did_last_may_be_unknown)
{
	ck_assert(!tells_switch(2700, ""));
	ck_assert(!tells_switch(3, "tid=0,rip=\n"));
	ck_assert(!tells_switch(3, "tid=0,rip=0x1006,mw=0x7000:01020\n"));
	ck_assert(!tells_nowhere());
}
END_TEST

START_TEST(no_registers_no_processor)
{
	t.format = "execlog";
	ts_buf_puts(&t.bytes, LINE "\n" LINE "\n" LINE "\n");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_msg(strstr(t.err.text, "do not name the processor: give --arch NAME or --exec PROGRAM"), "%s",
		      t.err.text);
}
END_TEST

/* --------------------------------------------------------------------------------------------- own grammars */

START_TEST(lines_may_be_about_the_next_instruction)
{
	static const char text[] = "R 1000 2a\n> 401000 90\n= rax 5\nR 2000 7\nW 3000\n--\n= rbx 6\n> 401001 90\nW 4000\n"
				   "> 401002 90\n= rcx 1\nW 5000\n";

	t.grammar = "tracestub grammar 1 first\narch x86_64\nnext \"R \" address:read size:4 \" \" bytes:number\n"
		    "next \"W \" address:write size:8\neffect \"= \" reg \" \" value\nstep \"> \" pc \" \" code\n"
		    "gap \"--\" rest\n";
	expect("grammar",
	       text, "401000/1@0 R401000,1=! R1000,4= rax=5 gap(code that is not listed) unseen rax[0..551]=\n"
		     "401001/1@0 R401001,1=! R2000,4= W3000,8 rbx=6\n401002/1@0 R401002,1=! W4000,8 rcx=1\n");
	ts_reader_close(t.reader);
	t.reader = t.rec->ops->reader(t.rec, &t.err);
	ucir_resume_everywhere(&t);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ resuming */

/* The bytes of a file of tests/data/grammar. */
static void load(const char *name)
{
	char path[64];
	uint8_t *bytes;
	size_t len;

	snprintf(path, sizeof(path), "grammar/%s", name);
	bytes = unit_data(path, &len);
	ts_buf_put(&t.bytes, bytes, len);
	free(bytes);
}

/* The dialect with the longest name that @name begins with: tests/data/grammar has heads of logs, DIALECT or DIALECT-WORD. */
static const char *dialect_of(const char *name)
{
	const struct grammar_text *best = NULL;

	for (const struct grammar_text *g = grammar_texts; g->name; g++) {
		size_t len = strlen(g->name);

		if (!strncmp(name, g->name, len) && (!name[len] || name[len] == '-') && (!best || len > strlen(best->name)))
			best = g;
	}
	ck_assert_msg(best, "tests/data/grammar/%s: no dialect", name);
	return best->name;
}

/* Call @see for each head. */
static void each_head(void (*see)(const char *name, const char *dialect))
{
	struct dirent **heads;
	int n;

	n = scandir(unit_data_path("grammar"), &heads, NULL, alphasort);
	ck_assert_int_gt(n, 2);
	for (int i = 0; i < n; i++) {
		if (heads[i]->d_name[0] != '.' && strncmp(heads[i]->d_name, "found-", 6) != 0) { /* fuzz.py's are anything */
			setup();
			load(heads[i]->d_name);
			see(heads[i]->d_name, dialect_of(heads[i]->d_name));
			teardown();
		}
		free(heads[i]);
	}
	free(heads);
}

static void expect_to_go_on(const char *name, const char *dialect)
{
	t.format = dialect;
	ck_assert_msg(ucir_open(&t, NULL), "%s: %s", name, t.err.text);
	ucir_resume_everywhere(&t);
}

START_TEST(readers_go_on_where_one_was_saved)
{
	teardown();
	each_head(expect_to_go_on);
	setup();
}
END_TEST

static void expect_to_be_recognized(const char *name, const char *dialect)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(t.bytes.data, t.bytes.len, "trace", &err);
	const struct ts_loader *loader = ts_loader_probe(src, &err);

	ck_assert_msg(loader && !strcmp(loader->name, dialect), "%s: %s %s", name, loader ? loader->name : "none", err.text);
	ts_source_close(src);
}

/* Each head is recognised as what it is, and by no other dialect with as much evidence. */
START_TEST(dialects_are_told_apart)
{
	teardown();
	each_head(expect_to_be_recognized);
	setup();
}
END_TEST

UNIT_FIXTURE_SUITE("grammar", setup, teardown, grammars_that_are_built_in_compile, no_trace_is_without_a_text_that_tells_its_grammar,
		   bad_grammars_are_refused_where_they_are_bad, registers_and_accesses_are_those_of_the_line,
		   what_a_call_pushes_is_known, code_that_is_cut_tells_sizes, threads_count_from_zero, junk_is_counted_and_says_where_it_is, a_lost_step_forgets_registers,
		   a_bad_value_is_unknown, characters_of_no_name_are_in_no_name, a_line_without_end_is_half_a_line, a_line_of_many_megabytes_is_passed_over,
		   a_dump_is_that_of_the_thread_at_its_address,
		   registers_of_two_threads_at_one_address_are_unknown, a_dump_mostly_follows_its_thread, no_registers_no_processor, what_a_thread_did_last_is_on_its_next_line,
		   what_a_thread_did_last_may_be_unknown, memory_may_change_in_a_system_call, readers_go_on_where_one_was_saved, dialects_are_told_apart,
		   lines_may_be_about_the_next_instruction, code_lines_show_memory_when_their_instruction_begins, code_without_an_address_goes_on,
		   code_of_what_did_not_run_is_there, dumps_without_threads_are_warned_of)
