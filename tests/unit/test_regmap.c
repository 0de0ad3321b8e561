/* SPDX-License-Identifier: MIT */
/*
 * Names of registers to bytes of the 'g' layout: of x86-64 and of a big-endian machine.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "loaders/bap/trace.h"
#include "src/base/error.h"

static struct regmap map;
static struct ts_regset set;
static struct ts_error err;

static void setup(void)
{
	ts_error_reset(&err);
	ck_assert(ts_regset_init(&set, ts_arch_find("x86_64"), UINT32_MAX, &err));
	regmap_init(&map, NULL);
}

static void teardown(void)
{
	ts_regset_fini(&set);
}

/* A machine that has its registers in the other order. */
static void use_ppc(void)
{
	ts_regset_fini(&set);
	ck_assert(ts_regset_init(&set, ts_arch_find("ppc"), UINT32_MAX, &err));
	regmap_init(&map, NULL);
}

static const struct regmap_slot *find(const char *name)
{
	return regmap_find(&map, name, strlen(name));
}

static uint32_t off(const char *reg)
{
	int i = ts_regset_find(&set, reg);

	ck_assert_int_ge(i, 0);
	return set.regs[i].off;
}

static void check_reg(const char *name, uint32_t offset, unsigned len, unsigned extend)
{
	const struct regmap_slot *s = find(name);

	ck_assert_msg(s->kind == REGMAP_REG && s->off == offset && s->len == len && s->extend == extend,
		      "%s: kind %d, %u bytes at %u, extended to %u", name, s->kind, s->len, s->off,
		      s->extend);
}

START_TEST(names_are_found_in_any_case)
{
	regmap_add_set(&map, &set);
	check_reg("rbx", off("rbx"), 8, 0);
	check_reg("RBX", off("rbx"), 8, 0);
	check_reg("Xmm15", off("xmm15"), 16, 0);
	ck_assert_int_eq(find("rbz")->kind, REGMAP_NONE);
	ck_assert_int_eq(find("rb")->kind, REGMAP_NONE);
	ck_assert_int_eq(find("rbx1")->kind, REGMAP_NONE);
	ck_assert_int_eq(find("")->kind, REGMAP_NONE);
	ck_assert_int_eq(find("a_name_longer_than_any")->kind, REGMAP_NONE);
}
END_TEST

START_TEST(the_first_to_claim_a_name_has_it)
{
	regmap_add_other(&map, "rbx", REGMAP_IGNORE);
	regmap_add_set(&map, &set);
	ck_assert_int_eq(find("rbx")->kind, REGMAP_IGNORE);
	check_reg("rcx", off("rcx"), 8, 0);
}
END_TEST

START_TEST(names_have_spellings)
{
	static const struct regmap_form forms[] = { { "", "" }, { "r_", "_64" }, { NULL, NULL } };

	regmap_init(&map, forms);
	regmap_add_set(&map, &set);
	check_reg("rbx", off("rbx"), 8, 0);
	check_reg("R_RBX_64", off("rbx"), 8, 0);
	ck_assert_int_eq(find("r_rbx")->kind, REGMAP_NONE);
}
END_TEST

START_TEST(x86_registers_have_parts)
{
	regmap_add_x86(&map, &set);
	check_reg("eax", off("rax"), 4, 8); /* and the upper half is cleared */
	check_reg("ax", off("rax"), 2, 0);
	check_reg("al", off("rax"), 1, 0);
	check_reg("ah", off("rax") + 1, 1, 0);
	check_reg("r9d", off("r9"), 4, 8);
	check_reg("r9w", off("r9"), 2, 0);
	check_reg("sil", off("rsi"), 1, 0);
	ck_assert_int_eq(find("sih")->kind, REGMAP_NONE);
}
END_TEST

START_TEST(a_ymm_is_in_two_pieces)
{
	regmap_add_x86(&map, &set);
	check_reg("ymm3", off("xmm3"), 32, 0);
	ck_assert_uint_eq(find("ymm3")->off_high, off("ymm3h"));
}
END_TEST

START_TEST(flags_are_bits_of_their_register)
{
	const struct regmap_slot *zf;

	regmap_add_x86(&map, &set);
	zf = find("ZF");
	ck_assert_int_eq(zf->kind, REGMAP_FLAG);
	ck_assert_uint_eq(zf->mask, 0x40);
	ck_assert_uint_eq(zf->shift, 6);
	ck_assert_int_eq(find("eflags")->kind, REGMAP_FLAGS);
	ck_assert_int_eq(find("rflags")->kind, REGMAP_FLAGS);
	ck_assert_uint_eq(map.n_flags, 1);
	ck_assert_uint_eq(map.flags[zf->group].off, off("eflags"));
	ck_assert_uint_eq(map.flags[zf->group].need & zf->mask, zf->mask);
	ck_assert_uint_eq(map.flags[zf->group].usual, 0x202);
}
END_TEST

START_TEST(parts_are_counted_from_the_lowest_byte_in_any_order)
{
	use_ppc();
	regmap_add_part(&map, &set, "low", "r3", 0, 2, 0);
	regmap_add_part(&map, &set, "next", "r3", 2, 1, 0);
	regmap_add_part(&map, &set, "beyond", "r3", 3, 2, 0);
	regmap_add_part(&map, &set, "nobody", "r99", 0, 2, 0);
	check_reg("low", off("r3") + 2, 2, 0);
	check_reg("next", off("r3") + 1, 1, 0);
	ck_assert_int_eq(find("beyond")->kind, REGMAP_NONE);
	ck_assert_int_eq(find("nobody")->kind, REGMAP_NONE);
}
END_TEST

START_TEST(features_are_those_of_the_names)
{
	int sse = ts_arch_feature(set.arch, "org.gnu.gdb.i386.sse"),
	    avx = ts_arch_feature(set.arch, "org.gnu.gdb.i386.avx");

	regmap_add_alias(&map, &set, "x", "xmm1");
	ck_assert_uint_eq(regmap_features(&map), 1u << sse);
	regmap_add_x86(&map, &set);
	ck_assert(regmap_features(&map) >> avx & 1);
}
END_TEST

/* The recorders of one format have the most names. */
START_TEST(each_machine_has_room_for_its_names)
{
	unsigned n;
	const struct ts_arch *const *all = ts_arch_all(&n);
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		ts_regset_fini(&set);
		ck_assert(ts_regset_init(&set, all[i], UINT32_MAX, &err));
		bap_names_init(&map, &set, false);
		ck_assert_uint_lt(map.n_slots, REGMAP_MAX_SLOTS);
		for (unsigned j = 0; j < set.n_regs; j++) {
			snprintf(name, sizeof(name), "R_%s_64", set.regs[j].name);
			ck_assert_msg(strlen(name) > REGMAP_MAX_NAME || find(name)->kind != REGMAP_NONE,
				      "%s: %s", all[i]->name, name);
		}
	}
}
END_TEST

UNIT_FIXTURE_SUITE("regmap", setup, teardown, names_are_found_in_any_case, the_first_to_claim_a_name_has_it,
		   names_have_spellings, x86_registers_have_parts, a_ymm_is_in_two_pieces,
		   flags_are_bits_of_their_register, parts_are_counted_from_the_lowest_byte_in_any_order,
		   features_are_those_of_the_names, each_machine_has_room_for_its_names)
