/* SPDX-License-Identifier: MIT */
/*
 * Register sets: what must hold for each, and places of registers as gdb's own files have them.
 *
 * The figures are added up by hand from gdb 13's tables for its own server (gdb/regformats) and its feature
 * files, not taken from our output.  tests/e2e/arch_descriptions.py asks gdb itself about every register.
 */
#include "unit.h"

#include "src/arch/arch.h"
#include "src/base/error.h"

#include <string.h>

#define ALL_FEATURES UINT32_MAX

static struct ts_error err;

static struct ts_regset set_of(const char *name, uint32_t features)
{
	const struct ts_arch *arch = ts_arch_find(name);
	struct ts_regset set;

	ts_error_reset(&err);
	ck_assert_msg(arch != NULL, "no architecture %s", name);
	ck_assert_msg(ts_regset_init(&set, arch, features, &err), "%s: %s", name, err.text);
	return set;
}

/* Call @check with every set of every architecture. */
static void for_each_set(void (*check)(const struct ts_regset *set))
{
	unsigned n;
	const struct ts_arch *const *all = ts_arch_all(&n);

	ck_assert_uint_ge(n, 19);
	for (unsigned i = 0; i < n; i++)
		for (uint32_t features = 0; features < 1u << all[i]->n_features; features++) {
			struct ts_regset set = set_of(all[i]->name, features);

			check(&set);
			ts_regset_fini(&set);
		}
}

static void check_dense(const struct ts_regset *set)
{
	uint32_t off = 0;

	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *r = &set->regs[i];

		ck_assert_msg(i == 0 || r->regnum > r[-1].regnum, "%s: %s is out of order", set->arch->name,
			      r->name);
		ck_assert_msg(r->off == off, "%s: %s at %u, not %u", set->arch->name, r->name, r->off, off);
		ck_assert_uint_gt(r->len, 0);
		ck_assert_uint_eq(r->len * 8, r->bits);
		off += r->len;
	}
	ck_assert_uint_eq(set->g_len, off);
}

START_TEST(registers_are_packed_in_ascending_order)
{
	for_each_set(check_dense);
}
END_TEST

static void check_lookup(const struct ts_regset *set)
{
	for (unsigned i = 0; i < set->n_regs; i++) {
		ck_assert_int_eq(ts_regset_find(set, set->regs[i].name), i);
		ck_assert_int_eq(ts_regset_by_num(set, set->regs[i].regnum), i);
	}
	ck_assert_int_eq(ts_regset_find(set, "no such register"), -1);
	ck_assert_int_eq(ts_regset_by_num(set, 0xfffff), -1);
}

START_TEST(each_register_is_found_by_its_name_and_its_number)
{
	for_each_set(check_lookup);
}
END_TEST

static void check_roles(const struct ts_regset *set)
{
	unsigned n[TS_N_ROLES] = { 0 };

	for (unsigned i = 0; i < set->n_regs; i++)
		n[set->regs[i].role]++;
	ck_assert_uint_eq(n[TS_ROLE_PC], 1);
	ck_assert_uint_eq(n[TS_ROLE_SP], 1);
	ck_assert_uint_le(n[TS_ROLE_FP], 1);
	ck_assert_uint_le(n[TS_ROLE_FLAGS], 1);
	ck_assert_int_eq(set->regs[set->pc].role, TS_ROLE_PC);
	ck_assert_int_eq(set->regs[set->sp].role, TS_ROLE_SP);
	ck_assert(set->fp < 0 ? n[TS_ROLE_FP] == 0 : set->regs[set->fp].role == TS_ROLE_FP);
	ck_assert(set->flags < 0 ? n[TS_ROLE_FLAGS] == 0 : set->regs[set->flags].role == TS_ROLE_FLAGS);
	ck_assert_uint_eq(set->regs[set->pc].bits, set->arch->addr_bits);
	ck_assert_uint_eq(set->regs[set->sp].bits, set->arch->addr_bits);
	ck_assert_str_eq(ts_arch_pc(set->arch)->name, set->regs[set->pc].name);
}

START_TEST(every_set_has_a_program_counter_and_a_stack_pointer_of_the_address_width)
{
	for_each_set(check_roles);
}
END_TEST

static void check_features(const struct ts_regset *set)
{
	const struct ts_feature_def *f;
	unsigned at = 0, n_regs = 0;

	while ((f = ts_regset_next_feature(set, &at))) {
		ck_assert_ptr_eq(f, &set->arch->features[at - 1]);
		ck_assert_uint_eq(set->features & f->needs, f->needs);
		ck_assert_int_eq(ts_arch_feature(set->arch, f->name), at - 1);
		n_regs += f->n_regs;
		for (unsigned i = 0; i < f->n_regs; i++) {
			int r = ts_regset_find(set, f->regs[i].name);

			ck_assert_int_ge(r, 0);
			ck_assert_uint_eq(set->regs[r].feature, at - 1);
			ck_assert_int_eq(ts_arch_feature_with(set->arch, f->regs[i].name), at - 1);
		}
	}
	ck_assert_uint_eq(n_regs, set->n_regs);
	for (unsigned i = 0; i < set->arch->n_features; i++)
		ck_assert(set->arch->features[i].is_optional || set->features >> i & 1);
}

START_TEST(a_set_has_its_features_the_mandatory_ones_and_those_that_they_need)
{
	for_each_set(check_features);
}
END_TEST

static void check_numbers(const struct ts_regset *set)
{
	struct ts_regset full = set_of(set->arch->name, ALL_FEATURES);

	for (unsigned i = 0; i < set->n_regs; i++) {
		int r = ts_regset_find(&full, set->regs[i].name);

		ck_assert_int_ge(r, 0);
		ck_assert_uint_eq(full.regs[r].regnum, set->regs[i].regnum);
	}
	ts_regset_fini(&full);
}

START_TEST(a_registers_number_does_not_depend_on_the_set)
{
	for_each_set(check_numbers);
}
END_TEST

static const struct fact {
	const char *arch;
	uint32_t features;
	const char *reg;
	unsigned regnum, off, len;
} facts[] = {
	{ "x86_64", 0, "rax", 0, 0, 8 },
	{ "x86_64", 0, "rbx", 1, 8, 8 },
	{ "x86_64", 0, "rdi", 5, 40, 8 },
	{ "x86_64", 0, "rsp", 7, 56, 8 },
	{ "x86_64", 0, "r15", 15, 120, 8 },
	{ "x86_64", 0, "rip", 16, 128, 8 },
	{ "x86_64", 0, "eflags", 17, 136, 4 },
	{ "x86_64", 0, "gs", 23, 160, 4 },
	{ "x86_64", 0, "st0", 24, 164, 10 },
	{ "x86_64", 0, "fop", 39, 272, 4 },
	{ "x86_64", ALL_FEATURES, "xmm0", 40, 276, 16 },
	{ "x86_64", ALL_FEATURES, "mxcsr", 56, 532, 4 },
	{ "x86_64", ALL_FEATURES, "orig_rax", 57, 536, 8 },
	{ "x86_64", ALL_FEATURES, "fs_base", 58, 544, 8 },
	{ "x86_64", ALL_FEATURES, "ymm0h", 60, 560, 16 },
	{ "x86_64", ALL_FEATURES, "ymm15h", 75, 800, 16 },
	{ "x86_64", ALL_FEATURES, "cr0", 76, 816, 8 },
	{ "i386", 0, "ecx", 1, 4, 4 },
	{ "i386", 0, "ebx", 3, 12, 4 },
	{ "i386", 0, "esp", 4, 16, 4 },
	{ "i386", 0, "eip", 8, 32, 4 },
	{ "i386", 0, "gs", 15, 60, 4 },
	{ "i386", 0, "st7", 23, 134, 10 },
	{ "i386", ALL_FEATURES, "xmm0", 32, 176, 16 },
	{ "i386", ALL_FEATURES, "mxcsr", 40, 304, 4 },
	{ "i386", ALL_FEATURES, "orig_eax", 41, 308, 4 },
	{ "arm", 0, "r12", 12, 48, 4 },
	{ "arm", 0, "sp", 13, 52, 4 },
	{ "arm", 0, "pc", 15, 60, 4 },
	{ "arm", 0, "cpsr", 25, 64, 4 },
	{ "arm", ALL_FEATURES, "d0", 26, 68, 8 },
	{ "arm", ALL_FEATURES, "d31", 57, 316, 8 },
	{ "arm", ALL_FEATURES, "fpscr", 58, 324, 4 },
	{ "aarch64", 0, "x30", 30, 240, 8 },
	{ "aarch64", 0, "sp", 31, 248, 8 },
	{ "aarch64", 0, "pc", 32, 256, 8 },
	{ "aarch64", 0, "cpsr", 33, 264, 4 },
	{ "aarch64", ALL_FEATURES, "v0", 34, 268, 16 },
	{ "aarch64", ALL_FEATURES, "fpcr", 67, 784, 4 },
	{ "mips", 0, "r29", 29, 116, 4 },
	{ "mips", 0, "status", 32, 128, 4 },
	{ "mips", 0, "lo", 33, 132, 4 },
	{ "mips", 0, "hi", 34, 136, 4 },
	{ "mips", 0, "badvaddr", 35, 140, 4 },
	{ "mips", 0, "cause", 36, 144, 4 },
	{ "mips", 0, "pc", 37, 148, 4 },
	{ "mips", 0, "f0", 38, 152, 4 },
	{ "mips", 0, "fcsr", 70, 280, 4 },
	{ "mips", 0, "fir", 71, 284, 4 },
	{ "mips64el", 0, "pc", 37, 296, 8 },
	{ "mips64el", 0, "fir", 71, 568, 8 },
	{ "sparc", 0, "sp", 14, 56, 4 },
	{ "sparc", 0, "fp", 30, 120, 4 },
	{ "sparc", 0, "f31", 63, 252, 4 },
	{ "sparc", 0, "y", 64, 256, 4 },
	{ "sparc", 0, "pc", 68, 272, 4 },
	{ "sparc", 0, "csr", 71, 284, 4 },
	{ "sparc64", 0, "f31", 63, 380, 4 },
	{ "sparc64", 0, "f32", 64, 384, 8 },
	{ "sparc64", 0, "f62", 79, 504, 8 },
	{ "sparc64", 0, "pc", 80, 512, 8 },
	{ "sparc64", 0, "y", 85, 552, 8 },
	{ "m68k", 0, "a0", 8, 32, 4 },
	{ "m68k", 0, "sp", 15, 60, 4 },
	{ "m68k", 0, "ps", 16, 64, 4 },
	{ "m68k", 0, "pc", 17, 68, 4 },
	{ "m68k", ALL_FEATURES, "fp7", 25, 156, 12 },
	{ "m68k", ALL_FEATURES, "fpiaddr", 28, 176, 4 },
	{ "ppc", 0, "r31", 31, 124, 4 },
	{ "ppc", 0, "pc", 64, 128, 4 },
	{ "ppc", ALL_FEATURES, "f0", 32, 128, 8 },
	{ "ppc", ALL_FEATURES, "pc", 64, 384, 4 },
	{ "ppc", ALL_FEATURES, "fpscr", 70, 408, 4 },
	{ "ppc", ALL_FEATURES, "orig_r3", 71, 412, 4 },
	{ "ppc", ALL_FEATURES, "vr0", 73, 420, 16 },
	{ "ppc", ALL_FEATURES, "vrsave", 106, 936, 4 },
	{ "ppc", ALL_FEATURES, "vs31h", 138, 1188, 8 },
	{ "ppc64le", ALL_FEATURES, "pc", 64, 512, 8 },
	{ "ppc64le", ALL_FEATURES, "cr", 66, 528, 4 },
	{ "ppc64le", ALL_FEATURES, "xer", 69, 548, 4 },
	{ "ppc64le", ALL_FEATURES, "trap", 72, 564, 8 },
	{ "riscv32", 0, "sp", 2, 8, 4 },
	{ "riscv32", 0, "pc", 32, 128, 4 },
	{ "riscv32", 0, "ft0", 33, 132, 8 },
	{ "riscv64", 0, "fp", 8, 64, 8 },
	{ "riscv64", 0, "pc", 32, 256, 8 },
	{ "riscv64", 0, "ft11", 64, 512, 8 },
	{ "riscv64", 0, "fcsr", 68, 520, 4 },
};

START_TEST(registers_are_where_gdb_has_them)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const struct fact *f = &facts[i];
		struct ts_regset set = set_of(f->arch, f->features);
		int r = ts_regset_find(&set, f->reg);

		ck_assert_msg(r >= 0, "%s has no %s", f->arch, f->reg);
		ck_assert_msg(set.regs[r].regnum == f->regnum && set.regs[r].off == f->off &&
				      set.regs[r].len == f->len,
			      "%s: %s has number %u at %u with %u bytes", f->arch, f->reg, set.regs[r].regnum,
			      set.regs[r].off, set.regs[r].len);
		ts_regset_fini(&set);
	}
}
END_TEST

START_TEST(a_g_packet_is_as_long_as_gdbs)
{
	static const struct {
		const char *arch;
		unsigned bare, full;
	} lens[] = {
		{ "x86_64", 536, 872 },	    { "i386", 176, 504 },     { "i8086", 176, 504 },
		{ "arm", 68, 328 },	    { "armeb", 68, 328 },     { "aarch64", 788, 788 },
		{ "aarch64_be", 788, 788 }, { "mips", 288, 288 },     { "mipsel", 288, 288 },
		{ "mips64", 576, 576 },	    { "mips64el", 576, 576 }, { "sparc", 288, 288 },
		{ "sparc64", 560, 560 },    { "m68k", 72, 180 },      { "ppc", 152, 1196 },
		{ "ppc64", 296, 1348 },	    { "ppc64le", 296, 1348 }, { "riscv32", 392, 392 },
		{ "riscv64", 524, 524 },    { "s390", 268, 268 },     { "s390x", 340, 340 },
	};
	unsigned n;

	ts_arch_all(&n);
	ck_assert_uint_eq(n, sizeof(lens) / sizeof(lens[0]));
	for (unsigned i = 0; i < n; i++) {
		struct ts_regset bare = set_of(lens[i].arch, 0), full = set_of(lens[i].arch, ALL_FEATURES);

		ck_assert_msg(bare.g_len == lens[i].bare, "%s: %u", lens[i].arch, bare.g_len);
		ck_assert_msg(full.g_len == lens[i].full, "%s: %u", lens[i].arch, full.g_len);
		ts_regset_fini(&bare);
		ts_regset_fini(&full);
	}
}
END_TEST

START_TEST(a_feature_that_needs_another_brings_it)
{
	const struct ts_arch *arch = ts_arch_find("i386");
	struct ts_regset set = set_of("i386", 1u << ts_arch_feature(arch, "org.gnu.gdb.i386.avx"));

	ck_assert_int_ge(ts_regset_find(&set, "xmm7"), 0);
	ck_assert_int_lt(ts_regset_find(&set, "orig_eax"), 0);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(names_aliases_and_gdbs_names_find_an_architecture)
{
	static const char *const names[][2] = {
		{ "x86_64", "x86_64" },		 { "amd64", "x86_64" },	    { "i386:x86-64", "x86_64" },
		{ "X86_64", "x86_64" },		 { "x86", "i386" },	    { "i386", "i386" },
		{ "x86_16", "i8086" },		 { "ARM", "arm" },	    { "arm64", "aarch64" },
		{ "aarch64", "aarch64" },	 { "mips", "mips" },	    { "mipsel", "mipsel" },
		{ "mips:isa64", "mips64" },	 { "sparc:v9", "sparc64" }, { "powerpc:common", "ppc" },
		{ "powerpc:common64", "ppc64" }, { "ppc64el", "ppc64le" },  { "riscv:rv32", "riscv32" },
		{ "rv64", "riscv64" },		 { "m68k", "m68k" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct ts_arch *arch = ts_arch_find(names[i][0]);

		ck_assert_msg(arch != NULL, "%s is unknown", names[i][0]);
		ck_assert_str_eq(arch->name, names[i][1]);
	}
	ck_assert_ptr_null(ts_arch_find("vax"));
	ck_assert_ptr_null(ts_arch_find(""));
	ck_assert_ptr_null(ts_arch_find("arm6"));
}
END_TEST

START_TEST(the_other_byte_order_is_found_where_there_is_one)
{
	static const char *const pairs[][2] = {
		{ "arm", "armeb" },	  { "aarch64", "aarch64_be" }, { "mipsel", "mips" },
		{ "mips64el", "mips64" }, { "ppc64le", "ppc64" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct ts_arch *little = ts_arch_find(pairs[i][0]), *big = ts_arch_find(pairs[i][1]);

		ck_assert(!little->is_big_endian && big->is_big_endian);
		ck_assert_ptr_eq(ts_arch_in_order(little, true), big);
		ck_assert_ptr_eq(ts_arch_in_order(big, false), little);
		ck_assert_ptr_eq(ts_arch_in_order(big, true), big);
	}
	ck_assert_ptr_null(ts_arch_in_order(ts_arch_find("x86_64"), true));
	ck_assert_ptr_null(ts_arch_in_order(ts_arch_find("sparc"), false));
	ck_assert_ptr_null(ts_arch_in_order(ts_arch_find("ppc"), false));
}
END_TEST

START_TEST(numbers_are_read_and_written_in_the_byte_order)
{
	static const uint8_t bytes[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88 };
	const struct ts_arch *little = ts_arch_find("mipsel"), *big = ts_arch_find("mips");
	uint8_t out[8];

	ck_assert_uint_eq(ts_arch_get(little, bytes, 8), 0x8807060504030201);
	ck_assert_uint_eq(ts_arch_get(big, bytes, 8), 0x0102030405060788);
	ck_assert_uint_eq(ts_arch_get(little, bytes, 3), 0x030201);
	ck_assert_uint_eq(ts_arch_get(big, bytes, 3), 0x010203);
	ck_assert_uint_eq(ts_arch_get(big, bytes, 0), 0);
	for (size_t len = 0; len <= 8; len++) {
		memset(out, 0xee, sizeof(out));
		ts_arch_put(little, out, len, 0x8807060504030201);
		ck_assert_mem_eq(out, bytes, len);
		ck_assert(len == 8 || out[len] == 0xee);
	}
	ts_arch_put(big, out, 2, 0xffff1234);
	ck_assert_mem_eq(out, "\x12\x34", 2);
}
END_TEST

START_TEST(an_address_mask_is_as_wide_as_an_address)
{
	ck_assert_uint_eq(ts_arch_addr_mask(ts_arch_find("i386")), UINT32_MAX);
	ck_assert_uint_eq(ts_arch_addr_mask(ts_arch_find("x86_64")), UINT64_MAX);
}
END_TEST

START_TEST(gdb_widens_addresses_of_mips_with_their_sign)
{
	ck_assert_uint_eq(ts_arch_wide_addr(ts_arch_find("mips"), 0xbffffe38), UINT64_C(0xffffffffbffffe38));
	ck_assert_uint_eq(ts_arch_wide_addr(ts_arch_find("mipsel"), 0x7ffffe38), 0x7ffffe38);
	ck_assert_uint_eq(ts_arch_wide_addr(ts_arch_find("arm"), 0xbffffe38), 0xbffffe38);
	ck_assert_uint_eq(ts_arch_wide_addr(ts_arch_find("mips64"), UINT64_MAX - 1), UINT64_MAX - 1);
}
END_TEST

START_TEST(linux_on_x86_needs_the_feature_of_orig_rax)
{
	const struct ts_arch *x86_64 = ts_arch_find("x86_64"), *i386 = ts_arch_find("i386");

	ck_assert_uint_eq(ts_arch_os_features(x86_64, "GNU/Linux"),
			  1u << ts_arch_feature_with(x86_64, "orig_rax"));
	ck_assert_uint_eq(ts_arch_os_features(i386, "GNU/Linux"),
			  1u << ts_arch_feature_with(i386, "orig_eax"));
	ck_assert_uint_eq(ts_arch_os_features(x86_64, "Windows"), 0);
	ck_assert_uint_eq(ts_arch_os_features(x86_64, NULL), 0);
	ck_assert_uint_eq(ts_arch_os_features(ts_arch_find("aarch64"), "GNU/Linux"), 0);
}
END_TEST

START_TEST(an_empty_set_may_be_given_back)
{
	struct ts_regset set = { 0 };

	ts_regset_fini(&set);
}
END_TEST

UNIT_SUITE("arch", registers_are_packed_in_ascending_order, each_register_is_found_by_its_name_and_its_number,
	   every_set_has_a_program_counter_and_a_stack_pointer_of_the_address_width,
	   a_set_has_its_features_the_mandatory_ones_and_those_that_they_need,
	   a_registers_number_does_not_depend_on_the_set, registers_are_where_gdb_has_them,
	   a_g_packet_is_as_long_as_gdbs, a_feature_that_needs_another_brings_it,
	   names_aliases_and_gdbs_names_find_an_architecture,
	   the_other_byte_order_is_found_where_there_is_one, numbers_are_read_and_written_in_the_byte_order,
	   an_address_mask_is_as_wide_as_an_address, gdb_widens_addresses_of_mips_with_their_sign,
	   linux_on_x86_needs_the_feature_of_orig_rax, an_empty_set_may_be_given_back)
