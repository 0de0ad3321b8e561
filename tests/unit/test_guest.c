/* SPDX-License-Identifier: MIT */
/*
 * Processors that are recorded: gdb's names of their registers, by which QEMU 9 gives them, are those that
 * the loader has for the same numbers.
 */
#include "unit.h"

#include "loaders/usercorn/trace.h"
#include "src/recorder/guest.h"

#include <stdio.h>
#include <string.h>

static const char *const targets[] = { "x86_64", "i386",   "aarch64", "arm",    "riscv64",
				       "mips",   "mipsel", "ppc64",   "ppc64le" };

/* The loader's name of register @num. */
static const char *loaded_name(const struct ucir_arch *arch, unsigned num, char name[32])
{
	for (size_t i = 0; i < arch->n_regs; i++) {
		const struct ucir_reg_range *r = &arch->regs[i];

		if (num < r->first || num > r->last)
			continue;
		snprintf(name, 32, r->name, r->base + (num - r->first) * r->step);
		return name;
	}
	return "none";
}

static void compare_names(const struct ts_guest *guest)
{
	const struct ucir_arch *arch = ucir_arch_find(guest->ucir, 2);

	ck_assert_ptr_nonnull(arch);
	for (size_t i = 0; i < guest->n_ranges; i++) {
		for (unsigned k = 0; k < guest->ranges[i].n; k++) {
			char name[TS_REG_NAME_LEN], wanted[32];

			ts_reg_name(&guest->ranges[i], k, name);
			ck_assert_str_eq(name, loaded_name(arch, guest->ranges[i].num + k, wanted));
		}
	}
}

START_TEST(registers_have_the_loaders_names)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		ck_assert_ptr_nonnull(ts_guest_find(targets[i]));
		compare_names(ts_guest_find(targets[i]));
	}
}
END_TEST

START_TEST(a_processor_that_is_not_recorded_has_no_table)
{
	ck_assert_ptr_null(ts_guest_find("hexagon"));
	ck_assert_ptr_null(ts_guest_find(""));
}
END_TEST

UNIT_SUITE("guest", registers_have_the_loaders_names, a_processor_that_is_not_recorded_has_no_table)
