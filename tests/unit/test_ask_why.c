/* SPDX-License-Identifier: MIT */
/*
 * The answers of why about small programs are those that were worked out by hand: flags, branches, code
 * that changes, system calls, the recording of a machine, other processors.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "why_case.h"

#define STACK UINT64_C(0x8000)

/* cmp rax, rcx; 10,000 times mov rdx, rdx; jne: further back than a chunk. */
START_TEST(a_branch_has_the_instruction_that_set_its_condition_however_far_it_is)
{
	begin();
	run(CODE, "\x48\x39\xc8", 3, NO_PLACE, 0);
	for (unsigned i = 0; i < 10000; i++)
		run(CODE + 3, "\x48\x89\xd2", 3, 2, p.now[2]);
	run(CODE + 6, "\x75\x10", 2, NO_PLACE, 0);
	for (unsigned i = 0; i < 1500; i++)
		run(CODE + 3, "\x48\x89\xd2", 3, 2, p.now[2]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why branch depth 2"), "0 10001 branch  \n"
						    "1 0 write $ZF \n"
						    "2  start $rax 0x1000\n"
						    "2  start $rcx 0x1001\n");
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\tjnz 0x"), "%s", ts_buf_text(&a.out));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tcmp rax, rcx\t"));
	ck_assert_str_eq(got("why branch at 10001"), "");
	finish();
}
END_TEST

/*
 * mov rcx, rdx; @n_between steps; the same bytes become: mov rax, rcx; as many steps again; and that is
 * executed.
 */
static void check_rewritten(unsigned n_between)
{
	char expected[200];

	begin();
	run(CODE, "\x48\x89\xd1", 3, 1, p.now[2]);
	for (unsigned i = 0; i <= 2 * n_between; i++) {
		if (i == n_between)
			ts_steps_value(&p.s->steps, TS_FX_WRITE, CODE, "\x48\x89\xc8", 3);
		run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	}
	close_step(&(struct made){ .writes = 0, .value = p.now[1] }, CODE, 3);
	ask_text_init(&a, &p.s->rec);
	snprintf(expected, sizeof(expected),
		 "0 %u write $rax 0x1002\n1 0 write $rcx 0x1002\n2  start $rdx 0x1002\n", 2 * n_between + 2);
	ck_assert_str_eq(got("why $rax"), expected);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tmov rax, rcx\t"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tmov rcx, rdx\t"));
	finish();
}

/* Within a chunk, and in chunks before and after the change. */
START_TEST(an_instruction_is_that_which_stood_there_at_its_step)
{
	check_rewritten(2);
	check_rewritten(TS_CHUNK_STEPS - 10);
	check_rewritten(3 * TS_CHUNK_STEPS);
}
END_TEST

/*
 * mov rax, rdx; mov rdx, rbx in each of ten chunks; add rdx, rax.  The writer of rdx is found at the end, then
 * rax at step 0, and then rdx before that: not by way of the chunks between.
 */
START_TEST(a_value_used_far_back_is_found_without_what_was_written_since)
{
	begin();
	run(CODE, "\x48\x89\xd0", 3, 0, p.now[2]);
	for (unsigned i = 0; i < 10 * TS_CHUNK_STEPS; i++)
		run(CODE + 3, "\x48\x89\xda", 3, 2, p.now[3]);
	run(CODE + 6, "\x48\x01\xc2", 3, 2, p.now[2] + p.now[0]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"), "0 10241 write $rdx 0x2005\n"
					  "1 10240 write $rdx 0x1003\n"
					  "2  start $rbx 0x1003\n"
					  "1 0 write $rax 0x1002\n"
					  "2  start $rdx 0x1002\n");
	ck_assert_uint_le(cost_of("rdx"), 60); /* not one for each of the chunks between */
	finish();
}
END_TEST

/* The recording shows that the step read the four bytes. */
static void put_read(uint64_t addr, uint32_t value)
{
	uint8_t bytes[4];

	ts_arch_put(p.s->rec.regs.arch, bytes, 4, value);
	ts_steps_value(&p.s->steps, TS_FX_READ, addr, bytes, 4);
}

/* mov [r15], eax; vpgatherdd xmm3, [rdi + xmm4 * 4], xmm2; paddd xmm3, xmm1: no register has the addresses that are read. */
START_TEST(elements_that_a_gather_reads_are_those_of_the_recording)
{
	static const uint8_t gathered[16] = { 1 };
	const struct ts_reg *xmm3;

	begin();
	xmm3 = &p.s->rec.regs.regs[ts_regset_find(&p.s->rec.regs, "xmm3")];
	p.now[N_REGS] = p.now[0];
	run(CODE, "\x49\x89\x07", 3, N_REGS, p.now[0]);
	put_read(SLOTS, 0x1000);
	put_read(SLOTS + 16, 0x1006);
	ts_steps_value(&p.s->steps, TS_FX_REG_WRITE, xmm3->off, gathered, 16);
	run(CODE + 3, "\xc4\xe2\x69\x90\x1c\xa7", 6, NO_PLACE, 0);
	ts_steps_value(&p.s->steps, TS_FX_REG_WRITE, xmm3->off, gathered, 16);
	run(CODE + 9, "\x66\x0f\xfe\xd9", 4, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	got("why $xmm3 at 2 depth 1");
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\t0x5000,4\t"), "%s", ts_buf_text(&a.out));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\t0x5010,4\t0x1006\t"), "%s", ts_buf_text(&a.out));
	ck_assert(ask_text(&a, TS_FORM_TSV, "flows 0x5011 at 0"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\tcompute\t$xmm3\t"), "%s", ts_buf_text(&a.out));
	ck_assert_msg(!strstr(ts_buf_text(&a.out), "\tcopy\t"), "%s", ts_buf_text(&a.out)); /* a sum is no copy */
	ck_assert(ask_text(&a, TS_FORM_TSV, "steps in 1:2"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), ", 0x5000,4=0x1000, 0x5010,4=0x1006\t"), "%s", ts_buf_text(&a.out));
	finish();
}
END_TEST

/*
 * mov rax, rcx; mov rbx, rdx, in whose step rax changes, too; the same again, where it does not: the search has seen that instruction
 * when it comes to the first one.
 */
START_TEST(a_register_that_changed_beside_what_an_instruction_writes_was_written_there)
{
	begin();
	run(CODE, "\x48\x89\xc8", 3, 0, p.now[1]);
	put_reg(&p.s->steps, "rax", 0x1122334455667788);
	run(CODE + 3, "\x48\x89\xd3", 3, 3, p.now[2]);
	for (unsigned i = 0; i < 3; i++)
		run(CODE + 3, "\x48\x89\xd3", 3, 3, p.now[2]);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 1 unknown $rax 0x1122334455667788\n");
	ck_assert_str_eq(got("why $rax at 1"), "0 0 write $rax 0x1001\n1  start $rcx 0x1001\n");
	finish();
}
END_TEST

static void push(uint64_t value)
{
	uint8_t bytes[8];

	ts_arch_put(p.s->rec.regs.arch, bytes, 8, value);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, STACK - 8, bytes, 8);
}

/* A call that was stepped over leaves its return address below the stack pointer. */
static void put_stepped(uint64_t behind, uint64_t result)
{
	push(behind);
	put_reg(&p.s->steps, "rax", result);
	ts_steps_event(&p.s->steps, TS_EV_GAP);
}

/*
 * call CODE+0x100; nop; call rbx, behind which three bytes are lacking; nop; call [r15], from which the thread does not come back; call
 * CODE+0x100, not stepped over.
 */
START_TEST(a_call_that_was_stepped_over_is_a_row)
{
	static const char want[] = "0\t\t1\tgap\t1000\t1\t0x401000\t\t0x401100\t\t0x5, , 0x1002, 0x1001, , \t0x2a\t\n"
				   "2\t\t3\tgap\t1000\t1\t0x401006\t\t0x1003\t\t0x5, , 0x1002, 0x1001, , \t\t\n"
				   "4\t\t\tgap\t1000\t1\t0x40100c\t\t0x1004\t\t0x5, , 0x1002, 0x1001, , \t\t\n"
				   "6\t7\t\topen\t1000\t1\t0x401801\t\t0x401100\t\t0x5, , 0x1002, 0x1001, , \t\t\n";
	const char *rows;

	begin();
	put_reg(&p.s->rec.initial, "rsp", STACK);
	put_reg(&p.s->rec.initial, "rdi", 5);
	put_stepped(CODE + 5, 0x2a);
	run(CODE, "\xe8\xfb\x00\x00\x00", 5, NO_PLACE, 0);
	run(CODE + 5, "\x90", 1, NO_PLACE, 0);
	put_stepped(CODE + 8, 0x2b);
	run(CODE + 6, "\xff\xd3", 2, NO_PLACE, 0);
	run(CODE + 11, "\x90", 1, NO_PLACE, 0);
	put_stepped(CODE + 15, 0x2c);
	run(CODE + 12, "\x41\xff\x17", 3, NO_PLACE, 0);
	run(CODE + 0x800, "\x90", 1, NO_PLACE, 0);
	push(CODE + 0x806);
	put_reg(&p.s->steps, "rsp", STACK - 8);
	run(CODE + 0x801, "\xe8\xfa\xf8\xff\xff", 5, NO_PLACE, 0);
	run(CODE + 0x100, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert(ask_text(&a, TS_FORM_TSV, "calls"));
	rows = strchr(ts_buf_text(&a.out), '\n') + 1;
	ck_assert_str_eq(rows, want);
	ck_assert(ask_text(&a, TS_FORM_TSV, "calls 0x1003 last 1"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\n2\t"), "%s", ts_buf_text(&a.out));
	ck_assert(ask_text(&a, TS_FORM_TSV, "calls if result == 0x2a"));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\n0\t"), "%s", ts_buf_text(&a.out));
	finish();
}
END_TEST

/* push rbx; pop rcx; rep stosb; leave. */
START_TEST(a_pointer_that_an_instruction_moves_is_made_of_itself)
{
	static const uint8_t byte = 7;

	begin();
	put_reg(&p.s->rec.initial, "rsp", 0x7000);
	put_reg(&p.s->rec.initial, "rbp", 0x6000);
	put_reg(&p.s->rec.initial, "rdi", 0x6800);
	put_reg(&p.s->steps, "rsp", 0x6ff8);
	put_word(&p.s->steps, 0x6ff8, p.now[3]);
	run(CODE, "\x53", 1, NO_PLACE, 0);
	put_reg(&p.s->steps, "rsp", 0x7000);
	run(CODE + 1, "\x59", 1, 1, p.now[3]);
	put_reg(&p.s->steps, "rdi", 0x6801);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, 0x6800, &byte, 1);
	run(CODE + 2, "\xf3\xaa", 2, 1, p.now[3] - 1);
	put_reg(&p.s->steps, "rsp", 0x6008);
	put_reg(&p.s->steps, "rbp", 0x5555);
	run(CODE + 4, "\xc9", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rsp at 3"),
			 "0 1 write $rsp 0x7000\n1 0 write $rsp 0x6ff8\n2  start $rsp 0x7000\n");
	ck_assert_str_eq(got("why $rcx"), "0 2 write $rcx 0x1002\n1 1 write $rcx 0x1003\n"
					  "2 0 write 0x6ff8,8 0x1003\n3  start $rbx 0x1003\n");
	ck_assert_str_eq(got("why 0x6800"), "0 2 write 0x6800,1 0x7\n1  start $al 0x0\n");
	ck_assert_str_eq(got("why $rdi"), "0 2 write $rdi 0x6801\n1 1 write $rcx 0x1003\n2 0 write 0x6ff8,8 0x1003\n"
					   "3  start $rbx 0x1003\n1  start $rdi 0x6800\n1  unknown $DF \n");
	ck_assert_str_eq(got("why $rsp"), "0 3 write $rsp 0x6008\n1  start $rbp 0x6000\n");
	ck_assert_str_eq(got("why $rbp"), "0 3 write $rbp 0x5555\n1  unknown 0x6000,8 \n");
	finish();
}
END_TEST

/* nop, at which the recording has a system call; mov rcx, rax; mov rdx, rcx. */
START_TEST(what_a_system_call_left_is_input_whatever_its_instruction_is)
{
	begin();
	ts_steps_event(&p.s->steps, TS_EV_SYSCALL)->number = 0;
	run(CODE, "\x90", 1, 0, 5);
	run(CODE + 1, "\x48\x89\xc1", 3, 1, 5);
	run(CODE + 4, "\x48\x89\xca", 3, 2, 5);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"), "0 2 write $rdx 0x5\n1 1 write $rcx 0x5\n2 0 input $rax 0x5\n");
	finish();
}
END_TEST

/* cmp rax, rcx; dec rdx, which leaves CF; jbe. */
START_TEST(each_flag_has_its_own_writer)
{
	begin();
	run(CODE, "\x48\x39\xc8", 3, NO_PLACE, 0);
	run(CODE + 3, "\x48\xff\xca", 3, 2, p.now[2] - 1);
	run(CODE + 6, "\x76\x10", 2, NO_PLACE, 0);
	run(CODE + 8, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why branch depth 2"), "0 2 branch  \n"
						    "1 1 write $ZF \n2  start $rdx 0x1002\n"
						    "1 0 write $CF \n2  start $rax 0x1000\n2  start $rcx 0x1001\n");
	finish();
}
END_TEST

/* mov rcx, rax; mov rdx, rcx; add rcx, rcx; add rdx, rcx. */
START_TEST(an_operand_that_is_named_twice_was_seen_once)
{
	begin();
	run(CODE, "\x48\x89\xc1", 3, 1, 0x1000);
	run(CODE + 3, "\x48\x89\xca", 3, 2, 0x1000);
	run(CODE + 6, "\x48\x01\xc9", 3, 1, 0x2000);
	run(CODE + 9, "\x48\x01\xca", 3, 2, 0x3000);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rdx"), "0 3 write $rdx 0x3000\n1 1 write $rdx 0x1000\n2 0 write $rcx 0x1000\n3  start $rax 0x1000\n"
					  "1 2 write $rcx 0x2000\n2 0 seen $rcx 0x1000\n");
	finish();
}
END_TEST

/* mov [r15], rax; mov [r15+1], cl. */
START_TEST(each_byte_has_its_own_writer_and_source)
{
	begin();
	run(CODE, "\x49\x89\x07", 3, N_REGS, p.now[0]);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, SLOTS + 1, "\x01", 1);
	run(CODE + 3, "\x41\x88\x4f\x01", 4, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5000,4"), "0 1 write 0x5001,1 0x1\n1  start $cl 0x1\n"
					      "0 0 write 0x5000,1 0x0\n0 0 write 0x5002,2 0x0\n"
					      "1  start $al 0x0\n1  start $rax[2:4] 0x0\n");
	finish();
}
END_TEST

/* mov rax, rcx; jmp rax. */
START_TEST(a_jump_through_a_register_is_a_branch)
{
	begin();
	run(CODE, "\x48\x89\xc8", 3, 0, p.now[1]);
	run(CODE + 3, "\xff\xe0", 2, NO_PLACE, 0);
	run(0x1001, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why branch"), "0 1 branch  \n1 0 write $rax 0x1001\n2  start $rcx 0x1001\n");
	finish();
}
END_TEST

/* An event of a call of @thread in the step that is being made, and its result. */
static void put_return(uint32_t thread, unsigned number, uint64_t result)
{
	struct ts_event *e;

	ts_steps_effect(&p.s->steps, TS_FX_THREAD, 0, 0)->item = thread;
	e = ts_steps_event(&p.s->steps, TS_EV_SYSCALL);
	e->number = number;
	e->has_ret = true;
	e->ret = result;
	put_reg(&p.s->steps, "rax", result);
}

/*
 * mov rax, rcx; syscall, in which the thread waits while another one runs; nop.  The call returns with the last step of the
 * other one, which is a call, too.  At last the first thread waits in a call to the end.
 */
START_TEST(a_call_has_its_result_when_it_returns)
{
	begin();
	run(CODE, "\x48\x89\xc8", 3, 0, p.now[1]);
	run(CODE + 3, "\x0f\x05", 2, NO_PLACE, 0);
	p.thread = 1;
	for (unsigned i = 0; i < 3; i++)
		run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	put_return(1, 39, 7);
	put_return(0, 202, 5);
	run(CODE + 17, "\x0f\x05", 2, NO_PLACE, 0);
	p.thread = 0;
	run(CODE + 5, "\x90", 1, NO_PLACE, 0);
	run(CODE + 6, "\x48\x89\xd0", 3, 0, p.now[2]);
	run(CODE + 9, "\x0f\x05", 2, NO_PLACE, 0);
	p.thread = 1;
	run(CODE + 19, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < 2; i++) { /* the second time some of it is known */
		ck_assert_str_eq(got("why $rax at 4 thread 1000"), "0 0 write $rax 0x1001\n1  start $rcx 0x1001\n");
		ck_assert_str_eq(got("why $rax at 7 thread 1000"), "0 5 input $rax 0x5\n");
		ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tfutex("));
		ck_assert_str_eq(got("why $rax at 7 thread 1001"), "0 5 input $rax 0x7\n");
		ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\tgetpid("));
		ck_assert_str_eq(got("why $rax thread 1000"), "0 7 write $rax 0x1002\n1  start $rdx 0x1002\n");
	}
	/* position, thread of the step, length, old, new: no row where a call began */
	ck_assert_str_eq(got("history $rax thread 1000"),
			 "0 1000 8 0x1000 0x1001\n5 1001 8 0x1001 0x5\n7 1000 8 0x5 0x1002\n");
	finish();
}
END_TEST

START_TEST(what_is_not_known_is_said)
{
	static const uint8_t eight[8] = { 9 };

	begin();
	run(CODE, "\x48\x89\xf0", 3, 0, 5);                               /* mov rax, rsi */
	close_step(&(struct made){ .writes = 1, .value = 6 }, 0x900000, 3);  /* code that is not known */
	run(CODE + 3, "\x64\x48\x8b\x14\x25\x28\0\0\0", 9, 2, 7);       /* mov rdx, fs:[0x28] */
	ts_steps_value(&p.s->steps, TS_FX_READ, 0x7028, eight, 8);
	run(CODE + 3, "\x64\x48\x8b\x14\x25\x28\0\0\0", 9, 2, 9);
	run(CODE + 12, "\x49\x8b\x1e", 3, 3, 8);                          /* mov rbx, [r14] */
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 0 write $rax 0x5\n1  unknown $rsi \n");
	ck_assert_str_eq(got("why $rcx"), "0 1 write $rcx 0x6\n1  unknown  \n");
	ck_assert_str_eq(got("why branch at 2"), "");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "the bytes of the instruction at 0x900000 are not known: "));
	ck_assert_str_eq(got("why branch at 1"), "");
	ck_assert_ptr_null(strstr(ts_buf_text(&a.end), "not known"));
	ck_assert_str_eq(got("why $rdx at 3"), "0 2 write $rdx 0x7\n1  unknown  \n");
	ck_assert_str_eq(got("why $rdx"), "0 3 write $rdx 0x9\n1  start 0x7028,8 0x9\n");
	ck_assert_str_eq(got("why $rbx"), "0 4 write $rbx 0x8\n1  unknown  \n");
	finish();
}
END_TEST

START_TEST(other_processors_have_what_the_recording_shows_read)
{
	const struct ts_regset *set;
	uint8_t bytes[4] = { 1, 2, 3, 4 };

	memset(&p, 0, sizeof(p));
	p.s = script_new("ppc", 1, NULL);
	ck_assert_ptr_nonnull(p.s);
	set = &p.s->rec.regs;
	ts_steps_value(&p.s->steps, TS_FX_WRITE, 0x6000, bytes, 4);
	ts_steps_close(&p.s->steps, 0x8000, 4, 0);
	ts_steps_value(&p.s->steps, TS_FX_READ, 0x6000, bytes, 4);
	ts_steps_value(&p.s->steps, TS_FX_REG_WRITE, set->regs[ts_regset_find(set, "r3")].off, bytes, 4);
	ts_steps_close(&p.s->steps, 0x8004, 4, 0);
	ts_steps_close(&p.s->steps, 0x8008, 4, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $r3"),
			 "0 1 write $r3 0x1020304\n1 0 write 0x6000,4 0x1020304\n2  unknown  \n");
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end),
				     "instructions of ppc are not decoded: inputs are what the recording says was read"));
	ck_assert_str_eq(got("why branch"), "");
	finish();
}
END_TEST

/* A call at CODE that was stepped over: code, a register and its value, and where it leads. */
static const struct {
	const char *arch, *code, *reg;
	uint64_t value, target;
	unsigned len;     /* of the call, without its delay slot */
	bool has_slot;
} stepped[] = {
	{ "aarch64", "\x10\x00\x00\x94", "x4", 0, CODE + 0x40, 4, false },  /* bl CODE+0x40 */
	{ "aarch64", "\x80\x00\x3f\xd6", "x4", 0x5000, 0x5000, 4, false },   /* blr x4 */
	{ "aarch64", "\x80\x00\x3f\xd6", "x4", UINT64_C(0x12000000005000), TS_NO_PC, 4, false }, /* no address: the pointer is signed */
	{ "arm", "\x02\x00\x00\xeb", "r3", 0, CODE + 16, 4, false },         /* bl CODE+16 */
	{ "arm", "\x33\xff\x2f\xe1", "r3", 0x5001, 0x5000, 4, false },       /* blx r3, to Thumb code */
	{ "riscv64", "\xef\x00\x00\x04", "a5", 0, CODE + 0x40, 4, false },   /* jal ra, CODE+0x40 */
	{ "riscv64", "\xe7\x80\x07\x01", "a5", 0x5000, 0x5010, 4, false },   /* jalr ra, 16(a5) */
	{ "mipsel", "\x00\x04\x10\x0c\x00\x00\x00\x00", "r25", 0, CODE, 4, true }, /* jal CODE; nop */
	{ "mipsel", "\x09\xf8\x20\x03\x00\x00\x00\x00", "r25", 0x5000, 0x5000, 4, true }, /* jalr $25; nop */
};

static void check_stepped(unsigned i)
{
	const unsigned len = stepped[i].len, slot = stepped[i].has_slot ? 4 : 0;
	char want[80], target[24] = "", *row;

	memset(&p, 0, sizeof(p));
	p.s = script_new(stepped[i].arch, 1, NULL);
	ck_assert_ptr_nonnull(p.s);
	put_reg(&p.s->rec.initial, stepped[i].reg, stepped[i].value);
	put_reg(&p.s->rec.initial, p.s->rec.regs.regs[p.s->rec.regs.sp].name, STACK);
	put_code(CODE, stepped[i].code, len + slot);
	if (slot)
		ts_steps_close(&p.s->steps, CODE, (uint16_t)len, 0);
	ts_steps_event(&p.s->steps, TS_EV_GAP);
	ts_steps_close(&p.s->steps, CODE + slot, (uint16_t)(slot ? slot : len), 0);
	ts_steps_close(&p.s->steps, CODE + len + slot, 4, 0);
	ask_text_init(&a, &p.s->rec);
	ck_assert(ask_text(&a, TS_FORM_TSV, "calls"));
	row = strchr(ts_buf_text(&a.out), '\n') + 1;
	if (stepped[i].target != TS_NO_PC)
		snprintf(target, sizeof(target), "0x%" PRIx64, stepped[i].target);
	snprintf(want, sizeof(want), "0\t\t%u\tgap\t1000\t1\t0x401000\t\t%s\t", slot ? 2 : 1, target);
	ck_assert_msg(!strncmp(row, want, strlen(want)), "%s, not %s", row, want);
	finish();
}

START_TEST(calls_that_were_stepped_over_lead_somewhere_on_other_processors)
{
	for (unsigned i = 0; i < sizeof(stepped) / sizeof(stepped[0]); i++)
		check_stepped(i);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- a machine */

#define CR3 UINT64_C(0x10000)
#define DATA_FRAME UINT64_C(0x40000)
#define CODE_FRAME UINT64_C(0x41000)

/* Virtual pages 3 and 7 are data and code, far from their physical addresses. */
START_TEST(addresses_of_a_machine_are_virtual)
{
	memset(&p, 0, sizeof(p));
	p.s = machine_new(40);
	ck_assert_ptr_nonnull(p.s);
	machine_long_mode(p.s, CR3);
	for (unsigned i = 0; i < 3; i++)
		machine_put(&p.s->rec.initial, CR3 + 0x1000 * i, (CR3 + 0x1000 * (i + 1)) | PTE_P, 8);
	machine_put(&p.s->rec.initial, CR3 + 0x3000 + 3 * 8, DATA_FRAME | PTE_P, 8);
	machine_put(&p.s->rec.initial, CR3 + 0x3000 + 7 * 8, CODE_FRAME | PTE_P, 8);
	machine_put(&p.s->rec.initial, CODE_FRAME, 0x1889, 2);     /* mov [rax], ebx */
	machine_put(&p.s->rec.initial, CODE_FRAME + 2, 0x088b, 2); /* mov ecx, [rax] */
	machine_reg(&p.s->rec.initial, p.s, "rax", 0x3010);
	machine_reg(&p.s->rec.initial, p.s, "rbx", 0x11223344);
	machine_put(&p.s->steps, DATA_FRAME + 0x10, 0x11223344, 4);
	machine_step(p.s, 0x7000);
	machine_reg(&p.s->steps, p.s, "rcx", 0x11223344);
	machine_step(p.s, 0x7002);
	machine_step(p.s, 0x7004);
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $ecx"), "0 1 write $ecx 0x11223344\n"
					  "1 0 write 0x3010,4 0x11223344\n"
					  "2  start $ebx 0x11223344\n");
	finish();
}
END_TEST

/* Page 7 of the tables at @cr3 is @frame. */
static void put_tables(uint64_t cr3, uint64_t frame)
{
	for (unsigned i = 0; i < 3; i++)
		machine_put(&p.s->rec.initial, cr3 + 0x1000 * i, (cr3 + 0x1000 * (i + 1)) | PTE_P, 8);
	machine_put(&p.s->rec.initial, cr3 + 0x3000 + 7 * 8, frame | PTE_P, 8);
}

/*
 * mov ecx, ebx; @n_between steps; by a table's entry, or by other tables, the same address has: mov eax, ecx; as
 * many steps again; and that is executed.
 */
static void check_remapped(unsigned n_between, bool by_tables)
{
	const uint64_t other_cr3 = CR3 + 0x10000, other_frame = CODE_FRAME + 0x1000;
	char expected[200];

	memset(&p, 0, sizeof(p));
	p.s = machine_new(40);
	ck_assert_ptr_nonnull(p.s);
	machine_long_mode(p.s, CR3);
	put_tables(CR3, CODE_FRAME);
	put_tables(other_cr3, other_frame);
	machine_put(&p.s->rec.initial, CODE_FRAME, 0xd989, 2);  /* mov ecx, ebx */
	machine_put(&p.s->rec.initial, other_frame, 0xc889, 2); /* mov eax, ecx */
	machine_put(&p.s->rec.initial, CODE_FRAME + 0x10, 0x90, 1);
	machine_put(&p.s->rec.initial, other_frame + 0x10, 0x90, 1);
	machine_reg(&p.s->rec.initial, p.s, "rbx", 0x11223344);
	machine_reg(&p.s->steps, p.s, "rcx", 0x11223344);
	machine_step(p.s, 0x7000);
	for (unsigned i = 0; i <= 2 * n_between; i++) {
		if (i == n_between && by_tables)
			machine_reg(&p.s->steps, p.s, "cr3", other_cr3);
		else if (i == n_between)
			machine_put(&p.s->steps, CR3 + 0x3000 + 7 * 8, other_frame | PTE_P, 8);
		machine_step(p.s, 0x7010);
	}
	machine_reg(&p.s->steps, p.s, "rax", 0x11223344);
	machine_step(p.s, 0x7000);
	ask_text_init(&a, &p.s->rec);
	snprintf(expected, sizeof(expected),
		 "0 %u write $eax 0x11223344\n1 0 write $ecx 0x11223344\n2  start $ebx 0x11223344\n",
		 2 * n_between + 2);
	ck_assert_str_eq(got("why $eax"), expected);
	finish();
}

/* Within a chunk, and in chunks before and after the change. */
START_TEST(an_instruction_is_that_which_the_page_tables_of_its_step_lead_to)
{
	static const unsigned n_between[] = { 2, TS_CHUNK_STEPS - 10, 3 * TS_CHUNK_STEPS };

	for (unsigned i = 0; i < 3; i++) {
		check_remapped(n_between[i], false);
		check_remapped(n_between[i], true);
	}
}
END_TEST

UNIT_SUITE("ask_why", a_branch_has_the_instruction_that_set_its_condition_however_far_it_is,
	   an_instruction_is_that_which_stood_there_at_its_step,
	   a_value_used_far_back_is_found_without_what_was_written_since,
	   a_pointer_that_an_instruction_moves_is_made_of_itself, elements_that_a_gather_reads_are_those_of_the_recording,
	   what_a_system_call_left_is_input_whatever_its_instruction_is, a_call_has_its_result_when_it_returns,
	   a_register_that_changed_beside_what_an_instruction_writes_was_written_there, a_call_that_was_stepped_over_is_a_row, an_operand_that_is_named_twice_was_seen_once, each_flag_has_its_own_writer, each_byte_has_its_own_writer_and_source, a_jump_through_a_register_is_a_branch,
	   what_is_not_known_is_said,
	   other_processors_have_what_the_recording_shows_read, calls_that_were_stepped_over_lead_somewhere_on_other_processors, addresses_of_a_machine_are_virtual,
	   an_instruction_is_that_which_the_page_tables_of_its_step_lead_to)
