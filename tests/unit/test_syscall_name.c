/* SPDX-License-Identifier: MIT */
/* Expected names are those of the kernel's own headers, asm/unistd.h of each processor. */
#include "src/arch/syscall_name.h"

#include "src/arch/arch.h"
#include "unit.h"

static const char *name_of(const char *arch, uint64_t number)
{
	static char name[32];

	return ts_syscall_name(ts_arch_find(arch), number, name, sizeof(name));
}

START_TEST(numbers_are_those_of_the_processor)
{
	ck_assert_str_eq(name_of("x86_64", 0), "read");
	ck_assert_str_eq(name_of("x86_64", 231), "exit_group");
	ck_assert_str_eq(name_of("i386", 3), "read");
	ck_assert_str_eq(name_of("arm", 4), "write");
	ck_assert_str_eq(name_of("aarch64", 64), "write");
	ck_assert_str_eq(name_of("mips", 4004), "write");
	ck_assert_str_eq(name_of("mipsel", 4001), "exit");
	ck_assert_str_eq(name_of("ppc64", 4), "write");
	ck_assert_str_eq(name_of("riscv64", 93), "exit");
	ck_assert_str_eq(name_of("s390x", 1), "exit");
}
END_TEST

START_TEST(what_is_no_system_call_has_no_name)
{
	ck_assert_ptr_null(name_of("x86_64", 100000));
	ck_assert_ptr_null(name_of("x86_64", UINT64_MAX));
	ck_assert_ptr_null(name_of("x86_64", UINT64_C(1) << 32));
	ck_assert_ptr_null(name_of("sparc", 1));
}
END_TEST

START_TEST(a_long_name_is_truncated_to_the_room_given)
{
	char name[5];

	ck_assert_str_eq(ts_syscall_name(ts_arch_find("x86_64"), 231, name, sizeof(name)), "exit");
}
END_TEST

UNIT_SUITE("syscall_name", numbers_are_those_of_the_processor, what_is_no_system_call_has_no_name,
	   a_long_name_is_truncated_to_the_room_given)
