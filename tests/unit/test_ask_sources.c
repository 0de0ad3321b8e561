/* SPDX-License-Identifier: MIT */
/*
 * Of what a value is made, and what becomes of it: rows of why and of flows about single instructions of special kinds, worked
 * out by hand.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "why_case.h"

#define SLOT (N_REGS) /* the first one: at SLOTS */

/* The step that is being made read @value there. */
static void put_read(uint64_t addr, const void *value, unsigned len)
{
	ts_steps_value(&p.s->steps, TS_FX_READ, addr, value, len);
}

/* The rows of flows: step, kind, place and the step through which it came. */
static char *flows(const char *question)
{
	static char text[4000];
	char c[4][200];
	size_t n = 0;

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	text[0] = 0;
	for (const char *line = strchr(ts_buf_text(&a.out), '\n') + 1; *line; line = strchr(line, '\n') + 1)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s %s %s\n", cell(line, 0, c[0], 200), cell(line, 7, c[1], 200),
				      cell(line, 8, c[2], 200), cell(line, 10, c[3], 200));
	return text;
}

/* Steps whose code is not known: what was read is the source if it is the value that is there now. */
START_TEST(what_an_unknown_instruction_read_is_the_source_of_the_same_value)
{
	static const uint8_t value[8] = { 7, 6, 5, 4, 3, 2, 1 };

	begin();
	put_read(0x7000, value, 8);
	close_step(&(struct made){ .writes = 0, .value = 0x01020304050607 }, CODE, 3);
	put_read(0x7000, value, 4);
	close_step(&(struct made){ .writes = 1, .value = 0x04050607 }, CODE + 3, 3);
	put_read(0x7000, value, 8);
	close_step(&(struct made){ .writes = 2, .value = 0x01020304050608 }, CODE + 6, 3);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 0 write $rax 0x1020304050607\n1  start 0x7000,8 0x1020304050607\n");
	ck_assert_str_eq(got("why $ah"), "0 0 write $ah 0x6\n1  start 0x7001,1 0x6\n");
	ck_assert_str_eq(got("why $rcx"), "0 1 write $rcx 0x4050607\n1  start 0x7000,4 0x4050607\n");
	ck_assert_str_eq(got("why $rdx"), "0 2 write $rdx 0x1020304050608\n1  unknown  \n");
	ck_assert(ask_text(&a, TS_FORM_JSON, "flows $rax at 1"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "{\"complete\":false,\"rows\":0,") &&
			      strstr(ts_buf_text(&a.out), "of 2 steps the instruction is not known, or"), "%s", ts_buf_text(&a.out));
	finish();
}
END_TEST

/* mov rax, rcx; sahf; jc. */
START_TEST(parts_and_flags_come_from_their_parts)
{
	begin();
	run(CODE, "\x48\x89\xc8", 3, 0, p.now[1]);
	run(CODE + 3, "\x9e", 1, NO_PLACE, 0);
	run(CODE + 4, "\x72\x10", 2, NO_PLACE, 0);
	run(CODE + 6, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $al"), "0 0 write $al 0x1\n1  start $cl 0x1\n");
	ck_assert_str_eq(got("why $ah"), "0 0 write $ah 0x10\n1  start $ch 0x10\n");
	ck_assert_str_eq(got("why branch"),
			 "0 2 branch  \n"
			 "1 1 write $CF \n"
			 "2 0 write $ah 0x10\n"
			 "3  start $ch 0x10\n");
	finish();
}
END_TEST

/* A step without code that sets the flags register to ZF; jz. */
START_TEST(flags_are_written_by_an_effect_alone)
{
	begin();
	put_reg(&p.s->rec.initial, "eflags", 0x202);
	put_reg(&p.s->steps, "eflags", 0x242);
	close_step(&(struct made){ .writes = NO_PLACE }, CODE, 3);
	for (unsigned i = 0; i < 3 * TS_CHUNK_STEPS; i++)
		run(CODE + 3, "\x90", 1, NO_PLACE, 0);
	run(CODE + 4, "\x74\x10", 2, NO_PLACE, 0);
	run(CODE + 6, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why branch"), "0 3073 branch  \n1 0 write $ZF 0x1\n2  unknown  \n");
	finish();
}
END_TEST

/* rep movsb of four bytes to one byte after them: what it wrote itself comes from where it began. */
START_TEST(a_string_that_overlaps_itself_comes_from_its_beginning)
{
	begin();
	put_reg(&p.s->rec.initial, "eflags", 0x202);
	put_reg(&p.s->rec.initial, "rsi", SLOTS);
	put_reg(&p.s->rec.initial, "rdi", SLOTS + 1);
	put_reg(&p.s->rec.initial, "rcx", 4);
	put_reg(&p.s->steps, "rsi", SLOTS + 4);
	put_reg(&p.s->steps, "rdi", SLOTS + 5);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, SLOTS + 1, "\4\4\4\4", 4);
	run(CODE, "\xf3\xa4", 2, 1, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5003"), "0 0 write 0x5003,1 0x4\n1  start 0x5000,1 0x4\n");
	ck_assert_str_eq(got("why 0x5001,4"), "0 0 write 0x5001,4 0x4040404\n1  start 0x5000,1 0x4\n");
	finish();
}
END_TEST

/* movsb three times, each from where the one before wrote. */
START_TEST(turns_are_of_one_instruction_at_other_addresses)
{
	begin();
	put_reg(&p.s->rec.initial, "eflags", 0x202);
	put_reg(&p.s->rec.initial, "rsi", SLOTS);
	put_reg(&p.s->rec.initial, "rdi", SLOTS + 1);
	for (unsigned i = 1; i <= 3; i++) {
		put_reg(&p.s->steps, "rsi", SLOTS + i);
		put_reg(&p.s->steps, "rdi", SLOTS + i + 1);
		ts_steps_value(&p.s->steps, TS_FX_WRITE, SLOTS + i, "\4", 1);
		run(CODE, "\xa4", 1, NO_PLACE, 0);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5003"), "0 2 write 0x5001,3 04 04 04\n1  start 0x5000,1 0x4\n");
	finish();
}
END_TEST

/* mov [r15 + 0x3c], rax; mov rdx, [r15 + 0x3c]: 64 bytes of memory begin in the middle of it. */
START_TEST(a_value_on_a_border_of_pieces_is_followed_whole)
{
	begin();
	put_word(&p.s->steps, SLOTS + 0x3c, p.now[0]);
	run(CODE, "\x49\x89\x47\x3c", 4, NO_PLACE, 0);
	run(CODE + 4, "\x49\x8b\x57\x3c", 4, 2, p.now[0]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"),
			 "0 1 write $rdx 0x1000\n"
			 "1 0 write 0x503c,8 0x1000\n"
			 "2  start $rax 0x1000\n");
	ck_assert_str_eq(got("why 0x503c,8"),
			 "0 0 write 0x503c,4 0x1000\n"
			 "1  start $eax 0x1000\n"
			 "0 0 write 0x5040,4 0x0\n"
			 "1  start $rax[4:8] 0x0\n");
	finish();
}
END_TEST

/* mov rcx, rax; cmp rax, rcx; test cl, cl; xchg rax, rcx; xor ecx, ecx. */
START_TEST(rows_of_a_step_are_in_order_and_each_is_there_once)
{
	begin();
	run(CODE, "\x48\x89\xc1", 3, 1, p.now[0]);
	run(CODE + 3, "\x48\x39\xc8", 3, NO_PLACE, 0);
	run(CODE + 6, "\x84\xc9", 2, NO_PLACE, 0);
	put_reg(&p.s->steps, "rcx", p.now[1]);
	run(CODE + 8, "\x48\x91", 2, 0, p.now[0]);
	run(CODE + 10, "\x31\xc9", 2, 1, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(flows("flows $rax at 0"),
			 "0 copy $rcx \n"
			 "1 compare $rax \n"
			 "1 compare $rcx 0\n"
			 "2 compare $cl 0\n"
			 "3 copy $rax 0\n"
			 "3 copy $rcx \n"
			 "4 overwritten $ecx 3\n"
			 "4 overwritten $rcx[4:8] 3\n");
	finish();
}
END_TEST

/* mov rcx, rax; or cl, 0x89; mov rdx, rcx: the recording writes all of rcx, the instruction its lowest byte. */
START_TEST(bytes_beside_a_written_part_of_a_register_stay)
{
	begin();
	run(CODE, "\x48\x89\xc1", 3, 1, p.now[0]);
	run(CODE + 3, "\x80\xc9\x89", 3, 1, p.now[0] | 0x89);
	run(CODE + 6, "\x48\x89\xca", 3, 2, p.now[0] | 0x89);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(flows("flows $rax at 0"),
			 "0 copy $rcx \n"
			 "1 compute $cl 0\n"
			 "2 copy $rdx 1\n");
	finish();
}
END_TEST

/* mov [r15], rax; write(1, 0x5000, 20); munmap, beside a register that is written; mov rdx, [r15]; jmp rax. */
START_TEST(what_is_sent_unmapped_and_jumped_to_is_told)
{
	struct ts_event *e;

	begin();
	run(CODE, "\x49\x89\x07", 3, SLOT, p.now[0]);
	e = ts_steps_event(&p.s->steps, TS_EV_SYSCALL);
	e->number = 1;
	e->n_args = 3;
	e->args[0] = 1;
	e->args[1] = SLOTS - 4;
	e->args[2] = 40;
	run(CODE + 3, "\x90", 1, NO_PLACE, 0);
	put_reg(&p.s->steps, "rbx", 3);
	ts_steps_effect(&p.s->steps, TS_FX_UNMAP, SLOTS, 4);
	run(CODE + 4, "\x90", 1, NO_PLACE, 0);
	run(CODE + 5, "\x49\x8b\x17", 3, 2, p.now[0]);
	run(CODE + 8, "\xff\xe0", 2, NO_PLACE, 0);
	run(p.now[0], "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(flows("flows $rax at 0"),
			 "0 copy 0x5000,8 \n"
			 "1 output 0x5000,8 0\n"
			 "2 overwritten 0x5000,4 0\n"
			 "3 copy $rdx[4:8] 0\n"
			 "4 branch $rax \n");
	finish();
}
END_TEST

static void put_vector(struct ts_steps *to, const char *name, const uint8_t bytes[16])
{
	const struct ts_regset *set = &p.s->rec.regs;

	ts_steps_value(to, TS_FX_REG_WRITE, set->regs[ts_regset_find(set, name)].off, bytes, 16);
}

/* pshufb xmm1, xmm2; movdqu [r15], xmm1: bytes 5, none, 3, 3, 15 (of 0x9f: none) and 0 of 0x60.. */
START_TEST(a_shuffled_byte_is_the_one_that_its_selector_names)
{
	static const uint8_t table[16] = { 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f };
	static const uint8_t selector[16] = { 5, 0x80, 3, 0x13, 15, 0x9f };
	static const uint8_t shuffled[16] = { 0x65, 0, 0x63, 0x63, 0x6f, 0, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60 };

	begin();
	put_vector(&p.s->rec.initial, "xmm1", table);
	put_vector(&p.s->rec.initial, "xmm2", selector);
	put_vector(&p.s->steps, "xmm1", shuffled);
	run(CODE, "\x66\x0f\x38\x00\xca", 5, NO_PLACE, 0);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, SLOTS, shuffled, 16);
	run(CODE + 5, "\xf3\x41\x0f\x7f\x0f", 5, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5000"), "0 1 write 0x5000,1 0x65\n1 0 write $xmm1[0:1] 0x65\n2  start $xmm1[5:6] 0x65\n");
	ck_assert_str_eq(got("why 0x5001"), "0 1 write 0x5001,1 0x0\n1 0 write $xmm1[1:2] 0x0\n2  start $xmm2[1:2] 0x80\n");
	ck_assert_str_eq(got("why 0x5002,2"), "0 1 write 0x5002,2 0x6363\n1 0 write $xmm1[2:4] 0x6363\n2  start $xmm1[3:4] 0x63\n");
	ck_assert_str_eq(got("why 0x5000 addresses"),
			 "0 1 write 0x5000,1 0x65\n1 0 write $xmm1[0:1] 0x65\n2  start $xmm1[5:6] 0x65\n2  start $xmm2[0:1] 0x5\n"
			 "1  start $r15 0x5000\n");
	ck_assert_str_eq(flows("flows $xmm2 at 0"),
			 "0 address $xmm2 \n0 compute $xmm1[1:2] \n0 compute $xmm1[5:6] \n1 copy 0x5001,1 0\n1 copy 0x5005,1 0\n");
	finish();
}
END_TEST

/* pshufb xmm1, [r15]: the selectors are the slots of 0x1004 and 0x1005, each byte but two of which is 0. */
START_TEST(a_selector_in_memory_is_read_where_it_lies)
{
	static const uint8_t table[16] = { 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68 };
	static const uint8_t shuffled[16] = { 0x64, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x65, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x60 };

	begin();
	put_vector(&p.s->rec.initial, "xmm1", table);
	put_vector(&p.s->steps, "xmm1", shuffled);
	run(CODE, "\x66\x41\x0f\x38\x00\x0f", 6, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $xmm1 inputs"), "0  start $xmm1[0:1] 0x60\n0  start $xmm1[4:6] 0x6564\n");
	ck_assert_str_eq(flows("flows 0x5000,9 at 0"), "0 address 0x5000,9 \n");
	finish();
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_sources");
	TCase *c = tcase_create("sources");

	tcase_add_test(c, what_an_unknown_instruction_read_is_the_source_of_the_same_value);
	tcase_add_test(c, parts_and_flags_come_from_their_parts);
	tcase_add_test(c, flags_are_written_by_an_effect_alone);
	tcase_add_test(c, a_string_that_overlaps_itself_comes_from_its_beginning);
	tcase_add_test(c, turns_are_of_one_instruction_at_other_addresses);
	tcase_add_test(c, a_value_on_a_border_of_pieces_is_followed_whole);
	tcase_add_test(c, rows_of_a_step_are_in_order_and_each_is_there_once);
	tcase_add_test(c, bytes_beside_a_written_part_of_a_register_stay);
	tcase_add_test(c, what_is_sent_unmapped_and_jumped_to_is_told);
	tcase_add_test(c, a_shuffled_byte_is_the_one_that_its_selector_names);
	tcase_add_test(c, a_selector_in_memory_is_read_where_it_lies);
	suite_add_tcase(suite, c);
	return suite;
}
