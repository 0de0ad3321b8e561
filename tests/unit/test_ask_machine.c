/* SPDX-License-Identifier: MIT */
/*
 * Questions to the recording of a whole machine: addresses are virtual.
 */
#include "unit.h"

#include "ask_text.h"
#include "machine.h"
#include "src/query/code/insns.h"
#include "src/trace/chunk.h"

#include <string.h>

#define CR3 UINT64_C(0x10000)
#define FRAME UINT64_C(0x40000)
#define PC UINT64_C(0x7000)
#define KERNEL_PC UINT64_C(0xffff8000)

static struct script *s;
static struct ask_text a;

/*
 * The page at virtual 0x3000 is the frame at 0x40000; step 2 writes there, and step 3 at virtual 0x3000's own
 * number.
 */
static void setup(void)
{
	static const uint64_t table = PTE_P;

	s = machine_new(40);
	ck_assert_ptr_nonnull(s);
	machine_long_mode(s, CR3);
	machine_put(&s->rec.initial, CR3, (CR3 + 0x1000) | table, 8);
	machine_put(&s->rec.initial, CR3 + 0x1000, (CR3 + 0x2000) | table, 8);
	machine_put(&s->rec.initial, CR3 + 0x2000, (CR3 + 0x3000) | table, 8);
	machine_put(&s->rec.initial, CR3 + 0x3000 + 3 * 8, FRAME | table, 8);
	machine_step(s, PC);
	machine_step(s, PC + 4);
	machine_put(&s->steps, FRAME + 0x10, 0x11223344, 4);
	machine_step(s, PC + 8);
	machine_put(&s->steps, 0x3010, 0x55667788, 4);
	machine_step(s, PC + 12);
	ask_text_init(&a, &s->rec);
}

static void teardown(void)
{
	ask_text_fini(&a);
	script_free(s);
}

START_TEST(memory_is_asked_for_by_virtual_address)
{
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, "history 0x3010,4"), "%s", a.err.text);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\n2\t"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\twrite\t0x3010\t4\t\t0x11223344\n"));
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "physical address 0x40010"));
}
END_TEST

START_TEST(an_address_that_is_not_mapped_has_no_rows_and_a_note)
{
	ck_assert(ask_text(&a, TS_FORM_TSV, "history 0x5010,4"));
	ck_assert_uint_eq(a.n_rows, 0);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "the page tables do not map this address"));
}
END_TEST

START_TEST(executions_are_at_virtual_addresses)
{
	ck_assert(ask_text(&a, TS_FORM_TSV, "executions 0x7004"));
	ck_assert_uint_eq(a.n_rows, 1);
	ck_assert(ask_text(&a, TS_FORM_TSV, "last-exec 0x7008"));
	ck_assert_uint_eq(a.n_rows, 1);
}
END_TEST

/* Two instructions side by side, of which a step in the middle of the second chunk changes the second one. */
static void make_without_control_registers(void)
{
	teardown();
	s = machine_new(40);
	ck_assert_ptr_nonnull(s);
	machine_put(&s->rec.initial, PC, 0x90c03148, 4); /* xor rax, rax; nop */
	for (unsigned i = 0; i < 3 * TS_CHUNK_STEPS; i++) {
		if (i == TS_CHUNK_STEPS * 3 / 2)
			machine_put(&s->steps, PC + 3, 0xcc, 1);
		machine_step(s, PC + (i % 2 ? 3 : 0));
	}
	ask_text_init(&a, &s->rec);
}

static uint64_t code_since(uint64_t pos)
{
	uint64_t first;

	ck_assert(ts_query_code_since(a.q, 0, PC, 8, pos, &first, &a.err));
	return first;
}

/* Where no register says how addresses are translated, no page table is looked for that could have changed. */
START_TEST(code_stays_where_addresses_are_those_of_the_recording)
{
	make_without_control_registers();
	ck_assert_uint_eq(code_since(10), 0);
	ck_assert_uint_eq(code_since(TS_CHUNK_STEPS - 1), 0);
	ck_assert_uint_eq(code_since(TS_CHUNK_STEPS + 10), 2);
	ck_assert_uint_eq(code_since(2 * TS_CHUNK_STEPS + 10), 2);
}
END_TEST

static uint8_t byte_of_second(uint64_t pos)
{
	const struct ts_decoded *d = ts_query_insn(a.q, pos | 1, &a.err);

	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->pc, PC + 3);
	return d->bytes[0];
}

/* The first one is asked for before, so that its surroundings are at hand. */
START_TEST(code_is_that_of_the_position)
{
	static const uint64_t at[] = { 0, 2, 0, 1, 2, 1 };

	make_without_control_registers();
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_ptr_nonnull(ts_query_insn(a.q, at[i] * TS_CHUNK_STEPS, &a.err));
		ck_assert_uint_eq(byte_of_second(at[i] * TS_CHUNK_STEPS), at[i] < 2 ? 0x90 : 0xcc);
	}
	ck_assert_uint_eq(byte_of_second(2 * TS_CHUNK_STEPS - 2), 0xcc);
}
END_TEST

/* syscall; the next step, mov rbx, rax, is in the kernel, or after the call, which the recorder executed itself. */
static void make_call(uint64_t next)
{
	teardown();
	s = machine_new(40);
	ck_assert_ptr_nonnull(s);
	machine_put(&s->rec.initial, PC, 0xc38948050f, 5);
	machine_put(&s->rec.initial, KERNEL_PC, 0xc38948, 3);
	machine_reg(&s->rec.initial, s, "rax", 5);
	machine_reg(&s->steps, s, "rcx", PC + 2);
	machine_step(s, PC);
	machine_reg(&s->steps, s, "rbx", 5);
	machine_step(s, next);
	machine_step(s, next + 3);
	ask_text_init(&a, &s->rec);
}

static bool is_in_answer(const char *question, const char *text)
{
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	return strstr(ts_buf_text(&a.out), text);
}

/* steps, history, why and flows have to agree about it. */
START_TEST(a_system_call_that_runs_in_the_machine_has_no_result_yet)
{
	make_call(KERNEL_PC);
	ck_assert(is_in_answer("steps in 0:1", "$rcx=0x7002"));
	ck_assert(!is_in_answer("steps in 0:1", "$rax="));
	ck_assert(!is_in_answer("history $rax in 0:1", "\n0\t"));
	ck_assert(!is_in_answer("why $rax at 1", "syscall"));
	ck_assert(is_in_answer("flows $rax at 0", "copy"));
	make_call(PC + 2);
	ck_assert(is_in_answer("steps in 0:1", "$rax=0x5"));
	ck_assert(is_in_answer("history $rax in 0:1", "\n0\t"));
	ck_assert(is_in_answer("why $rax at 1", "syscall"));
	ck_assert(!is_in_answer("flows $rax at 0", "copy"));
	ck_assert(is_in_answer("flows $rax at 0", "overwritten"));
}
END_TEST

UNIT_FIXTURE_SUITE("ask_machine", setup, teardown, memory_is_asked_for_by_virtual_address,
		   an_address_that_is_not_mapped_has_no_rows_and_a_note, executions_are_at_virtual_addresses,
		   code_stays_where_addresses_are_those_of_the_recording, code_is_that_of_the_position,
		   a_system_call_that_runs_in_the_machine_has_no_result_yet)
