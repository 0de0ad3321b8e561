/* SPDX-License-Identifier: MIT */
/*
 * Registers of a 64-bit processor as 32-bit code has them.
 */
#include "unit.h"

#include "src/arch/regview.h"

#include <string.h>

static struct ts_regset all;
static struct ts_regview view;
static struct ts_error err;

static void setup(void)
{
	const struct ts_arch *arch = ts_arch_find("x86_64");
	uint32_t features = 1u << ts_arch_feature(arch, "org.tracestub.i386.control");

	ts_error_reset(&err);
	ck_assert(ts_regset_init(&all, arch,
				 features | 1u << ts_arch_feature(arch, "org.gnu.gdb.i386.segments"), &err));
}

static void teardown(void)
{
	ts_regview_fini(&view);
	ts_regset_fini(&all);
}

/* Where the view's register @name is found, and where @source lies. */
static void is_from(const char *name, const char *source)
{
	int i = ts_regset_find(&view.set, name);

	ck_assert_msg(i >= 0, "no %s", name);
	ck_assert_uint_eq(view.from[i], all.regs[ts_regset_find(&all, source)].off);
}

START_TEST(registers_are_parts_of_wider_ones_or_the_same)
{
	ck_assert(ts_regview_init(&view, &all, ts_arch_find("i386"), &err));
	is_from("eax", "rax");
	is_from("edi", "rdi");
	is_from("esp", "rsp");
	is_from("eip", "rip");
	is_from("eflags", "eflags");
	is_from("es", "es");
	is_from("st7", "st7");
	is_from("xmm7", "xmm7");
	is_from("mxcsr", "mxcsr");
	is_from("cr3", "cr3");
	ck_assert_int_lt(ts_regset_find(&view.set, "xmm8"), 0);
	ck_assert_int_lt(ts_regset_find(&view.set, "ymm0h"), 0); /* not recorded */
}
END_TEST

START_TEST(values_keep_their_lower_bytes_and_what_is_known)
{
	uint8_t data[2048], known[2048], seen[2048], seen_known[2048];
	const struct ts_reg *rax = &all.regs[ts_regset_find(&all, "rax")], *eax, *eip;

	ck_assert(ts_regview_init(&view, &all, ts_arch_find("i8086"), &err));
	eax = &view.set.regs[ts_regset_find(&view.set, "eax")];
	eip = &view.set.regs[ts_regset_find(&view.set, "eip")];
	memset(known, 0, sizeof(known));
	memcpy(data + rax->off, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	memset(known + rax->off, 1, 5);
	ts_regview_see(&view, data, known, seen, seen_known);
	ck_assert_uint_eq(eax->len, 4);
	ck_assert_mem_eq(seen + eax->off, "\x88\x77\x66\x55", 4);
	ck_assert_mem_eq(seen_known + eax->off, "\1\1\1\1", 4);
	ck_assert_mem_eq(seen_known + eip->off, "\0\0\0\0", 4);
}
END_TEST

START_TEST(another_processor_is_refused)
{
	ck_assert(!ts_regview_init(&view, &all, ts_arch_find("aarch64"), &err));
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	ck_assert_str_eq(err.text, "registers of x86_64 cannot be shown as those of aarch64");
}
END_TEST

UNIT_FIXTURE_SUITE("regview", setup, teardown,
		   registers_are_parts_of_wider_ones_or_the_same,
		   values_keep_their_lower_bytes_and_what_is_known,
		   another_processor_is_refused)
