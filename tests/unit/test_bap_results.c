/* SPDX-License-Identifier: MIT */
/*
 * What instructions change is kept by address and bytes.  Encodings are those of the processor's manual.
 */
#include "unit.h"

#include <stdlib.h>

#include "loaders/bap/insn.h"
#include "src/base/error.h"

static struct ts_regset set;
static struct ts_x86 x;
static struct bap_results *table;

static void setup(void)
{
	struct ts_error err = { 0 };

	ck_assert(ts_regset_init(&set, ts_arch_find("x86_64"), 0, &err));
	ts_x86_init(&x, &set);
}

static void teardown(void)
{
	free(table);
	table = NULL;
	ts_regset_fini(&set);
}

static const struct bap_result *find(uint64_t pc, const char *bytes, size_t len)
{
	const struct bap_result *r = bap_results_find(&table, &x, pc, (const uint8_t *)bytes, len);

	ck_assert_ptr_nonnull(r);
	return r;
}

/* The only register that the instruction writes. */
static unsigned written(const struct bap_result *r)
{
	unsigned off = TS_X86_NO_REG;

	for (unsigned i = 0; i < r->results.n; i++)
		off = r->results.fields[i].off;
	return off;
}

START_TEST(other_bytes_are_another_instruction)
{
	ck_assert_uint_eq(written(find(0x1000, "\x48\x89\xd8", 3)), x.gprs[0]); /* mov %rbx, %rax */
	ck_assert_uint_eq(written(find(0x1000, "\x48\x89\xd9", 3)), x.gprs[1]); /* code that was changed: %rcx */
	ck_assert(!find(0x1000, "\x48\x89", 2)->is_insn);                       /* the same, incomplete */
	ck_assert_uint_eq(written(find(0x1000, "\x48\x89\xd8", 3)), x.gprs[0]);
}
END_TEST

/* mov %rax, 0x10(%rip) */
START_TEST(another_address_is_another_instruction)
{
	ck_assert_int_eq(find(0x1000, "\x48\x89\x05\x10\0\0\0", 7)->insn.mem[0].disp, 0x1017);
	ck_assert_int_eq(find(0x2000, "\x48\x89\x05\x10\0\0\0", 7)->insn.mem[0].disp, 0x2017);
	ck_assert_int_eq(find(0x1000, "\x48\x89\x05\x10\0\0\0", 7)->insn.mem[0].disp, 0x1017);
}
END_TEST

/* More addresses than there are places: each is found as itself. */
START_TEST(more_than_there_are_places_for_are_found)
{
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t pc = 0; pc < 5000; pc++) {
			const struct bap_result *r = find(pc, pc % 2 ? "\x90" : "\x50", 1);

			ck_assert_uint_eq(r->pc, pc);
			ck_assert_uint_eq(r->insn.n_mem, pc % 2 ? 0 : 1); /* nop; push %rax */
		}
}
END_TEST

/* A frame may have more bytes than an instruction. */
START_TEST(bytes_after_the_instruction_do_not_matter)
{
	char bytes[64] = "\x48\x89\xd8";

	ck_assert_uint_eq(written(find(0x1000, bytes, sizeof(bytes))), x.gprs[0]);
	ck_assert_uint_eq(find(0x1000, bytes, sizeof(bytes))->insn.len, 3);
}
END_TEST

UNIT_FIXTURE_SUITE("bap_results", setup, teardown, other_bytes_are_another_instruction,
		   another_address_is_another_instruction, more_than_there_are_places_for_are_found,
		   bytes_after_the_instruction_do_not_matter)
